"""What target and drafters said on every window: the recorded tokens that replay re-times (Appendix D.3, D.4.3).

A trajectory holds tokens and confidences only, never times: the same set is replayed with the
costs of any device.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from as2d_core.errors import TrajectoryError, unknown_name
from as2d_core.replay.branches import Branches, ErrorChannel, branch_faults, channel_faults

SPLITS = ("development", "validation", "test")
LABELS = ("measured", "synthetic")
_FAULTS_SHOWN = 10


@dataclass(frozen=True, slots=True)
class DrafterTrajectory:
    """One drafter on one window."""

    name: str
    candidates: tuple[int, ...]
    """Free-running tokens c[0..M-1], EOS left out."""
    confidences: tuple[float | None, ...] | None = None
    """Softmax probability of every candidate; ``None`` when the drafter gives none."""
    batch_tokens: int = 8
    """Candidates in one publication."""
    source_capped: bool = False
    """Whether the source was stopped before its EOS."""
    agrees: tuple[bool, ...] | None = None
    """``agrees[i]``: the greedy token after the true prefix y[0..i-1] equals y[i]; ``None`` when not collected."""
    prefix_confidences: tuple[float, ...] | None = None
    """Probability of that greedy token, position by position."""
    prefix_tokens: tuple[int, ...] | None = None
    """That greedy token itself."""
    branches: Branches | None = None
    """What a real drafter says off the true path; ``None`` when it was not collected."""
    error_channel: ErrorChannel | None = None
    """What a made-up drafter does off the true path; ``None`` for a real one."""
    chunk_ends: tuple[int, ...] | None = None
    """Candidates out after each chunk of audio, for a source that publishes chunk by chunk and not in
    batches; a chunk without candidates repeats the last end."""

    def low_confidence(self, threshold: float | None) -> tuple[bool, ...]:
        """One flag per candidate: below the threshold. All false without confidences or threshold."""
        if self.confidences is None or threshold is None:
            return (False,) * len(self.candidates)
        return tuple(c is not None and c < threshold for c in self.confidences)


@dataclass(frozen=True, slots=True)
class WindowTrajectory:
    """Target and drafters on one window of audio."""

    window_id: str
    group: str
    """Dataset, or any other name that tables group by."""
    language: str
    task: str
    duration_s: float
    audio_sha256: str | None
    """Hash of the audio view; ``None`` only where there is no audio (synthetic windows)."""
    split: str
    """One of ``SPLITS``."""
    instruction: str
    target_tokens: tuple[int, ...]
    """y[0..N-1], EOS included when it was reached."""
    target_capped: bool
    """Whether the output cap ended the output."""
    target_text: str
    drafters: tuple[DrafterTrajectory, ...] = ()

    def drafter(self, name: str) -> DrafterTrajectory | None:
        """The drafter of that name, or ``None`` when it did not run on this window."""
        return next((d for d in self.drafters if d.name == name), None)


@dataclass(frozen=True, slots=True)
class TrajectorySet:
    """Windows of one collection, checked when it is built.

    Raises:
        TrajectoryError: names the faults with window and position.
    """

    id: str
    label: str
    """``measured`` (tokens of real models) or ``synthetic``; every figure from it says which."""
    eos: int
    """The target's EOS token."""
    output_cap: int
    """Largest number of target tokens, first token and EOS included."""
    windows: tuple[WindowTrajectory, ...]
    models: Mapping[str, str | None] = field(default_factory=dict)
    """sha256 by model name."""
    languages: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By drafter, the languages it may draft in; a drafter that is not named takes every window it has."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What the collection was run with: precision, batch, versions, seeds."""
    created_at: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        faults = [*_set_faults(self)]
        for window in self.windows:
            faults += _window_faults(window, self.eos, self.output_cap, self.label == "synthetic")
        if faults:
            more = f" And {len(faults) - _FAULTS_SHOWN} more." if len(faults) > _FAULTS_SHOWN else ""
            raise TrajectoryError(" ".join(faults[:_FAULTS_SHOWN]) + more)

    @property
    def drafters(self) -> tuple[str, ...]:
        """Names of all drafters, in the order in which they first appear: the catalog order of the oracle."""
        return tuple(dict.fromkeys(d.name for w in self.windows for d in w.drafters))

    def eligible(self, window: WindowTrajectory, drafter: str) -> DrafterTrajectory | None:
        """The drafter of that name on a window; ``None`` when it did not run there or may not draft its language."""
        allowed = self.languages.get(drafter)
        return window.drafter(drafter) if allowed is None or window.language in allowed else None

    @property
    def tokens(self) -> int:
        """Committed tokens of all windows."""
        return sum(len(w.target_tokens) for w in self.windows)

    def window(self, window_id: str) -> WindowTrajectory:
        """One window.

        Raises:
            UnknownNameError: there is none of that id.
        """
        found = next((w for w in self.windows if w.window_id == window_id), None)
        if found is None:
            raise unknown_name("window", window_id, [w.window_id for w in self.windows])
        return found


