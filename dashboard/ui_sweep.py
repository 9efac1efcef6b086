"""What is asked for on the Sweep page, and how is a sweep watched, stopped and gone on with?"""

from dataclasses import replace

import streamlit as st

from as2d_core.audio import MAX_SECONDS
from as2d_core.errors import As2dError
from as2d_core.request import METHODS
from dashboard import ui, ui_export, ui_models, ui_notebook, ui_request, ui_state
from dashboard.services.requests import DEFAULT_BUDGET, DEFAULT_WIDTH, RunForm
from dashboard.services.sweeps import (
    BLOCKS,
    KINDS,
    LONGEST_MINUTES,
    MOST_REQUESTS,
    POSITIONS,
    SUSTAINED,
    Sweep,
    SweepForm,
    SweepPlan,
    forget_sweep,
    list_sweeps,
    load_sweep,
    plan_sweep,
    recording_seconds,
    request_count,
    resume_sweep,
    start_sweep,
)
from dashboard.services.workspace import Workspace
from dashboard.views import numbers
from dashboard.views.figure_help import HELP
from dashboard.views.grids import NARROW_PX, column_width, fitting, grid_height
from dashboard.views.heading import badge_html
from dashboard.views.progress import FEW_CORES_NOTE, few_cores, progress_info, slowed_by_a_page
from dashboard.views.run_filters import group_label
from dashboard.views.sweep import sweep_figure, sweep_info
from dashboard.views.sweep_info import SWEEP_FORMAT, SweepInfo, sweep_importance, sweep_table, sweep_texts
from dashboard.views.theme import CONFIG, METHOD_NAMES
from datastore.sweeps import group_readings, preparation_ms
from device_bridge.local import THIS_COMPUTER

POLL_S, FEW_CORES_POLL_S = 2.0, 5.0
MOST_ROWS = 12
NAMES = {POSITIONS: "Positions", BLOCKS: "Blocks", SUSTAINED: "Sustained"}
_WHAT = {
    POSITIONS: "The same request at many places of a recording, by several methods in turn.",
    BLOCKS: "A recording cut into blocks end to end: would the device keep pace with speech?",
    SUSTAINED: "One request again and again: does throughput last, or does heat take it away?",
}
_FIRST = {POSITIONS: ("target-only", "as2d"), BLOCKS: ("as2d",), SUSTAINED: ("as2d",)}


def ask(workspace: Workspace) -> None:
    """Device, recording, kind and length of a sweep, and the button that starts it."""
    device = ui_request.device_choice(workspace)
    kind = ui_state.one_of(
        st.segmented_control, "kind", "Sweep over", KINDS, SUSTAINED, format_func=NAMES.get, help=HELP["sweep"]
    )
    ui.sentence(_WHAT[kind])
    base = ui_request.recording(workspace, whole=kind != SUSTAINED)
    if base is None:
        return
    with ui.guarded():
        form = _details(workspace, kind, base)
        running = workspace.jobs.active(device)
        seconds = recording_seconds(workspace, base)
        ui.sentence(_estimate(form, request_count(form, seconds)))
        closed = not ui_models.usable(workspace) or running is not None
        if ui.pressed("Start the sweep", "start-sweep", type="primary", disabled=closed):
            with st.spinner("Planning the sweep"):
                plan = plan_sweep(workspace, form, device)
                start_sweep(workspace, plan)
            ui_state.later(sweep=plan.id)
            st.rerun()
        if running is not None:
            ui.sentence(f"The device is busy: {running.title}.")


def _details(workspace: Workspace, kind: str, base: RunForm) -> SweepForm:
    methods = ui_state.one_of(
        st.selectbox, f"by-{kind}", "Methods", _CHOICES[kind], _FIRST[kind], write=",".join, format_func=_by
    )
    form = SweepForm(kind, base, methods)
    if kind == SUSTAINED:
        by = ui_state.one_of(st.segmented_control, "until", "Until", ("minutes", "times"), "minutes")
        if by == "minutes":
            form = replace(
                form, minutes=ui_state.number(st.number_input, "minutes", "Minutes of work", 10.0, 0.1, LONGEST_MINUTES)
            )
        else:
            form = replace(form, times=ui_state.number(st.number_input, "times", "Requests", 30, 1, MOST_REQUESTS))
    else:
        seconds = recording_seconds(workspace, base)
        long = round(min(MAX_SECONDS, max(seconds / 4, 2.0)), 1) if kind == POSITIONS else min(4.0, seconds)
        left, right = st.columns(2)
        with left:
            name = "View (s)" if kind == POSITIONS else "Block (s)"
            length = ui_state.number(st.number_input, f"length-{kind}", name, float(long), 0.1, MAX_SECONDS)
        step = length
        if kind == POSITIONS:
            with right:
                step = ui_state.number(st.number_input, "step", "Step (s)", float(round(long / 2, 1)), 0.1, 600.0)
        form = replace(form, length_s=length, step_s=step)
    return replace(form, base=_parameters(base, methods))


