"""Where did the time go? T = D + V - O + H, throughput and latency of any run (D.2.7).

D is drafting (producer service), V verification or decoding, O both at once, H neither. Spans of
one stage are merged before they are summed, so nested or adjacent spans are not counted twice.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from as2d_core.records import RunRecord, Span
from as2d_core.request import METHODS

DRAFTER_WORK = frozenset({"draft", "publish", "convert", "prefill", "encode", "drain"})
TARGET_WORK = frozenset({"step", "verify", "correct", "repair", "align"})


@dataclass(frozen=True, slots=True)
class TimeAccount:
    """Time of one run after prefill, in nanoseconds: ``total == draft + verify - overlap + idle``."""

    total_ns: int
    """T: from the first decoding boundary to the last of output completion and producer drain."""
    draft_ns: int
    """D."""
    verify_ns: int
    """V."""
    overlap_ns: int
    """O: drafting and verification at the same time."""
    idle_ns: int
    """H: neither; our own loop, queue and waiting."""

    @property
    def bound_ns(self) -> int:
        """max(D, V) + H: no schedule of the same work can be faster (equation 9)."""
        return max(self.draft_ns, self.verify_ns) + self.idle_ns

    @property
    def overlap_share(self) -> float | None:
        """Share of the drafter's active time that the target was working too; ``None`` without drafting."""
        return self.overlap_ns / self.draft_ns if self.draft_ns else None


@dataclass(frozen=True, slots=True)
class RunSummary:
    """The figures of one run. ``None`` is "n/a": the run did not get that far."""

    status: str
    committed_tokens: int
    elapsed_ms: float | None
    """Post-prefill time, producer drain included (T)."""
    response_ms: float | None
    """From the request to the complete output: instruction prefill included, drain not."""
    tps: float | None
    """Committed tokens per second of ``elapsed_ms``."""
    rounds: int
    proposed: int
    accepted: int
    k1_rounds: int
    own_ms_per_round: float | None
    """Mean time of a round outside model calls."""
    account: TimeAccount | None


def merge(spans: Iterable[Span], start_ns: int, end_ns: int) -> list[tuple[int, int]]:
    """Union of spans inside ``[start_ns, end_ns]`` as sorted, disjoint intervals."""
    clipped = sorted(
        (max(s.start_ns, start_ns), min(s.end_ns, end_ns)) for s in spans if s.end_ns > start_ns and s.start_ns < end_ns
    )
    merged: list[tuple[int, int]] = []
    for start, end in clipped:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def length(intervals: Sequence[tuple[int, int]]) -> int:
    """Total length of disjoint intervals."""
    return sum(end - start for start, end in intervals)


def intersect(a: Sequence[tuple[int, int]], b: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Intersection of two sorted, disjoint interval lists."""
    out: list[tuple[int, int]] = []
    i = j = 0
    while i < len(a) and j < len(b):
        start, end = max(a[i][0], b[j][0]), min(a[i][1], b[j][1])
        if start < end:
            out.append((start, end))
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return out


def account(spans: Sequence[Span], start_ns: int, end_ns: int) -> TimeAccount:
    """Account for the time between two instants.

    Args:
        spans: service spans of both lanes, in any order.
        start_ns: decoding start (prefills done).
        end_ns: output complete and producer at rest.
    """
    drafting = merge((s for s in spans if s.lane == "drafter" and s.work in DRAFTER_WORK), start_ns, end_ns)
    verifying = merge((s for s in spans if s.lane == "target" and s.work in TARGET_WORK), start_ns, end_ns)
    draft_ns, verify_ns = length(drafting), length(verifying)
    overlap_ns = length(intersect(drafting, verifying))
    total_ns = end_ns - start_ns
    return TimeAccount(total_ns, draft_ns, verify_ns, overlap_ns, total_ns - (draft_ns + verify_ns - overlap_ns))


def boundaries(record: RunRecord) -> tuple[int, int] | None:
    """Decoding start and the end of everything, or ``None`` when decoding never began.

    A run that broke off ends with its last known span or round.
    """
    start = record.marks.get("decode_start")
    if start is None:
        return None
    ends = [m.time_ns for name in ("eos", "drained") if (m := record.marks.get(name)) is not None]
    if not ends:
        ends = [r.end_ns for r in record.rounds] + [s.end_ns for s in record.spans]
    return start.time_ns, max([start.time_ns, *ends])


def summarise(record: RunRecord) -> RunSummary:
    """All figures of one run, complete or not; an operation (calibration, collection) has no throughput."""
    tokens = record.tokens
    limits = boundaries(record)
    whole = account(record.spans, *limits) if limits is not None else None
    elapsed_ms = whole.total_ns / 1e6 if whole is not None and whole.total_ns > 0 else None
    decoding = record.request.method in METHODS
    complete = decoding and record.status in ("eos", "capped")
    request, eos = record.marks.get("request"), record.marks.get("eos")
    own = [r.end_ns - r.start_ns - r.call_ns for r in record.rounds]
    return RunSummary(
        status=record.status,
        committed_tokens=len(tokens),
        elapsed_ms=elapsed_ms if decoding else None,
        response_ms=(eos.time_ns - request.time_ns) / 1e6 if request is not None and eos is not None else None,
        tps=len(tokens) / elapsed_ms * 1e3 if complete and elapsed_ms else None,
        rounds=len(record.rounds),
        proposed=sum(r.proposed for r in record.rounds),
        accepted=sum(r.accepted for r in record.rounds),
        k1_rounds=sum(r.width == 1 for r in record.rounds),
        own_ms_per_round=sum(own) / len(own) / 1e6 if own else None,
        account=whole if decoding else None,
    )
