"""Which Perfetto traces are laid beside the run of the Timeline page?"""

import streamlit as st

from as2d_core.records import RunRecord
from dashboard import ui, ui_export, ui_notebook
from dashboard.services.power import power_beside
from dashboard.services.workspace import Workspace
from dashboard.views import numbers
from dashboard.views.figure_help import HELP
from dashboard.views.power import left_sentence, power_figure, power_info, rails_table
from dashboard.views.theme import PICTURE_CONFIG


def beside(workspace: Workspace, record: RunRecord, run_id: str) -> None:
    """Power by every trace that covers a measured run; nothing where no trace was taken in.

    Args:
        record: header, marks and telemetry of the run.
    """
    if record.header.source != "measured":
        return
    found, left = power_beside(workspace.store, record)
    if not found and not left:
        return
    st.subheader("Power by a Perfetto trace", anchor=False, help=HELP["power"])
    start = record.marks.get("decode_start")
    for item in found:
        info = power_info(item, item.start_ns if start is None else start.time_ns)
        key = f"power-{item.trace.file_sha256[:12]}"
        said = f"{info.file} beside run {run_id}"
        ui.chart(power_figure(info, ui.theme()), key, said=said, config=PICTURE_CONFIG)
        ui.sentence(" ".join(info.sentences))
        rails = rails_table(item)
        if not rails.empty:
            st.dataframe(rails, hide_index=True, placeholder=numbers.NA)
            about = {"run": run_id, "trace": info.file, "trace_sha256": item.trace.file_sha256}
            with st.container(horizontal=True, vertical_alignment="center"):
                ui_export.table(rails, f"{key}-rails", about)
    if found:
        ui_notebook.send_button(workspace, "power", "power", run=run_id)
    ui.sentence(left_sentence(left))
