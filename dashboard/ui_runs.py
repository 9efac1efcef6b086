"""Which runs does the Runs page list, and what is done with those that are chosen?"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from as2d_core.errors import As2dError
from as2d_core.records import STATUSES
from as2d_core.request import METHODS, OPERATIONS
from dashboard import ui, ui_cache, ui_export, ui_notebook, ui_state
from dashboard.services import runs
from dashboard.services.exports import export_matching
from dashboard.services.runs import RunFilter, RunRow
from dashboard.services.workspace import Workspace
from dashboard.views import numbers
from dashboard.views.comparison_table import comparison_table
from dashboard.views.figure_help import HELP
from dashboard.views.grids import PAGE_PX, TICK_PX, column_width, fitting, grid_height
from dashboard.views.heading import badge_html
from dashboard.views.methods_compare import methods_figure, methods_info
from dashboard.views.run_filters import group_label
from dashboard.views.run_labels import ended, ended_short
from dashboard.views.runs import IMPORTANCE, RunsInfo, runs_info, runs_styled
from dashboard.views.runs_compare import comparison_figure, comparison_info
from dashboard.views.theme import METHOD_NAMES, PICTURE_CONFIG

PAGE = 100
LISTED = "runs"
TICKED = "ticked"
MOST_IN_ADDRESS = 40
"""Ticked runs that an address names; with more of them it would be longer than some programs take."""
MOST_ROWS = 15
MOST_TIMELINES = 8
ORDERS: dict[str, tuple[str, bool]] = {
    "Newest first": ("created_at", True),
    "Oldest first": ("created_at", False),
    "Fastest first": ("tps", True),
    "Slowest first": ("tps", False),
    "Longest time first": ("elapsed_ms", True),
    "By window": ("window_id", False),
    "By method": ("method", False),
}
LAST = ("Device", "Run")
"""Columns that stand last."""
FORMATS = {"csv": "CSV", "parquet": "Parquet", "json": "JSON", "ndjson": "NDJSON logs", "trace": "Perfetto trace"}


def asked_for(workspace: Workspace) -> RunFilter:
    """The filters, in one row."""
    columns = st.columns([4, 3, 3, 3, 3, 3])
    with columns[0]:
        text = ui_state.words(
            "text", "Text", placeholder="id, words, note ...",
            help="Found in ids, words, devices, models, notes, errors and tags.",
        )  # fmt: skip
    with columns[1]:
        methods = ui_state.several(
            "method",
            "Method",
            [*METHODS, *OPERATIONS],
            format_func=lambda name: METHOD_NAMES.get(name, name),
            placeholder="any",
            help="Any that decodes; calibrations and collections are listed when they are chosen here.",
        )
    with columns[2]:
        statuses = ui_state.several("status", "Status", [*STATUSES, "incomplete"], format_func=ended, placeholder="any")
    with columns[3]:
        windows = ui_state.several("window", "Window", runs.choices(workspace, "window"), placeholder="any")
    with columns[4]:
        tags = ui_state.several("tag", "Tag", runs.choices(workspace, "tag"), placeholder="any")
    with columns[5]:
        ui_state.one_of(st.selectbox, "order", "Order", list(ORDERS), next(iter(ORDERS)))
    where = RunFilter(
        text=text,
        methods=tuple(methods),
        statuses=tuple(statuses),
        windows=tuple(windows),
        tags=tuple(tags),
        operations=bool(methods),
    )
    return _of_group(workspace, where)


def _of_group(workspace: Workspace, where: RunFilter) -> RunFilter:
    """Only the runs that were started together, when the query string says so."""
    group = ui_state.get("group")
    if not group:
        return where
    here = group in runs.choices(workspace, "group")
    ui_state.expect("group", "Comparison", here, "no run is listed")
    left, right = st.columns([8, 2], vertical_alignment="center")
    with left:
        ui.box("note", f"Only the runs that were started together: {group_label(group)}.")
    right.button("Show all runs", on_click=ui_state.put, kwargs={"group": None})
    if not here:
        return replace(where, run_ids=(), text="\0")
    return replace(where, groups=(group,))


def listed(workspace: Workspace, where: RunFilter) -> list[RunRow]:
    """One page of the runs that match; when there are none, the page says so and ends."""
    total = runs.count_runs(workspace, where)
    if total == 0:
        _nothing(workspace)
    order, descending = ORDERS.get(ui_state.get("order"), next(iter(ORDERS.values())))
    pages = -(-total // PAGE)
    page = ui_state.within("page", "Page", 1, pages)
    first, last = (page - 1) * PAGE + 1, min(page * PAGE, total)
    with st.container(horizontal=True, vertical_alignment="center"):
        shown = f"Runs {numbers.count(first)} to {numbers.count(last)} of {numbers.count(total)}"
        ui.sentence(shown if pages > 1 else numbers.counted(total, "run"))
        if pages > 1:
            for name, other in (("Previous", page - 1), ("Next", page + 1)):
                off = not 1 <= other <= pages
                st.button(name, on_click=ui_state.put, kwargs={"page": None if other == 1 else other}, disabled=off)
    return runs.list_runs(workspace, where, order, descending, PAGE, first - 1)


def _nothing(workspace: Workspace) -> None:
    if runs.count_runs(workspace) == 0:
        ui.box("empty", "There is no run yet.", "Run a method on the Request page; every run is kept here.")
        ui.link(ui.REQUEST, "Run a method", icon=":material/mic:")
    else:
        ui.box("empty", "No run matches these filters.", "Take one of them away.")
        names = ("text", "method", "status", "window", "tag", "group", "page")
        st.button("Clear the filters", on_click=ui_state.put, kwargs=dict.fromkeys(names))
    st.stop()


def table(rows: Sequence[RunRow], key: str) -> list[RunRow]:
    """The rows as a table; returns those that are ticked."""
    info: RunsInfo = runs_info([_mapping(row) for row in rows])
    name = f"{key}-{hash(info.run_ids)}"

    def ticked() -> None:
        ids = [rows[i].run_id for i in st.session_state[name]["selection"]["rows"] if i < len(rows)]
        ui_state.put(**{TICKED: "\n".join(ids) if len(ids) <= MOST_IN_ADDRESS else None})

    asked = set(ui_state.get(TICKED).split("\n")) if key == LISTED else set()
    info.table["Status"] = [ended_short(row.status) for row in rows]
    texts = info.shown[[*(name for name in info.table.columns if name not in LAST), *LAST]]
    everything = ui_state.flag("columns", "All columns")
    chosen = st.dataframe(
        runs_styled(info),
        hide_index=True,
        placeholder=numbers.NA,
        height=grid_height(len(rows), MOST_ROWS),
        on_select=ticked if key == LISTED else "rerun",
        selection_default={"selection": {"rows": [i for i, row in enumerate(rows) if row.run_id in asked]}},
        selection_mode="multi-row",
        column_order=list(texts) if everything else fitting(texts, IMPORTANCE, PAGE_PX - TICK_PX),
        key=name,
        column_config={
            name: st.column_config.Column(help=text, width=column_width([name, *texts[name]]))
            for name, text in info.help.items()
        },
    )
    return [rows[i] for i in chosen["selection"]["rows"] if i < len(rows)]


def _mapping(row: RunRow) -> dict[str, Any]:
    return {name: getattr(row, name) for name in RunRow.__dataclass_fields__}


def actions(workspace: Workspace, where: RunFilter, chosen: Sequence[RunRow]) -> None:
    """Export, delete and, for those that are ticked, tags and notes."""
    left, right = st.columns([7, 5], gap="medium")
    with left:
        _export(workspace, where, chosen)
    with right:
        _tags(workspace, chosen)
    if len(chosen) == 1:
        _notes(workspace, chosen[0])


def _export(workspace: Workspace, where: RunFilter, chosen: Sequence[RunRow]) -> None:
    what = f"the {numbers.counted(len(chosen), 'chosen run')}" if chosen else "all runs that match"
    names = tuple(row.run_id for row in chosen)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = ui_state.one_of(
            st.segmented_control,
            "format",
            f"Export {what} as",
            list(FORMATS),
            "csv",
            format_func=FORMATS.__getitem__,
        )
        scope = RunFilter(run_ids=names) if names else where
        suffixes = {"ndjson": "ndjson" if len(names) == 1 else "zip", "trace": "trace.json"}
        suffix = suffixes.get(kind, kind)
        st.download_button(
            "Export",
            lambda: export_matching(workspace, scope, kind).data,
            f"as2d-runs.{suffix}",
            icon=":material/download:",
        )
        if chosen and st.button("Report", icon=":material/description:"):
            kind = "run" if len(chosen) == 1 else "comparison"
            ui.go_to(ui.REPORTS, template=kind, runs="\n".join(names))
        if len(chosen) == 1 and st.button("Timeline", icon=":material/view_timeline:"):
            ui.go_to(ui.TIMELINE, run=chosen[0].run_id)
        if chosen:
            st.button(
                f"Delete {numbers.counted(len(chosen), 'run')}",
                icon=":material/delete:",
                on_click=_delete,
                args=(workspace, chosen),
            )


def _delete(workspace: Workspace, chosen: Sequence[RunRow]) -> None:
    _each(lambda row: runs.delete_run(workspace, row.run_id), chosen, "moved to the bin")
    ui_state.put(**{TICKED: None})


def _tags(workspace: Workspace, chosen: Sequence[RunRow]) -> None:
    if not chosen:
        ui.sentence("Tick rows to tag, compare, export or delete them.")
        return
    known = sorted({*runs.choices(workspace, "tag"), *(tag for row in chosen for tag in row.tags)})
    common = [tag for tag in known if all(tag in row.tags for row in chosen)]
    key = f"tags-{hash(tuple(row.run_id for row in chosen))}"

    def change() -> None:
        wanted = st.session_state[key]

        def apply(row: RunRow) -> None:
            for tag in wanted:
                if tag not in row.tags:
                    runs.add_tag(workspace, row.run_id, tag)
            for tag in common:
                if tag not in wanted:
                    runs.remove_tag(workspace, row.run_id, tag)

        _each(apply, chosen, "tagged anew")

    label = "Tags" if len(chosen) == 1 else "Tags that all of them have"
    st.multiselect(
        label, known, default=common, key=key, on_change=change, accept_new_options=True, placeholder="Add a tag"
    )


def _notes(workspace: Workspace, row: RunRow) -> None:
    key = f"notes-{row.run_id}"

    def save() -> None:
        _each(lambda one: runs.set_notes(workspace, one.run_id, st.session_state[key]), [row], "noted")

    st.text_area("Note", row.notes or "", key=key, on_change=save, height=80, placeholder="What is worth knowing")


def _each(act: Callable[[RunRow], object], rows: Sequence[RunRow], done: str) -> None:
    """Do something with every run; what went wrong is shown by ``said``."""
    failed = []
    for row in rows:
        try:
            act(row)
        except As2dError as error:
            failed.append(str(error))
    good = len(rows) - len(failed)
    st.session_state["runs-said"] = (f"{numbers.counted(good, 'run')} {done}." if good else "", failed)


def said() -> None:
    """What came of the last action, once."""
    good, failed = st.session_state.pop("runs-said", ("", ()))
    if good:
        st.toast(good)
    for sentence in failed:
        ui.box("error", sentence)


def compare(workspace: Workspace, chosen: Sequence[RunRow]) -> None:
    """The runs that are ticked against each other."""
    if len(chosen) < 2:
        return
    st.subheader("Compared", anchor=False, help=HELP["comparison"])
    kinds = sorted({*(row.label for row in chosen), *(["emulated"] if any(row.emulated for row in chosen) else [])})
    st.html("".join(badge_html(numbers.badge(kind), ui.theme()) for kind in kinds))
    info = comparison_info([_mapping(row) for row in chosen])
    said = f"runs {', '.join(row.run_id for row in chosen)}"
    ui.chart(comparison_figure(info, ui.theme()), "compared", said=said, config=PICTURE_CONFIG)
    pooled = comparison_table(info)
    st.dataframe(pooled, hide_index=True, height=grid_height(len(pooled), MOST_ROWS))
    ids = [row.run_id for row in chosen]
    ui_export.table(
        pooled,
        "pooled",
        {"runs": ids},
        lambda: ui_notebook.send_button(workspace, "comparison", "comparison", runs=ids),
    )
    for note in info.notes:
        ui.sentence(note)
    ui.link(
        ui.COMPARE, "Paired differences, costs, settings, words", icon=":material/compare_arrows:", runs="\n".join(ids)
    )
    same = {(row.audio_sha256, row.view_start_s, row.view_end_s) for row in chosen}
    if len(same) == 1 and len(chosen) <= MOST_TIMELINES:
        with ui.guarded():
            records = [ui_cache.stored_record(workspace, row) for row in chosen]
            figure = methods_figure(
                methods_info(records, {row.run_id: row.matches_target_only for row in chosen}), ui.theme()
            )
            ui.chart(figure, "compared-timelines", said=said, config=PICTURE_CONFIG)
            ui.how_to_read(HELP["methods"])
            ui_notebook.send_button(workspace, "methods", "methods", runs=ids)


def bin_view(workspace: Workspace) -> None:
    """Deleted runs: back again, or gone for good."""
    rows = runs.list_bin(workspace)
    if not rows:
        ui.box("empty", "The bin is empty.", "Deleted runs lie here until they are removed for good.")
        return
    chosen = table(rows, "bin")
    with st.container(horizontal=True):
        st.button(
            f"Restore {numbers.counted(len(chosen), 'run')}" if chosen else "Restore",
            type="primary",
            disabled=not chosen,
            on_click=_each,
            args=(lambda row: runs.restore_run(workspace, row.run_id), chosen, "restored"),
        )
        gone = chosen or rows
        with st.popover(f"Remove {numbers.counted(len(gone), 'run')} for good"):
            ui.sentence("The logs are removed from the disk; nothing can bring them back.", muted=False)
            st.button(
                "Remove them",
                on_click=_each,
                args=(lambda row: runs.empty_bin(workspace, [row.run_id]), gone, "removed for good"),
            )
