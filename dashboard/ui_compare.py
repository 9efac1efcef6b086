"""Which runs does the Compare page hold against each other, and how? The query string says it all."""

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import streamlit as st

from as2d_core.request import METHODS
from dashboard import ui, ui_cache, ui_cache_compare, ui_export, ui_notebook, ui_state
from dashboard.services import runs as run_service
from dashboard.services.comparisons import MOST_COMPARED, ComparedRuns, newest_comparison
from dashboard.services.runs import RunFilter, get_run
from dashboard.services.workspace import Workspace
from dashboard.ui_cache_compare import Comparison
from dashboard.views import numbers
from dashboard.views.cost_parts import cost_figure, cost_table
from dashboard.views.figure_help import HELP
from dashboard.views.files import cost_frame, outputs_frame
from dashboard.views.grids import column_width, grid_height
from dashboard.views.heading import badge_html
from dashboard.views.methods_compare import in_order, methods_figure, methods_info
from dashboard.views.outputs_compare import difference_html, outputs_table
from dashboard.views.over_time import over_time_figure, over_time_frame
from dashboard.views.paired import paired_frame, paired_table
from dashboard.views.run_filters import filters_in_words, group_labels
from dashboard.views.run_groups import BY, not_whole, work
from dashboard.views.run_labels import kind, run_label
from dashboard.views.theme import METHOD_NAMES, PICTURE_CONFIG
from datastore.errors import RunNotFoundError
from datastore.queries import row_as_json

LISTED = 300
"""Newest runs to choose from one by one; older ones come by a filter, or from the Runs page."""
MOST_TIMELINES = 8
MOST_SENT = 500
"""Runs that a figure in a notebook names."""
DAYS = {"any": None, "last day": 1, "last 7 days": 7, "last 30 days": 30}
FILTERS = ("runs", "group", "method", "device", "window", "tag", "when")
MOST_ROWS = 17


def asked_for(workspace: Workspace) -> RunFilter:
    """Which runs: those that are named, those that the filters let through, or the newest comparison."""
    names = tuple(name for name in ui_state.get("runs").split("\n") if name)
    with st.expander("Which runs are compared", icon=":material/filter_list:", expanded=not names):
        where = _filters(workspace)
        chosen = _by_name(workspace)
    if chosen:
        return RunFilter(run_ids=tuple(chosen))
    if where != RunFilter():
        return where
    newest = newest_comparison(workspace.store)
    if newest is None:
        ui.box("empty", "There is no run yet.", "Run all methods on the Request page; they are compared here.")
        ui.link(ui.REQUEST, "Run all methods", icon=":material/mic:")
        st.stop()
    return newest


def _filters(workspace: Workspace) -> RunFilter:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        together = group_labels(run_service.choices(workspace, "group"))
        groups = ui_state.several(
            "group", "Started together", list(together), placeholder="any", width=240,
            format_func=lambda name: together.get(name, name),
        )  # fmt: skip
        methods = ui_state.several(
            "method", "Method", METHODS, placeholder="any", width=200,
            format_func=lambda name: METHOD_NAMES.get(name, name),
        )  # fmt: skip
        devices = ui_state.several(
            "device", "Device", run_service.choices(workspace, "device"), placeholder="any", width=240
        )
        windows = ui_state.several(
            "window", "Window", run_service.choices(workspace, "window"), placeholder="any", width=200
        )
        tags = ui_state.several("tag", "Tag", run_service.choices(workspace, "tag"), placeholder="any", width=160)
        when = ui_state.one_of(st.selectbox, "when", "When", list(DAYS), "any", width=140)
    days = DAYS[when]
    since = None if days is None else datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(days)
    return RunFilter(
        groups=tuple(groups), methods=tuple(methods), devices=tuple(devices), windows=tuple(windows),
        tags=tuple(tags), since=since,
    )  # fmt: skip


