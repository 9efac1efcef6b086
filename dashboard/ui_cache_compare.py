"""What need not be compared again at every rerun? Stored runs never change; a comparison holds until others come."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from as2d_core.request import METHODS
from dashboard.services.comparisons import ComparedRuns, committed_tokens, compared_runs, store_state
from dashboard.services.runs import RunRow, list_runs, same_work
from dashboard.services.workspace import Workspace
from dashboard.views.cost_parts import MOST_DRAWN, CostRow, cost_rows
from dashboard.views.outputs_compare import OutputsInfo, differing, outputs_info
from dashboard.views.over_time import OverTimeInfo, over_time_info
from dashboard.views.paired import PairedInfo, paired_info
from dashboard.views.run_groups import RunGroup, run_groups
from dashboard.views.run_labels import labelled, run_label
from dashboard.views.run_settings import SettingsInfo, settings_info
from datastore.queries import RunFilter


@dataclass(frozen=True, eq=False)
class Comparison:
    """Everything that follows from the runs, how they are pooled, and the reference."""

    groups: tuple[RunGroup, ...]
    """The reference first, then the fastest."""
    paired: PairedInfo
    costs: tuple[CostRow, ...]
    outputs: OutputsInfo
    over_time: OverTimeInfo
    differences: SettingsInfo
    settings: SettingsInfo
    """All of them."""


def rows(workspace: Workspace, where: RunFilter) -> tuple[ComparedRuns, str]:
    """Runs that match, and a key that stands for them."""
    key = f"{workspace.folders.root} {where.as_json()} {store_state(workspace.store)}"
    return _rows(workspace, where, key), key


@st.cache_resource(max_entries=8, show_spinner="Reading the runs")
def _rows(_workspace: Workspace, _where: RunFilter, key: str) -> ComparedRuns:  # noqa: ARG001
    return compared_runs(_workspace.store, _where)


def newest_labels(workspace: Workspace, limit: int) -> dict[str, str]:
    """How the newest runs that decode are called in a list, by id."""
    return _newest_labels(workspace, limit, _state(workspace))


@st.cache_resource(max_entries=4, show_spinner=False)
def _newest_labels(_workspace: Workspace, limit: int, key: str) -> dict[str, str]:  # noqa: ARG001
    found = list_runs(_workspace, RunFilter(methods=METHODS), limit=limit)
    return {row.run_id: run_label(labelled(row)) for row in found}


def labels_of_same_work(workspace: Workspace, row: RunRow, limit: int) -> dict[str, str]:
    """How other runs of the same audio and view are called in a list, by id, the newest first."""
    return _labels_of_same_work(workspace, row, row.run_id, limit, _state(workspace))


@st.cache_resource(max_entries=32, show_spinner=False)
def _labels_of_same_work(_workspace: Workspace, _row: RunRow, run_id: str, limit: int, key: str) -> dict[str, str]:  # noqa: ARG001
    return {other.run_id: run_label(labelled(other)) for other in same_work(_workspace, _row, limit)}


def _state(workspace: Workspace) -> str:
    """Another text as soon as runs come, go or are tagged: what was kept under it before is then left behind."""
    return f"{workspace.folders.root} {store_state(workspace.store)}"


def comparison(workspace: Workspace, runs: ComparedRuns, key: str, by: str, reference: str) -> Comparison:
    """The runs pooled and held against a reference."""
    return _comparison(workspace, runs, key, by, reference)


@st.cache_resource(max_entries=16, show_spinner="Comparing the runs")
def _comparison(
    _workspace: Workspace,
    _runs: ComparedRuns,
    key: str,  # noqa: ARG001
    by: str,
    reference: str,
) -> Comparison:
    found = run_groups(_runs.rows, by)
    paired = paired_info(found, reference)
    groups = _ordered(found, paired)
    tokens = committed_tokens(_workspace.store, differing(groups, paired.reference))
    return Comparison(
        groups=groups,
        paired=paired,
        costs=cost_rows(groups),
        outputs=outputs_info(groups, paired.reference, tokens),
        over_time=over_time_info(run_groups(_runs.rows) if by != "setting" else groups),
        differences=settings_info(groups[:MOST_DRAWN]),
        settings=settings_info(groups[:MOST_DRAWN], differences_only=False),
    )


def _ordered(groups: Sequence[RunGroup], paired: PairedInfo) -> tuple[RunGroup, ...]:
    places = {id(pair.group): place for place, pair in enumerate(paired.pairs)}
    return tuple(sorted(groups, key=lambda group: places[id(group)]))
