"""Does replay agree with a run that really happened? Decision by decision, and in time (Appendix D.3).

``replay_run`` gives a native run its own measured costs and publication boundaries back: every
decision must come out as it was. ``timing_error`` prices the run's own candidates with mean costs
and compares the throughput.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from as2d_core.accounting import boundaries
from as2d_core.engines.scripted import ListRecorder, RoundCost, ScriptedSource, ScriptedTarget, VirtualClock
from as2d_core.errors import As2dError, EngineError, ProfileError, RecordError, TrajectoryError
from as2d_core.methods import as2d
from as2d_core.profiles.profile import Profile
from as2d_core.records import Round, RunRecord
from as2d_core.replay.kernel import As2dReplay, replay_as2d
from as2d_core.replay.schedule import Schedule, autoregressive_schedule

NO_TOKEN = -1
"""Stands for EOS where a run never met it."""
HALF_NS = 0.5e-6
"""Milliseconds; keeps the rounding of sums from moving a publication behind its boundary."""


_DECISIONS = (
    "width",
    "proposed",
    "accepted",
    "committed",
    "candidates",
    "origins",
    "width_reason",
    "cursor_before",
    "cursor_after",
    "visible",
)


@dataclass(frozen=True, slots=True)
class RoundComparison:
    """One round as it was (``native``) and as replay decided it; ``None`` where there is none."""

    index: int
    native: Round | None
    replayed: Round | None

    @property
    def differences(self) -> tuple[str, ...]:
        """Names of the decisions that differ; ``round`` when one of the two has no such round."""
        if self.native is None or self.replayed is None:
            return ("round",)
        return tuple(name for name in _DECISIONS if getattr(self.native, name) != getattr(self.replayed, name))

    @property
    def equal(self) -> bool:
        return not self.differences


@dataclass(frozen=True, slots=True)
class NativeReplay:
    """A native run beside its replay."""

    run_id: str
    rounds: tuple[RoundComparison, ...]
    native_ms: float
    replayed_ms: float
    problem: str | None = None
    """Why the replay broke off, when it did."""

    @property
    def equal(self) -> bool:
        """Whether every round decided alike."""
        return self.problem is None and all(item.equal for item in self.rounds)


@dataclass(frozen=True, slots=True)
class RunCosts:
    """Mean costs of a native run or a profile, in milliseconds."""

    verify_concurrent_ms: Mapping[int, float]
    """By width K, beside the running producer."""
    verify_idle_ms: Mapping[int, float]
    loop_ms: float
    """From boundary to boundary, without the model call."""
    draft_ms: float
    """One draft forward beside the target."""
    publish_ms: float
    substituted: tuple[int, ...] = ()
    """Widths that were met in one of the two states only; the other state's mean stands in."""
    interpolated: tuple[int, ...] = ()
    """Widths that were never met; the mean lies on the line between their neighbours."""


@dataclass(frozen=True, slots=True)
class TimingError:
    """Throughput of one run as replay predicts it, against what it was."""

    run_id: str
    tokens: int
    native_ms: float
    replayed_ms: float
    percent: float
    """Signed: 100 (TPS of the replay / native TPS - 1)."""
    source_complete: bool
    """Whether the producer ended by itself: otherwise its later candidates are not known."""
    estimated_widths: tuple[int, ...]
    """Widths that the replay used although their cost was substituted or interpolated."""


@dataclass(frozen=True, slots=True)
class TimingAgreement:
    """Timing errors of a set of runs."""

    errors: tuple[TimingError, ...]
    pooled_percent: float | None
    """From pooled TPS on both sides; ``None`` without runs."""
    mean_absolute_percent: float | None
    excluded: tuple[tuple[str, str], ...]
    """``(run id, why it could not be timed)``."""


def replay_run(record: RunRecord) -> NativeReplay:
    """Replay a native As²d run with its own round costs and publication boundaries.

    Raises:
        RecordError: the run is not a complete As²d run.
    """
    _check(record)
    rounds = record.rounds
    origin_ns = rounds[0].start_ns if rounds else record.marks["eos"].time_ns
    clock = VirtualClock()
    eos = record.tokens[-1] if record.status == "eos" else NO_TOKEN
    target = ScriptedTarget(clock, record.tokens, eos, _round_costs(record))
    confidences = [c for batch in record.publications for c in batch.confidences or [None] * len(batch.tokens)]
    source = ScriptedSource(clock, record.candidates, _received_schedule(record, origin_ns), confidences)
    recorder = ListRecorder(clock)
    problem = None
    try:
        as2d.decode(target, source, record.request, recorder)
    except (EngineError, RecordError) as error:
        problem = str(error)
    return compare_rounds(record, recorder, origin_ns, problem)


