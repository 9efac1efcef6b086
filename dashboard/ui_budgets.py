"""What does the Budgets page compare, and which pair and window are looked at? The query string says it all."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from as2d_core.deployment import Deployment
from as2d_core.errors import As2dError
from as2d_core.profiles.profile import Profile
from as2d_core.replay.windows import TrajectorySet
from dashboard import ui, ui_audio, ui_cache, ui_notebook, ui_state
from dashboard.services.budgets import (
    ALL_WINDOWS,
    SHOWN,
    BudgetReport,
    list_corpora,
    open_corpus,
    windows_first_shown,
)
from dashboard.services.devices import find_device
from dashboard.services.profiles import measured_profile, readable_profiles
from dashboard.services.replays import window_audio
from dashboard.services.workspace import Workspace
from dashboard.views import numbers
from dashboard.views.boxes import sentence_html
from dashboard.views.choice_steps import choice_sentence
from dashboard.views.figure_help import HELP
from dashboard.views.heading import badge_html, heading_html, heading_info, heading_text
from dashboard.views.run_labels import costs_sentence, profile_label
from dashboard.views.timeline import timeline_figure
from dashboard.views.windows import WindowsInfo
from datastore.files import safe_name

FIRST_PROFILE, FIRST_CORPUS = "k70", "demo"
ALL_DRAFTERS = "all"
NEW = "new"
"""In place of a frozen choice: the one that is selected on the page."""
MOST_CELLS_AT_ONCE = 6_000
_TEST_SHOWN = "test-windows-shown"
FACTORS = (0.25, 0.33, 0.5, 0.67, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 4.0)


@dataclass(frozen=True)
class Pair:
    """The drafter and budget that are looked at."""

    drafter: str
    budget: int
    by_hand: bool = False
    """Whether a person has picked it."""
    called: str = "selected"
    """What the pair is; where a width rule is chosen, the pair beside it is not what would be deployed."""


@dataclass(frozen=True)
class Asked:
    """What is compared."""

    profile: Profile
    corpus: TrajectorySet
    split: str
    drafter: str | None
    """The only one; ``None`` = all of the set."""


@dataclass(frozen=True)
class Compared:
    """A comparison, the same under assumed costs, and what would be deployed."""

    shown: BudgetReport
    """Under the costs that the sliders say."""
    measured: BudgetReport
    among: tuple[int, ...] | None
    """Budgets that a choice is made among; ``None`` = all."""
    choice: Deployment | None
    problem: str

    @property
    def assumed(self) -> bool:
        """Whether the costs are nobody's."""
        return self.shown is not self.measured


def asked(workspace: Workspace) -> Asked:
    """Device, windows and drafter; the page ends with a sentence when they cannot be read."""
    profiles, problems = readable_profiles(workspace.folders)
    for problem in problems:
        ui.box("warning", problem)
    corpora = list_corpora(workspace.folders)
    left, middle, right = st.columns([6, 3, 6])
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
    with ui.guarded():
        corpus = open_corpus(workspace.folders, corpus_id)
        with right:
            split = ui_state.one_of(
                st.segmented_control,
                "split",
                "Windows of",
                SHOWN,
                windows_first_shown(corpus),
                format_func=lambda name: {"development": "devel.", "validation": "valid."}.get(name, name),
                help=HELP["splits"],
            )
        _labels(profiles[chosen])
        return Asked(profiles[chosen], corpus, split, _drafter(corpus))
    return st.stop()


def compared(asked: Asked) -> Compared:
    """What was asked for, replayed; sliders replay the windows that are shown, and nothing else."""
    draft, verify = _factors()
    profile, corpus, split, drafter = asked.profile, asked.corpus, asked.split, asked.drafter
    note_shown(corpus, split)
    with ui.guarded():
        measured = ui_cache.budgets(profile, corpus, split, drafter)
        off = draft == verify == 1.0
        shown = measured if off else ui_cache.budgets(profile, corpus, split, drafter, draft, verify)
        among = _among(measured)
        pair = _picked(measured)
        choice, problem = None, measured.selection_problem or ""
        if not problem:
            budgets, name = (among, drafter) if pair is None else ((pair.budget,), pair.drafter)
            try:
                choice = ui_cache.choice(profile, corpus, budgets, name, by_hand=pair is not None)
            except As2dError as error:
                problem = str(error)
        return Compared(shown, measured, among, choice, problem)
    return st.stop()


