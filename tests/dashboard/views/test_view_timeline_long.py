"""A long run in outline and window by window shows what all of its events show."""

import numpy as np
import pytest
from view_samples import run_lines

from dashboard.views.parts import PARTS
from dashboard.views.run_columns import columns_of_tables
from dashboard.views.theme import LIGHT
from dashboard.views.timeline_detail import detail
from dashboard.views.timeline_info import Figures, timeline_of
from dashboard.views.timeline_long import outlined, windowed
from dashboard.views.timeline_overview import overview_figure
from dashboard.views.zoom import around_rounds, first_round, neighbours
from datastore.ingest import ingest_run
from datastore.long_runs import load_outline, load_window
from datastore.opening import open_store
from datastore.timeline import load_tables

FIGURES = Figures(1.0, 1, 1.0)
SUMS = ("proposed", "accepted", "reused", "committed", "members", "alone")
RUNS = {"as2d": 1.0, "sd": 1.0, "specasr": 1.0, "target-only": 1.0, "broken": 0.6}
SHARES = [(0.0, 1.0), (0.3, 0.6), (0.5, 0.51), (0.9, 2.0)]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    made = tmp_path_factory.mktemp("long")
    with open_store(made / "data") as store:
        for name, keep in RUNS.items():
            lines = run_lines("as2d" if name == "broken" else name, run_id=name, telemetry=True)
            path = made / f"{name}.ndjson"
            path.write_text("".join(lines[: int(len(lines) * keep)]))
            ingest_run(store, path)
        yield store


@pytest.fixture(params=RUNS)
def run(request, store):
    """Store, run, and the run as all of its events show it."""
    tables = load_tables(store, request.param)
    columns = columns_of_tables(tables.spans, tables.rounds, tables.publications)
    return store, request.param, timeline_of(tables.record, columns, FIGURES)


def test_an_outline_fine_enough_is_the_run_itself(run):
    store, name, whole = run
    info = outlined(load_outline(store, name, most=10**12), FIGURES)
    for column in ("index", "start_ms", "end_ms", "boundary_ms", "ready", *SUMS, "time_ms", "alone_ms"):
        np.testing.assert_allclose(getattr(info.rounds, column), getattr(whole.rounds, column), err_msg=column)
    for lane in ("drafting", "target_before", "target_orphans"):
        for column in ("start_ms", "end_ms", "operations", "busy_ms"):
            ours, theirs = getattr(getattr(info, lane), column), getattr(getattr(whole, lane), column)
            np.testing.assert_allclose(np.sort(ours), np.sort(theirs), err_msg=f"{lane}: {column}")
    assert (info.notes, info.end_ms, info.eos_ms) == (whole.notes, whole.end_ms, whole.eos_ms)


@pytest.mark.parametrize("most", [1, 7])
def test_merging_changes_neither_sums_nor_the_account(run, most):
    store, name, whole = run
    info = outlined(load_outline(store, name, most=most), FIGURES)
    assert len(info.rounds) <= most
    for column in (*SUMS, "time_ms", "alone_ms"):
        total = pytest.approx(getattr(whole.rounds, column).sum())
        assert getattr(info.rounds, column).sum() == total, column
    assert info.drafting.busy_ms.sum() == pytest.approx(whole.drafting.busy_ms.sum())
    assert info.drafting.operations.sum() == whole.drafting.operations.sum()
    assert info.rounds.merged.depth.max(initial=0) == whole.rounds.ready.max(initial=0)
    for part in PARTS:
        np.testing.assert_array_equal(info.work.part(part), whole.work.part(part))


@pytest.mark.parametrize("share", SHARES)
def test_a_window_has_all_that_lies_in_it(run, share):
    store, name, whole = run
    low, high = (part * whole.end_ms for part in share)
    origin = load_tables(store, name).record.marks["decode_start"].time_ns
    tables = load_window(store, name, origin + int(low * 1e6), origin + int(high * 1e6))
    info = windowed(outlined(load_outline(store, name, most=3), FIGURES), tables, origin)
    first, ours = (info.rounds.index[0], info.rounds) if len(info.rounds) else (0, info.rounds)
    same = slice(first, first + len(ours))
    for column in ("index", "start_ms", "end_ms", "width", "proposed", "accepted", "reused", "committed", "ready"):
        np.testing.assert_array_equal(getattr(ours, column), getattr(whole.rounds, column)[same], err_msg=column)
    rows = range(*same.indices(len(whole.rounds)))
    assert [ours.tokens[row] for row in range(len(ours))] == [whole.rounds.tokens[row] for row in rows]
    seen = np.flatnonzero((whole.rounds.end_ms > low) & (whole.rounds.start_ms < high))
    assert set(seen) <= set(ours.index)
    for lane in ("drafting", "target_orphans"):
        spans, shown = getattr(whole, lane), getattr(info, lane)
        touched = (spans.end_ms >= low) & (spans.start_ms <= high)
        np.testing.assert_array_equal(shown.start_ms, spans.start_ms[touched], err_msg=lane)
    assert used(info, ours.index) == used(whole, ours.index)
    assert info.total_rounds == len(whole.rounds)


def used(info, rounds):
    """Publications with the round that used each first, of those rounds only."""
    batches = info.publications
    pairs = zip(batches.time_ms.tolist(), batches.first_use.tolist(), strict=True)
    return [(time, int(info.rounds.index[row])) for time, row in pairs if row >= 0 and info.rounds.index[row] in rounds]


def test_what_is_too_much_for_one_picture_is_left_to_the_outline(store):
    assert load_window(store, "as2d", 0, 10**15, most=3) is None
    assert len(load_window(store, "as2d", 0, 10**15, most=None).rounds) > 3


def test_an_outline_is_drawn_merged_and_says_so(store):
    info = outlined(load_outline(store, "as2d", most=7), FIGURES)
    shown = detail(info)
    target = [bars for bars in shown.bars if bars.lane == "target" and bars.custom[0, 0] >= 0]
    counted = {(int(index), int(members)) for bars in target for index, members in bars.custom}
    assert sum(members for _, members in counted) == info.total_rounds
    assert shown.rounds_in_view == info.total_rounds
    assert "neighbours merged" in shown.note
    assert "publication arrows left out" in shown.note
    assert {trace.name for trace in overview_figure(info, LIGHT).data} >= {"target:accepted", "drafter:drafter"}


def test_rounds_of_an_outline_are_found_by_their_number(store):
    info = outlined(load_outline(store, "as2d", most=7), FIGURES)
    last = info.total_rounds - 1
    assert neighbours(info, 0) == (None, 1)
    assert neighbours(info, last) == (last - 1, None)
    assert first_round(info, None) == info.rounds.merged.proposing[0]
    index, members = int(info.rounds.index[1]), int(info.rounds.members[1:3].sum())
    assert around_rounds(info, index, members) == (info.rounds.start_ms[1], info.rounds.end_ms[2])


def test_a_run_that_is_not_regular_has_no_outline(store, tmp_path):
    lines = run_lines("as2d", run_id="odd")
    at = next(i for i, line in enumerate(lines) if '"round"' in line and '"committed"' in line)
    path = tmp_path / "odd.ndjson"
    path.write_text("".join(lines[:at] + lines[at + 1 :]))
    ingest_run(store, path)
    assert load_outline(store, "odd") is None
