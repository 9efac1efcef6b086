"""What does one window show? Its recording, its words and its timeline: replayed from a set, or run and stored."""

from pathlib import Path

import streamlit as st

from as2d_core.models.demo_catalog import demo_windows
from as2d_core.profiles.profile import Profile
from as2d_core.replay.windows import TrajectorySet
from dashboard import ui, ui_audio, ui_cache, ui_notebook, ui_state
from dashboard.services.replays import window_audio
from dashboard.services.runs import get_run
from dashboard.services.window_sets import Place
from dashboard.services.workspace import Workspace
from dashboard.views.heading import heading_html, heading_info, heading_text
from dashboard.views.timeline import timeline_figure
from dashboard.views.window_set import WindowSet


def recorded(workspace: Workspace, pair: tuple[Profile, TrajectorySet, int, str], name: str) -> None:
    """A window of a set, replayed with a profile's costs under a budget."""
    profile, corpus, budget, drafter = pair
    path = window_audio(corpus, name)
    if path is not None:
        ui_audio.player(workspace, path, "window-recording")
    said = corpus.window(name).target_text
    ui.sentence(f"The target says: {said}" if said else "The set holds no words of this window.")
    with ui.guarded():
        found = ui_cache.replayed(workspace, profile, corpus, name, budget, drafter)
        timeline = found.run.timeline
        heading = heading_info(timeline, found.target_only_tps)
        st.html(heading_html(heading, ui.theme()))
        figure = timeline_figure(timeline, ui.theme(), max_bars=800)
        ui.chart(figure, "window-timeline", said=heading_text(heading))
    state = {"corpus": corpus.id, "window": name, "profile": profile.id, "b": budget, "drafter": drafter}
    with st.container(horizontal=True, vertical_alignment="center"):
        ui_notebook.send_replay(workspace, "window", state)
        ui.link(ui.TIMELINE, "Replay it round by round", icon=":material/view_timeline:", **state)
        budgets = {"corpus": corpus.id, "profile": profile.id, "b": budget, "window": name, "cell": budget}
        ui.link(ui.BUDGETS, "Its other budgets", icon=":material/tune:", **budgets)


def stored(workspace: Workspace, whole: WindowSet, place: Place, name: str) -> None:
    """A window that was run; its newest run under the chosen setting."""
    at = whole.index(name)
    runs = [(item, item.run_ids[at]) for item in whole.all if at is not None and item.run_ids[at]]
    current = whole.named(ui_state.get("setting") or chosen_default(whole))
    ids = dict.fromkeys(run for item, run in runs if run)
    own = next((run for item, run in runs if item is current), next(iter(ids), None))
    if own is None:
        return
    with ui.guarded():
        row = get_run(workspace, own)
        path = next((w.path for w in demo_windows() if w.window_id == row.window_id), None)
        local = Path(row.audio_path) if row.audio_path and place.label == "measured" else None
        if path is None and local is not None and local.is_relative_to(workspace.folders.root) and local.is_file():
            path = local
        if path is not None:
            ui_audio.player(workspace, path, "window-recording", (row.view_start_s or 0.0, row.view_end_s))
        ui.sentence(f"The run says: {row.text}" if row.text else "The run has no words.")
        shown = ui_cache.stored_run(workspace, row)
        heading = heading_info(shown.timeline)
        st.html(heading_html(heading, ui.theme()))
        if shown.timeline.empty is None:
            figure = timeline_figure(shown.timeline, ui.theme(), max_bars=800)
            ui.chart(figure, "window-timeline", said=heading_text(heading))
        else:
            ui.sentence(shown.timeline.empty)
        with st.container(horizontal=True, vertical_alignment="center"):
            ui_notebook.send_button(workspace, "timeline", "window", run=own)
            ui.link(ui.TIMELINE, "Look at its rounds", icon=":material/view_timeline:", run=own)
            if len(ids) > 1:
                ui.link(ui.COMPARE, "Compare the methods on it", icon=":material/compare_arrows:", runs="\n".join(ids))


def chosen_default(whole: WindowSet) -> str:
    """The setting that is held against target-only when nothing was chosen."""
    as2d = [item for item in whole.settings if item.method == "as2d"]
    return max(as2d or whole.settings, key=lambda item: int((item.runs > 0).sum())).name
