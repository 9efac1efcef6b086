"""What would a better source have said? A drafter's candidates with a share of its errors taken away."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from as2d_core.replay.windows import DrafterTrajectory

SURE = 1.0
"""Confidence of a corrected candidate: a drafter that is right there is taken to know it."""


def corrected_source(
    drafter: DrafterTrajectory, target_tokens: Sequence[int], eos: int, share: float, seed: str
) -> tuple[DrafterTrajectory, int]:
    """Replace a share of the stretches in which the candidates differ from the output.

    Which errors go is a matter of the seed, and a larger share takes away what a smaller one does,
    and more. What the drafter says on other prefixes is left as it is.

    Args:
        drafter: what it said on its own.
        target_tokens: y[0..N-1].
        eos: never a candidate.
        share: 0 (all errors stay) to 1 (the candidates are the output).
        seed: any text.

    Returns:
        The better drafter, and how many errors the given one makes.
    """
    wanted = [token for token in target_tokens if token != eos]
    matcher = SequenceMatcher(None, drafter.candidates, wanted, autojunk=False)
    candidates: list[int] = []
    confidences: list[float | None] | None = None if drafter.confidences is None else []
    moved = [0]  # where each candidate, and what follows the last one, begins now
    errors = 0
    for kind, i1, i2, j1, j2 in matcher.get_opcodes():
        if kind != "equal":
            errors += 1
        if kind == "equal" or _chance(seed, errors) >= share:
            candidates += drafter.candidates[i1:i2]
            if confidences is not None and drafter.confidences is not None:
                confidences += drafter.confidences[i1:i2]
            moved += range(len(candidates) - (i2 - i1) + 1, len(candidates) + 1)
        else:
            candidates += wanted[j1:j2]
            if confidences is not None:
                confidences += [SURE] * (j2 - j1)
            moved += [len(candidates)] * (i2 - i1)
    ends = drafter.chunk_ends
    better = replace(
        drafter,
        candidates=tuple(candidates),
        confidences=None if confidences is None else tuple(confidences),
        chunk_ends=None if ends is None else (*(moved[end] for end in ends[:-1]), len(candidates))[: len(ends)],
    )
    return better, errors


def _chance(seed: str, error: int) -> float:
    """A number from 0 to 1 (never 1) that is the same everywhere."""
    return int.from_bytes(hashlib.sha256(f"{seed}:{error}".encode()).digest()[:6], "big") / 2**48
