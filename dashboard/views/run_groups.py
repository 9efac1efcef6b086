"""Which runs belong together when many are compared? Those decoded alike, on one device, with one kind of numbers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from dashboard.views import numbers, text
from dashboard.views.run_labels import kind
from dashboard.views.runs import Row, tokens
from dashboard.views.setting_names import setting_key, setting_names
from dashboard.views.theme import method_of

POOLED = ("eos", "capped")
"""Statuses of runs whose time and tokens count; all others are counted beside the figures."""
BY: Mapping[str, str] = {"setting": "setting", "day": "setting and day", "run": "run"}
"""What runs can be pooled by."""

MOST_NAMED = 4
"""Settings that are named where runs are not pooled."""

EMULATED = ", emulated"

Work = tuple[Any, ...]


@dataclass(frozen=True, eq=False, slots=True)
class RunGroup:
    """Runs that are pooled; failed ones, those that broke off and warm-ups stay with them, and are not pooled."""

    name: str
    method: str
    device: str
    kind: str
    rows: tuple[Row, ...]

    @property
    def pooled(self) -> tuple[Row, ...]:
        """Runs whose time and tokens count."""
        return tuple(row for row in self.rows if counts(row))

    @property
    def left_out(self) -> tuple[tuple[str, int], ...]:
        """Runs that are not pooled: (status or ``warm-up``, how many)."""
        reasons = Counter(_why(row) for row in self.rows if not counts(row))
        return tuple(sorted(reasons.items()))

    @property
    def tps(self) -> float | None:
        """Sum of tokens over sum of time."""
        return pooled_tps(self.pooled)


def run_groups(rows: Sequence[Row], by: str = "setting") -> tuple[RunGroup, ...]:
    """Put runs together, in the order in which their settings first come.

    Args:
        rows: of the store.
        by: one of ``BY``.
    """
    names = setting_names(setting_key(row) for row in rows)
    found: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        more = {"day": _day(row), "run": row.get("run_id")}.get(by)
        found.setdefault((device(row), kind(row), setting_key(row), more), []).append(row)
    devices, kinds = {key[0] for key in found}, {key[1].removesuffix(EMULATED) for key in found}
    out = []
    for key, members in found.items():
        parts = [names[key[2]]]
        parts += [_plain(key[0])] if len(devices) > 1 else []
        slowed = key[1].endswith(EMULATED) and dict(key[2]).get("drafter_pace_ms") is None
        parts += [key[1]] if len(kinds) > 1 else ["emulated"] if slowed else []
        parts += [_plain(str(key[3]))] if key[3] is not None else []
        out.append(RunGroup(", ".join(parts), str(members[0].get("method")), key[0], key[1], tuple(members)))
    return tuple(out)


def counts(row: Row) -> bool:
    """Whether the time and tokens of a run are pooled."""
    timed = bool(row.get("elapsed_ms")) and tokens(row) is not None
    return row.get("status") in POOLED and timed and not row.get("warm_up")


def not_whole(rows: Sequence[Row]) -> str:
    """Which runs are not pooled, and why, in one clause; empty when all are."""
    found = Counter((method_of(row), _why(row)) for row in rows if not counts(row))
    if not found:
        return ""
    most = found.most_common(MOST_NAMED)
    named = [f"{name} ({why})" if many == 1 else f"{many:,} of {name} ({why})" for (name, why), many in most]
    total = found.total()
    rest = total - sum(many for _, many in most)
    named += [f"{rest:,} more"] if rest else []
    return (
        f"{total:,} of them {'is' if total == 1 else 'are'} not pooled: {text.visible(', '.join(named), spaces=False)}"
    )


def _why(row: Row) -> str:
    return "warm-up" if row.get("warm_up") else str(row.get("status"))


def device(row: Row) -> str:
    """The device of a run, by the name that people know."""
    return str(next((row[key] for key in ("device", "device_name", "device_key") if row.get(key)), numbers.NA))


def work(row: Row) -> Work:
    """What was decoded: runs that differ in it are of different windows."""
    window = row.get("window_id") or row.get("audio_sha256") or row.get("audio_path")
    return (window, *(row.get(name) for name in ("view_start_s", "view_end_s", "task", "instruction")))


def pooled_tps(rows: Sequence[Row]) -> float | None:
    """Sum of tokens over sum of time of runs that count; ``None`` without any."""
    time_ms = sum(row["elapsed_ms"] for row in rows)
    return sum(tokens(row) or 0 for row in rows) / time_ms * 1e3 if time_ms > 0 else None


def _day(row: Row) -> str:
    when = row.get("created_at")
    return f"{when:%Y-%m-%d}" if isinstance(when, datetime) else numbers.NA


def _plain(value: str) -> str:
    return text.shortened(text.visible(value, spaces=False), 40)
