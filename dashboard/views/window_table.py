"""What are the figures of every window? A table that shows formatted values and sorts by the numbers behind them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from dashboard.views import numbers, text
from dashboard.views.window_reasons import reason, signed
from dashboard.views.window_set import Timed, WindowSet

MOST_ROWS = 300
"""Rows that a page shows; files hold all of them."""
ALWAYS = ("Subset", "Task")
"""Columns that are shown even when they say the same everywhere."""
MAIN = ("Window", "Subset", "Audio", "Tokens", "K = 1 time", numbers.AGAINST, "Gap", "Accepted", "Left out")
"""Columns that are shown at first, with the time of the chosen setting: they have room on a page 900 px wide."""
ORDERS: Mapping[str, tuple[str, bool]] = {
    "Largest loss first": ("gain", True),
    "Largest gain first": ("gain", False),
    "Largest gap first": ("gap", False),
    "Longest audio first": ("audio", False),
    "Most tokens first": ("tokens", False),
    "By name": ("name", True),
}
"""Name of an order -> what it looks at, and whether it rises."""


@dataclass(frozen=True, eq=False, slots=True)
class WindowTable:
    """``table`` holds numbers (NaN: n/a) and text; ``formats`` says how each column is written."""

    table: pd.DataFrame
    formats: Mapping[str, Callable[[Any], str]]
    help: Mapping[str, str]
    rows: tuple[int, ...]
    """Which window of the set each row is."""
    chosen: str = ""
    """The setting that the table is about."""

    def columns(self, everything: bool) -> list[str]:
        """The columns that are shown: the main ones, or all of them."""
        main = (*MAIN, f"{self.chosen} time")
        return [str(name) for name in self.table.columns if everything or name in main]

    @property
    def shown(self) -> pd.DataFrame:
        """The rows that a page shows."""
        return self.table.head(MOST_ROWS)

    def styled(self) -> Any:
        """The rows that a page shows, as a pandas ``Styler``."""
        return self.shown.style.format(dict(self.formats))


def window_table(shown: WindowSet, chosen: str, order: str = "Largest loss first") -> WindowTable:
    """One row a window. A column that would say the same nowhere (no split, no task) is left out.

    Args:
        shown: the windows that are looked at.
        chosen: name of the setting whose gain, gap and acceptance are shown.
        order: one of ``ORDERS``.
    """
    item = shown.named(chosen) if shown.settings else None
    columns: dict[str, tuple[Any, Callable[[Any], str], str]] = {
        "Window": ([_plain(name) for name in shown.windows], str, "The audio window that is decoded.")
    }
    for name, values, about in (
        ("Subset", shown.subsets, "Dataset or kind of recording."),
        ("Task", shown.tasks, "What is asked of the audio."),
        ("Language", shown.languages, "Language of the audio."),
        ("Split", shown.splits, "What the window may be used for: budgets are chosen without test windows."),
    ):
        if any(values) and (name in ALWAYS or len(set(values)) > 1):
            columns[name] = ([_plain(value) or numbers.NA for value in values], str, about)
    columns["Audio"] = (shown.audio_s * 1e3, numbers.duration, "Length of the audio.")
    tokens = _tokens(shown)
    columns["Tokens"] = (tokens, numbers.count, "Committed tokens, the first one and EOS included.")
    if shown.alone is not None:
        columns["K = 1 time"] = _time(shown.alone)
    if item is not None:
        columns[f"{item.name} time"] = _time(item)
        about = f"TPS of {item.name} above target-only's"
        columns[numbers.AGAINST] = (shown.gain(item), numbers.signed_percent, f"{about} on the window.")
        if np.isfinite(shown.oracle_ms).any():
            oracle = f"Fastest of {shown.oracle_of} on the window, known with hindsight."
            columns["Oracle time"] = (shown.oracle_ms, numbers.duration, oracle)
            columns["Oracle"] = ([_plain(pick) or numbers.NA for pick in shown.oracle_picks], str, oracle)
            columns["Gap"] = (shown.gap(item) / 100, numbers.share, f"Time of {item.name} that the oracle saves.")
        columns["Accepted"] = (item.acceptance, numbers.share, f"Accepted share of {item.name}'s candidates.")
    columns |= {f"{timed.name} time": _time(timed) for timed in shown.settings if timed is not item}
    left_out = sum((timed.left_out for timed in shown.all), np.zeros(len(shown), np.int64))
    if left_out.any():
        columns["Left out"] = (left_out, numbers.count, "Runs that failed, broke off, were cancelled or warmed up.")
    rows = _order(shown, item, tokens, order)
    frame = pd.DataFrame({name: values for name, (values, _, _) in columns.items()}).iloc[rows]
    return WindowTable(
        table=frame.reset_index(drop=True),
        formats={name: form for name, (_, form, _) in columns.items()},
        help={name: about for name, (_, _, about) in columns.items()},
        rows=tuple(rows.tolist()),
        chosen=chosen,
    )


def _time(item: Timed) -> tuple[Any, Callable[[Any], str], str]:
    repeated = "; the mean of repeated runs." if item.runs.max(initial=0) > 1 else "."
    return item.time_ms, numbers.duration, f"Time of {item.name} after prefill, drain included{repeated}"


def window_frame(shown: WindowSet, chosen: str) -> pd.DataFrame:
    """The same for files: plain numbers with their unit in the column's name, and why each window is slower or not."""
    item = shown.named(chosen) if shown.settings else None
    columns: dict[str, Any] = {
        "window": shown.windows,
        "subset": shown.subsets,
        "task": shown.tasks,
        "language": shown.languages,
        "split": shown.splits,
        "audio_s": shown.audio_s,
        "tokens": _tokens(shown),
        "oracle_ms": shown.oracle_ms,
        "oracle": shown.oracle_picks,
    }
    for timed in shown.all:
        columns |= {
            f"{timed.name} time_ms": timed.time_ms,
            f"{timed.name} tps": timed.tps,
            f"{timed.name} gain_percent": shown.gain(timed),
            f"{timed.name} gap_percent": shown.gap(timed),
            f"{timed.name} rounds": timed.rounds,
            f"{timed.name} proposed": timed.proposed,
            f"{timed.name} accepted": timed.accepted,
            f"{timed.name} runs": timed.runs,
            f"{timed.name} left_out": timed.left_out,
        }
    if item is not None:
        reasons = [reason(shown, item, at) for at in range(len(shown))]
        for name in ("saved_ms", "wider_ms", "waiting_ms", "difference_ms"):
            columns[f"{item.name} {name}"] = [None if r is None else getattr(r, name) for r in reasons]
    frame = pd.DataFrame({name: list(values) for name, values in columns.items()})
    return frame.replace({float("inf"): None}).astype(object).where(frame.notna(), None).infer_objects()


