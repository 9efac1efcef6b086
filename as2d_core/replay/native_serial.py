"""Does replay agree with a serial run that really happened? Round by round, and in time (Appendix D.3).

The run's own record says what the drafter answered, and how long every round drafted and verified.
Given back, the method must take the same rounds: the same drafts, reused suffixes, widths, accepted
counts and commits.
"""

import math
from collections.abc import Sequence

from as2d_core.engines.base import Draft
from as2d_core.engines.drafting import CacheModel
from as2d_core.engines.scripted import (
    ListRecorder,
    Prediction,
    Prefix,
    RoundCost,
    ScriptedModel,
    ScriptedTarget,
    VirtualClock,
)
from as2d_core.errors import EngineError, ProfileError, RecordError
from as2d_core.methods import method
from as2d_core.profiles.profile import Profile
from as2d_core.records import RunRecord, Span
from as2d_core.replay.native import (
    NO_TOKEN,
    NativeReplay,
    TimingError,
    check_ended,
    compare_rounds,
    elapsed_ms,
    replay_run,
)
from as2d_core.replay.specasr import asp_costs
from as2d_core.replay.states import UNRECORDED_TOKEN, RecordedDrafter

SERIAL_METHODS = ("target-only", "sd", "specasr")


def replay_native(record: RunRecord) -> NativeReplay:
    """Replay a native run of any method with its own measured costs.

    Raises:
        RecordError: the run did not end, or is no run of a method.
    """
    return replay_run(record) if record.request.method == "as2d" else replay_serial_run(record)


def replay_serial_run(record: RunRecord) -> NativeReplay:
    """Replay a native run of target-only, standard SD or SpecASR with its own answers and costs.

    Raises:
        RecordError: the run is not a complete run of a serial method.
    """
    _check(record)
    rounds = record.rounds
    origin_ns = rounds[0].start_ns if rounds else record.marks["eos"].time_ns
    clock = VirtualClock()
    eos = record.tokens[-1] if record.status == "eos" else NO_TOKEN
    works = [_Work.of(record, i) for i in range(len(rounds))]
    target = ScriptedTarget(clock, record.tokens, eos, [work.target for work in works])
    drafter = None if record.request.method == "target-only" else _RunDrafter(clock, _answers(record, eos), eos, works)
    recorder = ListRecorder(clock)
    problem = None
    try:
        method(record.request.method)(target, drafter, record.request, recorder)
    except (EngineError, RecordError) as error:
        problem = str(error)
    return compare_rounds(record, recorder, origin_ns, problem)


def serial_timing_error(record: RunRecord, profile: Profile) -> TimingError:
    """Time a native serial run's own rounds with a profile's mean costs.

    Raises:
        RecordError: the run is not a complete run of a serial method, or it took no time.
        ProfileError: a width came up that has no cost.
    """
    _check(record)
    native_ms = elapsed_ms(record, record.marks["decode_start"].time_ns)
    replayed_ms = _priced_ms(record, profile)
    if native_ms <= 0 or replayed_ms <= 0:
        raise RecordError(f"Run {record.run_id} committed {len(record.tokens)} token and took no time.")
    used = {item.width for item in record.rounds}
    return TimingError(
        run_id=record.run_id,
        tokens=len(record.tokens),
        native_ms=native_ms,
        replayed_ms=replayed_ms,
        percent=100 * (native_ms / replayed_ms - 1),
        source_complete=True,
        estimated_widths=tuple(sorted(used & set(profile.extrapolated_idle))),
    )


def _check(record: RunRecord) -> None:
    if record.request.method not in SERIAL_METHODS:
        raise RecordError(f"Run {record.run_id} is a run of {record.request.method}, not of a serial method.")
    check_ended(record)