_CHOICES = {
    POSITIONS: (("target-only", "as2d"), METHODS, ("as2d",)),
    BLOCKS: (("as2d",), ("target-only",), ("target-only", "as2d")),
    SUSTAINED: (("as2d",), ("target-only",), ("sd",), ("target-only", "as2d")),
}


def _by(methods: tuple[str, ...]) -> str:
    return "All" if len(methods) == len(METHODS) else " and ".join(METHOD_NAMES[name] for name in methods)


def _parameters(base: RunForm, methods: tuple[str, ...]) -> RunForm:
    left, right = st.columns(2)
    if "as2d" in methods:
        with left:
            base = replace(
                base, budget=ui_state.number(st.number_input, "budget", "Budget b", DEFAULT_BUDGET, 1, ui_request.MOST)
            )
    if "sd" in methods:
        with right:
            most = ui_request.MOST + 1
            base = replace(base, width=ui_state.number(st.number_input, "width", "Width K", DEFAULT_WIDTH, 2, most))
    return base


def _estimate(form: SweepForm, count: int) -> str:
    if form.kind == SUSTAINED and form.minutes is not None:
        return f"Ends after {numbers.wait(form.minutes * 60)} of work; a warm-up comes first."
    turns = f" at {count // len(form.methods)} places" if form.kind != SUSTAINED else ""
    return f"{numbers.counted(count, 'request')}{turns}; a warm-up comes first."


def chosen(workspace: Workspace) -> Sweep | None:
    """The sweep that the query string names, or the one that was planned last."""
    plans = {plan.id: plan for plan in list_sweeps(workspace)}
    asked = ui_state.get("sweep")
    if asked and asked not in plans:
        ui.box("error", f"There is no sweep {asked!r} here; its runs may be on the Runs page all the same.")
    if not plans:
        ui.box("empty", "Nothing was swept yet.", "Start a sweep: points appear here as requests come to their end.")
        return None
    name = ui_state.one_of(
        st.selectbox, "sweep", "Shown", list(plans), next(iter(plans)), always=True, told=True,
        format_func=lambda item: _name(plans[item]),
    )  # fmt: skip
    with ui.guarded():
        return load_sweep(workspace, name)
    return None


def _name(plan: SweepPlan) -> str:
    device = "" if plan.device_id == THIS_COMPUTER else f" · {plan.device_id}"
    return f"{numbers.moment(plan.created_at, '')} · {plan.title}{device}"


def watch(workspace: Workspace, sweep: Sweep) -> None:
    """Show a sweep; while it runs, this part of the page redraws itself."""
    running = sweep.job is not None
    every = FEW_CORES_POLL_S if few_cores() else POLL_S
    st.fragment(_panel, run_every=every if running else None)(workspace, sweep.plan.id, running)


def _panel(workspace: Workspace, sweep_id: str, ran_before: bool) -> None:
    with ui.guarded():
        sweep = load_sweep(workspace, sweep_id)
        if ran_before and sweep.job is None:
            st.rerun()  # the whole page: its buttons wait for this
        _progress(workspace, sweep)
        readings = group_readings(workspace.store, sweep_id)
        info = sweep_info(sweep.rows, preparation_ms(workspace.store, sweep_id), readings, sweep.plan.kind)
        _figure(workspace, sweep, info)
        if sweep.job is None and info.empty is None:
            _numbers(workspace, sweep, info)
        elif sweep.job is not None and slowed_by_a_page(sweep.job):
            ui.sentence(FEW_CORES_NOTE)


