"""What did many requests in a row show? Points in order with what they took, and a sentence for each question."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from as2d_core.calibration.stability import MOST_CLOCK_DROP
from as2d_core.sustained import Drift, Pace, judge_drift, pace_of, trailing_mean
from dashboard.views import numbers
from dashboard.views.run_labels import ended, same_output
from dashboard.views.text import label, lines, paragraph
from dashboard.views.theme import method_of
from datastore.queries import RunRow
from datastore.sweeps import GroupReadings

POSITIONS, BLOCKS, SUSTAINED = "positions", "blocks", "sustained"
WHOLE = ("eos", "capped")
SHORT_S = 180.0
SWEEP_FORMAT = "%.2f"
TRAILING_COLUMN = "Trailing (tok/s)"
"""How every number of the table of requests is written."""
"""A sustained sweep up to this long is drawn over seconds."""
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True)
class Line:
    """All complete requests of one method, in order."""

    method: str
    name: str
    x: Floats
    """Where a point stands: seconds of the recording, or time since the first request in the unit of the axis."""
    tps: Floats
    trailing: Floats
    """Pooled throughput of at most 15 requests up to this one."""
    response_s: Floats
    """Request to complete output, audio preparation left out; NaN where it is not known."""
    preparation_s: Floats
    """The target's encoding and prefill; NaN where it is not known."""
    decode_s: Floats
    run_ids: tuple[str, ...]
    hover: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Failure:
    """A request that did not come to its end."""

    x: float
    run_id: str
    hover: str


@dataclass(frozen=True, eq=False, slots=True)
class SweepInfo:
    """A sweep, ready to be drawn. Sentences are plain text."""

    kind: str
    x_title: str
    x_column: str
    """The same, short, for a table."""
    lines: tuple[Line, ...]
    failures: tuple[Failure, ...]
    sensors: tuple[tuple[str, str, Floats, Floats], ...]
    """Name, unit, x and values of what sensors read; empty for a sweep whose x is no time."""
    paces: Mapping[str, Pace]
    """Blocks: the queue that real time would have made, by method."""
    drifts: Mapping[str, Drift]
    """Sustained: a verdict by method."""
    sentences: tuple[str, ...]
    notes: tuple[str, ...]
    empty: str | None = None


def kind_of(rows: Sequence[RunRow]) -> str:
    """What kind of sweep some runs are: the same view again and again, views end to end, or others."""
    views = list(dict.fromkeys((row.view_start_s or 0.0, row.view_end_s) for row in _ordered(rows)))
    if len(views) <= 1:
        return SUSTAINED
    ends = [a[1] for a in views[:-1]]
    begins = [b[0] for b in views[1:]]
    touching = all(end is not None and abs(end - begin) < 1e-3 for end, begin in zip(ends, begins, strict=True))
    return BLOCKS if touching else POSITIONS


def sweep_info(
    rows: Sequence[RunRow],
    preparation_ms: Mapping[str, float] | None = None,
    readings: GroupReadings | None = None,
    kind: str | None = None,
) -> SweepInfo:
    """Prepare the runs of one sweep.

    Args:
        rows: its runs, warm-ups left out.
        preparation_ms: by run, encoding and prefill of the target.
        readings: what sensors read during the runs.
        kind: ``positions``, ``blocks`` or ``sustained``; ``None`` = as the views of the runs are.
    """
    ordered = _ordered(rows)
    found = kind or kind_of(ordered)
    instants = [row.created_at for row in ordered if row.created_at is not None]
    short = not instants or (max(instants) - instants[0]).total_seconds() < SHORT_S
    unit_s, unit = (1.0, "s") if short else (60.0, "min")
    began = next((row.created_at for row in ordered if row.created_at is not None), None)

    def place(row: RunRow) -> float:
        if found != SUSTAINED:
            return row.view_end_s or 0.0
        return 0.0 if began is None or row.created_at is None else (row.created_at - began).total_seconds() / unit_s

    whole = [row for row in ordered if row.status in WHOLE and row.tps]
    names = list(dict.fromkeys(_name(row) for row in whole))
    lines_ = tuple(_line(name, [r for r in whole if _name(r) == name], place, preparation_ms or {}) for name in names)
    failures = tuple(
        Failure(
            place(row),
            row.run_id,
            lines([f"<b>{label(_name(row))}</b>", ended(row.status), paragraph(row.error or "")]),
        )
        for row in ordered
        if row.status not in WHOLE
    )
    paces = {item.name: _pace(item, whole) for item in lines_} if found == BLOCKS else {}
    drifts = {item.name: judge_drift(item.tps.tolist()) for item in lines_} if found == SUSTAINED else {}
    sensors = _sensors(readings, ordered, place, unit_s) if found == SUSTAINED and readings is not None else ()
    return SweepInfo(
        kind=found,
        x_title=f"since the first request ({unit})" if found == SUSTAINED else "end of the view in the recording (s)",
        x_column=f"Time ({unit})" if found == SUSTAINED else "View ends (s)",
        lines=lines_,
        failures=failures,
        sensors=sensors,
        paces=paces,
        drifts=drifts,
        sentences=tuple(_sentences(found, lines_, paces, drifts, sensors)),
        notes=tuple(_notes(found, ordered, failures, readings)),
        empty=None if lines_ or failures else "No request of this sweep has come to its end yet.",
    )


