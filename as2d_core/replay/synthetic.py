"""A corpus that was never recorded: tokens and drafts drawn from a few published and fitted rates.

The drafter errs at a rate of its window, and more often right behind an error. An error is a
stretch of edits: the drafter writes some wrong tokens of its own, skips some of the target's, and
is right again on the token after that. After the true prefix only the first token of a stretch
counts; a free-running source lives through all of it.

The same seed and parameters give the same corpus on every platform: raw bits of PCG64, additions,
multiplications and divisions, and no function whose last digit a platform may choose.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from math import fsum

import numpy as np
from numpy.typing import NDArray

from as2d_core.replay.branches import ErrorChannel
from as2d_core.replay.synthetic_parameters import (
    SyntheticGroup,
    SyntheticParameters,
    packaged_parameters,
    with_selection_windows,
)
from as2d_core.replay.windows import SPLITS, DrafterTrajectory, TrajectorySet, WindowTrajectory

DEFAULT_SEED = 688
GENERATED_IDS = ("paper-688", "paper-838")
"""The paper's test cohort in size and kind; the same with development and validation windows beside it."""

VERSION = 1
"""Of the generator: a change that changes a corpus raises it."""

_SELECTION_WINDOWS = (10, 20)
"""Balanced over five datasets: 50 development and 100 validation windows (Appendix D.2.6)."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@lru_cache(maxsize=len(GENERATED_IDS))
def generated_corpus(name: str) -> TrajectorySet:
    """One of ``GENERATED_IDS``, generated once and kept."""
    return generate(DEFAULT_SEED, generated_parameters(name))


def generated_parameters(name: str) -> SyntheticParameters:
    """The packaged parameters of one of ``GENERATED_IDS``."""
    base = packaged_parameters(GENERATED_IDS[0])
    return base if name == base.id else with_selection_windows(base, name, *_SELECTION_WINDOWS)


def generate(seed: int, parameters: SyntheticParameters) -> TrajectorySet:
    """Draw a corpus; windows of one split are the same whatever other splits there are.

    Args:
        seed: not negative.
        parameters: what to draw from.
    """
    windows: list[WindowTrajectory] = []
    for g, group in enumerate(parameters.groups):
        for s, split in enumerate(SPLITS):
            if group.windows.get(split, 0):
                windows += _windows(_Draws(seed, g, s), parameters, group, split)
    return TrajectorySet(
        id=parameters.id,
        label="synthetic",
        eos=parameters.vocabulary_tokens,
        output_cap=parameters.output_cap,
        windows=tuple(windows),
        settings={"generator": VERSION, "seed": seed, "parameters": parameters.id},
        note=parameters.note,
    )


class _Draws:
    """Numbers from raw random bits, the same everywhere."""

    def __init__(self, seed: int, *stream: int) -> None:
        self._bits = np.random.PCG64(np.random.SeedSequence([seed, *stream]))

    def uniform(self, count: int) -> Floats:
        """Uniform over [0, 1)."""
        raw: NDArray[np.uint64] = self._bits.random_raw(count)
        return (raw >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def below(self, share: Floats | float, count: int) -> Flags:
        """True with a probability."""
        return np.asarray(self.uniform(count) < share, np.bool_)

    def of_table(self, cumulative: Floats, count: int) -> Ints:
        """Indices of a cumulative table that ends at 1."""
        found = np.searchsorted(cumulative, self.uniform(count), side="right")
        return np.minimum(found, len(cumulative) - 1).astype(np.int64)

    def stratified(self, at: Sequence[float], values: Sequence[float], count: int) -> Floats:
        """One value from each of ``count`` equal parts of a distribution, in random order."""
        order = np.argsort(self.uniform(count), kind="stable")
        where = (order + self.uniform(count)) / count
        knots, heights = np.asarray(at, np.float64), np.asarray(values, np.float64)
        below = np.minimum(np.searchsorted(knots, where, side="right") - 1, len(knots) - 2)
        part = (where - knots[below]) / (knots[below + 1] - knots[below])
        rise = (heights[below + 1] - heights[below]) * part
        return np.asarray(heights[below] + rise, np.float64)


def _windows(
    draws: _Draws, parameters: SyntheticParameters, group: SyntheticGroup, split: str
) -> list[WindowTrajectory]:
    count, capped = group.windows[split], group.capped_windows.get(split, 0)
    lengths = _lengths(draws, parameters, group, split)
    rates = draws.stratified(parameters.quantiles_at, group.error_quantiles, count)
    total = int(lengths.sum())
    targets = draws.of_table(_ranks(parameters), total)
    agrees = _agrees(draws, parameters, lengths, rates)
    wrong, skipped = _stretches(draws, parameters, group.short_share, total)
    low = draws.below(np.where(agrees, parameters.prefix_low_right, parameters.prefix_low_wrong), total)
    offsets = [0, *np.cumsum(lengths).tolist()]
    sources = []
    for w, (start, end) in enumerate(pairwise(offsets)):
        ends = end if w >= count - capped else end - 1
        where = slice(start, end)
        sources.append(
            _source(agrees[where].tolist(), wrong[where], skipped[where], ends - start, parameters.source_cap)
        )
    written = _written(draws, parameters, sources, targets, offsets)
    found: list[WindowTrajectory] = []
    for w, (start, end) in enumerate(pairwise(offsets)):
        is_capped = w >= count - capped
        tokens = targets[start:end].tolist()
        if not is_capped:
            tokens[-1] = parameters.vocabulary_tokens
        candidates, confidences = written[w]
        found.append(
            WindowTrajectory(
                window_id=f"{group.name}-{split}-{w:03d}",
                group=group.name,
                language=group.language,
                task="transcribe",
                duration_s=parameters.duration_s,
                audio_sha256=None,
                split=split,
                instruction="",
                target_tokens=tuple(tokens),
                target_capped=is_capped,
                target_text="",
                drafters=(
                    DrafterTrajectory(
                        name=parameters.drafter,
                        candidates=candidates,
                        confidences=confidences,
                        batch_tokens=parameters.batch_tokens,
                        source_capped=len(candidates) == parameters.source_cap,
                        agrees=tuple(agrees[start:end].tolist()),
                        prefix_confidences=_confidences(parameters, low[start:end]),
                        error_channel=ErrorChannel(tuple(wrong[start:end]), tuple(skipped[start:end])),
                    ),
                ),
            )
        )
    return found


def _lengths(draws: _Draws, parameters: SyntheticParameters, group: SyntheticGroup, split: str) -> Ints:
    """Target tokens of every window, capped ones last; their sum is the parameters'."""
    count, capped = group.windows[split], group.capped_windows.get(split, 0)
    cap, free = parameters.output_cap, count - capped
    wanted = group.tokens[split] - capped * cap
    drawn = draws.stratified(parameters.quantiles_at, group.token_quantiles, free) if free else np.zeros(0)
    scale = wanted / fsum(drawn.tolist()) if free else 0.0
    exact = drawn * scale
    lengths = np.clip(np.floor(exact).astype(np.int64), 2, cap)
    # The largest remainders are rounded up until the sum is met; clipped windows pass theirs on.
    order = np.argsort(-(exact - np.floor(exact)), kind="stable")
    missing = wanted - int(lengths.sum())
    while missing:
        step = 1 if missing > 0 else -1
        for w in order.tolist():
            if missing and 2 <= lengths[w] + step <= cap:
                lengths[w] += step
                missing -= step
    return np.concatenate([lengths, np.full(capped, cap, np.int64)])


