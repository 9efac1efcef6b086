"""A picture of a run costs the same however long the run is, and hides nothing."""

from itertools import pairwise

import pytest
import sample_runs
from hypothesis import given, settings
from hypothesis import strategies as st

from as2d_core.errors import UnknownNameError
from as2d_core.protocol import read_run
from datastore.errors import RunNotFoundError
from datastore.ingest import ingest_run
from datastore.opening import open_store
from datastore.timeline import load_record, load_round, load_tables, rounds_between, span_range, spans_between

SPANS = [
    sample_runs.Span(
        "target" if i % 2 else "drafter",
        "verify" if i % 2 else "draft",
        50_000_000 + i * 100,
        50_000_000 + i * 100 + 90,
        i // 2,
    )
    for i in range(3000)
]


@pytest.fixture(scope="module")
def long_run(tmp_path_factory):
    made = tmp_path_factory.mktemp("long")
    with open_store(made / "data") as store:
        ingest_run(store, sample_runs.write_run(made, "long", [*sample_runs.events(), *SPANS]))
        ingest_run(store, sample_runs.write_run(made, "bare", [], status="failed"))
        yield store


def test_spans_come_one_by_one_while_they_are_few(long_run):
    window = spans_between(long_run, "long", 50_000_000, 50_000_990)
    assert not window.merged
    assert window.total == len(window.spans) == 10
    assert all(s.count == 1 and s.busy_ns == s.end_ns - s.start_ns == 90 for s in window.spans)
    assert [s.round for s in window.spans] == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]


def test_a_span_that_only_touches_the_range_belongs_to_it(long_run):
    assert spans_between(long_run, "long", 50_000_090, 50_000_090).total == 1
    assert spans_between(long_run, "long", 50_000_091, 50_000_099).total == 0
    assert spans_between(long_run, "long", 50_000_050, 50_000_060).total == 1


@settings(max_examples=25, deadline=None)
@given(limit=st.integers(1, 2000), start=st.integers(0, 300_000), length=st.integers(1, 300_000))
def test_merged_spans_stay_under_the_limit_and_account_for_every_span(long_run, limit, start, length):
    first, last = 50_000_000 + start, 50_000_000 + start + length
    window = spans_between(long_run, "long", first, last, limit)
    inside = [s for s in SPANS if s.end_ns >= first and s.start_ns <= last]
    assert window.total == len(inside) == sum(s.count for s in window.spans)
    assert sum(s.busy_ns for s in window.spans) == 90 * len(inside)
    assert len(window.spans) <= max(limit, 2)
    assert window.merged == (len(inside) > limit)
    assert [s.start_ns for s in window.spans] == sorted(s.start_ns for s in window.spans)
    for lane in ("target", "drafter"):
        mine = [s for s in window.spans if s.lane == lane]
        assert all(a.end_ns <= b.start_ns for a, b in pairwise(mine))
        assert all(s.busy_ns <= s.end_ns - s.start_ns for s in mine)


def test_the_range_of_a_run_is_that_of_its_spans(long_run):
    assert span_range(long_run, "long") == (10_000_000, SPANS[-1].end_ns)
    assert span_range(long_run, "bare") is None
    assert spans_between(long_run, "bare").spans == []


def test_rounds_come_by_page_and_by_time(long_run, tmp_path):
    rounds = load_record(long_run, "long").rounds
    assert rounds_between(long_run, "long").rounds == rounds
    page = rounds_between(long_run, "long", limit=1, offset=1)
    assert (page.rounds, page.total) == ([rounds[1]], 3)
    assert rounds_between(long_run, "long", 0, 19_000_000).rounds == rounds[:1]
    assert rounds_between(long_run, "bare").total == 0


def test_an_unknown_part_or_run_is_told(long_run):
    with pytest.raises(UnknownNameError, match="Did you mean 'rounds'"):
        load_record(long_run, "long", ["round"])
    for ask in (load_record, spans_between, rounds_between, span_range):
        with pytest.raises(RunNotFoundError):
            ask(long_run, "nobody")


def test_a_record_that_is_loaded_while_its_run_is_replaced_is_one_or_the_other(store, tmp_path, sample):
    part = sample_runs.write_incomplete(tmp_path, "run-1")
    ingest_run(store, part)
    with store.snapshot() as reader:
        before = reader.read("SELECT count(*) FROM rounds")
        ingest_run(store, sample())
        assert reader.read("SELECT count(*) FROM rounds") == before
    assert load_record(store, "run-1") == read_run(sample())


def test_tables_hold_every_event_of_the_record(long_run):
    tables, record = load_tables(long_run, "long"), load_record(long_run, "long")
    assert tables.plain
    assert len(tables.spans) == len(record.spans)
    assert len(tables.rounds) == len(record.rounds)
    assert tables.publications["start_offset"].to_pylist() == [batch.offset for batch in record.publications]
    assert tables.record.marks == record.marks
    assert tables.record.pieces == record.pieces
    assert (tables.record.status, tables.record.rounds) == (record.status, [])


def test_tables_say_when_an_event_does_not_fit_them(tmp_path, store):
    strange = sample_runs.Span("target", "verify", 1, 2, 500.5)
    ingest_run(store, sample_runs.write_run(tmp_path, "odd", [*sample_runs.events(), strange]))
    assert not load_tables(store, "odd").plain


def test_a_round_comes_with_what_it_needs_and_no_more(long_run):
    record = load_record(long_run, "long")
    part, total = load_round(long_run, "long", record.rounds[0].index)
    assert total == len(record.rounds)
    assert part.rounds[0] == record.rounds[0]
    assert {span.round for span in part.spans} <= {record.rounds[0].index}
    assert len(part.spans) < len(record.spans)


def test_a_round_that_the_run_does_not_have_is_none(long_run):
    assert load_round(long_run, "long", 4000) is None
    with pytest.raises(RunNotFoundError):
        load_round(long_run, "nothing", 0)