def _by_name(workspace: Workspace) -> list[str]:
    labels = dict(ui_cache_compare.newest_labels(workspace, LISTED))
    for name in ui_state.get("runs").split("\n"):
        if name and name not in labels:
            with suppress(RunNotFoundError):  # the page says on top that it is not here
                row = get_run(workspace, name)  # an older run, or the beginning of an id
                labels[name] = run_label(row_as_json(row) | {"created_at": row.created_at})
    return ui_state.several(
        "runs", "Or single runs; the filters then do not count", list(labels), format_func=labels.__getitem__,
        placeholder="any number", called="Runs",
    )  # fmt: skip


def read(workspace: Workspace, where: RunFilter) -> tuple[ComparedRuns, str]:
    """The runs; when there are none, the page says so and ends."""
    found, key = ui_cache_compare.rows(workspace, where)
    if not found.rows:
        ui.box("empty", "No run matches these filters.", "Take one of them away.")
        st.button("Clear the filters", on_click=ui_state.put, kwargs=dict.fromkeys(FILTERS))
        st.stop()
    return found, key


def pooled_by() -> str:
    """What runs are put together by."""
    return ui_state.one_of(st.segmented_control, "by", "Pool runs by", list(BY), "setting", format_func=BY.__getitem__)


def pooled() -> str | None:
    """What runs are put together by, for links; ``None`` = the default."""
    return ui_state.get("by") or None


