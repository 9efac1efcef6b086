"""Which stretches of time are D, V, O and H of T = D + V - O + H? Unions of spans, as the account sums them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dashboard.views import numbers
from dashboard.views.run_columns import RunColumns

PARTS = ("D", "V", "O", "H")
MEANINGS = {
    "D": "the drafter works",
    "V": "the target works",
    "O": "both work at once",
    "H": "neither works: our own loop, the queue, waiting",
}

Stretches = NDArray[np.int64]
"""[n, 2] begin and end in ns from decode start; rising, disjoint, none of them empty."""


@dataclass(frozen=True, eq=False, slots=True)
class Work:
    """When each of the two worked between decode start and the end of everything."""

    total_ns: int
    drafting: Stretches
    verifying: Stretches

    def part(self, name: str) -> Stretches:
        """The stretches of one of ``PARTS``; their lengths sum to the account's figure."""
        if name == "D":
            return self.drafting
        if name == "V":
            return self.verifying
        if name == "O":
            return intersection(self.drafting, self.verifying)
        return complement(union(np.concatenate([self.drafting, self.verifying])), self.total_ns)


def work_of(columns: RunColumns, start_ns: int, end_ns: int) -> Work:
    """The union of the spans of either between two instants, as ``accounting.account`` merges them."""

    def clipped(mask: NDArray[np.bool_]) -> Stretches:
        begin = np.maximum(columns.span_start_ns[mask], start_ns) - start_ns
        finish = np.minimum(columns.span_end_ns[mask], end_ns) - start_ns
        return union(np.stack([begin, finish], axis=1))

    return Work(end_ns - start_ns, clipped(columns.span_draft_work), clipped(columns.span_target_work))


def length_ns(stretches: Stretches) -> int:
    """Total length of disjoint stretches."""
    return int((stretches[:, 1] - stretches[:, 0]).sum())


def union(stretches: Stretches) -> Stretches:
    """Disjoint stretches that cover the same time; [n, 2] in, in any order."""
    kept = stretches[stretches[:, 1] > stretches[:, 0]]
    if not len(kept):
        return np.empty((0, 2), np.int64)
    kept = kept[np.argsort(kept[:, 0], kind="stable")]
    reach = np.maximum.accumulate(kept[:, 1])
    first = np.flatnonzero(np.concatenate([[True], kept[1:, 0] > reach[:-1]]))
    last = np.append(first[1:], len(kept)) - 1
    return np.stack([kept[first, 0], reach[last]], axis=1)


def complement(stretches: Stretches, total_ns: int) -> Stretches:
    """What disjoint stretches leave of the time from 0 to ``total_ns``."""
    edges = np.concatenate([[0], stretches.ravel(), [total_ns]]).reshape(-1, 2)
    return edges[edges[:, 1] > edges[:, 0]]


def intersection(a: Stretches, b: Stretches) -> Stretches:
    """Time that lies in both of two sets of disjoint stretches."""
    end = int(max(a.max(initial=0), b.max(initial=0)))
    outside = union(np.concatenate([complement(a, end), complement(b, end)]))
    return complement(outside, end)


@dataclass(frozen=True, eq=False, slots=True)
class PartInfo:
    """One part of T: where it lies and how it is spread."""

    name: str
    begin_ms: NDArray[np.float64]
    end_ms: NDArray[np.float64]
    total_ms: float
    sentence: str
    longest: tuple[tuple[float, float], ...]
    """Begin and end of the longest stretches, ms, the longest first."""


def part_info(work: Work, name: str, most: int = 3) -> PartInfo:
    """Describe one of ``PARTS``."""
    stretches = work.part(name)
    total = length_ns(stretches)
    spans = stretches / 1e6
    order = np.argsort(-(stretches[:, 1] - stretches[:, 0]), kind="stable")[:most]
    share = numbers.share(total / work.total_ns) if work.total_ns else numbers.NA
    sentence = f"{name} = {numbers.duration(total / 1e6)}, {share} of T: {MEANINGS[name]}"
    if len(order):
        longest = float(spans[order[0], 1] - spans[order[0], 0])
        if len(stretches) == 1:
            sentence += ", in one piece"
        else:
            sentence += f", in {numbers.count(len(stretches))} pieces, the longest {numbers.duration(longest)}"
    return PartInfo(
        name, spans[:, 0], spans[:, 1], total / 1e6, f"{sentence}.", tuple((a, b) for a, b in spans[order].tolist())
    )