def compare_rounds(record: RunRecord, replayed: ListRecorder, origin_ns: int, problem: str | None) -> NativeReplay:
    """Rounds of a native run beside those that its replay recorded from a virtual time of 0.

    Args:
        origin_ns: start of the native run's first round.
        problem: why the replay ended early; ``None`` = it did not.
    """
    native = record.rounds
    again = [event for event in replayed.events if isinstance(event, Round)]
    return NativeReplay(
        run_id=record.run_id,
        rounds=tuple(RoundComparison(i, *pair) for i, pair in enumerate(zip_longest(native, again))),
        native_ms=elapsed_ms(record, origin_ns),
        replayed_ms=replayed.clock.now_ms,
        problem=problem,
    )


def fit_costs(records: Sequence[RunRecord]) -> RunCosts:
    """Mean costs of native As²d runs, for timing errors of these or of other runs.

    Raises:
        RecordError: a run is not a complete As²d run, nothing was decoded or drafted, or no
            K = 1 round was met.
    """
    calls: dict[bool, dict[int, list[int]]] = {True: {}, False: {}}
    loops_ns: list[int] = []
    drafted_ns = forwards = 0
    published_ns: list[int] = []
    for record in records:
        _check(record)
        ends = [item.start_ns for item in record.rounds[1:]] + [record.marks["eos"].time_ns]
        for item, end_ns in zip(record.rounds, ends, strict=False):
            calls[item.source_running].setdefault(item.width, []).append(item.call_ns)
            loops_ns.append(end_ns - item.start_ns - item.call_ns)
        for span in record.spans:
            if span.lane == "drafter" and span.work == "draft":
                drafted_ns += span.end_ns - span.start_ns
                forwards += span.operations
            elif span.lane == "drafter" and span.work == "publish":
                published_ns.append(span.end_ns - span.start_ns)
    if not loops_ns or forwards == 0:
        raise RecordError("The runs hold no rounds or no draft forwards, so that no costs can be fitted.")
    concurrent, idle, substituted, interpolated = _by_width(calls[True], calls[False])
    return RunCosts(
        verify_concurrent_ms=concurrent,
        verify_idle_ms=idle,
        loop_ms=_mean_ms(loops_ns),
        draft_ms=drafted_ns / forwards / 1e6,
        publish_ms=_mean_ms(published_ns) if published_ns else 0.0,
        substituted=substituted,
        interpolated=interpolated,
    )


def profile_costs(profile: Profile) -> RunCosts:
    """The costs of a profile that a run is timed with."""
    return RunCosts(
        profile.verify_concurrent_ms,
        profile.verify_idle_ms,
        profile.loop_ms,
        profile.draft_overlapped_ms,
        profile.publish_ms,
        interpolated=tuple(sorted({*profile.extrapolated_idle, *profile.extrapolated_concurrent})),
    )


def timing_error(record: RunRecord, costs: RunCosts) -> TimingError:
    """Time a native As²d run's own candidates with mean costs.

    Raises:
        RecordError: the run is not a complete As²d run, or it took no time.
        ProfileError: a width came up that has no cost.
    """
    _check(record)
    tokens = record.tokens
    native_ms = elapsed_ms(record, record.marks["decode_start"].time_ns)
    replayed = _priced(record, costs)
    if replayed.missing_width is not None:
        raise ProfileError(f"Run {record.run_id} needs a cost at width {replayed.missing_width}; there is none.")
    if native_ms <= 0 or replayed.time_ms <= 0:
        raise RecordError(f"Run {record.run_id} committed {len(tokens)} token and took no time; it has no throughput.")
    used = {item.width for item in replayed.round_list or ()}
    return TimingError(
        run_id=record.run_id,
        tokens=len(tokens),
        native_ms=native_ms,
        replayed_ms=replayed.time_ms,
        percent=100 * (native_ms / replayed.time_ms - 1),
        source_complete=not record.rounds[-1].source_running,
        estimated_widths=tuple(sorted(used & {*costs.substituted, *costs.interpolated})),
    )


def timing_agreement(records: Sequence[RunRecord], costs: RunCosts) -> TimingAgreement:
    """Time a set of native runs with the same costs; runs that cannot be timed are named, not dropped."""
    errors: list[TimingError] = []
    excluded: list[tuple[str, str]] = []
    for record in records:
        try:
            errors.append(timing_error(record, costs))
        except As2dError as error:
            excluded.append((record.run_id, str(error)))
    native_ms, replayed_ms = (sum(getattr(e, name) for e in errors) for name in ("native_ms", "replayed_ms"))
    return TimingAgreement(
        errors=tuple(errors),
        pooled_percent=100 * (native_ms / replayed_ms - 1) if errors else None,
        mean_absolute_percent=sum(abs(e.percent) for e in errors) / len(errors) if errors else None,
        excluded=tuple(excluded),
    )


def _check(record: RunRecord) -> None:
    if record.request.method != "as2d":
        raise RecordError(f"Run {record.run_id} is a run of {record.request.method}, not of As²d.")
    check_ended(record)


