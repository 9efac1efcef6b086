"""Which runs are there? The store's rows as a table that shows formatted values and still sorts by the numbers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dashboard.views import numbers, text
from dashboard.views.run_labels import ended, kind, same_output
from dashboard.views.theme import method_of

Row = Mapping[str, Any]

COLUMN_HELP: Mapping[str, str] = {
    "Run": "Id of the run; a unique beginning of it is enough anywhere.",
    "Started": "When the run was made, UTC.",
    "Device": "The phone or computer it ran on, or whose costs were charged.",
    "Method": "Decoding method with its budget b, width K or cap.",
    "Window": "The audio window that was transcribed.",
    "Status": "How the run ended: EOS, by itself, when the target says its end-of-sequence token; at the output cap; "
    "all others have no TPS.",
    "TPS": "Committed tokens per second after prefill, producer drain included (tok/s).",
    "Time": "Time after prefill, producer drain included.",
    "Tokens": "Committed tokens, the first one and EOS included.",
    "Accepted": "Share of the proposed candidates that the target accepted.",
    "Output": "Whether the tokens are those of target-only on the same work.",
    "Kind": "Where the numbers come from: measured, replayed or synthetic; virtual: on a virtual phone; "
    "emulated: with a slowed-down drafter.",
    "Tags": "What people wrote on the run.",
}
"""What each column means; shown when a reader points at its head."""

IMPORTANCE = (
    "Method",
    "Window",
    "Status",
    "TPS",
    "Started",
    "Kind",
    "Output",
    "Tags",
    "Device",
    "Time",
    "Accepted",
    "Tokens",
    "Run",
)
"""Which columns are shown first where there is little room."""


@dataclass(frozen=True, eq=False, slots=True)
class RunsInfo:
    """``table`` holds numbers (NaN: missing) and text; ``formats`` says how each column is written."""

    table: pd.DataFrame
    formats: Mapping[str, Callable[[Any], str]]
    help: Mapping[str, str]
    run_ids: tuple[str, ...]
    """Full id of each row, for selections."""

    @property
    def shown(self) -> pd.DataFrame:
        """The table as it reads, all text."""
        return pd.DataFrame(
            {name: [self.formats[name](value) for value in self.table[name]] for name in self.table.columns},
            index=self.table.index,
        )


def runs_info(rows: Sequence[Row]) -> RunsInfo:
    """Table of runs in the given order. A column that a row lacks is missing there, never 0."""
    columns: dict[str, list[Any]] = {name: [value(row) for row in rows] for name, (value, _) in _COLUMNS.items()}
    values = pd.DataFrame(columns)
    for name in ("TPS", "Time", "Tokens", "Accepted"):
        values[name] = pd.to_numeric(pd.Series(columns[name], dtype="object"), errors="coerce").astype("float64")
    return RunsInfo(
        table=values,
        formats={name: form for name, (_, form) in _COLUMNS.items()},
        help=COLUMN_HELP,
        run_ids=tuple(str(row.get("run_id")) for row in rows),
    )


def runs_styled(info: RunsInfo) -> Any:
    """The table as a pandas ``Styler``: a grid shows the text and sorts by the numbers behind it.

    A grid writes missing numbers its own way: hand it ``numbers.NA`` as its placeholder.
    """
    return info.table.style.format(dict(info.formats))


def tokens(row: Row) -> int | None:
    """Committed tokens of a row, whichever of its two names the column has."""
    return row.get("committed_tokens", row.get("tokens"))


def _text(name: str) -> Callable[[Row], str]:
    def value(row: Row) -> str:
        found = row.get(name)
        return numbers.NA if found is None or found == "" else text.shortened(text.visible(str(found), spaces=False))

    return value


def _device(row: Row) -> str:
    name = next((row[key] for key in ("device", "device_name", "device_key") if row.get(key)), None)
    return _text("name")({"name": name})


def _started(row: Row) -> str:
    return text.shortened(text.visible(numbers.moment(row.get("created_at"), ""), spaces=False))


def _method(row: Row) -> str:
    shown = method_of(row)
    return text.shortened(text.visible(shown, spaces=False))


def _accepted(row: Row) -> float | None:
    proposed, accepted = row.get("proposed"), row.get("accepted")
    return accepted / proposed if proposed and accepted is not None else None


def _equal(row: Row) -> str:
    return same_output(row.get("matches_target_only"))


def _tags(row: Row) -> str:
    found = row.get("tags") or ()
    names = [found] if isinstance(found, str) else [str(tag) for tag in found]
    return text.shortened(text.visible(", ".join(names), spaces=False))


_COLUMNS: Mapping[str, tuple[Callable[[Row], Any], Callable[[Any], str]]] = {
    "Run": (_text("run_id"), str),
    "Started": (_started, str),
    "Device": (_device, str),
    "Method": (_method, str),
    "Window": (_text("window_id"), str),
    "Status": (lambda row: ended(_text("status")(row)), str),
    "TPS": (lambda row: row.get("tps"), numbers.tps),
    "Time": (lambda row: row.get("elapsed_ms"), numbers.duration),
    "Tokens": (tokens, numbers.count),
    "Accepted": (_accepted, numbers.share),
    "Output": (_equal, str),
    "Kind": (kind, str),
    "Tags": (_tags, str),
}