def compared(workspace: Workspace, found: ComparedRuns, key: str) -> Comparison:
    """The comparison, with the controls that say how."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        by = pooled_by()
        first = ui_cache_compare.comparison(workspace, found, key, by, ui_state.get("against"))
        names = [group.name for group in first.groups]
        if len(names) > 1 and first.paired.reference:
            default = ui_cache_compare.comparison(workspace, found, key, by, "").paired.reference
            ui_state.one_of(st.selectbox, "against", "Differences against", names, default, width=380)
    return first


def about(found: ComparedRuns, where: RunFilter) -> str:
    """What is compared, in words."""
    named = numbers.counted(len(found.rows), "run")
    return "; ".join([f"{named} by name" if where.run_ids else named, *filters_in_words(where.as_json())])


def labels(found: ComparedRuns, said: str) -> None:
    """What kind of numbers these are, and what is compared."""
    kinds = dict.fromkeys(part for row in found.rows for part in kind(row).split(", "))
    st.html("".join(badge_html(numbers.badge(name), ui.theme()) for name in kinds))
    windows = len({work(row) for row in found.rows})
    ui.sentence(
        "; ".join(filter(None, [f"{said}, on {numbers.counted(windows, 'window')}", not_whole(found.rows)])) + "."
    )
    if found.left_out:
        ui.box("note", f"Only the newest {MOST_COMPARED:,} are compared; {found.left_out:,} older ones match, too.")


def one_setting(compared_: Comparison) -> None:
    """A hint when there is only one thing to compare."""
    if len(compared_.groups) == 1:
        ui.sentence(
            "There is one setting only; pool by run or by day, or take in other runs, to hold it against others."
        )


def table(compared_: Comparison, said: str, send: Callable[[], None]) -> None:
    """All figures of the comparison."""
    shown = paired_table(compared_.paired, ui_state.flag("columns", "All columns"))
    st.dataframe(shown, hide_index=True, height=grid_height(len(shown), MOST_ROWS))
    ui_export.table(
        lambda: paired_frame(compared_.paired),
        "comparison",
        {"runs": said, "reference": compared_.paired.reference},
        send,
    )


def costs(compared_: Comparison, said: str, send: Callable[[], None]) -> None:
    """T = D + V - O + H of every setting."""
    ui.chart(cost_figure(compared_.costs, ui.theme()), "costs", said=said, config=PICTURE_CONFIG)
    shown = cost_table(compared_.costs)
    st.dataframe(shown, hide_index=True, height=grid_height(len(shown), MOST_ROWS))
    ui_export.table(cost_frame(compared_.costs), "costs", {"runs": said}, send)


def settings(compared_: Comparison, said: str, send: Callable[[], None]) -> None:
    """In what the settings differ."""
    everything = ui_state.flag("all", "Show what is the same, too")
    info = compared_.settings if everything else compared_.differences
    if info.rows:
        shown = info.table
        st.dataframe(
            shown,
            hide_index=True,
            height=grid_height(len(shown), len(shown)),
            column_config={
                name: st.column_config.Column(width=column_width([name, *map(str, shown[name])])) for name in shown
            },
        )
        ui_export.table(info.table, "settings", {"runs": said, "differences_only": not everything}, send)
    if info.sentence:
        ui.sentence(info.sentence)
    if len(compared_.groups) > len(info.groups):
        ui.sentence(f"The first {len(info.groups):,} of {len(compared_.groups):,} rows are laid side by side.")


def outputs(workspace: Workspace, compared_: Comparison, said: str) -> None:
    """Whether all say the same, and the words in which one does not."""
    info = compared_.outputs
    ui.sentence(info.sentence, muted=False)
    if not info.rows:
        return
    st.dataframe(outputs_table(info), hide_index=True, height=grid_height(len(info.rows), MOST_ROWS))
    ui_export.table(outputs_frame(info), "outputs", {"runs": said, "reference": info.reference})
    differing = {row.run_id: f"{row.name}, {row.window}" for row in info.rows if row.verdict == "different"}
    if not differing:
        return
    chosen = ui_state.one_of(
        st.selectbox, "words", "Words of", list(differing), next(iter(differing)), format_func=differing.__getitem__
    )
    row = next(item for item in info.rows if item.run_id == chosen)
    with ui.guarded():
        mine, theirs = (get_run(workspace, name).text or "" for name in (row.run_id, row.reference_id))
        st.html(difference_html(mine, theirs, ui.theme()))
        ui.sentence(f"Struck out: only in {info.reference}; underlined: only in {row.name}.")


def timelines(workspace: Workspace, found: ComparedRuns, said: str) -> None:
    """Runs of one window under each other from the same zero."""
    if len({work(row) for row in found.rows}) != 1 or not 1 < len(found.rows) <= MOST_TIMELINES:
        return
    st.subheader("Timelines from the same zero", anchor=False, help=HELP["methods"])
    with ui.guarded():
        rows = [get_run(workspace, row["run_id"]) for row in found.rows]
        records = [ui_cache.stored_record(workspace, row) for row in rows]
        figure = methods_figure(
            methods_info(records, {row.run_id: row.matches_target_only for row in rows}), ui.theme()
        )
        ui.chart(figure, "timelines", said=said, config=PICTURE_CONFIG)
        send_button(workspace, found, "methods", "timelines")
        with st.container(horizontal=True):
            for row in in_order(rows, lambda row: row.method):
                name = run_label({**row_as_json(row), "window_id": None, "created_at": None})
                ui.link(ui.TIMELINE, name, icon=":material/view_timeline:", run=row.run_id)


def over_time(workspace: Workspace, found: ComparedRuns, compared_: Comparison, said: str) -> None:
    """What changed since earlier days."""
    info = compared_.over_time
    for sentence in info.sentences:
        ui.sentence(sentence, muted=False)
    ui.chart(over_time_figure(info, ui.theme()), "over-time", said=said)
    if info.empty is None:
        ui_export.table(
            over_time_frame(info),
            "over-time",
            {"runs": said},
            lambda: send_button(workspace, found, "over time", "over time"),
        )


def send_button(workspace: Workspace, found: ComparedRuns, view: str, key: str, **more: object) -> None:
    """Takes a figure into a notebook, with the runs by name."""
    ids = [row["run_id"] for row in found.rows]
    if len(ids) <= MOST_SENT:
        ui_notebook.send_button(workspace, view, key, runs=ids, **more)


def onward(found: ComparedRuns) -> None:
    """Where the same runs can be seen otherwise."""
    ids = "\n".join(row["run_id"] for row in found.rows[:200])
    with st.container(horizontal=True):
        ui.link(ui.REPORTS, "Report on these runs", icon=":material/description:", template="comparison", runs=ids)
        ui.link(ui.WINDOWS, "Window by window", icon=":material/grid_view:", source="store")