def _progress(workspace: Workspace, sweep: Sweep) -> None:
    """How far it is, with the one button that fits."""
    said = f"{sweep.done:,} of {sweep.plan.formal:,} requests" if sweep.plan.minutes is None else _minutes(sweep)
    with st.container(horizontal=True, vertical_alignment="center"):
        if sweep.job is not None:
            detail = progress_info(sweep.job).sentence.partition(", ")[2] if sweep.plan.minutes is None else ""
            ui.sentence(f"Running: {said}{'; now ' + detail if detail else '.'}", muted=False)
            if sweep.job.notice:
                ui.sentence(sweep.job.notice)
            stop = sweep.job.cancelling.is_set()
            st.button("Stop", icon=":material/stop:", on_click=sweep.job.cancel, disabled=stop, key="stop-sweep")
        elif sweep.complete:
            ui.sentence(f"Complete: {said}.", muted=False)
        else:
            ui.sentence(f"Stopped: {said}. What was run is kept.", muted=False)
            if st.button("Go on", icon=":material/play_arrow:", key="resume-sweep"):
                try:
                    resume_sweep(workspace, sweep.plan.id)
                except As2dError as error:
                    ui.box("error", str(error))
                else:
                    st.rerun()
    if not sweep.complete:
        st.progress(sweep.share)


def _minutes(sweep: Sweep) -> str:
    return f"{sweep.spent_minutes:.1f} of {sweep.plan.minutes:g} min of work, {numbers.counted(sweep.done, 'request')}"


def _figure(workspace: Workspace, sweep: Sweep, info: SweepInfo) -> None:
    theme = ui.theme()
    labels = sorted({row.label for row in sweep.rows} | ({"virtual"} if any(r.virtual for r in sweep.rows) else set()))
    if labels:
        st.html("".join(badge_html(numbers.badge(name), theme) for name in labels))
    for sentence in info.sentences:
        ui.sentence(sentence, muted=False)
    said = " · ".join((sweep.plan.title, group_label(sweep.plan.id), *labels))
    ui.chart(sweep_figure(info, theme), "sweep", said=said, config=CONFIG, on_click=_open)
    if info.notes:
        ui.sentence(" ".join(info.notes))
    if info.empty is None:
        ui_notebook.send_button(workspace, "sweep", "sweep", group=sweep.plan.id)


def _open(point: ui.Point) -> None:
    """A request was clicked on: its timeline is one more click away, so that the page does not leave by surprise."""
    found = point.get("customdata")
    run = found[0] if isinstance(found, list | tuple) and found else found
    if isinstance(run, str):
        ui_state.put(run=run)


def _numbers(workspace: Workspace, sweep: Sweep, info: SweepInfo) -> None:
    run = ui_state.get("run")
    here = run in {row.run_id for row in sweep.rows}
    ui_state.expect("run", "Request", here, "none is chosen")
    if here:
        ui.link(ui.TIMELINE, f"Timeline of {run}", icon=":material/view_timeline:", run=run)
    else:
        ui.sentence("Click a point to get to the timeline of its request.")
    st.subheader("All requests", anchor=False)
    table, everything = sweep_table(info), ui_state.flag("columns", "All columns")
    texts = sweep_texts(table)
    st.dataframe(
        table,
        hide_index=True,
        placeholder=numbers.NA,
        height=grid_height(len(table), MOST_ROWS),
        column_order=[*(name for name in table.columns if name != "Run"), "Run"]
        if everything
        else fitting(texts, sweep_importance(table), NARROW_PX),
        column_config={
            name: st.column_config.Column(width=column_width([name, *texts[name]]))
            if name in ("Method", "Run")
            else st.column_config.NumberColumn(format=SWEEP_FORMAT)
            for name in table.columns
        },
    )
    about = {"sweep": sweep.plan.id, "kind": sweep.plan.kind, "title": sweep.plan.title, "device": sweep.plan.device_id}
    ui_export.table(table, f"sweep-{sweep.plan.id}", about)
    with st.container(horizontal=True, vertical_alignment="center"):
        ui.link(ui.RUNS, "All of these runs", icon=":material/table_rows:", group=sweep.plan.id)
        with st.popover("Forget the plan", icon=":material/delete:"):
            ui.sentence("The sweep goes from this list and cannot be gone on with; its runs stay.", muted=False)
            st.button("Forget it", on_click=_forget, args=(workspace, sweep.plan.id))


def _forget(workspace: Workspace, sweep_id: str) -> None:
    forget_sweep(workspace, sweep_id)
    ui_state.put(sweep=None, run=None)
