"""Which windows does the Windows page show, under which settings, and which one is open? The query string says it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import ui, ui_budgets, ui_cache, ui_cache_windows, ui_export, ui_notebook, ui_state, ui_window
from dashboard.services.budgets import (
    ALL_WINDOWS,
    SHOWN,
    list_corpora,
    open_corpus,
    splits_of,
    windows_first_shown,
)
from dashboard.services.devices import find_device
from dashboard.services.profiles import measured_profile, readable_profiles
from dashboard.services.window_sets import SD_MEAN, places
from dashboard.services.workspace import Workspace
from dashboard.views import numbers
from dashboard.views.figure_help import HELP
from dashboard.views.grids import grid_height
from dashboard.views.heading import badge_html
from dashboard.views.run_labels import profile_label
from dashboard.views.window_gain import AXES, RANK
from dashboard.views.window_reasons import reason
from dashboard.views.window_set import ANY_LENGTH, Timed, Wanted, WindowSet, filtered
from dashboard.views.window_table import ORDERS, WindowTable

RECORDED, STORED = "recorded", "store"
SOURCES = {RECORDED: "Recorded sets, replayed", STORED: "Runs of the store"}
FIRST_PROFILE, FIRST_CORPUS = "k70", "demo"
WIDTHS = (SD_MEAN, 5, 6, 7, 8)
MOST_ROWS, MOST_COLUMNS = 13, 9
"""Of the table of all windows; with more columns than that, a switch shows them."""
MOST_BUTTONS = 4
FILTERS = ("subset", "task", "language", "find", "least", "most", "slower")


@dataclass(frozen=True)
class Shown:
    """What the page works with."""

    windows: WindowSet
    """All of them."""
    settings: dict[str, Any]
    """What makes the same set again: settings of the notebook's view ``view``."""
    view: str
    open: Callable[[str], None]
    """Shows one window: recording, text, timeline."""


