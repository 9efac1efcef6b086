"""What is measured, in which order, what of it is there already, and how long will the rest take? (B.2, D.2)

A cell is one kind of measurement: a width at a cache offset, idle or beside the drafter; a drafter's
operation; one method on the whole window. Every cell has one warm-up and then its formal turns. What
was measured before an interruption is counted by cell, and not measured again.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from as2d_core.errors import RequestError
from as2d_core.gates import Gates
from as2d_core.operation_records import Sample
from as2d_core.records import Mark, RunRecord

OFFSETS_TOKENS = (0, 64, 128)
REPETITIONS = 5
MAX_WIDTH = 16
BUSY_TOKENS = 96
REFRESH_WIDTHS = tuple(range(1, MAX_WIDTH + 1))
EPISODES = ("target-only", "as2d", "sd")
"""Methods whose whole runs are measured: concurrent costs, publication, drafting, the rest of a round."""
DRAFTER_CALLS = 16
"""Calls of one turn of a drafter's single step; wider operations take fewer."""
TRYING = "trying width "
"""Start of the mark that is left before a width is tried for the first time."""
_KNOWN = {"repetitions": (1, 100), "max_width": (1, 64), "episodes": (0, 100), "seed": (0, 2**31)}
_NAMED = (*_KNOWN, "offsets_tokens", "done", "profile")


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured; read from ``request.options``."""

    repetitions: int = REPETITIONS
    max_width: int = MAX_WIDTH
    offsets_tokens: tuple[int, ...] = OFFSETS_TOKENS
    episodes: int = REPETITIONS
    seed: int = 20260915
    done: Mapping[str, int] = field(default_factory=dict)
    """Turns of each cell that were measured before, the warm-up counted."""

    @property
    def turns(self) -> range:
        """Turns of a sweep: -1 is the warm-up."""
        return range(-1, self.repetitions)

    @property
    def episode_turns(self) -> range:
        """Turns of the episodes: -1 is the warm-up; empty when there are none."""
        return range(-1, self.episodes) if self.episodes else range(0)

    def wants(self, cell: str, turn: int) -> bool:
        """Whether a turn of a cell is still to be measured."""
        return turn + 1 >= self.done.get(cell, 0)


def plan_from(options: Any) -> Plan:
    """The plan in a request's options.

    Raises:
        RequestError: an option is unknown or out of range.
    """
    values: dict[str, Any] = {}
    for name, value in dict(options).items():
        if name not in _NAMED:
            raise RequestError(f"Calibration knows no option {name!r}; known: {', '.join(_NAMED)}.")
        if name == "offsets_tokens":
            if not isinstance(value, list | tuple) or not value or not all(_whole(v, 0, 512) for v in value):
                raise RequestError("offsets_tokens is a list of cache offsets from 0 to 512 tokens.")
            values[name] = tuple(sorted(value))
        elif name == "done":
            if not isinstance(value, Mapping) or not all(_whole(v, 0, 200) for v in value.values()):
                raise RequestError("done counts the turns of each cell that were measured before.")
            values[name] = dict(value)
        elif name == "profile":
            if not isinstance(value, str):
                raise RequestError("The calibration option profile is the name of the profile that is measured.")
        elif not _whole(value, *_KNOWN[name]):
            low, high = _KNOWN[name]
            raise RequestError(f"The calibration option {name} is {value!r}; choose {low} to {high}.")
        else:
            values[name] = value
    return Plan(**values)


def sweep_cell(width: int | None, offset_tokens: int, running: bool) -> str:
    """Name of a cell of the sweep; ``None`` = a target-only step."""
    return f"{'step' if width is None else f'verify.{width}'}@{offset_tokens}{'+' if running else ''}"


def drafter_cell(name: str, width: int | None = None) -> str:
    """Name of a cell of the drafter alone."""
    return name if width is None else f"{name}.{width}"


def episode_cell(method: str) -> str:
    """Name of the cell of one method's whole runs."""
    return f"episode {method}"


def turns_done(samples: Iterable[Sample], before: Mapping[str, int] | None = None) -> dict[str, int]:
    """Turns of each cell that are in the samples, the warm-up counted: ``Plan.done`` of what goes on from here.

    An episode leaves its samples at its end, so that one that was interrupted is measured again.

    Args:
        before: turns of each cell that other runs had measured.
    """
    seen: dict[str, set[int]] = defaultdict(set)
    for known, count in (before or {}).items():
        seen[known].update(range(-1, count - 1))
    for sample in samples:
        cell = _cell(sample)
        if cell is not None and "failed" not in sample.extra:
            seen[cell].add(-1 if sample.warm_up else sample.repetition)
    # Turns are measured in order; a gap (there is none unless somebody edits a log) is measured again.
    return {cell: next(n for n in range(len(turns) + 1) if n - 1 not in turns) for cell, turns in seen.items()}


