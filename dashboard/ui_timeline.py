"""Which run does the Timeline page show, which part of it, and which round? The query string says it all."""

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from as2d_core.profiles.profile import Profile
from as2d_core.records import METHODS, RunRecord
from dashboard import ui, ui_cache, ui_notebook, ui_state
from dashboard.reports.trace import trace_json
from dashboard.services.budgets import open_corpus
from dashboard.services.profiles import load_profile, measured_profile
from dashboard.services.references import reference_tps
from dashboard.services.runs import RunFilter, RunRow, export_runs, get_run, list_runs
from dashboard.services.workspace import Workspace
from dashboard.views import zoom
from dashboard.views.live import live_info, live_text_html
from dashboard.views.run_labels import profile_label, run_label
from dashboard.views.timeline import TimelineInfo
from datastore.errors import RunNotFoundError
from datastore.queries import row_as_json

LISTED = 300
"""Newest runs in the picker; older ones are reached from the Runs page."""
MOST_SAID = 6_000
"""Tokens of an output that are shown as text."""


@dataclass(frozen=True)
class Chosen:
    """The run that is shown."""

    record: RunRecord
    timeline: TimelineInfo
    target_only_tps: float | None
    profile: Profile | None
    """What its rounds would cost by this device's own measured profile; of a replay, the profile it was charged."""
    log: Callable[[], bytes]
    """The run as a file of the runner protocol."""


def choose(workspace: Workspace) -> Chosen:
    """The run that the query string names, or the newest; when there is none, the page says so and ends."""
    if ui_state.get("corpus"):
        return _replayed(workspace)
    rows = {row.run_id: row for row in list_runs(workspace, RunFilter(methods=METHODS), limit=LISTED)}
    asked = ui_state.get("run")
    if asked:
        try:
            row = get_run(workspace, asked)
        except RunNotFoundError as error:
            ui.box("error", str(error))
        else:
            rows = {row.run_id: row} | rows
    if not rows:
        ui.box("empty", "There is no run yet.", "Run a method on the Request page; its timeline appears here.")
        ui.link(ui.REQUEST, "Run a method", icon=":material/mic:")
        st.stop()
    return _stored(workspace, rows)


def _stored(workspace: Workspace, rows: dict[str, RunRow]) -> Chosen:
    ids = list(rows)

    def label(run_id: str) -> str:
        row = rows[run_id]
        return run_label(row_as_json(row) | {"created_at": row.created_at})

    before = ui_state.get("run")
    chosen = ui_state.one_of(st.selectbox, "run", "Run", ids, ids[0], format_func=label, always=True)
    if before and before != chosen and chosen not in before:
        ui_state.put(**{"from": None, "to": None, "round": None})
    row = rows[chosen]
    run = ui_cache.stored_run(workspace, row)

    def log() -> bytes:
        return export_runs(workspace, RunFilter(run_ids=(row.run_id,), bin="with"), "ndjson").data

    profile = measured_profile(workspace, row.device_key) if row.label == "measured" else None
    return Chosen(run.record, run.timeline, reference_tps(workspace, row), profile, log)


def _replayed(workspace: Workspace) -> Chosen:
    """A window of a trajectory set with the costs of a profile."""
    st.button("Show a run of the store instead", on_click=_leave_replay, icon=":material/arrow_back:")
    with ui.guarded():
        profile = load_profile(workspace.folders, ui_state.get("profile"))
        corpus = open_corpus(workspace.folders, ui_state.get("corpus"))
        window, drafter = ui_state.get("window"), ui_state.get("drafter") or None
        found = ui_cache.replayed(workspace, profile, corpus, window, ui_state.whole("b"), drafter)
        ui.sentence(
            f"Window {window} of the set {corpus.id} ({corpus.label} tokens), charged with the costs of "
            f"{profile_label(profile)}: the decisions are real, the times are computed."
        )
        run = found.run
        return Chosen(run.record, run.timeline, found.target_only_tps, profile, lambda: "".join(found.lines).encode())
    return st.stop()


def _leave_replay() -> None:
    ui_state.put(**dict.fromkeys(("corpus", "window", "profile", "b", "drafter", "from", "to", "round")))


def stop_if_empty(info: TimelineInfo) -> None:
    """A run that never began to decode has no timeline: the page says so and ends."""
    if info.empty is not None:
        ui.box(
            "error" if info.status == "failed" else "empty", info.empty, "The log holds everything that was written."
        )
        st.stop()