def _agrees(draws: _Draws, parameters: SyntheticParameters, lengths: Ints, rates: Floats) -> Flags:
    """Whether the drafter agrees after every true prefix, window behind window."""
    chances = draws.uniform(int(lengths.sum())).tolist()
    agrees: list[bool] = []
    repeat = parameters.repeat_error
    for length, rate in zip(lengths.tolist(), rates.tolist(), strict=True):
        right = True
        for chance in chances[len(agrees) : len(agrees) + length]:
            right = chance >= (rate if right else repeat)
            agrees.append(right)
    return np.array(agrees, np.bool_)


def _stretches(
    draws: _Draws, parameters: SyntheticParameters, short_share: float, total: int
) -> tuple[list[int], list[int]]:
    """Tokens of its own that the drafter writes, and target tokens that it skips, if it errs at a position."""
    single = draws.below(short_share, total)
    edits = np.where(single, 1, 2 + draws.of_table(_lasting(parameters.stop), total))
    starts = np.cumsum(edits) - edits
    share = np.repeat(np.where(single, parameters.single_substitution, parameters.substitution), edits)
    chance = draws.uniform(int(edits.sum()))
    inserts = (chance >= share) & (chance < share + (1 - share) / 2)
    deletes = chance >= share + (1 - share) / 2
    wrong = np.add.reduceat((~deletes).astype(np.int64), starts)
    skipped = np.add.reduceat((~inserts).astype(np.int64), starts)
    # A longer stretch shows itself in at least one wrong token.
    wrong = np.where(single, wrong, np.maximum(wrong, 1))
    return wrong.tolist(), skipped.tolist()