def source(workspace: Workspace) -> Shown:
    """The windows that were asked for; the page ends with a sentence when there are none."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = ui_state.one_of(
            st.segmented_control, "source", "Windows of", list(SOURCES), RECORDED, format_func=SOURCES.__getitem__
        )
        with ui.guarded():
            return _recorded(workspace) if chosen == RECORDED else _stored(workspace)
    return st.stop()


def _recorded(workspace: Workspace) -> Shown:
    profiles, problems = readable_profiles(workspace.folders)
    for problem in problems:
        ui.box("warning", problem)
    corpora = list_corpora(workspace.folders)
    own = measured_profile(workspace, find_device(workspace).key)
    first = own.id if own is not None and own.id in profiles else (FIRST_PROFILE if not own else next(iter(profiles)))
    home = FIRST_CORPUS if FIRST_CORPUS in corpora else corpora[0]
    corpus_id = ui_state.one_of(st.selectbox, "corpus", "Set", corpora, home, width=130)
    name = ui_state.one_of(
        st.selectbox, "profile", "Costs of", list(profiles), first, width=300,
        format_func=lambda key: profile_label(profiles[key]),
    )  # fmt: skip
    corpus, profile = open_corpus(workspace.folders, corpus_id), profiles[name]
    report = ui_cache.budgets(profile, corpus, "all", None)
    drafter = report.grid.drafters[0]
    if len(report.grid.drafters) > 1:
        drafter = ui_state.one_of(st.selectbox, "drafter", "Drafter", report.grid.drafters, drafter, width=170)
    best = report.table.best or report.table.rows[0]
    chosen = report.selection.budget if report.selection is not None else best.budget
    default = profile.deployed_budget if profile.deployed_budget in report.grid.budgets else chosen
    budget = ui_state.one_of(st.selectbox, "b", "As²d b", report.grid.budgets, default, width=90)
    width = ui_state.one_of(
        st.selectbox, "sd", "SD K", WIDTHS, SD_MEAN, width=120,
        format_func=lambda k: "mean 5 to 8" if k == SD_MEAN else str(k),
    )  # fmt: skip
    split = ui_state.one_of(
        st.segmented_control, "split", "Split", SHOWN, windows_first_shown(corpus), help=HELP["splits"],
        format_func=lambda key: {"development": "devel.", "validation": "valid."}.get(key, key),
    )  # fmt: skip
    ui_budgets.note_shown(corpus, split)
    settings = {"profile": name, "corpus": corpus_id, "drafter": drafter, "budget": budget, "width": width or None}
    whole = ui_cache_windows.replayed_windows(profile, corpus, report.grid, drafter, budget, width)
    part = Wanted() if split == ALL_WINDOWS else Wanted(splits=splits_of(split))
    said = "" if split == ALL_WINDOWS else f", {' and '.join(splits_of(split))} windows"
    whole = replace(filtered(whole, part, ""), title=f"{whole.title}{said}")
    if len(whole) == 0:
        ui.box("empty", f"The set {corpus.id} has no {split} windows.")
        st.button("Show all of its windows", on_click=ui_state.put, kwargs={"split": ALL_WINDOWS})
        st.stop()
    settings["split"] = "" if split == ALL_WINDOWS else ", ".join(splits_of(split))
    pair = (profile, corpus, budget, drafter)
    return Shown(whole, settings, "windows", lambda window: ui_window.recorded(workspace, pair, window))


def _stored(workspace: Workspace) -> Shown:
    found = places(workspace.store)
    if not found:
        ui.box("empty", "There is no run yet.", "Run a method on the Request page, or look at the recorded sets.")
        ui.link(ui.REQUEST, "Run a method", icon=":material/mic:")
        st.stop()
    known = {f"{place.device_key}/{place.label}": place for place in found}

    def name(key: str) -> str:
        place = known[key]
        return f"{place.name}, {place.label} ({numbers.counted(place.runs, 'run')})"

    place = known[
        ui_state.one_of(st.selectbox, "place", "Device", list(known), next(iter(known)), width=380, format_func=name)
    ]
    whole = ui_cache_windows.stored_windows(workspace, place)
    settings = {"device": place.device_key, "label": place.label}
    return Shown(whole, settings, "stored windows", lambda window: ui_window.stored(workspace, whole, place, window))


def wanted(whole: WindowSet) -> Wanted:
    """The filters, in one row; what could not tell windows apart is not offered."""
    many = {
        "subset": ("Subset", whole.subsets),
        "task": ("Task", whole.tasks),
        "language": ("Language", whole.languages),
    }
    picked: dict[str, tuple[str, ...]] = {}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for key, (label, values) in many.items():
            names = sorted({value for value in values if value})
            if len(names) > 1:
                picked[key] = tuple(ui_state.several(key, label, names, placeholder="any", width=210))
        text = ui_state.words("find", "Name", placeholder="part of it", width=150)
        least = _seconds("least", "At least (s)", "Shortest audio that is looked at.")
        most = _seconds("most", "At most (s)", "Longest audio that is looked at.")
        slower = ui_state.flag("slower", "Only slower ones")
    length = (least or 0.0, most or ANY_LENGTH[1])
    names = {f"{key}s": picked.get(key, ()) for key in many}
    return Wanted(**names, text=text, length_s=length if length != (0.0, ANY_LENGTH[1]) else ANY_LENGTH,
                  slower_only=slower)  # fmt: skip


def _seconds(name: str, label: str, about: str) -> float | None:
    kind = st.number_input
    return ui_state.number(
        kind, name, label, None, 0.0, 86_400.0, width=120, step=5.0, format="%g", placeholder="any", help=about
    )  # fmt: skip


def chosen(whole: WindowSet) -> str:
    """Name of the setting that is held against target-only and the oracle; the page ends when there is none."""
    if not whole.settings:
        ui.box("empty", "Only target-only ran on these windows, so there is nothing to hold against it.")
        st.stop()
    names = [item.name for item in whole.settings]
    default = ui_window.chosen_default(whole)
    label = "Held against target-only"
    if len(names) <= MOST_BUTTONS:
        return ui_state.one_of(st.segmented_control, "setting", label, names, default, format_func=ui.plain)
    return ui_state.one_of(st.selectbox, "setting", label, names, default, width=380)


def labels(shown: Shown) -> None:
    """What kind of numbers these are."""
    whole = shown.windows
    badges = "".join(badge_html(numbers.badge(kind), ui.theme()) for kind in whole.kinds)
    st.html(badges)
    ui.sentence(f"{whole.title}.")
    for note in whole.notes:
        ui.sentence(note)


def looked_at(whole: WindowSet, asked: Wanted, name: str) -> WindowSet:
    """The windows that pass the filters; when none does, the page says so and ends."""
    part = filtered(whole, asked, name)
    if len(part) == 0:
        ui.box("empty", f"None of {numbers.counted(len(whole), 'window')} passes these filters.")
        st.button("Clear the filters", on_click=ui_state.put, kwargs=dict.fromkeys(FILTERS))
        st.stop()
    return part


def about(shown: Shown, asked: Wanted) -> str:
    """What is looked at, for figures and files."""
    part = asked.described()
    return f"{part + '; ' if part else ''}{shown.windows.title}"


def two_figures() -> tuple[Any, Any]:
    """Where the curves and the gains go: side by side where there is room."""
    with st.container(key="two-figures"):
        left, right = st.columns(2, gap="medium")
    return left, right


def opened() -> str:
    """The window that is open."""
    return ui_state.get("window")


def layout() -> str:
    """What the marks of the gain figure are laid out by."""
    names = {RANK: "rank", "audio": "audio length", "tokens": "tokens", "acceptance": "acceptance", "rounds": "tokens "
             "a round"}  # fmt: skip
    return ui_state.one_of(
        st.segmented_control, "by", "Laid out by", list(AXES), RANK, format_func=names.__getitem__,
        label_visibility="collapsed",
    )  # fmt: skip


def pick(point: ui.Point) -> None:
    """A mark was clicked on: open its window; once more closes it."""
    found = point.get("customdata")
    if isinstance(found, list | tuple) and len(found) == 1:
        name = str(found[0])
        ui_state.put(window=None if ui_state.get("window") == name else name)


def reasons(slower: pd.DataFrame, shown: WindowSet, item: Timed) -> None:
    """The windows that lose the most, with what they lost it to."""
    if not np.isfinite(item.target_ms).any():
        ui.sentence(
            f"{item.name} has no rounds of its own, so that its time cannot be taken apart; choose one setting."
        )
    elif slower.empty:
        ui.sentence(f"{item.name} is slower than target-only on none of these windows.")
    else:
        st.dataframe(slower, hide_index=True, height=grid_height(len(slower), MOST_ROWS))
        ui_export.table(slower, "slower-windows", {"windows": shown.title, "setting": item.name})
        lost = int((shown.gain(item) < 0).sum())
        more = f"The {len(slower):,} that lose the most time of {lost:,}. " if lost > len(slower) else ""
        ui.sentence(f"{more}Lost = steps saved + rounds wider than K = 1 + target idle; all three are exact.")


def order() -> str:
    """The order of the table."""
    return ui_state.one_of(st.selectbox, "order", "Order", list(ORDERS), next(iter(ORDERS)), width=220)


def table(shown: WindowSet, made: WindowTable) -> None:
    """The rows; a tick opens a window."""
    columns = made.columns(ui_state.flag("columns", "All columns")) if len(made.columns(True)) > MOST_COLUMNS else None
    key = f"windows-{hash(made.rows)}-{hash(shown.windows)}-{len(made.table.columns)}"

    def ticked() -> None:
        rows = st.session_state[key]["selection"]["rows"]
        if rows and rows[0] < len(made.rows):
            ui_state.put(window=shown.windows[made.rows[rows[0]]])

    st.dataframe(
        made.styled(),
        hide_index=True,
        placeholder=numbers.NA,
        height=grid_height(len(made.shown), MOST_ROWS),
        on_select=ticked,
        selection_mode="single-row",
        key=key,
        column_order=columns,
        column_config={
            name: st.column_config.Column(help=text, pinned=name == "Window") for name, text in made.help.items()
        },
    )
    if len(made.shown) < len(made.table):
        ui.sentence(f"The first {len(made.shown):,} of {len(made.table):,} windows; files hold all of them.")


def export(frame: Any, said: str, name: str, send: Callable[[], None]) -> None:
    """All windows that pass the filters, as files."""
    ui_export.table(frame, "windows", {"windows": said, "held against target-only": name}, send)


def send_button(workspace: Workspace, shown: Shown, asked: Wanted, name: str, part: str) -> None:
    """Takes a figure with its filters into a notebook."""
    low, high = asked.length_s
    filters = {
        "setting": name,
        "subset": ", ".join(asked.subsets),
        "task": ", ".join(asked.tasks),
        "least_s": low or None,
        "most_s": high if high < ANY_LENGTH[1] else None,
        "part": part,
        "by": ui_state.get("by") or RANK,
    }
    given = {key: value for key, value in (shown.settings | filters).items() if value not in (None, "")}
    ui_notebook.send_button(workspace, shown.view, f"{shown.view} {part}", **given)


def details(shown: Shown, part: WindowSet, setting: str) -> None:
    """The window that is open: why it is as fast as it is, its recording, its words and its timeline."""
    name = ui_state.get("window")
    at = shown.windows.index(name)
    if at is None:
        if name:
            ui.sentence(f"The address names window {name[:60]!r}, which is not among those that are shown.")
        gain = part.gain(part.named(setting))
        with st.container(horizontal=True, vertical_alignment="center"):
            ui.sentence("Click a mark or tick a row to hear a window, read it and see its timeline.", beside=True)
            if np.isfinite(gain).any():
                slowest = part.windows[int(np.nanargmin(gain))]
                slow = {"window": slowest}
                st.button("Open the slowest one", on_click=ui_state.put, kwargs=slow, type="tertiary")
        return
    whole, item = shown.windows, shown.windows.named(setting)
    with st.container(border=True):
        left, right = st.columns([5, 4], vertical_alignment="center")
        left.subheader(ui.plain(name), anchor=False, help=HELP["timeline"])
        with right.container(horizontal=True, horizontal_alignment="right"):
            _steps(part, part.named(setting), name)
            st.button("Close", icon=":material/close:", on_click=ui_state.put, kwargs={"window": None})
        found = reason(whole, item, at)
        gain = numbers.against_target_only(float(whole.gain(item)[at]))
        ui.sentence(f"{item.name}: {numbers.tps(float(item.tps[at]))}, {gain}.", muted=False)
        if found is not None:
            ui.sentence(found.sentence[0].upper() + found.sentence[1:])
        shown.open(name)


def _steps(part: WindowSet, item: Timed, name: str) -> None:
    """To the windows beside the open one, from the slowest to the fastest."""
    gain = part.gain(item)
    names = [part.windows[i] for i in gain.argsort(kind="stable").tolist()]
    at = names.index(name) if name in names else None
    for label, icon, step in (("Slower", ":material/chevron_left:", -1), ("Faster", ":material/chevron_right:", 1)):
        other = names[at + step] if at is not None and 0 <= at + step < len(names) else None
        st.button(label, icon=icon, on_click=ui_state.put, kwargs={"window": other or name}, disabled=other is None)
