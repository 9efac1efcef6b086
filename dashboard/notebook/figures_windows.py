"""Which figures of windows can a cell show? Curves, gains or the table of windows, recorded or stored."""

from collections.abc import Mapping
from typing import Any

from as2d_core.errors import unknown_name
from dashboard.notebook.errors import CellError
from dashboard.notebook.outputs import Block, Drawing, Grid, Sentence
from dashboard.notebook.source import Source
from dashboard.services.window_sets import SD_MEAN, replayed_windows, stored_windows
from dashboard.views.theme import Theme
from dashboard.views.window_gain import AXES, RANK, gain_figure, gain_info
from dashboard.views.window_set import ANY_LENGTH, Wanted, WindowSet, filtered, summary
from dashboard.views.window_speed import speed_figure, speed_info
from dashboard.views.window_table import window_table
from datastore.queries import RunFilter

PARTS = ("speed", "gain", "table")
MOST_LISTED = 200

Settings = Mapping[str, Any]


def recorded(source: Source, theme: Theme, given: Settings) -> tuple[Block, ...]:
    """Windows of a trajectory set with a profile's costs."""
    report = source.budgets(given["profile"], given["corpus"], "all")
    drafter = given.get("drafter") or report.grid.drafters[0]
    if drafter not in report.grid.drafters:
        raise unknown_name("drafter", drafter, list(report.grid.drafters))
    best = report.selection or report.table.best or report.table.rows[0]
    budget = given.get("budget", best.budget)
    if budget not in report.grid.budgets:
        raise CellError(f"Budget {budget} was not replayed; known are {', '.join(map(str, report.grid.budgets))}.")
    width = given.get("width", SD_MEAN)
    if width not in (SD_MEAN, *report.grid.standard_sd_ms):
        known = ", ".join(map(str, report.grid.standard_sd_ms))
        raise CellError(f"Width K = {width} of SD has no cost; known are {known}.")
    whole = replayed_windows(report.corpus, report.profile, report.grid, drafter, budget, width, None)
    return _shown(whole, theme, given)


def stored(source: Source, theme: Theme, given: Settings) -> tuple[Block, ...]:
    """Windows of stored runs on a device."""
    where = RunFilter(
        devices=(given["device"],), labels=(given["label"],) if given.get("label") else (), operations=False
    )
    return _shown(stored_windows(source.store, where, f"Runs on {given['device']}", ()), theme, given)


def _shown(whole: WindowSet, theme: Theme, given: Settings) -> tuple[Block, ...]:
    if not whole.settings:
        return (Sentence("Only target-only ran on these windows, so there is nothing to hold against it."),)
    names = [item.name for item in whole.settings]
    chosen = given.get("setting") or names[-1]
    if chosen not in names:
        raise unknown_name("setting", chosen, names)
    part, by = given.get("part") or PARTS[0], given.get("by") or RANK
    for value, known, what in ((part, PARTS, "part"), (by, tuple(AXES), "layout")):
        if value not in known:
            raise unknown_name(what, value, list(known))
    wanted = Wanted(
        subsets=_several(given, "subset"),
        tasks=_several(given, "task"),
        splits=_several(given, "split"),
        length_s=(given.get("least_s", 0.0), given.get("most_s", ANY_LENGTH[1])),
    )
    shown = filtered(whole, wanted, chosen)
    if len(shown) == 0:
        return (Sentence("No window passes these filters."),)
    item = shown.named(chosen)
    said = wanted.described()
    about = f"{said + '; ' if said else ''}{whole.title}"
    sentence = summary(shown, item).sentence
    if part == "speed":
        return (Drawing(speed_figure(speed_info(shown, about), theme), sentence, strip=True),)
    if part == "gain":
        return (Drawing(gain_figure(gain_info(shown, item, by, about=about), theme), sentence, strip=True),)
    made = window_table(shown, chosen)
    head = made.table.head(MOST_LISTED)
    columns = [[made.formats[name](value) for value in head[name]] for name in head.columns]
    note = f"The first {len(head):,} of {len(made.table):,} windows." if len(head) < len(made.table) else ""
    grid = Grid(tuple(head.columns), tuple(zip(*columns, strict=True)), " ".join(filter(None, (about, note))))
    return Sentence(sentence), grid


def _several(given: Settings, name: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in str(given.get(name) or "").split(",") if part.strip())