def trace_button(record: RunRecord) -> None:
    """The run for other viewers of traces."""
    st.download_button(
        "Trace",
        lambda: trace_json([record]),
        f"{record.run_id}.trace.json",
        "application/json",
        icon=":material/download:",
        help="For ui.perfetto.dev or chrome://tracing: both lanes, rounds, and arrows from publications to rounds.",
    )


def send_button(
    workspace: Workspace, info: TimelineInfo, view: str, shown: zoom.Window | None = None, selected: int | None = None
) -> None:
    """Takes a figure of a stored run into a notebook, as it is shown; a replay is not kept, so that it cannot be."""
    if ui_state.get("corpus"):
        return
    settings: dict[str, object] = {"run": info.run_id, "round": selected}
    if shown is not None:
        settings |= {"from": shown[0], "to": shown[1]}
    ui_notebook.send_button(workspace, view, view, **settings)


def words(record: RunRecord) -> None:
    """What was said, on demand: every stretch of text is an element of the page."""
    if not ui_state.flag("said", "Show what was said"):
        return
    if len(record.tokens) > MOST_SAID:
        ui.sentence(f"The output has {len(record.tokens):,} tokens, too many to be shown here; the log holds them all.")
    else:
        st.html(live_text_html(live_info(record), ui.theme()))


def window(info: TimelineInfo) -> zoom.Window | None:
    """The part of the run that is shown; ``None`` = all of it."""
    return zoom.valid((ui_state.whole("from"), ui_state.whole("to")), info)


def show_window(shown: zoom.Window | None) -> None:
    """Show this part of the run."""
    low, high = (None, None) if shown is None else (round(shown[0]), round(shown[1]))
    ui_state.put(**_pinned(), **{"from": low, "to": high})


def zoom_buttons(info: TimelineInfo) -> None:
    """Steps in time, also by the keys W, S, A, D."""
    shown = window(info)
    steps = (
        ("Zoom in", ":material/zoom_in:", "w", zoom.zoomed(shown, info, 0.5), False),
        ("Zoom out", ":material/zoom_out:", "s", zoom.zoomed(shown, info, 2.0), shown is None),
        ("Earlier", ":material/chevron_left:", "a", zoom.shifted(shown, info, -0.5), shown is None),
        ("Later", ":material/chevron_right:", "d", zoom.shifted(shown, info, 0.5), shown is None),
        ("Whole run", ":material/fit_screen:", "0", None, shown is None),
    )
    with st.container(horizontal=True, gap="small"):
        for name, icon, key, target, off in steps:
            st.button(
                name, icon=icon, shortcut=key, on_click=show_window, args=(target,), disabled=off, key=f"zoom-{name}"
            )


def clicked(info: TimelineInfo) -> Callable[[ui.Point], None]:
    """What a click on a bar does: open its round, or zoom into the rounds that share it."""

    def act(point: ui.Point) -> None:
        index, merged = (int(value) for value in list(point.get("customdata") or (-1, 0))[:2])
        if index >= 0 and merged == 1:
            _open_round(index)
        elif index >= 0:
            show_window(zoom.around_rounds(info, index, merged))

    return act


def selected_round(info: TimelineInfo) -> int | None:
    """Index of the round that is open."""
    asked = ui_state.whole("round")
    return asked if asked is not None and asked in info.rounds.index else None


def round_buttons(info: TimelineInfo, index: int) -> None:
    """To the rounds beside the open one."""
    order = info.rounds.index.tolist()
    at = order.index(index)
    with st.container(horizontal=True, gap="small"):
        for name, icon, step in (
            ("Previous round", ":material/chevron_left:", -1),
            ("Next round", ":material/chevron_right:", 1),
        ):
            other = order[at + step] if 0 <= at + step < len(order) else None
            st.button(name, icon=icon, on_click=_open_round, args=(other,), disabled=other is None)
        st.button("Close", icon=":material/close:", on_click=_open_round, args=(None,))


def _open_round(index: int | None) -> None:
    ui_state.put(**_pinned(), round=index)


def _pinned() -> dict[str, object]:
    """The run by name: a round or a range belongs to it, not to whatever is newest tomorrow."""
    return {} if ui_state.get("corpus") else {"run": st.session_state.get("timeline:run")}