def note_shown(corpus: TrajectorySet, split: str) -> None:
    """Remember that this visitor has seen how budgets do on test windows, if that is what is shown."""
    if any(window.split == "test" for window in corpus.windows) and split in ("test", ALL_WINDOWS):
        st.session_state.setdefault(_TEST_SHOWN, set()).add((corpus.id, corpus.created_at))


def test_shown(corpus: TrajectorySet) -> bool:
    """Whether this visitor has seen how budgets do on test windows of a set."""
    return (corpus.id, corpus.created_at) in st.session_state.get(_TEST_SHOWN, set())


def _among(report: BudgetReport) -> tuple[int, ...] | None:
    low, high = ui_state.whole("from"), ui_state.whole("to")
    inside = ()
    if low is not None and high is not None:
        inside = tuple(b for b in report.grid.budgets if low <= b <= high)
    given = f"{ui_state.get('from') or 'none'} to {ui_state.get('to') or 'none'}"
    asked = given if ui_state.get("from") or ui_state.get("to") else ""
    ui_state.expect("from", "Range of budgets", bool(inside), "all of them count", asked)
    return inside or None


def _picked(report: BudgetReport) -> Pair | None:
    """The pair that was clicked on."""
    names = [row.drafter for row in report.table.rows]
    budget, drafter = ui_state.whole("b"), ui_state.get("drafter") or names[0]
    here = any((row.drafter, row.budget) == (drafter, budget) for row in report.table.rows)
    given = " by ".join(filter(None, (ui_state.get("b"), ui_state.get("drafter"))))
    ui_state.expect("b", "Budget", here, "the selected one is shown", given if ui_state.get("b") else "")
    return Pair(drafter, budget, by_hand=True) if here and budget is not None else None


def _drafter(corpus: TrajectorySet) -> str | None:
    """Which drafter alone is compared, where there are several; ``None`` = all."""
    if len(corpus.drafters) < 2:
        return None
    chosen = ui_state.one_of(st.segmented_control, "only", "Drafter", [ALL_DRAFTERS, *corpus.drafters], ALL_DRAFTERS)
    return None if chosen == ALL_DRAFTERS else chosen


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


def selected(found: Compared) -> Pair:
    """The pair that was clicked on; else what validation chose among the budgets; else the fastest."""
    picked = _picked(found.shown)
    if picked is not None:
        return picked
    if found.choice is not None:
        fixed, ruled = found.choice.fixed, found.choice.deployed.width_rule is not None
        return Pair(fixed.drafter, fixed.budget, called="fixed choice" if ruled else "selected")
    table = found.shown.table
    best = table.best or table.rows[0]
    return Pair(best.drafter, best.budget)


def pick_pair(point: ui.Point) -> None:
    """A mark of the curve was clicked on."""
    found = point.get("customdata")
    if isinstance(found, list | tuple) and len(found) == 2:
        ui_state.put(drafter=found[0], b=int(found[1]), frozen=NEW, **{"from": None, "to": None})


def pick_range(report: BudgetReport) -> Callable[[float, float], None]:
    """Budgets were dragged over: validation chooses among them."""

    def act(low: float, high: float) -> None:
        inside = [b for b in report.grid.budgets if low <= b <= high]
        if inside:
            ui_state.put(b=None, drafter=None, frozen=NEW, **{"from": inside[0], "to": inside[-1]})

    return act


def pair_tools(found: Compared, pair: Pair) -> None:
    """What was chosen without looking at test windows, and the way back to it."""
    with st.container(horizontal=True, vertical_alignment="center"):
        ui.sentence(_choice_sentence(found, pair), beside=True)
        if pair.by_hand or found.among is not None:
            clear = {"b": None, "drafter": None, "from": None, "to": None, "frozen": None}
            st.button("Choose among all", icon=":material/undo:", on_click=ui_state.put, kwargs=clear, type="tertiary")


