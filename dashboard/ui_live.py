"""How is a job watched? Redrawn a few times a second while it runs, then once more for good."""

from collections.abc import Sequence

import streamlit as st

from as2d_core.records import RunRecord
from as2d_core.request import METHODS
from dashboard import ui, ui_export, ui_notebook, ui_state
from dashboard.services.references import request_reference_tps
from dashboard.services.runs import RunFilter, list_runs
from dashboard.services.workspace import Workspace
from dashboard.views.device_cards import gauges_html, run_gauges
from dashboard.views.figure_help import HELP
from dashboard.views.heading import badge_html, badges, heading_info, heading_text
from dashboard.views.live import live_figure, live_figures_html, live_info, live_text_html
from dashboard.views.live_lanes import live_lanes_svg
from dashboard.views.methods_compare import in_order, methods_figure, methods_info
from dashboard.views.progress import FEW_CORES_NOTE, few_cores, progress_info, slowed_by_a_page
from dashboard.views.text import element
from dashboard.views.theme import PICTURE_CONFIG, method_of
from device_bridge.errors import UnknownJobError
from device_bridge.jobs import Job
from device_bridge.streams import LiveRun

POLL_S, FEW_CORES_POLL_S = 0.22, 0.45
MOST_COMPARED = 12
"""Runs of one job that are drawn under each other; more of them are a matter for the Runs page."""


def job_shown(workspace: Workspace, device_id: str) -> Job | None:
    """The job that the query string names, or else the one that runs on the device, or else the last one."""
    running = workspace.jobs.active(device_id)
    asked = ui_state.get("job")
    if not asked:
        return running or next((job for job in workspace.jobs.jobs() if _decodes(job, device_id)), None)
    try:
        return workspace.jobs.job(asked)
    except UnknownJobError:
        ui.box("note", f"Job {asked} is not known to this program any more.", "Its runs are in the store, see Runs.")
        return running


def _decodes(job: Job, device_id: str) -> bool:
    return job.device_id == device_id and job.runs[0].request.method in METHODS


def watch(workspace: Workspace, job: Job) -> None:
    """Show a job; while it runs, this part of the page redraws itself and leaves the rest alone."""
    ended = job.finished
    every = FEW_CORES_POLL_S if few_cores() else POLL_S
    st.fragment(_panel, run_every=None if ended else every)(workspace, job, ended)


def _panel(workspace: Workspace, job: Job, ended_before: bool) -> None:
    ended = job.finished
    if ended and not ended_before:
        st.rerun()  # the whole page: its buttons wait for this
    progress = progress_info(job)
    ui.sentence(progress.sentence, muted=False)
    if progress.detail:
        ui.sentence(progress.detail)
    if not ended:
        left, right = st.columns([5, 1], vertical_alignment="center")
        left.progress(progress.share)
        right.button("Cancel", key=f"cancel-{job.id}", on_click=job.cancel, disabled=job.cancelling.is_set())
    if job.error is not None and ended:
        ui.box("error", job.error)
    for warning in job.warnings:
        ui.box("warning", warning)
    run = _shown(job)
    if run is not None:
        _run(workspace, job, run)
    if ended:
        _results(workspace, job)
    elif gauges := run_gauges([None if run is None else run.record()]):
        st.html(gauges_html(gauges, ui.theme()))
    if slowed_by_a_page(job):
        ui.sentence(FEW_CORES_NOTE)


def _shown(job: Job) -> LiveRun | None:
    """The run to look at: the one that runs, or else the last one that began."""
    begun = [run for run in job.runs if run.started]
    return begun[-1] if begun else None


def _run(workspace: Workspace, job: Job, run: LiveRun) -> None:
    record = run.record()
    if record is None or "decode_start" not in record.marks or record.request.method not in METHODS:
        return  # the sentence above says what is going on
    theme = ui.theme()
    info = live_info(record, _reference(workspace, job, run))
    shown = badges(
        record.header.source,
        record.header.clock,
        run.request.drafter_pace_ms is not None,
        bool(record.header.device.get("virtual")),
    )
    parts = [live_figures_html(info, theme), *(badge_html(badge, theme) for badge in shown)]
    st.html(
        element(
            "div", "".join(parts), {"display": "flex", "flex-wrap": "wrap", "align-items": "center", "gap": "4px 14px"}
        )
    )
    st.html(live_text_html(info, theme))
    if run.ended and job.finished:
        said = heading_text(heading_info(info.timeline))
        ui.chart(live_figure(info, theme), f"live-{job.id}", said=said, config=PICTURE_CONFIG)
        with st.container(horizontal=True, vertical_alignment="center"):
            ui.how_to_read(HELP["live"])
            ui_notebook.send_button(workspace, "timeline", f"live-{job.id}", run=run.request.run_id)
    elif lanes := live_lanes_svg(info.timeline, theme):
        st.image(lanes, width="stretch")


def _reference(workspace: Workspace, job: Job, run: LiveRun) -> float | None:
    """TPS of target-only on the same work, asked once for each run."""
    key = f"reference-{run.request.run_id}"
    if st.session_state.get(key) is None:
        st.session_state[key] = request_reference_tps(workspace, run.request, job.device_id)
    return st.session_state[key]


def _results(workspace: Workspace, job: Job) -> None:
    """What came out: links for every run, and all of them under each other when there are several."""
    records = [record for run in job.runs if (record := run.record()) is not None]
    decoded = [record for record in records if record.request.method in METHODS and not record.request.warm_up]
    if 1 < len(decoded) <= MOST_COMPARED:
        st.subheader("Side by side", anchor=False, help=HELP["methods"])
        stored = list_runs(workspace, RunFilter(run_ids=tuple(record.run_id for record in decoded)), limit=None)
        info = methods_info(decoded, {row.run_id: row.matches_target_only for row in stored})
        said = f"runs {', '.join(record.run_id for record in decoded)}"
        ui.chart(methods_figure(info, ui.theme()), f"methods-{job.id}", said=said, config=PICTURE_CONFIG)
        ui.small_table(info.table)
        runs = [record.run_id for record in decoded]
        ui_export.table(info.table, "methods", {"runs": runs})
        ui_notebook.send_button(workspace, "methods", f"methods-{job.id}", runs=runs)
        for note in info.notes:
            ui.sentence(note)
    _links(job, decoded)


def _links(job: Job, records: Sequence[RunRecord]) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        for record in in_order(records[-4:], lambda record: record.request.method):
            request = record.request
            name = method_of(request)
            ui.link(ui.TIMELINE, f"Timeline of {name}", icon=":material/view_timeline:", run=record.run_id)
        if len(records) > 1:
            ui.link(ui.RUNS, "All of these runs", icon=":material/table_rows:", group=job.runs[0].request.group_id)
        ui.link(ui.BUDGETS, "Which budget is best?", icon=":material/tune:")