def check_ended(record: RunRecord) -> None:
    """Raise ``RecordError`` unless the run decoded to its end and says when."""
    if record.status not in ("eos", "capped"):
        raise RecordError(f"Run {record.run_id} is {record.status}; only a run that ended can be compared.")
    if "decode_start" not in record.marks or "eos" not in record.marks:
        raise RecordError(f"Run {record.run_id} does not say when decoding began or the output was complete.")


def elapsed_ms(record: RunRecord, start_ns: int) -> float:
    """Milliseconds from an instant until everything stood still."""
    limits = boundaries(record)
    return 0.0 if limits is None else (limits[1] - start_ns) / 1e6


def _round_costs(record: RunRecord) -> list[RoundCost]:
    """Every round from its boundary to the next, so that the virtual boundaries fall where they fell."""
    calls = {
        span.round: span.start_ns for span in record.spans if span.lane == "target" and span.work in ("verify", "step")
    }
    ends = [item.start_ns for item in record.rounds[1:]] + [record.marks["eos"].time_ns]
    costs = []
    for item, end_ns in zip(record.rounds, ends, strict=False):
        before_ns = calls.get(item.index, item.start_ns) - item.start_ns
        after_ns = end_ns - item.start_ns - before_ns - item.call_ns
        costs.append(RoundCost(before_ns / 1e6, item.call_ns / 1e6, after_ns / 1e6))
    return costs


def _received_schedule(record: RunRecord, origin_ns: int) -> Schedule:
    """Every batch becomes visible at the boundary that took it; what came too late, with the end."""
    end_ms = max(elapsed_ms(record, origin_ns), 0.0)
    ends, times = [], []
    published = 0
    for batch in record.publications:
        published += len(batch.tokens)
        ends.append(published)
        received = end_ms if batch.received_ns is None else (batch.received_ns - origin_ns) / 1e6 - HALF_NS
        times.append(max(received, 0.0))
    stopped = next((item.start_ns for item in record.rounds if not item.source_running), None)
    producer_end_ms = end_ms if stopped is None else max((stopped - origin_ns) / 1e6 - HALF_NS, 0.0)
    producer_end_ms = max([producer_end_ms, *times])
    try:
        # One operation as long as the whole service: a cancelled producer stood still when it did.
        return Schedule(tuple(ends), tuple(times), producer_end_ms, producer_end_ms)
    except TrajectoryError as error:
        raise RecordError(f"Run {record.run_id} did not receive its publications in order: {error}") from error


def _priced(record: RunRecord, costs: RunCosts) -> As2dReplay:
    candidates = record.candidates
    batches = [len(batch.tokens) for batch in record.publications]
    schedule = autoregressive_schedule(len(candidates), record.request.batch_tokens, costs.draft_ms, costs.publish_ms)
    threshold = record.request.threshold
    low = [
        threshold is not None and c is not None and c < threshold
        for batch, size in zip(record.publications, batches, strict=True)
        for c in batch.confidences or [None] * size
    ]
    return replay_as2d(
        record.tokens,
        candidates,
        low,
        schedule.batch_ends,
        schedule.batch_times_ms,
        schedule.producer_end_ms,
        schedule.operation_ms,
        record.request.budget or 0,
        _array(costs.verify_concurrent_ms, costs.loop_ms),
        _array(costs.verify_idle_ms, costs.loop_ms),
        search_window=record.request.search_window,
        output_cap=record.request.max_tokens,
        with_rounds=True,
        width_rule=record.request.width_rule,
    )


def _array(costs: Mapping[int, float], loop_ms: float) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    array = np.full(max(costs, default=0) + 1, np.nan)
    for width, cost in costs.items():
        array[width] = cost + loop_ms
    return array


def _by_width(
    concurrent_ns: Mapping[int, list[int]], idle_ns: Mapping[int, list[int]]
) -> tuple[dict[int, float], dict[int, float], tuple[int, ...], tuple[int, ...]]:
    """Mean cost by width in both states, up to the widest round that was met."""
    met = sorted({*concurrent_ns, *idle_ns})
    if 1 not in met:
        raise RecordError("The runs hold no K = 1 round, so that a round without candidates cannot be priced.")
    tables = []
    for own, other in ((concurrent_ns, idle_ns), (idle_ns, concurrent_ns)):
        known = [_mean_ms(own.get(width) or other[width]) for width in met]
        widths = range(1, met[-1] + 1)
        tables.append({k: float(cost) for k, cost in zip(widths, np.interp(list(widths), met, known), strict=True)})
    substituted = tuple(k for k in met if k not in concurrent_ns or k not in idle_ns)
    return tables[0], tables[1], substituted, tuple(k for k in range(1, met[-1]) if k not in met)


def _mean_ms(values_ns: Sequence[int]) -> float:
    return math.fsum(values_ns) / len(values_ns) / 1e6
