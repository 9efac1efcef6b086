"""What of a run's rounds, spans and publications is drawn? Columns in milliseconds from decode start.

A row is one of them, or several neighbours that the store has merged.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dashboard.views.run_columns import Lists, RunColumns

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False, slots=True)
class MergedRounds:
    """What is known besides sums where a row of ``RoundColumns`` is several rounds, each the next of the one before."""

    members: Ints
    """Rounds in the row; its ``index`` is that of the first."""
    alone: Ints
    """Those without candidates."""
    time_ms: Floats
    """The target's parts of the rounds together,"""
    alone_ms: Floats
    """and of those without candidates."""
    proposing: Ints
    """Index of the first one with candidates; -1: there is none."""
    depth_ms: Floats
    """Boundaries with the fewest and the most candidates ready in each row, in order of time;"""
    depth: Floats
    """how many there were,"""
    depth_round: Ints
    """and in which round."""


@dataclass(frozen=True, eq=False, slots=True)
class RoundColumns:
    """One row a round, in record order. ``start_ms`` and ``end_ms`` are the target's part of the round."""

    index: Ints
    start_ms: Floats
    end_ms: Floats
    boundary_ms: Floats
    """Start of the whole round; in serial methods drafting comes between it and ``start_ms``."""
    width: Ints
    proposed: Ints
    accepted: Ints
    reused: Ints
    """Accepted candidates that were taken over after a rejection."""
    committed: Ints
    """Tokens that the round added to the output."""
    ready: Ints
    """Candidates that lay ready at the boundary, after alignment."""
    chain_start: Ints
    """Index of the first candidate behind the aligned cursor."""
    reasons: tuple[str, ...]
    tokens: Lists
    merged: MergedRounds | None = None
    """Set where neighbours were merged by the store: numbers are sums then, widths, reasons and tokens are not kept."""

    def __len__(self) -> int:
        return len(self.index)

    @property
    def corrected(self) -> Flags:
        """Whether the target refused a candidate."""
        return self.accepted < self.proposed

    @property
    def members(self) -> Ints:
        """Rounds in each row."""
        return np.ones(len(self), np.int64) if self.merged is None else self.merged.members

    @property
    def alone(self) -> Ints:
        """Rounds without candidates in each row."""
        return (self.proposed == 0).astype(np.int64) if self.merged is None else self.merged.alone

    @property
    def time_ms(self) -> Floats:
        """The target's time in each row."""
        return self.end_ms - self.start_ms if self.merged is None else self.merged.time_ms

    @property
    def alone_ms(self) -> Floats:
        """The target's time in rounds without candidates."""
        return np.where(self.proposed == 0, self.time_ms, 0.0) if self.merged is None else self.merged.alone_ms


@dataclass(frozen=True, eq=False, slots=True)
class SpanColumns:
    """One row a stretch of work, or several of one kind that the store has merged."""

    start_ms: Floats
    end_ms: Floats
    operations: Ints
    works: tuple[str, ...]
    merged: tuple[Ints, Floats] | None = None
    """How many stretches each row is, and their time together in ms, where the store has merged them."""

    def __len__(self) -> int:
        return len(self.start_ms)

    @property
    def members(self) -> Ints:
        """Stretches of work in each row."""
        return np.ones(len(self), np.int64) if self.merged is None else self.merged[0]

    @property
    def busy_ms(self) -> Floats:
        """Their time together."""
        return self.end_ms - self.start_ms if self.merged is None else self.merged[1]


@dataclass(frozen=True, eq=False, slots=True)
class PublicationColumns:
    """One row a published batch."""

    time_ms: Floats
    offset: Ints
    count: Ints
    first_use: Ints
    """Row of the first round that proposed one of its candidates; -1: none did."""

    def __len__(self) -> int:
        return len(self.time_ms)


def rounds_of(columns: RunColumns, origin: int) -> tuple[RoundColumns, Flags]:
    """Columns of the rounds, and which target spans belong to one of them."""
    n = len(columns.round_index)
    index = columns.round_index
    boundary, finish = columns.round_start_ns - origin, columns.round_end_ns - origin
    on_target = columns.span_target
    start, end = columns.span_start_ns[on_target] - origin, columns.span_end_ns[on_target] - origin
    row = columns.span_round[on_target]
    first, last = np.full(n, np.iinfo(np.int64).max), np.full(n, np.iinfo(np.int64).min)
    order = np.argsort(index, kind="stable")
    at = np.searchsorted(index[order], row) if n else np.zeros(len(row), np.int64)
    known = at < n
    known[known] = index[order][at[known]] == row[known]
    where = order[at[known]]
    np.minimum.at(first, where, start[known])
    np.maximum.at(last, where, end[known])
    bare = first > last
    first, last = np.where(bare, boundary, first), np.where(bare, finish, last)
    rounds = RoundColumns(
        index=index,
        start_ms=first / 1e6,
        end_ms=last / 1e6,
        boundary_ms=boundary / 1e6,
        width=columns.width,
        proposed=columns.proposed,
        accepted=columns.accepted,
        reused=columns.reused,
        committed=columns.committed.lengths,
        ready=np.maximum(columns.visible - columns.chain_start, 0),
        chain_start=columns.chain_start,
        reasons=columns.reasons,
        tokens=columns.committed,
    )
    return rounds, known


def spans_of(columns: RunColumns, origin: int, mask: Flags) -> SpanColumns:
    """Columns of some spans, in order of their start."""
    chosen = np.flatnonzero(mask)
    chosen = chosen[np.argsort(columns.span_start_ns[chosen], kind="stable")]
    works = columns.span_works
    return SpanColumns(
        start_ms=(columns.span_start_ns[chosen] - origin) / 1e6,
        end_ms=(columns.span_end_ns[chosen] - origin) / 1e6,
        operations=columns.span_operations[chosen],
        works=tuple(map(works.__getitem__, chosen.tolist())),
    )


def publications_of(columns: RunColumns, origin: int, rounds: RoundColumns) -> PublicationColumns:
    """Columns of the publications, each with the round that used it first."""
    offset, count = columns.batch_offset, columns.batch_count
    return PublicationColumns(
        time_ms=(columns.batch_time_ns - origin) / 1e6,
        offset=offset,
        count=count,
        first_use=_first_use(offset, count, rounds),
    )


def _first_use(offset: Ints, count: Ints, rounds: RoundColumns) -> Ints:
    """Row of the first round whose chain reaches into each batch.

    The cursor never goes back, so the first chain that ends behind the batch's start is the only one to ask.
    """
    proposing = np.flatnonzero(rounds.proposed > 0)
    if not len(proposing) or not len(offset):
        return np.full(len(offset), -1, np.int64)
    reach = np.maximum.accumulate(rounds.chain_start[proposing] + rounds.proposed[proposing])
    at = np.searchsorted(reach, offset, side="right")
    found = at < len(proposing)
    rows = np.where(found, proposing[np.minimum(at, len(proposing) - 1)], -1)
    inside = found & (rounds.chain_start[rows] < offset + count)
    return np.where(inside, rows, -1)
