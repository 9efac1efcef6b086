"""Does replay agree with native runs, in what they decided and in how fast they were? (Appendix D.3)

Decisions are compared with each run's own measured costs given back: every round must come out as it
was. Throughput is compared with mean costs, as a prediction would have used them.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from as2d_core.errors import As2dError, RecordError
from as2d_core.profiles.profile import Profile
from as2d_core.records import RunRecord
from as2d_core.replay.native import NativeReplay, RunCosts, TimingError, fit_costs, profile_costs, timing_error
from as2d_core.replay.native_serial import SERIAL_METHODS, replay_native, serial_timing_error

FITTED = "these runs"
"""Where costs come from when no profile is given: As²d runs are timed with their own means."""


@dataclass(frozen=True, slots=True)
class RunAgreement:
    """One native run against its replay."""

    run_id: str
    method: str
    window: str
    replay: NativeReplay | None
    """``None`` when it could not be replayed at all."""
    timing: TimingError | None
    problem: str | None
    """Why a comparison is missing."""

    @property
    def equal(self) -> bool | None:
        """Whether every round decided alike; ``None`` when it could not be replayed."""
        return None if self.replay is None else self.replay.equal

    @property
    def differing_rounds(self) -> int | None:
        """Rounds that decided otherwise."""
        return None if self.replay is None else sum(not item.equal for item in self.replay.rounds)


@dataclass(frozen=True, slots=True)
class PooledError:
    """Errors of predicted throughput over some runs, in percent of native TPS; ``None`` without any."""

    name: str
    """A method, a window, or ``all``."""
    runs: int
    """All of them, compared or not."""
    timed: int
    equal: int
    """Runs whose rounds all decided alike."""
    signed: float | None
    """From pooled TPS on both sides; below zero, replay is too slow."""
    mean_absolute: float | None
    """Mean over windows of the absolute error, repetitions of a window and method pooled first."""
    max_absolute: float | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """A set of native runs against replay."""

    costs: str
    """Whose mean costs: the id of a profile, or ``FITTED``."""
    runs: tuple[RunAgreement, ...]
    by_method: tuple[PooledError, ...]
    by_window: tuple[PooledError, ...]
    overall: PooledError


def agreement(
    records: Iterable[RunRecord], profile: Profile | None = None, report: Callable[[str], None] = lambda _: None
) -> Agreement:
    """Replay native runs and predict their throughput.

    Args:
        records: runs of target-only, standard SD, SpecASR or As²d. What cannot be compared is named, not dropped.
        profile: whose mean costs; ``None`` = As²d runs are timed with the means of these very runs, and
            serial runs are not timed.
        report: told the run that is being compared.

    Raises:
        RecordError: there are no runs.
    """
    whole = list(records)
    if not whole:
        raise RecordError("There are no runs to compare with; give runs that decoded to their end.")
    costs, problem = _costs(whole, profile)
    found = []
    for i, record in enumerate(whole):
        report(f"Replaying native runs, {i + 1} of {len(whole)}.")
        found.append(_compared(record, profile, costs, problem))
    methods = dict.fromkeys(item.method for item in found)
    windows = dict.fromkeys(item.window for item in found)
    return Agreement(
        FITTED if profile is None else profile.id,
        tuple(found),
        tuple(_pooled(name, [item for item in found if item.method == name]) for name in methods),
        tuple(_pooled(name, [item for item in found if item.window == name]) for name in windows),
        _pooled("all", found),
    )


def _costs(records: Sequence[RunRecord], profile: Profile | None) -> tuple[RunCosts | None, str | None]:
    if profile is not None:
        return profile_costs(profile), None
    usable = [r for r in records if r.request.method == "as2d" and r.status in ("eos", "capped") and r.rounds]
    if not usable:
        return None, "No As²d run has rounds that costs could be fitted to; give a profile."
    try:
        return fit_costs(usable), None
    except RecordError as error:
        return None, str(error)


def _compared(record: RunRecord, profile: Profile | None, costs: RunCosts | None, no_costs: str | None) -> RunAgreement:
    method = record.request.method
    problems: list[str] = []
    replayed = timing = None
    try:
        replayed = replay_native(record)
    except As2dError as error:
        problems.append(str(error))
    else:
        if replayed.problem:
            problems.append(replayed.problem)
        try:
            timing = _timed(record, profile, costs, no_costs)
        except As2dError as error:
            problems.append(str(error))
    window = record.request.audio.window_id or record.request.audio.path
    return RunAgreement(record.run_id, method, window, replayed, timing, " ".join(problems) or None)


def _timed(record: RunRecord, profile: Profile | None, costs: RunCosts | None, no_costs: str | None) -> TimingError:
    if record.request.method in SERIAL_METHODS:
        if profile is None:
            raise RecordError(f"Run {record.run_id} is timed with a profile only; give one.")
        return serial_timing_error(record, profile)
    if costs is None:
        raise RecordError(no_costs or "There are no costs.")
    return timing_error(record, costs)


def _pooled(name: str, runs: Sequence[RunAgreement]) -> PooledError:
    windows: dict[tuple[str, str], list[TimingError]] = {}
    for item in runs:
        if item.timing is not None:
            windows.setdefault((item.method, item.window), []).append(item.timing)
    timed = [error for errors in windows.values() for error in errors]
    absolute = [abs(_percent(errors)) for errors in windows.values()]
    return PooledError(
        name=name,
        runs=len(runs),
        timed=len(timed),
        equal=sum(item.equal is True for item in runs),
        signed=_percent(timed) if timed else None,
        mean_absolute=sum(absolute) / len(absolute) if absolute else None,
        max_absolute=max(absolute, default=None),
    )


def _percent(errors: Sequence[TimingError]) -> float:
    native_ms, replayed_ms = sum(e.native_ms for e in errors), sum(e.replayed_ms for e in errors)
    return 100 * (native_ms / replayed_ms - 1)