def flat_slices(values: Sequence[Any], offsets: Sequence[int], what: str) -> list[tuple[Any, ...]]:
    """Cut a flat array of all windows into one tuple per window.

    Args:
        values: all windows one behind the other.
        offsets: where each window begins, and the end of the last: one more than there are windows.
        what: the array's name, for the message.

    Raises:
        TrajectoryError: the offsets do not start at 0, fall, or do not end with the values.
    """
    if len(offsets) == 0 or offsets[0] != 0:
        raise TrajectoryError(f"The offsets of {what} do not start at 0.")
    for i, (start, end) in enumerate(pairwise(offsets)):
        if end < start:
            raise TrajectoryError(f"The offsets of {what} fall from {start} to {end} at window {i}.")
    if offsets[-1] != len(values):
        raise TrajectoryError(f"The offsets of {what} end at {offsets[-1]}, but there are {len(values)} values.")
    return [tuple(values[start:end]) for start, end in pairwise(offsets)]


def _set_faults(whole: TrajectorySet) -> Iterator[str]:
    if not whole.id:
        yield "The trajectory set has no id."
    if whole.label not in LABELS:
        yield f"The label is {whole.label!r}; it must be one of {', '.join(LABELS)}."
    if not whole.windows:
        yield f"The trajectory set {whole.id!r} has no windows; there is nothing to replay."
    if whole.output_cap < 1:
        yield f"The output cap is {whole.output_cap}; an output has at least one token."
    for window_id, count in Counter(w.window_id for w in whole.windows).items():
        if count > 1:
            yield f"Window {window_id!r} appears {count} times."
    names = dict.fromkeys(d.name for w in whole.windows for d in w.drafters)
    for drafter in whole.languages:
        if drafter not in names:
            yield f"Languages are given for drafter {drafter!r}, which has no window."
    for name in names:
        kinds = {d.chunk_ends is None for w in whole.windows for d in w.drafters if d.name == name}
        if len(kinds) > 1:
            yield f"Drafter {name!r} publishes batches on some windows and chunks on others; give the two another name."
    split_of: dict[str, tuple[str, str]] = {}
    for window in whole.windows:
        if window.audio_sha256 is None:
            continue
        first, split = split_of.setdefault(window.audio_sha256, (window.window_id, window.split))
        if split != window.split:
            yield (
                f"Windows {first!r} ({split}) and {window.window_id!r} ({window.split}) hold the same audio; "
                "splits must not share audio."
            )


def _window_faults(window: WindowTrajectory, eos: int, cap: int, synthetic: bool) -> Iterator[str]:
    name = f"Window {window.window_id!r}"
    if not window.window_id:
        yield "A window has no id."
    if window.split not in SPLITS:
        yield f"{name}: the split is {window.split!r}; it must be one of {', '.join(SPLITS)}."
    if not (math.isfinite(window.duration_s) and window.duration_s > 0):
        yield f"{name}: the duration is {window.duration_s} s."
    if not window.audio_sha256 and not synthetic:
        yield f"{name}: the audio hash is missing; without it the splits cannot be told apart."
    tokens = window.target_tokens
    if not tokens:
        yield f"{name}: there are no target tokens; prefill always selects the first one."
        return
    yield from _token_faults(f"{name}, target", tokens[:-1], eos, "EOS may only be the last token")
    if len(tokens) > cap:
        yield f"{name}: the output has {len(tokens)} tokens, more than the cap of {cap}."
    if window.target_capped and tokens[-1] == eos:
        yield f"{name}: the output is marked as capped, but ends with EOS at position {len(tokens) - 1}."
    if not window.target_capped and tokens[-1] != eos:
        yield f"{name}: the output ends without EOS at position {len(tokens) - 1}, but is not marked as capped."
    for drafter, count in Counter(d.name for d in window.drafters).items():
        if count > 1:
            yield f"{name}: drafter {drafter!r} appears {count} times."
    for trajectory in window.drafters:
        yield from _drafter_faults(f"{name}, drafter {trajectory.name!r}", trajectory, tokens, eos)