def sweep_table(info: SweepInfo) -> pd.DataFrame:
    """Every complete request as a row; NaN: n/a."""
    columns = ["Method", "Run", info.x_column, "TPS (tok/s)", TRAILING_COLUMN, "Preparation (s)", "Decoding (s)"]
    columns += ["Response (s)", "Lag in real time (s)"]
    parts = []
    for item in info.lines:
        lag = info.paces[item.name].lag_s if item.name in info.paces else np.full(len(item.x), np.nan)
        values = (item.x, item.tps, item.trailing, item.preparation_s, item.decode_s, item.response_s, lag)
        parts.append(
            pd.DataFrame(dict(zip(columns, ([item.name] * len(item.x), list(item.run_ids), *values), strict=True)))
        )
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)


def sweep_texts(table: pd.DataFrame) -> dict[str, list[str]]:
    """The table as it reads: numbers with two decimals."""

    def text(value: object) -> str:
        return value if isinstance(value, str) else numbers.NA if pd.isna(value) else SWEEP_FORMAT % value

    return {str(name): [text(value) for value in table[name]] for name in table.columns}


def sweep_importance(table: pd.DataFrame) -> list[str]:
    """Which columns are shown first where there is little room: place, throughput, and what a listener waits for."""
    first = ["Method", str(table.columns[2]), "TPS (tok/s)", "Response (s)", "Lag in real time (s)", TRAILING_COLUMN]
    return [*first, *(name for name in table.columns if name not in (*first, "Run")), "Run"]


def _ordered(rows: Sequence[RunRow]) -> list[RunRow]:
    return sorted((row for row in rows if not row.warm_up), key=lambda row: row.run_order or 0)


def _name(row: RunRow) -> str:
    return method_of(row)


def _line(name: str, rows: list[RunRow], place: Callable[[RunRow], float], preparation_ms: Mapping[str, float]) -> Line:
    decode_s = np.array([(row.elapsed_ms or np.nan) / 1e3 for row in rows])
    prepared = np.array([preparation_ms.get(row.run_id, np.nan) / 1e3 for row in rows])
    response = np.array([np.nan if row.response_ms is None else row.response_ms / 1e3 for row in rows])
    x = np.array([place(row) for row in rows], np.float64)
    order = np.argsort(x, kind="stable")
    tokens = np.array([row.committed_tokens for row in rows], np.float64)
    hover = tuple(_hover(rows[i], name, float(prepared[i])) for i in order)
    return Line(
        method=rows[0].method or "",
        name=name,
        x=x[order],
        tps=np.array([row.tps for row in rows], np.float64)[order],
        trailing=trailing_mean(tokens[order].tolist(), decode_s[order].tolist()),
        response_s=response[order],
        preparation_s=prepared[order],
        decode_s=decode_s[order],
        run_ids=tuple(rows[i].run_id for i in order),
        hover=hover,
    )


def _hover(row: RunRow, name: str, prepared_s: float) -> str:
    same = row.matches_target_only
    view = ""
    if row.view_end_s is not None:
        start, end = (numbers.decimals(second, 1) for second in (row.view_start_s or 0.0, row.view_end_s))
        view = f"{start} to {end} s of the recording"
    return lines(
        [
            f"<b>{label(name)}</b>, {label(row.run_id)}",
            view,
            f"{numbers.tps(row.tps)}, {numbers.counted(row.committed_tokens, 'token')}",
            f"response {numbers.duration(row.response_ms)}, preparation {numbers.duration(prepared_s * 1e3)}",
            f"accepted {numbers.part(row.accepted, row.proposed)}" if row.proposed else "",
            "" if same is None else f"output {same_output(same)}",
            ended(row.status) if row.status == "capped" else "",
        ]
    )


def _pace(item: Line, rows: list[RunRow]) -> Pace:
    """The queue behind the target; work is preparation and decoding (Appendix D.6.2)."""
    length = {row.run_id: (row.view_end_s or 0.0) - (row.view_start_s or 0.0) for row in rows}
    work = np.nan_to_num(item.preparation_s) + item.decode_s
    begin = item.x - np.array([length[run] for run in item.run_ids])
    return pace_of((item.x - begin[0]).tolist(), work.tolist(), [length[run] for run in item.run_ids])