def _priced_ms(record: RunRecord, profile: Profile) -> float:
    """Target-only steps pay no loop cost; a verification round does."""
    if record.request.method == "target-only":
        return len(record.rounds) * profile.target_step_ms
    costs = asp_costs(profile, "serial")
    total_ms = []
    for item in record.rounds:
        verify_ms = profile.verify_idle_ms.get(item.width)
        if verify_ms is None:
            raise ProfileError(f"Run {record.run_id} needs a cost at width {item.width}; there is none.")
        total_ms.append(verify_ms + profile.loop_ms)
    for span in record.spans:
        if span.lane == "drafter" and span.work == "draft":
            refreshes = _refreshes(span)
            total_ms.append((span.operations - len(refreshes)) * costs.draft_ms)
            total_ms += [costs.refresh_base_ms + width * costs.refresh_token_ms for width in refreshes]
            if record.request.method == "specasr":
                total_ms.append(span.operations * costs.confidence_row_ms)
    return math.fsum(total_ms)


def _refreshes(span: Span) -> list[int]:
    widths = span.extra.get("refresh_widths", ())
    return [int(width) for width in widths]


class _Work:
    """What one native round took: drafting up to the target's call, the call, and the rest."""

    def __init__(self, draft_ms: float, forwards: int, target: RoundCost) -> None:
        self.draft_ms, self.forwards, self.target = draft_ms, forwards, target

    @classmethod
    def of(cls, record: RunRecord, index: int) -> "_Work":
        item = record.rounds[index]
        last = index + 1 == len(record.rounds)
        end_ns = record.marks["eos"].time_ns if last else record.rounds[index + 1].start_ns
        call = next(
            (s for s in record.spans if s.lane == "target" and s.round == item.index and s.work in ("verify", "step")),
            None,
        )
        if call is None:
            raise RecordError(f"Run {record.run_id} does not say when round {item.index} called the target.")
        drafts = [
            s
            for s in record.spans
            if s.lane == "drafter" and s.work == "draft" and item.start_ns <= s.start_ns and s.end_ns <= call.start_ns
        ]
        drafted_ns = max((s.end_ns for s in drafts), default=item.start_ns)
        return cls(
            (drafted_ns - item.start_ns) / 1e6,
            sum(s.operations for s in drafts),
            RoundCost(
                (call.start_ns - drafted_ns) / 1e6, (call.end_ns - call.start_ns) / 1e6, (end_ns - call.end_ns) / 1e6
            ),
        )


class _RunDrafter:
    """A run's drafter once more: its answers, and in every round the time that it took there."""

    def __init__(
        self, clock: VirtualClock, answers: dict[Prefix, Prediction], eos: int, works: Sequence[_Work]
    ) -> None:
        self._works = works
        self._round = -1

        def forward_ms(_: int) -> float:
            work = works[self._round] if self._round < len(works) else None
            return 0.0 if work is None or not work.forwards else work.draft_ms / work.forwards

        def answer(read: Prefix) -> Prediction:
            return answers.get(read, (UNRECORDED_TOKEN, 0.0))

        model: CacheModel = ScriptedModel(clock, answer, eos, forward_ms)
        self._drafter = RecordedDrafter(model)

    def draft_fixed(self, committed: Sequence[int], count: int) -> Draft:
        self._round += 1
        return self._drafter.draft_fixed(committed, count)

    def draft_adaptive(
        self,
        committed: Sequence[int],
        cap: int,
        threshold: float | None,
        old_branch: Sequence[int],
        old_confidences: Sequence[float],
    ) -> Draft:
        self._round += 1
        return self._drafter.draft_adaptive(committed, cap, threshold, old_branch, old_confidences)


def _answers(record: RunRecord, eos: int) -> dict[Prefix, Prediction]:
    """What the drafter said after every prefix that it drafted from, and whether it was sure.

    A run record does not keep confidences; a token is unsure where the draft ended because of it.
    """
    answers: dict[Prefix, Prediction] = {}
    tokens = record.tokens
    committed = 1
    for item in record.rounds:
        read = tuple(tokens[:committed])
        for k, (token, origin) in enumerate(zip(item.candidates, item.origins, strict=True)):
            if origin == "d":
                unsure = item.width_reason == "confidence" and k == len(item.candidates) - 1
                answers[read] = (token, 0.0 if unsure else 1.0)
            read = (*read, token)
        if item.width_reason == "drafter end":
            answers[read] = (eos, 1.0)
        committed += len(item.committed)
    return answers