def _source(agrees: Sequence[bool], wrong: Sequence[int], skipped: Sequence[int], last: int, cap: int) -> list[int]:
    """A free-running source: the position of each right token, and -1 - position for a wrong one.

    Args:
        agrees, wrong, skipped: of every position of the window.
        last: where the source ends by itself, unless it errs there.
        cap: candidates after which it is stopped.
    """
    written: list[int] = []
    position, certain = 0, False
    while position < last and len(written) < cap:
        if agrees[position] or certain:
            written.append(position)
            position, certain = position + 1, False
        else:
            written += [-1 - min(position + i, len(agrees) - 1) for i in range(wrong[position])]
            position, certain = position + skipped[position], True
    if position == last < len(agrees) and not agrees[last] and not certain:
        # It misses the end, too.
        written += [-1 - last] * wrong[last]
    return written[:cap]


def _written(
    draws: _Draws,
    parameters: SyntheticParameters,
    sources: Sequence[Sequence[int]],
    targets: Ints,
    offsets: Sequence[int],
) -> list[tuple[tuple[int, ...], tuple[float, ...]]]:
    """Candidates and confidences of every window's source."""
    sizes = [len(source) for source in sources]
    marks = np.array([mark for source in sources for mark in source], np.int64)
    starts = np.repeat(np.array(offsets[:-1], np.int64), sizes)
    right = marks >= 0
    meant = targets[starts + np.where(right, marks, -1 - marks)]
    own = draws.of_table(_ranks(parameters), len(marks))
    own = np.where(own == meant, (own + 1) % parameters.vocabulary_tokens, own)
    tokens = np.where(right, meant, own).tolist()
    low = draws.below(np.where(right, parameters.free_low_right, parameters.free_low_wrong), len(marks))
    found, at = [], 0
    for size in sizes:
        found.append((tuple(tokens[at : at + size]), _confidences(parameters, low[at : at + size])))
        at += size
    return found


def _confidences(parameters: SyntheticParameters, low: Flags) -> tuple[float, ...]:
    return tuple(np.where(low, parameters.low_confidence, parameters.high_confidence).tolist())


def _ranks(parameters: SyntheticParameters) -> Floats:
    """Cumulative probability of the tokens, the most frequent first."""
    cumulative = np.cumsum(1.0 / (1.0 + np.arange(parameters.vocabulary_tokens) + parameters.vocabulary_offset))
    return np.asarray(cumulative / cumulative[-1], np.float64)


def _lasting(stop: float) -> Floats:
    """Cumulative probability of further edits when each is the last one at a rate of ``stop``."""
    going_on, left = [], 1.0
    while left > 1e-9:
        left *= 1.0 - stop
        going_on.append(1.0 - left)
    going_on[-1] = 1.0
    return np.array(going_on, np.float64)