def cells(plan: Plan, max_width: int | None = None) -> Iterator[tuple[str, int]]:
    """Every cell and how many turns it gets, the warm-up counted."""
    for running in (False, True):
        for offset in plan.offsets_tokens:
            for width in (None, *range(1, (max_width or plan.max_width) + 1)):
                yield sweep_cell(width, offset, running), len(plan.turns)
    for name, width in drafter_operations():
        yield drafter_cell(name, width), len(plan.turns)
    for method in EPISODES if plan.episodes else ():
        yield episode_cell(method), len(plan.episode_turns)


def drafter_operations() -> list[tuple[str, int | None]]:
    """What is measured of the drafter alone: its name and width."""
    refreshes: list[tuple[str, int | None]] = [("refresh", width) for width in REFRESH_WIDTHS]
    return [("draft", None), ("paired", None), ("confidence", None), *refreshes]


def share_done(plan: Plan, done: Mapping[str, int], max_width: int | None = None) -> float:
    """Share of all turns that were measured, from 0 to 1."""
    total = made = 0
    for cell, turns in cells(plan, max_width):
        total += turns
        made += min(turns, done.get(cell, 0))
    return made / total if total else 1.0


@dataclass(frozen=True, slots=True)
class FailedWidth:
    """The first width that a device cannot verify."""

    width: int
    reason: str


def failed_width(records: Iterable[RunRecord]) -> FailedWidth | None:
    """The narrowest width that failed in any run, with what was said about it; ``None`` when none did.

    A width fails with a sentence of the engine; or it takes the target process with it, and then the
    last thing the run says is that it is trying that width. A stream without an end may have been cut
    off for another reason: there the same width must be the last word twice.
    """
    found: dict[int, str] = {}
    cut_off: dict[int, int] = defaultdict(int)
    for record in records:
        tried = {width for name in record.marks if (width := _tried(name)) is not None}
        measured = {s.width for s in record.samples if s.name == "verify"}
        for s in record.samples:
            if "failed" in s.extra and s.width is not None:
                found.setdefault(s.width, str(s.extra["failed"]))
        open_ = tried - measured
        if not open_ or record.status == "cancelled":
            continue
        width = max(open_)
        if record.status == "failed" and record.end is not None:
            if "stops_batch" not in record.end.extra:
                found.setdefault(width, record.end.error or "the run failed")
        elif record.status == "incomplete":
            cut_off[width] += 1
            if cut_off[width] > 1:
                found.setdefault(width, "the runner was lost twice while it was trying this width")
    return FailedWidth(min(found), found[min(found)]) if found else None


def trying(width: int, time_ns: int) -> Mark:
    """The mark that is left, and sent, before a width is tried for the first time."""
    return Mark(f"{TRYING}{width}", time_ns)


def expected_seconds(
    plan: Plan,
    gates: Gates | None,
    step_ms: float,
    draft_ms: float,
    tokens: int,
    audio_s: float = 0.0,
) -> float:
    """How long what is left of a plan takes on one window, roughly.

    Args:
        step_ms, draft_ms: one target step and one draft step on the device, guessed or known.
        tokens: length of the target's output.
        audio_s: length of the window, for its prefill.
    """
    pause_s = 0.0 if gates is None else gates.rest_s + gates.check_gap_s * (gates.checks - 1)
    total_s = 0.0
    for running in (False, True):
        for turn in plan.turns:
            open_ = [
                (width, offset)
                for offset in plan.offsets_tokens
                for width in (None, *range(1, plan.max_width + 1))
                if plan.wants(sweep_cell(width, offset, running), turn)
            ]
            if open_:
                slowed = 1.3 if running else 1.0
                calls = sum(1.0 if width is None else 0.9 + 0.12 * width for width, _ in open_)
                total_s += pause_s + slowed * step_ms / 1e3 * (calls + max(plan.offsets_tokens))
    for turn in plan.turns:
        operations = [(n, w) for n, w in drafter_operations() if plan.wants(drafter_cell(n, w), turn)]
        if operations:
            total_s += pause_s + draft_ms / 1e3 * sum(DRAFTER_CALLS if w is None else 2 + w / 4 for _, w in operations)
    for turn in plan.episode_turns:
        for method in EPISODES:
            if plan.wants(episode_cell(method), turn):
                total_s += pause_s + tokens * step_ms / 1e3
    prepare_s = (plan.offsets_tokens[-1] + plan.max_width) * step_ms / 1e3 + 0.1 * audio_s
    return total_s + (prepare_s if total_s else 0.0)


def _cell(sample: Sample) -> str | None:
    if sample.origin == "episode":
        return episode_cell(str(sample.extra.get("method"))) if sample.name == "loop" else None
    if sample.name in ("verify", "step") and sample.offset_tokens is not None:
        return sweep_cell(sample.width, sample.offset_tokens, sample.running)
    if sample.running or (sample.name, sample.width) not in drafter_operations():
        return None  # drafting beside a sweep belongs to the sweep
    return drafter_cell(sample.name, sample.width)


def _tried(name: str) -> int | None:
    number = name.removeprefix(TRYING)
    return int(number) if name.startswith(TRYING) and number.isdecimal() else None


def _whole(value: Any, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