def _choice_sentence(found: Compared, pair: Pair) -> str:
    """What was chosen, or why nothing could be."""
    if found.choice is None:
        return found.problem or "Nothing could be chosen."
    among = None if found.among is None else (found.among[0], found.among[-1])
    return choice_sentence(found.choice, by_hand=pair.by_hand, assumed=found.assumed, among=among)


def pick_cell(info: WindowsInfo, report: BudgetReport) -> Callable[[ui.Point], None]:
    """A cell of the map was clicked on: open its window under its budget."""

    def act(point: ui.Point) -> None:
        found = point.get("customdata")
        if isinstance(found, list | tuple) and len(found) == 2 and 0 <= int(found[0]) < len(report.grid.windows):
            ui_state.put(window=report.grid.windows[int(found[0])], cell=int(found[1]), drafter=info.drafter)

    return act


def map_follows(found: Compared) -> bool:
    """Whether the map is drawn; with very many cells it follows the sliders only when somebody asks for it."""
    cells = len(found.shown.grid.windows) * len(found.shown.grid.budgets)
    if not found.assumed or cells <= MOST_CELLS_AT_ONCE:
        return True
    ui.sentence(f"A map of {numbers.counted(cells, 'cell')} takes longer than the curve above it.")
    return ui_state.flag("map", "Let the map follow the sliders, too")


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
        missing = f"The address names window {name[:60]!r}, which is not among those that are shown. " if name else ""
        ui.sentence(f"{missing}Click a cell to hear its window and see how it runs under that budget.")
        return
    budget = ui_state.whole("cell")
    ui_state.expect("cell", "Budget of the cell", budget in report.grid.budgets, "the selected one is shown")
    budget = budget if budget in report.grid.budgets else pair.budget
    window = report.corpus.window(name)
    with st.container(border=True):
        st.subheader(ui.plain(f"{name}, b = {budget}"), anchor=False, help=HELP["timeline"])
        path = window_audio(report.corpus, name)
        if path is not None:
            ui_audio.player(workspace, path, "cell-recording")
        ui.sentence(f"The target says: {window.target_text}")
        with ui.guarded():
            found = ui_cache.replayed(workspace, report.profile, report.corpus, name, budget, pair.drafter)
            timeline = found.run.timeline
            heading = heading_info(timeline, found.target_only_tps)
            st.html(heading_html(heading, ui.theme()))
            figure = timeline_figure(timeline, ui.theme(), max_bars=800)
            ui.chart(figure, "cell-timeline", said=heading_text(heading))
        with st.container(horizontal=True, vertical_alignment="center"):
            if not ui_state.get("draft") and not ui_state.get("verify"):
                state = {"corpus": report.corpus.id, "window": name, "profile": report.profile.id, "b": budget}
                ui_notebook.send_replay(workspace, "cell", {**state, "drafter": pair.drafter})
                ui.link(ui.TIMELINE, "Look at its rounds", icon=":material/view_timeline:", **state)
            close = {"window": None, "cell": None}
            st.button("Close", icon=":material/close:", on_click=ui_state.put, kwargs=close)


def send_button(workspace: Workspace, report: BudgetReport, pair: Pair, view: str) -> None:
    """Takes a figure into a notebook; what-if costs are nobody's, and are not taken."""
    if ui_state.get("draft") or ui_state.get("verify"):
        return
    settings = {"profile": report.profile.id, "corpus": report.corpus.id, "split": report.split}
    ui_notebook.send_button(workspace, view, view, **settings, drafter=pair.drafter, budget=pair.budget)


def file_facts(report: BudgetReport, pair: Pair) -> tuple[str, dict[str, Any]]:
    """Name of a file of these numbers, and what is written into it."""
    about = {
        "profile": report.profile.name,
        "corpus": report.corpus.id,
        "split": report.split,
        "times": "replayed",
        "trajectories": report.table.label,
        pair.called: {"drafter": pair.drafter, "budget": pair.budget},
    }
    return f"budgets-{safe_name(report.corpus.id)}-{report.split}", about
