"""What does a newcomer find on the first page?"""

from dataclasses import dataclass

import streamlit as st

from as2d_core.request import METHODS
from dashboard import ui, ui_cache, ui_models, ui_notebook
from dashboard.services.devices import list_devices
from dashboard.services.references import reference_tps
from dashboard.services.replays import SAMPLE_BUDGET, SAMPLE_CORPUS, SAMPLE_PROFILE, SAMPLE_WINDOW
from dashboard.services.requests import RunForm
from dashboard.services.running import start_run
from dashboard.services.runs import RunFilter, RunRow, list_runs
from dashboard.services.workspace import Workspace
from dashboard.ui_request import FIRST_WINDOW
from dashboard.views.devices import device_html
from dashboard.views.run_labels import short_run_label
from datastore.queries import row_as_json

WHAT_THIS_IS = (
    "A small drafter transcribes ahead on its own while the large target checks whatever is ready and never waits: "
    "run it on this computer, see where the time goes, and find the budget that suits a phone."
)


def send_button(workspace: Workspace, shown: "Picture") -> None:
    """Takes the picture into a notebook."""
    if "run" in shown.state:
        ui_notebook.send_button(workspace, "timeline", "start", run=shown.state["run"])
    else:
        ui_notebook.send_replay(workspace, "start", shown.state)


@dataclass(frozen=True)
class Picture:
    """The run that the first page shows."""

    title: str
    run: ui_cache.ShownRun
    target_only_tps: float | None
    state: dict[str, object]
    """Where the Timeline page shows the same run."""


def run_button(workspace: Workspace) -> None:
    """The one button: a real request on this computer, which the Request page then shows."""
    device = list_devices(workspace)[0]
    if device.job is not None:
        if st.button("Watch what runs now", type="primary"):
            ui.go_to(ui.REQUEST, job=device.job.id)
        ui.sentence(device.job.stage)
    elif ui_models.usable(workspace) and st.button(
        "Run As²d on this computer", type="primary", icon=":material/play_arrow:"
    ):
        with ui.guarded(), st.spinner("Preparing the request"):
            job = start_run(workspace, RunForm(window_id=FIRST_WINDOW), device.id)
            ui.go_to(ui.REQUEST, job=job.id)


def picture(workspace: Workspace) -> Picture:
    """The newest run that got somewhere; before there is one, the bundled sample."""
    for title, methods in (("The newest As²d run", ("as2d",)), ("The newest run", METHODS)):
        where = RunFilter(methods=methods, statuses=("eos", "capped"), warm_ups=False)
        for row in list_runs(workspace, where, limit=1):
            run = ui_cache.stored_run(workspace, row)
            return Picture(title, run, reference_tps(workspace, row), {"run": row.run_id})
    found = ui_cache.sample(workspace)
    state: dict[str, object] = {
        "corpus": SAMPLE_CORPUS,
        "window": SAMPLE_WINDOW,
        "profile": SAMPLE_PROFILE,
        "b": SAMPLE_BUDGET,
    }
    return Picture(
        "A sample, replayed with the costs of a phone; nothing ran here yet", found.run, found.target_only_tps, state
    )


def devices(workspace: Workspace) -> None:
    """What a request can run on."""
    for device in list_devices(workspace):
        st.html(device_html(device, ui.theme()))


def last_runs(workspace: Workspace) -> None:
    """The newest runs, however they ended."""
    rows: list[RunRow] = list_runs(workspace, RunFilter(methods=METHODS), limit=5)
    if not rows:
        ui.sentence("There are none yet.")
    for row in rows:
        ui.link(ui.TIMELINE, short_run_label(row_as_json(row) | {"created_at": row.created_at}), run=row.run_id)
    if rows:
        ui.link(ui.RUNS, "All runs", icon=":material/table_rows:")


def onward() -> None:
    """The four things that people come for."""
    ui.link(ui.REQUEST, "Run it on your own recording", icon=":material/mic:")
    ui.link(ui.TIMELINE, "See where the time of a run went", icon=":material/view_timeline:")
    ui.link(ui.BUDGETS, "Find the best budget for a phone", icon=":material/tune:")
    ui.link(ui.RUNS, "Compare, tag and export runs", icon=":material/table_rows:")