def _order(shown: WindowSet, item: Timed | None, tokens: np.ndarray, order: str) -> np.ndarray:
    what, rising = ORDERS.get(order, next(iter(ORDERS.values())))
    none = np.full(len(shown), np.nan)
    values = {
        "gain": none if item is None else shown.gain(item),
        "gap": none if item is None else shown.gap(item),
        "audio": shown.audio_s,
        "tokens": tokens,
    }.get(what)
    if values is None:
        return np.array(sorted(range(len(shown)), key=lambda i: shown.windows[i]), np.int64)
    key = values if rising else -values
    return np.argsort(np.where(np.isnan(key), np.inf, key), kind="stable")


def _tokens(shown: WindowSet) -> np.ndarray:
    """Committed tokens of target-only, or of the first setting that has some."""
    out = np.full(len(shown), np.nan)
    for item in shown.all:
        out = np.where(np.isnan(out), item.tokens, out)
    return out


def _plain(value: str) -> str:
    return text.shortened(text.visible(value, spaces=False), 60)


def slower_table(shown: WindowSet, item: Timed, limit: int = 12) -> pd.DataFrame:
    """The windows that lose the most time against target-only, and where each lost it; text throughout."""
    alone = np.full(len(shown), np.nan) if shown.alone is None else shown.alone.time_ms
    lost = item.time_ms - alone
    order = [at for at in np.argsort(-lost, kind="stable").tolist() if lost[at] > 0]
    worst = list(islice((found for at in order if (found := reason(shown, item, at)) is not None), limit))
    return pd.DataFrame(
        {
            "Window": [_plain(r.window) for r in worst],
            "Lost": [signed(r.difference_ms) for r in worst],
            "Mostly": [r.kind for r in worst],
            "Steps saved": [f"{r.saved_steps:,.0f} ({signed(-r.saved_ms)})" for r in worst],
            "Rounds wider than K = 1": [f"{r.rounds:,.0f} ({signed(r.wider_ms)})" for r in worst],
            "Target idle": [signed(r.waiting_ms) for r in worst],
            "Accepted": [numbers.share(r.acceptance) for r in worst],
        }
    )