def _sensors(
    readings: GroupReadings, rows: list[RunRow], place: Callable[[RunRow], float], unit_s: float
) -> tuple[tuple[str, str, Floats, Floats], ...]:
    begins = {row.run_id: place(row) for row in rows}
    at = np.array([begins.get(str(run), np.nan) for run in readings.run_id]) + readings.offset_s / unit_s
    found = []
    for name, unit, values in (
        ("Battery", "°C", readings.temperature_c),
        ("Fastest core", "MHz", readings.fastest_mhz),
    ):
        known = np.isfinite(values) & np.isfinite(at)
        if known.any():
            order = np.argsort(at[known], kind="stable")
            found.append((name, unit, at[known][order], values[known][order]))
    return tuple(found)


def _sentences(
    kind: str,
    found: Sequence[Line],
    paces: Mapping[str, Pace],
    drifts: Mapping[str, Drift],
    sensors: Sequence[tuple[str, str, Floats, Floats]],
) -> list[str]:
    if kind == SUSTAINED:
        said = [_drifted(item, drifts[item.name]) for item in found]
        return said + [_sensed(name, unit, values) for name, unit, _, values in sensors]
    if kind == BLOCKS:
        return [_paced(item, paces[item.name]) for item in found]
    alone = next((item for item in found if item.method == "target-only"), None)
    return [_placed(item, alone) for item in found]


def _drifted(item: Line, drift: Drift) -> str:
    interval = None if drift.low is None or drift.high is None else (drift.low, drift.high)
    pooled = float(np.nansum(item.tps * item.decode_s) / np.nansum(item.decode_s))
    change = "" if drift.change is None else f", {numbers.signed_percent(drift.change, interval)}"
    count = numbers.counted(len(item.x), "request")
    return f"{item.name}: {count}, {numbers.tps(pooled)} pooled. {drift.reason.rstrip('.')}{change}."


def _sensed(name: str, unit: str, values: Floats) -> str:
    """First, highest and last; a clock by its first and last third, where it is high as long as there is work."""
    if unit == "°C":
        return (
            f"{name}: {numbers.temperature(values[0])} at first, {numbers.temperature(values.max())} at most, "
            f"{numbers.temperature(values[-1])} at the end."
        )
    third = max(len(values) // 3, 1)
    first, last = (float(np.percentile(part, 75)) for part in (values[:third], values[-third:]))
    fell = "; it fell" if last < (1 - MOST_CLOCK_DROP) * first else ""
    return f"{name}: {numbers.count(first)} MHz in the first third, {numbers.count(last)} MHz in the last{fell}."


def _paced(item: Line, pace: Pace) -> str:
    p95, worst = float(np.percentile(pace.lag_s, 95)), float(pace.wait_s.max())
    verdict = "keeps pace with speech" if pace.keeps_pace else "does not keep pace with speech: a backlog grows"
    return (
        f"{item.name}: {pace.active_rtf:.3f} s of work for a second of audio, so it {verdict}. In real time the lag "
        f"after a block would be {numbers.duration(p95 * 1e3)} for 95 % of them, the longest wait "
        f"{numbers.duration(worst * 1e3)} (solved from the measured times)."
    )


def _placed(item: Line, alone: Line | None) -> str:
    said = f"{item.name}: median {numbers.tps(float(np.median(item.tps)))} over {len(item.x)} positions"
    if alone is None or alone is item:
        return f"{said}."
    base = dict(zip(alone.x.tolist(), alone.tps.tolist(), strict=True))
    gains = [100 * (tps / base[x] - 1) for x, tps in zip(item.x.tolist(), item.tps.tolist(), strict=True) if x in base]
    if not gains:
        return f"{said}."
    faster = sum(gain > 0 for gain in gains)
    return (
        f"{said}, faster than target-only at {faster} of {len(gains)} "
        f"({numbers.signed_percent(min(gains))} to {numbers.signed_percent(max(gains))})."
    )


def _notes(kind: str, rows: list[RunRow], failures: tuple[Failure, ...], readings: GroupReadings | None) -> list[str]:
    notes = []
    if failures:
        notes.append(f"{numbers.counted(len(failures), 'request')} did not come to an end; crosses show where.")
    differing = sum(row.matches_target_only is False for row in rows)
    if differing:
        notes.append(f"{numbers.counted(differing, 'request')} gave other tokens than target-only.")
    labels = {row.label for row in rows} | {"virtual" for row in rows if row.virtual}
    if "virtual" in labels:
        notes.append("Ran on a virtual phone, at the speed of the computer behind it.")
    if kind == SUSTAINED and readings is not None and not np.isfinite(readings.temperature_c).any() and rows:
        notes.append(f"Temperature {numbers.NA}: this device's sensors say none.")
    if kind == BLOCKS:
        notes.append("Each block is a request of its own: no audio or text is kept from the block before.")
    return notes
