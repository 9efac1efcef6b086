"""Which views can a figure cell show, and with which settings? Every view here takes its data from a ``Source``.

A view's builder gets checked settings and gives blocks; it draws nothing itself, that is what ``dashboard.views`` does.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from as2d_core.errors import unknown_name
from as2d_core.profiles import catalogue
from as2d_core.request import METHODS
from dashboard.notebook import (
    facts_html,
    figures_compare,
    figures_replay,
    figures_windows,
    power_figures,
    profile_figures,
    published_figures,
    sweep_figures,
)
from dashboard.notebook.errors import CellError
from dashboard.notebook.outputs import Block, Drawing, Grid, Markup, Sentence
from dashboard.notebook.source import Source
from dashboard.services.references import reference_tps
from dashboard.services.what_if import gap_interval
from dashboard.views import numbers
from dashboard.views.account import account_figure, account_info
from dashboard.views.budget_table import budget_table
from dashboard.views.budgets import budgets_figure, budgets_info
from dashboard.views.choice_steps import chosen_name
from dashboard.views.comparison_table import comparison_table
from dashboard.views.devices_compared import devices_compared_figure, devices_compared_info
from dashboard.views.facts import facts_info
from dashboard.views.foreign import foreign_table
from dashboard.views.heading import heading_html, heading_info
from dashboard.views.live import live_info, live_text_html
from dashboard.views.methods_compare import methods_figure, methods_info
from dashboard.views.rounds import round_details
from dashboard.views.rounds_html import round_details_html
from dashboard.views.run_labels import ended_short
from dashboard.views.runs import runs_info
from dashboard.views.runs_compare import comparison_figure, comparison_info
from dashboard.views.theme import Theme
from dashboard.views.timeline import timeline_figure
from dashboard.views.timeline_info import timeline_info
from dashboard.views.windows import windows_figure, windows_info
from datastore.foreign import list_results
from datastore.queries import RunRow

MOST_BARS = 1_200
"""Bars of a timeline in a notebook; neighbours are merged when there are more."""
MOST_TIMELINES, MOST_SAID = 8, 6_000

Settings = Mapping[str, Any]
Builder = Callable[[Source, Theme, Settings], tuple[Block, ...]]


@dataclass(frozen=True, slots=True)
class Setting:
    """What a view can be told."""

    kind: str
    """``run``, ``runs``, ``profile``, ``corpus``, ``split``, ``whole``, ``number`` or ``text``."""
    help: str
    required: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """Something that a figure cell can show."""

    title: str
    settings: Mapping[str, Setting]
    build: Builder


def build(source: Source, theme: Theme, name: str, settings: Settings) -> tuple[Block, ...]:
    """Show a view.

    Raises:
        UnknownNameError: no such view.
        CellError: a setting is missing, unknown or of the wrong kind.
        As2dError: what the data behind it says.
    """
    if name not in VIEWS:
        raise unknown_name("view", name, list(VIEWS))
    return VIEWS[name].build(source, theme, checked(name, settings))


def checked(name: str, settings: Settings) -> dict[str, Any]:
    """Settings of a view in the types that they have.

    Raises:
        CellError: one is missing, unknown or of the wrong kind.
    """
    view = VIEWS[name]
    for key in settings:
        if key not in view.settings:
            raise CellError(f"The view {name!r} has no setting {key!r}; it has {', '.join(view.settings)}.")
    out: dict[str, Any] = {}
    for key, setting in view.settings.items():
        value = settings.get(key)
        if value in (None, "", []):
            if setting.required:
                raise CellError(f"The view {name!r} needs the setting {key!r}: {setting.help}")
            continue
        out[key] = _read(name, key, setting.kind, value)
    return out


def _read(view: str, key: str, kind: str, value: Any) -> Any:
    wrong = CellError(f"The setting {key!r} of the view {view!r} is no {_KIND_NAMES.get(kind, 'text')}: {value!r}.")
    if kind == "runs":
        values = value.split() if isinstance(value, str) else value
        if not isinstance(values, list | tuple) or not all(isinstance(item, str) for item in values):
            raise wrong
        return [item.strip(",") for item in values]
    if kind in ("whole", "number"):
        if isinstance(value, bool):
            raise wrong
        try:
            number = float(value)
        except (TypeError, ValueError) as error:
            raise wrong from error
        if not abs(number) < 1e15 or (kind == "whole" and number != int(number)):
            raise wrong
        return int(number) if kind == "whole" else number
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise wrong
    return str(value)


_KIND_NAMES = {"runs": "list of run ids", "whole": "whole number", "number": "number"}


def _mapping(row: RunRow) -> dict[str, Any]:
    return {item.name: getattr(row, item.name) for item in fields(RunRow)}


def _heading(source: Source, theme: Theme, run_id: str) -> Markup:
    info = timeline_info(source.record(run_id))
    return Markup(heading_html(heading_info(info, reference_tps(source, source.row(run_id))), theme))


def _timeline(source: Source, theme: Theme, given: Settings) -> tuple[Block, ...]:
    info = timeline_info(source.record(given["run"]))
    low, high = given.get("from"), given.get("to")
    window = (low or 0.0, info.end_ms if high is None else high) if low is not None or high is not None else None
    if window is not None and window[0] >= window[1]:
        raise CellError(f"The timeline from {window[0]:g} to {window[1]:g} ms is empty; give a later end.")
    figure = timeline_figure(info, theme, window, given.get("round"), MOST_BARS)
    note = "" if info.empty is None else "The log holds everything that was written."
    return _heading(source, theme, given["run"]), Drawing(figure, note)


def _account(source: Source, theme: Theme, given: Settings) -> tuple[Block, ...]:
    info = account_info(source.record(given["run"]))
    said = "" if info.empty else f"{info.equation}. {info.sentence} {info.bound_sentence}"
    return (Drawing(account_figure(info, theme), said, strip=True),)


def _round(source: Source, theme: Theme, given: Settings) -> tuple[Block, ...]:
    details = round_details(source.record(given["run"]), given["round"])
    if details is None:
        return (Sentence(f"Run {given['run']} has no round {given['round']}.", "error"),)
    return (Markup(round_details_html(details, theme)),)


def _said(source: Source, theme: Theme, given: Settings) -> tuple[Block, ...]:
    record = source.record(given["run"])
    if len(record.tokens) > MOST_SAID:
        return (Sentence(f"The output has {len(record.tokens):,} tokens, too many to be shown here."),)
    return (Markup(live_text_html(live_info(record), theme)),)


_LONG = ("Device", "Run")
"""Columns that stand last: they are long, and what they say is elsewhere."""


def _runs(source: Source, theme: Theme, given: Settings) -> tuple[Block, ...]:  # noqa: ARG001 - one signature
    rows = source.rows(given["runs"])
    shown = runs_info([_mapping(row) for row in rows]).shown
    shown = shown[[*(name for name in shown.columns if name not in _LONG), *_LONG]]
    if len(rows) == 1:
        return (Grid(("What", "Value"), tuple((name, shown[name].iloc[0] or "none") for name in shown.columns)),)
    shown["Status"] = [ended_short(row.status) for row in rows]
    same = [name for name in ("Device", "Tags") if shown[name].nunique() < 2]
    shown = shown.drop(columns=same)
    return (Grid(tuple(shown.columns), tuple(tuple(row) for row in shown.itertuples(index=False))),)


def _comparison(source: Source, theme: Theme, given: Settings) -> tuple[Block, ...]:
    info = comparison_info([_mapping(row) for row in source.rows(given["runs"])])
    table = comparison_table(info)
    grid = Grid(tuple(table.columns), tuple(tuple(row) for row in table.itertuples(index=False)))
    return Drawing(comparison_figure(info, theme), " ".join(info.notes), strip=True), grid


def _methods(source: Source, theme: Theme, given: Settings) -> tuple[Block, ...]:
    rows = [row for row in source.rows(given["runs"]) if row.method in METHODS]
    if len(rows) > MOST_TIMELINES:
        raise CellError(f"At most {MOST_TIMELINES} timelines are drawn under each other, not {len(rows)}.")
    known = {row.run_id: row.matches_target_only for row in rows}
    info = methods_info([source.record(row.run_id) for row in rows], known)
    table = info.table
    grid = Grid(tuple(table.columns), tuple(tuple(row) for row in table.itertuples(index=False)))
    return Drawing(methods_figure(info, theme), " ".join(info.notes), strip=True), grid


def _facts(source: Source, theme: Theme, given: Settings) -> tuple[Block, ...]:  # noqa: ARG001 - one signature
    return (
        Markup(facts_html.facts_html(facts_info([source.record(row.run_id) for row in source.rows(given["runs"])]))),
    )


def _budgets(source: Source, theme: Theme, given: Settings) -> tuple[Block, ...]:
    report, drafter, budget = _report(source, given)
    interval = None if budget is None else gap_interval(report.grid, drafter, budget)
    deployed, named = report.deployed, given.get("drafter") or given.get("budget")
    ruled = not named and deployed is not None and deployed.width_rule is not None
    pair = None if budget is None else (drafter, budget)
    info = budgets_info(report.table, pair, interval, called="fixed choice" if ruled else "selected")
    said = f"{info.sentence[0].upper()}{info.sentence[1:]}."
    if ruled:
        said += f" Selected: {chosen_name(deployed)}, {numbers.tps(deployed.validation_tps)} on validation windows."
    return Sentence(said), Drawing(budgets_figure(info, theme), " ".join(info.notes), strip=True)


def _budget_map(source: Source, theme: Theme, given: Settings) -> tuple[Block, ...]:
    report, drafter, budget = _report(source, given)
    info = windows_info(report.grid, drafter, budget)
    return (Drawing(windows_figure(info, theme, budget), strip=True),)


def _budget_table(source: Source, theme: Theme, given: Settings) -> tuple[Block, ...]:  # noqa: ARG001 - one signature
    report, _, _ = _report(source, given)
    table = budget_table(report.table)
    columns = [[_written(name, value) for value in table[name]] for name in table.columns]
    return (Grid(tuple(table.columns), tuple(zip(*columns, strict=True))),)


def _devices(source: Source, theme: Theme, given: Settings) -> tuple[Block, ...]:
    names = dict.fromkeys([given["profile"], *catalogue.profile_ids()])
    tables = []
    for name in names:
        profile, report = source.profile(name), source.budgets(name, given["corpus"], given.get("split", "all"))
        tables.append((name, f"{profile.name} ({profile.kind})", report.table))
    info = devices_compared_info(tables)
    return Sentence(info.sentence), Drawing(devices_compared_figure(info, theme, given["profile"]), strip=True)


def _written(column: str, value: Any) -> str:
    """A number of the budget table with as many decimals as its column has."""
    if isinstance(value, str):
        return value
    if value is None or value != value:  # noqa: PLR0124 - NaN
        return numbers.NA
    return numbers.decimals(
        value, 2 if "TPS" in column else 1 if "(%)" in column else 0, signed=column.startswith("Gain")
    )


def _report(source: Source, given: Settings) -> tuple[Any, str, int | None]:
    """The comparison of budgets, and the pair that is pointed out: the one asked for, or the one that was chosen."""
    report = source.budgets(given["profile"], given["corpus"], given.get("split", "all"))
    chosen = report.selected
    drafter = given.get("drafter") or (chosen.drafter if chosen is not None else report.grid.drafters[0])
    if drafter not in report.grid.drafters:
        raise unknown_name("drafter", drafter, list(report.grid.drafters))
    budget = given.get("budget", chosen.budget if chosen is not None else None)
    if budget is not None and budget not in report.grid.budgets:
        raise CellError(f"Budget {budget} was not replayed; known are {', '.join(map(str, report.grid.budgets))}.")
    return report, drafter, budget


def _foreign(source: Source, theme: Theme, given: Settings) -> tuple[Block, ...]:  # noqa: ARG001 - one signature
    table = foreign_table([item.result for item in list_results(source.store)])
    if table.empty:
        return (Sentence("No results of other programs were taken in yet (as2d import, or the Reports page)."),)
    return (Grid(tuple(table.columns), tuple(tuple(row) for row in table.itertuples(index=False))),)


_RUN = Setting("run", "id of a run, or a unique beginning of it", required=True)
_RUNS = Setting("runs", "ids of runs", required=True)
_PROFILE = Setting("profile", "id of a cost profile", required=True)
_PAIR = {
    "profile": _PROFILE,
    "corpus": Setting("corpus", "id of a trajectory set", required=True),
    "split": Setting("split", "all, development, validation or test"),
    "drafter": Setting("text", "one of the set's drafters"),
    "budget": Setting("whole", "proposal budget b to point out"),
}
_SET = {name: _PAIR[name] for name in ("profile", "corpus", "split")}

_BY = Setting("text", "setting, day or run: what is pooled")
_OF_WINDOWS = {
    "setting": Setting("text", "which setting is held against target-only, by its name"),
    "part": Setting("text", "speed, gain or table"),
    "by": Setting("text", "rank, audio, tokens, acceptance or rounds"),
    "subset": Setting("text", "subsets, with commas"),
    "task": Setting("text", "tasks, with commas"),
    "split": Setting("text", "splits, with commas"),
    "least_s": Setting("number", "least length of the audio in seconds"),
    "most_s": Setting("number", "largest length of the audio in seconds"),
}

VIEWS: Mapping[str, View] = {
    "timeline": View(
        "Timeline",
        {
            "run": _RUN,
            "from": Setting("number", "ms from decode start"),
            "to": Setting("number", "ms from decode start"),
            "round": Setting("whole", "round to outline"),
        },
        _timeline,
    ),
    "account": View("Where the time went", {"run": _RUN}, _account),
    "round": View("One round", {"run": _RUN, "round": Setting("whole", "index of the round", required=True)}, _round),
    "said": View("What was said", {"run": _RUN}, _said),
    "runs": View("Table of runs", {"runs": _RUNS}, _runs),
    "comparison": View("Runs compared", {"runs": _RUNS}, _comparison),
    "methods": View("Timelines compared", {"runs": _RUNS}, _methods),
    "facts": View("Devices, versions, models, settings", {"runs": _RUNS}, _facts),
    "budgets": View("Budgets", _PAIR, _budgets),
    "budget map": View("Where a budget loses", _PAIR, _budget_map),
    "budget table": View("All budgets in numbers", _PAIR, _budget_table),
    "devices": View("One set on every device", _SET, _devices),
    "paired": View(
        "Paired differences",
        {"runs": _RUNS, "by": _BY, "against": Setting("text", "name of the setting that others are held against")},
        figures_compare.paired,
    ),
    "cost parts": View("Costs a token", {"runs": _RUNS, "by": _BY}, figures_compare.cost_parts),
    "differences": View("In what runs differ", {"runs": _RUNS, "by": _BY}, figures_compare.differences),
    "over time": View("Throughput over time", {"runs": _RUNS}, figures_compare.over_time),
    "aligned": View(
        "Two runs beside each other",
        {
            "run": _RUN,
            "against": Setting("run", "id of the run that is laid under it", required=True),
            "by": Setting("text", "time or token"),
        },
        figures_compare.aligned,
    ),
    "replay": View(
        "A recorded window, replayed",
        {
            "profile": _PROFILE,
            "corpus": _PAIR["corpus"],
            "window": Setting("text", "name of a window of the set", required=True),
            "budget": Setting("whole", "proposal budget b; without it, the profile's deployed one"),
            "drafter": _PAIR["drafter"],
        },
        figures_replay.replayed,
    ),
    "recording": View(
        "A recording",
        {
            "window": Setting("text", "name of a bundled recording, or"),
            "audio": Setting("text", "file name of one of your own"),
            "from_s": Setting("number", "where the part begins that is heard, s"),
            "to_s": Setting("number", "where it ends, s"),
        },
        figures_replay.recording,
    ),
    "windows": View(
        "Recorded windows",
        {
            "profile": _PROFILE,
            "corpus": Setting("corpus", "id of a trajectory set", required=True),
            "drafter": Setting("text", "one of the set's drafters"),
            "budget": Setting("whole", "proposal budget b of As²d"),
            "width": Setting("whole", "width K of SD; without it, the mean of K = 5 to 8"),
            **_OF_WINDOWS,
        },
        figures_windows.recorded,
    ),
    "stored windows": View(
        "Windows of stored runs",
        {
            "device": Setting("text", "key of a device, as the store names it", required=True),
            "label": Setting("text", "measured, replayed or synthetic"),
            **_OF_WINDOWS,
        },
        figures_windows.stored,
    ),
    "sweep": View(
        "Sweep", {"group": Setting("text", "id of a sweep, or of a group of runs", required=True)}, sweep_figures.sweep
    ),
    "foreign": View("Rates of other programs", {}, _foreign),
    "replay facts": View("Set, models and costs of a replay", _SET, profile_figures.replayed),
    "profile": View("Cost profile", {"profile": _PROFILE}, profile_figures.costs),
    "profile widths": View("Verification by width", {"profile": _PROFILE}, profile_figures.widths),
    "profile savings": View("Saved per position", {"profile": _PROFILE}, profile_figures.savings),
    "profile drift": View("Costs over time", {"profile": _PROFILE}, profile_figures.drift),
    "profile pair": View(
        "Two cost profiles",
        {"profile": _PROFILE, "against": Setting("profile", "id of the profile it is compared with", required=True)},
        profile_figures.pair,
    ),
    "power": View("Power by a Perfetto trace", {"run": _RUN}, power_figures.power),
    "published overview": View("The paper's tables beside ours", {}, published_figures.overview),
    "published table": View(
        "One table of the paper beside ours",
        {"table": Setting("text", "number of the table, or section that prints the figures", required=True)},
        published_figures.table,
    ),
    "ledger": View("Published figures that follow from others", {}, published_figures.ledger),
}
"""Every view by its name."""
