"""What does the Budgets page compare, and which pair and window are looked at? The query string says it all."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from as2d_core.errors import As2dError
from as2d_core.profiles.profile import Profile
from as2d_core.replay.windows import SPLITS, TrajectorySet
from dashboard import ui, ui_cache, ui_notebook, ui_state
from dashboard.services.budgets import ALL_WINDOWS, BudgetReport, list_corpora, open_corpus
from dashboard.services.devices import find_device
from dashboard.services.profiles import load_profile, measured_profile, profile_ids
from dashboard.services.replays import window_audio
from dashboard.services.workspace import Workspace
from dashboard.views import numbers
from dashboard.views.boxes import sentence_html
from dashboard.views.heading import badge_html, heading_html, heading_info
from dashboard.views.run_labels import costs_sentence, profile_label
from dashboard.views.timeline import timeline_figure
from dashboard.views.windows import WindowsInfo

FIRST_PROFILE, FIRST_CORPUS = "k70", "demo"
ALL_DRAFTERS = "all"
FACTORS = (0.25, 0.33, 0.5, 0.67, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 4.0)


@dataclass(frozen=True)
class Pair:
    """The drafter and budget that are looked at."""

    drafter: str
    budget: int


def comparison(workspace: Workspace) -> BudgetReport:
    """What was asked for, replayed; the page ends with a sentence when it cannot be."""
    profiles = _profiles(workspace)
    corpora = list_corpora(workspace.folders)
    left, middle, right = st.columns([5, 4, 4])
    with left:
        first = next(iter(profiles))
        own = measured_profile(workspace, find_device(workspace).key)
        default = own.id if own is not None and own.id in profiles else (FIRST_PROFILE if not own else first)
        chosen = ui_state.one_of(
            st.selectbox,
            "profile",
            "Costs of",
            list(profiles),
            default,
            format_func=lambda name: profile_label(profiles[name]),
        )
    with middle:
        home = FIRST_CORPUS if FIRST_CORPUS in corpora else corpora[0]
        corpus_id = ui_state.one_of(st.selectbox, "corpus", "Recorded windows", corpora, home)
    with right:
        split = ui_state.one_of(
            st.segmented_control,
            "split",
            "Windows of",
            [ALL_WINDOWS, *SPLITS],
            ALL_WINDOWS,
            format_func=lambda name: {"development": "devel.", "validation": "valid."}.get(name, name),
        )
    _labels(profiles[chosen])
    draft, verify = _factors()
    with ui.guarded():
        corpus = open_corpus(workspace.folders, corpus_id)
        return ui_cache.budgets(profiles[chosen], corpus, split, _drafter(corpus), draft, verify)
    return st.stop()


def _drafter(corpus: TrajectorySet) -> str | None:
    """Which drafter alone is compared, where there are several; ``None`` = all."""
    if len(corpus.drafters) < 2:
        return None
    chosen = ui_state.one_of(st.segmented_control, "only", "Drafter", [ALL_DRAFTERS, *corpus.drafters], ALL_DRAFTERS)
    return None if chosen == ALL_DRAFTERS else chosen


def _profiles(workspace: Workspace) -> dict[str, Profile]:
    """What was measured here first, then the published phones; one that cannot be read is left to its error."""
    found: dict[str, Profile] = {}
    for name in profile_ids(workspace.folders):
        try:
            found[name] = load_profile(workspace.folders, name)
        except As2dError as error:
            ui.box("warning", str(error))
    return dict(sorted(found.items(), key=lambda item: item[1].kind != "measured"))


def _labels(profile: Profile) -> None:
    """What kind of numbers these are."""
    badges = "".join(badge_html(numbers.badge(name), ui.theme()) for name in ("replayed", profile.kind))
    st.html(
        badges
        + sentence_html(f"Recorded tokens under the costs of {profile.name}. {costs_sentence(profile)}", ui.theme())
    )


def _factors() -> tuple[float, float]:
    """What if drafting or verification cost more or less?"""
    left, right, reset = st.columns([5, 5, 2], vertical_alignment="bottom")

    def shown(factor: float) -> str:
        return f"× {factor:g}"

    with left:
        draft = ui_state.one_of(
            st.select_slider, "draft", "What if a draft step cost", FACTORS, 1.0, write=shown, format_func=shown
        )
    with right:
        verify = ui_state.one_of(
            st.select_slider, "verify", "What if a verification cost", FACTORS, 1.0, write=shown, format_func=shown
        )
    off = draft == verify == 1.0
    reset.button("As measured", on_click=ui_state.put, kwargs={"draft": None, "verify": None}, disabled=off)
    return draft, verify


def selected(report: BudgetReport) -> Pair:
    """The pair that was clicked on; else the frozen choice; else the fastest."""
    names = [row.drafter for row in report.table.rows]
    asked, drafter = ui_state.whole("b"), ui_state.get("drafter") or names[0]
    if asked is not None and any((row.drafter, row.budget) == (drafter, asked) for row in report.table.rows):
        return Pair(drafter, asked)
    if report.selection is not None:
        return Pair(report.selection.drafter, report.selection.budget)
    best = report.table.best or report.table.rows[0]
    return Pair(best.drafter, best.budget)


def pick_pair(point: ui.Point) -> None:
    """A mark of the curve was clicked on."""
    found = point.get("customdata")
    if isinstance(found, list | tuple) and len(found) == 2:
        ui_state.put(drafter=found[0], b=int(found[1]))


def choice_sentence(report: BudgetReport) -> str:
    """What was chosen without looking at test windows, or why nothing could be."""
    if report.selection is None:
        return report.selection_problem or "Nothing could be chosen."
    choice = report.selection
    return (
        f"Chosen on {len(choice.window_ids['development'])} development and "
        f"{len(choice.window_ids['validation'])} validation windows, test windows unseen: {choice.drafter}, "
        f"b = {choice.budget} ({numbers.tps(choice.validation_tps)} on validation)."
    )


def pick_cell(info: WindowsInfo, report: BudgetReport) -> Callable[[ui.Point], None]:
    """A cell of the map was clicked on: open its window under its budget."""

    def act(point: ui.Point) -> None:
        found = point.get("customdata")
        if isinstance(found, list | tuple) and len(found) == 2 and 0 <= int(found[0]) < len(report.grid.windows):
            ui_state.put(window=report.grid.windows[int(found[0])], cell=int(found[1]), drafter=info.drafter)

    return act


def map_columns(report: BudgetReport) -> tuple[Any, Any]:
    """Where the map goes and where the window goes that is open: side by side where there is room."""
    if ui_state.get("window") not in report.grid.windows:
        return st.container(), st.container()
    with st.container(key="map-and-window"):
        left, right = st.columns([5, 6], gap="medium")
    return left, right


def window_details(workspace: Workspace, report: BudgetReport, pair: Pair) -> None:
    """The window that is open: what is said in it, its recording, and its run under the budget of the cell."""
    name = ui_state.get("window")
    if name not in report.grid.windows:
        ui.sentence("Click a cell to hear its window and see how it runs under that budget.")
        return
    budget = ui_state.whole("cell") or pair.budget
    window = report.corpus.window(name)
    with st.container(border=True):
        st.subheader(ui.plain(f"{name}, b = {budget}"), anchor=False)
        path = window_audio(report.corpus, name)
        if path is not None:
            st.audio(str(path))
        ui.sentence(f"The target says: {window.target_text}")
        with ui.guarded():
            found = ui_cache.replayed(workspace, report.profile, report.corpus, name, budget, pair.drafter)
            timeline = found.run.timeline
            st.html(heading_html(heading_info(timeline, found.target_only_tps), ui.theme()))
            ui.chart(timeline_figure(timeline, ui.theme(), max_bars=800), "cell-timeline")
        with st.container(horizontal=True):
            if not ui_state.get("draft") and not ui_state.get("verify"):
                state = {"corpus": report.corpus.id, "window": name, "profile": report.profile.id, "b": budget}
                ui.link(ui.TIMELINE, "Look at its rounds", icon=":material/view_timeline:", **state)
            close = {"window": None, "cell": None}
            st.button("Close", icon=":material/close:", on_click=ui_state.put, kwargs=close)


def send_button(workspace: Workspace, report: BudgetReport, pair: Pair, view: str) -> None:
    """Takes a figure into a notebook; what-if costs are nobody's, and are not taken."""
    if ui_state.get("draft") or ui_state.get("verify"):
        return
    settings = {"profile": report.profile.id, "corpus": report.corpus.id, "split": report.split}
    ui_notebook.send_button(workspace, view, view, **settings, drafter=pair.drafter, budget=pair.budget)
