"""What is chosen on the Reports page, and what is handed out?"""

from typing import Any

import streamlit as st

from as2d_core.errors import As2dError
from dashboard import ui, ui_blocks, ui_export, ui_state
from dashboard.notebook.cells import Notebook
from dashboard.notebook.edits import copied
from dashboard.reports.templates import TEMPLATES, Words
from dashboard.services import notebooks
from dashboard.services.budgets import list_corpora
from dashboard.services.exports import MOST_TRACED, run_trace
from dashboard.services.profiles import profile_ids
from dashboard.services.reporting import make_report, notebook_html, shared
from dashboard.services.runs import RunFilter, list_runs
from dashboard.services.workspace import Workspace
from dashboard.views import numbers
from dashboard.views.foreign import foreign_table
from dashboard.views.run_labels import run_label
from datastore.files import download_name
from datastore.queries import row_as_json

LISTED = 300
"""Newest runs to choose from; older ones are chosen on the Runs page."""
SPLITS = ("all", "development", "validation", "test")


def template() -> str:
    """The kind of report."""
    chosen = ui_state.one_of(
        st.selectbox, "template", "Report", list(TEMPLATES), "run", format_func=lambda name: TEMPLATES[name].title
    )
    ui.sentence(TEMPLATES[chosen].about)
    return chosen


def filled(workspace: Workspace, chosen: str, preview_: Any) -> Notebook | None:
    """The report as it is filled in; ``None`` while something is missing, which is said where the preview goes."""
    kind = TEMPLATES[chosen]
    ids = _runs(workspace, kind.runs[1])
    pair: dict[str, Any] = {}
    if "profile" in kind.needs:
        known = profile_ids(workspace.folders)
        pair["profile"] = ui_state.one_of(st.selectbox, "profile", "Profile", known, known[0])
    if "corpus" in kind.needs:
        sets = list_corpora(workspace.folders)
        pair["corpus"] = ui_state.one_of(st.selectbox, "corpus", "Trajectory set", sets, sets[0])
        pair["split"] = ui_state.one_of(st.selectbox, "split", "Windows", SPLITS, "all")
        pair["budget"] = ui_state.whole("b")
        ui_state.expect("b", "Budget", pair["budget"] is not None, "the selected one is reported")
    words = Words(
        ui_state.words("title", "Title", placeholder="made from what is chosen"),
        ui_state.words("hypothesis", "Hypothesis", widget=st.text_area, height=80, placeholder="What was expected"),
        ui_state.words("conclusion", "Conclusion", widget=st.text_area, height=80, placeholder="What came out"),
        tuple(
            tag.strip() for tag in ui_state.words("tags", "Tags", placeholder="first, second").split(",") if tag.strip()
        ),
    )
    if not ids and kind.runs[0]:
        with preview_:
            ui.box("empty", "Choose a run.", "One is enough; its report appears here.")
        return None
    try:
        return make_report(workspace.store, chosen, ids, words, **pair)
    except As2dError as error:
        with preview_:
            ui.box("error", str(error))
        return None


def _runs(workspace: Workspace, most: int) -> list[str]:
    rows = list_runs(workspace, RunFilter(), limit=LISTED)
    if not rows:
        ui.box("empty", "There is no run yet.", "Run a method on the Request page, or take in what somebody shared.")
        ui.link(ui.REQUEST, "Run a method", icon=":material/mic:")
        return []
    labels = {row.run_id: run_label(row_as_json(row) | {"created_at": row.created_at}) for row in rows}
    asked = [name for name in ui_state.get("runs").split("\n") if name]
    labels |= {name: name for name in asked if name not in labels}  # an older run that a link names
    if most == 1:
        options = list(labels)
        first = asked[0] if asked else options[0]
        return [
            ui_state.one_of(st.selectbox, "runs", "Run", options, first, always=True, format_func=labels.__getitem__)
        ]
    return ui_state.several("runs", "Runs", list(labels), format_func=labels.__getitem__, placeholder="any number")


