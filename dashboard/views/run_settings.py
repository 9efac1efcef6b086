"""In what do runs differ? Their settings side by side, all of them or the differences only."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dashboard.views import numbers, text
from dashboard.views.run_groups import RunGroup
from dashboard.views.run_labels import kind
from dashboard.views.runs import Row
from dashboard.views.setting_names import rule_name, uses
from dashboard.views.theme import METHOD_NAMES

MOST_SPELLED = 3
SHORT_HASH = 12
OWN = ("budget", "width_rule", "width", "draft_cap", "threshold", "search_window", "batch_tokens", "drafter_threads")
"""Settings that only some methods have a use for; of the others they are n/a, whatever the request says."""


@dataclass(frozen=True, slots=True)
class SettingsInfo:
    """One row a setting, one column a group."""

    groups: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    """Name and a value for each group."""
    same: int
    """Settings in which all agree."""

    @property
    def table(self) -> pd.DataFrame:
        """The rows as a table."""
        names = [f"{name} ({k})" if name in self.groups[:k] else name for k, name in enumerate(self.groups)]
        frame = {"Setting": [name for name, _ in self.rows]}
        return pd.DataFrame(frame | {name: [values[k] for _, values in self.rows] for k, name in enumerate(names)})

    @property
    def sentence(self) -> str:
        """How many settings are not shown."""
        if not self.rows:
            return f"All {self.same} settings are the same."
        return f"They agree in {numbers.counted(self.same, 'other setting')}." if self.same else ""


def settings_info(groups: Sequence[RunGroup], differences_only: bool = True) -> SettingsInfo:
    """Lay the settings of groups beside each other; within a group, values that differ are named together.

    Args:
        groups: see ``run_groups``.
        differences_only: leave out settings in which all runs agree.
    """
    rows, same = [], 0
    for name, read in FIELDS.items():
        values = [_joined([read(row) for row in group.rows]) for group in groups]
        alone = len(groups) == 1 and any(";" in value for value in values)
        agreed = len(set(values)) <= 1 and not alone
        same += agreed
        if not (agreed and differences_only):
            rows.append((name, tuple(values)))
    if not differences_only:
        same = 0
    return SettingsInfo(tuple(text.visible(group.name, spaces=False) for group in groups), tuple(rows), same)


def _joined(values: Sequence[str]) -> str:
    unique = sorted(set(values))
    if len(unique) > MOST_SPELLED:
        return f"{len(unique):,} values; {unique[0]} ..."
    return "; ".join(unique)


def _plain(name: str) -> Callable[[Row], str]:
    def read(row: Row) -> str:
        value = row.get(name) if name not in OWN or uses(row, name) else None
        if value is None or value == "":
            return numbers.NA
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, float):
            return f"{value:g}"
        return text.shortened(text.visible(str(value).replace(";", ","), spaces=False), 80)

    return read


def _model(role: str) -> Callable[[Row], str]:
    def read(row: Row) -> str:
        if role == "drafter" and not uses(row, "drafter_name"):
            return numbers.NA
        name, digest = row.get(f"{role}_name"), row.get(f"{role}_sha256")
        if not name and not digest:
            return numbers.NA
        return _plain("name")({"name": f"{name or numbers.NA} ({(digest or numbers.NA)[:SHORT_HASH]})"})

    return read


def _method(row: Row) -> str:
    return METHOD_NAMES.get(str(row.get("method")), _plain("method")(row))


def _pace(row: Row) -> str:
    if not uses(row, "drafter_pace_ms"):
        return numbers.NA
    pace = row.get("drafter_pace_ms")
    return "none" if pace is None else f"{numbers.duration(pace)} a token (emulated)"


def _rule(row: Row) -> str:
    if not uses(row, "width_rule"):
        return numbers.NA
    rule = row.get("width_rule")
    return "none" if rule is None else rule_name(rule)


def _device(row: Row) -> str:
    return _plain("name")({"name": row.get("device_name") or row.get("device_key")})


def _day(row: Row) -> str:
    when: Any = row.get("created_at")
    return numbers.NA if when is None else str(when)[:10]


FIELDS: Mapping[str, Callable[[Row], str]] = {
    "Device": _device,
    "Kind of numbers": kind,
    "Method": _method,
    "Budget b": _plain("budget"),
    "Width K": _plain("width"),
    "Draft cap": _plain("draft_cap"),
    "Confidence threshold": _plain("threshold"),
    "Width rule": _rule,
    "Search window": _plain("search_window"),
    "Batch": _plain("batch_tokens"),
    "Plain K = 1 steps": _plain("plain_step"),
    "Drafter paced": _pace,
    "Target": _model("target"),
    "Drafter": _model("drafter"),
    "Back-end": _plain("backend"),
    "Target threads": _plain("target_threads"),
    "Drafter threads": _plain("drafter_threads"),
    "Precision": _plain("precision"),
    "Memory": _plain("memory"),
    "Output cap": _plain("max_tokens"),
    "Task": _plain("task"),
    "Instruction": _plain("instruction"),
    "Window": _plain("window_id"),
    "Program": _plain("runner_version"),
    "MNN": _plain("mnn_version"),
    "Day": _day,
    "Started together": _plain("group_id"),
}
"""Name of a setting -> what a run says of it."""