def _drafter_faults(where: str, drafter: DrafterTrajectory, target: Sequence[int], eos: int) -> Iterator[str]:
    tokens = len(target)
    yield from _token_faults(where, drafter.candidates, eos, "EOS is never a candidate")
    if drafter.batch_tokens < 1:
        yield f"{where}: batches of {drafter.batch_tokens} candidates are not possible."
    for what, values, expected in (
        ("confidences", drafter.confidences, len(drafter.candidates)),
        ("agreement flags", drafter.agrees, tokens),
        ("prefix confidences", drafter.prefix_confidences, tokens),
        ("prefix tokens", drafter.prefix_tokens, tokens),
    ):
        if values is not None and len(values) != expected:
            yield f"{where}: there are {len(values)} {what}, but {expected} are needed."
    yield from _off_path_faults(where, drafter, target, eos)
    yield from _chunk_faults(where, drafter)
    for what, confidences in (
        ("confidence", drafter.confidences),
        ("prefix confidence", drafter.prefix_confidences),
    ):
        for i, value in enumerate(confidences or ()):
            if value is not None and not 0.0 <= value <= 1.0:
                yield f"{where}: the {what} at position {i} is {value}; it must be between 0 and 1."
                break


def _off_path_faults(where: str, drafter: DrafterTrajectory, target: Sequence[int], eos: int) -> Iterator[str]:
    prefix, agrees = drafter.prefix_tokens, drafter.agrees
    if prefix is not None and agrees is not None and len(prefix) == len(agrees) == len(target):
        for i, (token, expected, right) in enumerate(zip(prefix, target, agrees, strict=True)):
            if (token == expected) != right:
                yield f"{where}: the prefix token at position {i} is {token}, which contradicts its agreement flag."
                break
    if drafter.branches is not None and drafter.error_channel is not None:
        yield f"{where}: there are recorded branches and an error channel; a drafter is real or made up."
    if drafter.branches is not None:
        if prefix is None or drafter.prefix_confidences is None:
            yield f"{where}: there are branches, but no prefix tokens with confidences that they could leave."
        elif len(prefix) == len(target):
            for fault in branch_faults(drafter.branches, target, prefix, eos):
                yield f"{where}: {fault}"
    if drafter.error_channel is not None:
        if agrees is None:
            yield f"{where}: there is an error channel, but no agreement flags that say where it errs."
        for fault in channel_faults(drafter.error_channel, len(target)):
            yield f"{where}: {fault}"


def _chunk_faults(where: str, drafter: DrafterTrajectory) -> Iterator[str]:
    if drafter.chunk_ends is None:
        return
    for i, (before, after) in enumerate(pairwise((0, *drafter.chunk_ends))):
        if after < before:
            yield f"{where}: the candidates out after chunk {i} fall from {before} to {after}."
            return
    last = drafter.chunk_ends[-1] if drafter.chunk_ends else 0
    if last != len(drafter.candidates):
        yield f"{where}: the chunks publish {last} of {len(drafter.candidates)} candidates."
    if drafter.confidences is not None:
        yield f"{where}: a source that publishes chunks gives no confidences, but there are some."


def _token_faults(where: str, tokens: Sequence[int], eos: int, rule: str) -> Iterator[str]:
    for i, token in enumerate(tokens):
        if token == eos:
            yield f"{where}: EOS at position {i}; {rule}."
            return
        if token < 0:
            yield f"{where}: token {token} at position {i} is negative."
            return