def hand_out(workspace: Workspace, notebook: Notebook) -> None:
    """The report as files, and as a notebook to go on with."""
    store = workspace.store
    name = download_name(notebook.title, "report")
    with st.container(horizontal=True, vertical_alignment="center"):
        ui_blocks.guarded_download(
            "HTML", lambda: notebook_html(store, notebook), f"{name}.html", "text/html", key="report-html",
            help_="One file that opens anywhere, offline too; for a PDF, print it from the browser.",
        )  # fmt: skip
        ui_blocks.guarded_download(
            "Bundle", lambda: shared(store, notebook).data, f"{name}.zip", "application/zip", key="report-zip",
            help_="Jupyter notebook and runs as Parquet; runs again where as2d is installed.",
        )  # fmt: skip
        if 0 < len(notebook.runs) <= MOST_TRACED:
            ui_blocks.guarded_download(
                "Trace", lambda: run_trace(workspace, notebook.runs), f"{name}.trace.json", "application/json",
                key="report-trace", help_="For ui.perfetto.dev or chrome://tracing.",
            )  # fmt: skip
        if st.button("Open as a notebook", icon=":material/edit_note:"):
            kept = copied(notebook, notebook.title)
            notebooks.save(store, kept, "made from a report")
            ui.go_to(ui.NOTEBOOK, notebook=kept.id)


def preview(workspace: Workspace, notebook: Notebook) -> None:
    """The report as it will read."""
    st.subheader(ui.plain(notebook.title), anchor=False)
    for label, said in (("Hypothesis", notebook.hypothesis), ("Conclusion", notebook.conclusion)):
        if said:
            ui.sentence(f"{label}: {said}", muted=False)
    for number, cell in enumerate(notebook.cells):
        # Ids are new at every run of the page: what a cell shows is known by its place.
        found = ui_blocks.result(workspace, notebook, cell, place=f"report-{number}")
        ui_blocks.blocks(found.blocks, f"report-{number}", {"report": notebook.title, **cell.body})
        ui_blocks.how_to_read(cell, found.blocks)


def take_in(workspace: Workspace) -> None:
    """Bundles, archives of logs and single logs of somebody else."""
    ui.sentence(
        "A bundle (.zip), an archive of logs (.zip), one log (.ndjson), results of MNN's llm_bench or of llama-bench "
        "(.json, .jsonl), or a Perfetto trace with power counters, which is laid beside the runs that it covers. What "
        "is here already is not taken twice, and nothing here is replaced."
    )
    kinds = ["zip", "ndjson", "jsonl", "json", "txt", "log", "pftrace", "perfetto-trace", "ptrace", "trace"]
    given = st.file_uploader("File", kinds, key="shared-file")
    if given is None or not st.button("Take it in", type="primary"):
        return
    with ui.guarded(), st.spinner("Reading the file"):
        found = notebooks.import_file(workspace.store, given.getvalue(), given.name)
        runs = f"{numbers.counted(len(found.added), 'run')} new, {numbers.count(len(found.present))} here already"
        more = f", {numbers.counted(len(found.notebooks), 'notebook')}" if found.notebooks else ""
        if found.runs or found.notebooks or not (found.foreign or found.counters):
            ui.box("note", f"{runs}{more}.")
        if found.foreign:
            ui.box("note", f"{numbers.counted(len(found.foreign), 'rate')} of another program.")
            table = foreign_table(found.foreign)
            st.dataframe(table, hide_index=True)
            ui_export.table(table, "foreign", {"file": given.name})
        if found.counters:
            names = ", ".join(found.counters)
            ui.box("note", f"{numbers.counted(len(found.counters), 'power counter')} of a trace.", names)
        for sentence in found.notes:
            ui.sentence(sentence)
        for sentence in found.refused:
            ui.box("error", sentence)
        for notebook in found.notebooks:
            ui.link(ui.NOTEBOOK, notebook.title, icon=":material/edit_note:", notebook=notebook.id)
        if found.runs:
            ui.link(ui.REPORTS, "Report on these runs", template="comparison", runs="\n".join(found.runs[:200]))
