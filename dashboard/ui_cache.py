"""What need not be worked out again at every rerun? Stored runs never change, and replays follow from their inputs."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import plotly.graph_objects as go
import streamlit as st

from as2d_core.deployment import Deployment
from as2d_core.profiles.profile import Profile
from as2d_core.published.comparison import ComparedTable
from as2d_core.records import RunRecord
from as2d_core.replay.windows import TrajectorySet
from dashboard.services import replays
from dashboard.services.budgets import BudgetReport, compare_costs
from dashboard.services.choosing import Chosen
from dashboard.services.freezing import Frozen, choose_pairs, judge_frozen
from dashboard.services.profile_shelf import ShelfItem, shelf, shelf_stamp
from dashboard.services.published import compared_tables
from dashboard.services.runs import RunRow, get_run, load_outline, load_record, load_round, load_tables, load_window
from dashboard.services.what_if import scaled_costs
from dashboard.services.workspace import Workspace
from dashboard.views.run_columns import columns_of_tables
from dashboard.views.signature import signed
from dashboard.views.theme import Theme
from dashboard.views.timeline import TimelineInfo, timeline_info
from dashboard.views.timeline_detail import whole_window
from dashboard.views.timeline_info import Figures, timeline_of
from dashboard.views.timeline_long import outlined, windowed
from dashboard.views.windows import WindowsInfo, windows_figure, windows_info
from dashboard.views.zoom import Window

WHOLE_SPANS = 300_000
"""Runs of up to so many spans are read whole; longer ones in outline and window by window (docs/decisions/009)."""


@dataclass(frozen=True)
class ShownRun:
    """A run in columns."""

    timeline: TimelineInfo
    outline: RunRecord
    """Header, marks, readings and end."""
    read: Callable[[], RunRecord]
    """All of its events, read when they are asked for."""
    round: Callable[[int], tuple[RunRecord, int] | None]
    """What one round needs to be told, and how many rounds there are."""
    part: Callable[[Window | None], TimelineInfo]
    """The run as a picture of a window needs it: of a long run, the events of that window only."""
    each: Callable[[Window | None], TimelineInfo]
    """The run with every round of a window by itself, however many there are; they are read when they are asked for."""


@dataclass(frozen=True)
class ShownReplay:
    """A replayed window."""

    run: ShownRun
    target_only_tps: float | None
    lines: tuple[str, ...]
    """As a run file."""


def stored_run(workspace: Workspace, row: RunRow) -> ShownRun:
    """A run of the store."""
    return _stored(workspace, str(workspace.folders.root), row.run_id, row.ingested_at.isoformat())


def stored_record(workspace: Workspace, row: RunRow) -> RunRecord:
    """All events of a run of the store."""
    return _record(workspace, str(workspace.folders.root), row.run_id, row.ingested_at.isoformat())


@st.cache_resource(max_entries=24, show_spinner="Reading the run")
def _stored(_workspace: Workspace, root: str, run_id: str, stamp: str) -> ShownRun:
    row = get_run(_workspace, run_id)
    figures = Figures(row.tps, row.committed_tokens, row.elapsed_ms)

    def read() -> RunRecord:
        return _record(_workspace, root, run_id, stamp)

    def one_round(index: int) -> tuple[RunRecord, int] | None:
        return load_round(_workspace, run_id, index)

    outline = load_outline(_workspace, run_id) if row.span_rows > WHOLE_SPANS else None
    if outline is not None:
        whole, origin_ns = outlined(outline, figures), outline.record.marks["decode_start"].time_ns

        def part(window: Window | None) -> TimelineInfo:
            return whole if window is None else _window(_workspace, whole, origin_ns, (root, run_id, stamp, window))

        def each(window: Window | None) -> TimelineInfo:
            low, high = window or whole_window(whole)
            tables = load_window(_workspace, run_id, *_ns(origin_ns, low, high), most=None)
            return whole if tables is None else windowed(whole, tables, origin_ns)

        return ShownRun(whole, outline.record, read, one_round, part, each)
    tables = load_tables(_workspace, run_id)
    if not tables.plain:  # a foreign record: slower, and nothing of it is lost
        return _of_record(read(), read)
    columns = columns_of_tables(tables.spans, tables.rounds, tables.publications)
    shown = timeline_of(tables.record, columns, figures)
    return ShownRun(shown, tables.record, read, one_round, lambda _: shown, lambda _: shown)


@st.cache_resource(max_entries=32, show_spinner=False)
def _window(
    _workspace: Workspace, _whole: TimelineInfo, _origin_ns: int, key: tuple[str, str, str, Window]
) -> TimelineInfo:
    """A window of a long run, and half of it on either side, so that it can be panned."""
    low, high = key[3]
    room = (high - low) / 2
    tables = load_window(_workspace, key[1], *_ns(_origin_ns, low - room, high + room))
    return _whole if tables is None else windowed(_whole, tables, _origin_ns)


def _ns(origin_ns: int, low_ms: float, high_ms: float) -> tuple[int, int]:
    return origin_ns + math.floor(low_ms * 1e6), origin_ns + math.ceil(high_ms * 1e6)


def _of_record(record: RunRecord, read: Callable[[], RunRecord]) -> ShownRun:
    """A run whose events are in memory."""
    shown = timeline_info(record)
    return ShownRun(shown, record, read, lambda _: (record, len(record.rounds)), lambda _: shown, lambda _: shown)


@st.cache_resource(max_entries=8, show_spinner="Reading all of the run")
def _record(_workspace: Workspace, root: str, run_id: str, stamp: str) -> RunRecord:  # noqa: ARG001 - parts of the key
    return load_record(_workspace, run_id)


@st.cache_resource(max_entries=1, show_spinner="Preparing the bundled sample")
def sample(_workspace: Workspace) -> ShownReplay:
    """The bundled sample."""
    return _shown(replays.sample_replay(_workspace.folders))


def replayed(
    workspace: Workspace,
    profile: Profile,
    corpus: TrajectorySet,
    window_id: str,
    budget: int | None,
    drafter: str | None = None,
) -> ShownReplay:
    """One window under As²d, with the costs of a profile."""
    key = (corpus.id, corpus.created_at, window_id, repr(profile), budget, drafter)
    return _replayed(workspace, profile, corpus, key)


@st.cache_resource(max_entries=64, show_spinner="Replaying the window")
def _replayed(
    _workspace: Workspace, _profile: Profile, _corpus: TrajectorySet, key: tuple[str, str, str, str, int, str]
) -> ShownReplay:
    window_id, budget, drafter = key[2], key[4], key[5]
    return _shown(
        replays.replay(_workspace.folders, _profile, _corpus, window_id, budget=budget, drafter=drafter or None)
    )


def _shown(found: replays.Replay) -> ShownReplay:
    record = found.record
    return ShownReplay(_of_record(record, lambda: record), found.target_only_tps, found.lines)


def budgets(
    profile: Profile, corpus: TrajectorySet, split: str, drafter: str | None, draft: float = 1.0, verify: float = 1.0
) -> BudgetReport:
    """Every window under every budget, with the costs of a profile or a multiple of them, by one drafter or all.

    Under a multiple of the costs nothing is chosen: only the windows that are shown are replayed.
    """
    key = (corpus.id, corpus.created_at, repr(profile), split, drafter or "", draft, verify)
    return _budgets(profile, corpus, key)


@st.cache_resource(max_entries=64, show_spinner="Replaying every window under every budget")
def _budgets(
    _profile: Profile, _corpus: TrajectorySet, key: tuple[str, str, str, str, str, float, float]
) -> BudgetReport:
    split, drafter, draft, verify = key[3:]
    costs = scaled_costs(_profile, draft, verify)
    return compare_costs(costs, _corpus, split, [drafter] if drafter else None, choose=draft == verify == 1.0)


@st.cache_resource(max_entries=64, show_spinner="Replaying with the costs of every device")
def _outlook(_profile: Profile, _corpus: TrajectorySet, key: tuple[str, str, str, str, str]) -> BudgetReport:
    return compare_costs(_profile, _corpus, key[3], [key[4]] if key[4] else None, choose=False)


def loss_map(report: BudgetReport, drafter: str, budget: int, theme: Theme, said: str) -> tuple[WindowsInfo, go.Figure]:
    """What every window loses under every budget of a drafter, and its map, in which hundreds of windows take a while.

    The map is signed with what is said of it, and nobody changes it any more; other costs, windows, pairs or colours
    make another one.
    """
    costs = (report.corpus.id, report.corpus.created_at, repr(report.profile), report.split, report.grid.drafters)
    return _loss_map(report, theme, (*costs, said, drafter, budget, theme.name))


@st.cache_resource(max_entries=16, show_spinner=False)
def _loss_map(
    _report: BudgetReport, _theme: Theme, key: tuple[str, str, str, str, tuple[str, ...], str, str, int, str]
) -> tuple[WindowsInfo, go.Figure]:
    info = windows_info(_report.grid, key[-3], key[-2])
    return info, signed(windows_figure(info, _theme, key[-2]), _theme, key[-4])


def outlook(profile: Profile, corpus: TrajectorySet, split: str, drafter: str | None) -> BudgetReport:
    """Every window under every budget with the costs of one of many devices; nothing is chosen."""
    return _outlook(profile, corpus, (corpus.id, corpus.created_at, repr(profile), split, drafter or ""))


def choice(
    profile: Profile, corpus: TrajectorySet, budgets: tuple[int, ...] | None, drafter: str | None, *, by_hand: bool
) -> Deployment:
    """What would be deployed, chosen among some budgets, test windows unseen."""
    key = (corpus.id, corpus.created_at, repr(profile), budgets, drafter, by_hand)
    return _choice(profile, corpus, key)


@st.cache_resource(max_entries=32, show_spinner="Choosing on development and validation windows")
def _choice(
    _profile: Profile, _corpus: TrajectorySet, key: tuple[str, str, str, tuple[int, ...] | None, str | None, bool]
) -> Deployment:
    budgets, drafter, by_hand = key[3:]
    return choose_pairs(_profile, _corpus, budgets, drafter, by_hand=by_hand)


@st.cache_resource(max_entries=8, show_spinner="Judging the frozen choice on test windows")
def judged(_frozen: Frozen, _profile: Profile, _corpus: TrajectorySet, path: str, stamp: str) -> Chosen:  # noqa: ARG001
    """How a frozen choice does on test windows."""
    return judge_frozen(_frozen, _profile, _corpus)


def profiles(workspace: Workspace) -> list[ShelfItem]:
    """Everything on the shelf of profiles, read again when a file of it changes."""
    return _profiles(workspace, str(workspace.folders.root), shelf_stamp(workspace.folders))


@st.cache_resource(max_entries=4, show_spinner="Reading the profiles")
def _profiles(_workspace: Workspace, root: str, stamp: tuple[tuple[str, int, int], ...]) -> list[ShelfItem]:  # noqa: ARG001
    return shelf(_workspace.folders)


@st.cache_resource(max_entries=1, show_spinner="Replaying 688 windows on four phones, once")
def published_comparison() -> tuple[ComparedTable, ...]:
    """Every table of the paper beside replays of ours."""
    return compared_tables()
