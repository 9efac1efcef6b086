"""Runs are found by what is known of them, and compared only with what they may be compared with."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
import sample_runs

from as2d_core.errors import UnknownNameError
from datastore.annotations import add_tag, set_notes
from datastore.errors import RunNotFoundError
from datastore.ingest import ingest_run
from datastore.opening import open_store
from datastore.queries import (
    DISTINCT,
    RunFilter,
    count_runs,
    distinct,
    get_run,
    list_runs,
    orderable,
)
from datastore.recycling import delete_run

REFERENCE = {"method": "target-only", "drafter": None, "budget": None}
DAYS = [f"2025-06-0{day}T10:00:00+00:00" for day in range(1, 8)]


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """Seven runs that differ in what filters ask for."""
    made = tmp_path_factory.mktemp("filled")

    def put(run_id, *args, **changes):
        ingest_run(store, sample_runs.write_run(made, run_id, *args, **changes))

    with open_store(made / "data") as store:
        put("2025-a", created_at=DAYS[0])
        put("2025-b", created_at=DAYS[1], method="sd", width=5, group_id="g2")
        put("2025-c", [], status="failed", error="The drafter died.", created_at=DAYS[2])
        put("2025-d", status="capped", created_at=DAYS[3], warm_up=True, source="synthetic")
        put("other", created_at=DAYS[4], device={"name": "Box"}, audio=sample_runs.AudioRef("/x.wav", window_id="w2"))
        put("ref", created_at=DAYS[5], **REFERENCE)
        put("gone", created_at=DAYS[6])
        delete_run(store, "gone")
        add_tag(store, "2025-a", "nice")
        add_tag(store, "2025-a", "kept")
        add_tag(store, "2025-b", "nice")
        set_notes(store, "2025-c", "Akku leer, Gerät heiß")
        yield store


def ids(store, **asked):
    return [row.run_id for row in list_runs(store, RunFilter(**asked), order_by="run_id", descending=False)]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({}, ["2025-a", "2025-b", "2025-c", "2025-d", "other", "ref"]),
        ({"bin": "only"}, ["gone"]),
        ({"bin": "with", "run_ids": ("ref", "gone")}, ["gone", "ref"]),
        ({"methods": ("sd",)}, ["2025-b"]),
        ({"methods": ("sd", "target-only")}, ["2025-b", "ref"]),
        ({"methods": ("specasr",)}, []),
        ({"devices": ("Box",)}, ["other"]),
        ({"windows": ("w2",)}, ["other"]),
        ({"statuses": ("failed", "capped")}, ["2025-c", "2025-d"]),
        ({"statuses": ("incomplete",)}, []),
        ({"labels": ("synthetic",)}, ["2025-d"]),
        ({"groups": ("g2",)}, ["2025-b"]),
        ({"targets": ("target-0.6B",), "methods": ("sd",)}, ["2025-b"]),
        ({"drafters": ("ctc-drafter",), "groups": ("g2",)}, ["2025-b"]),
        ({"tags": ("nice",)}, ["2025-a", "2025-b"]),
        ({"tags": ("nice", "kept")}, ["2025-a"]),
        ({"text": "AKKU"}, ["2025-c"]),
        ({"text": "heiß"}, ["2025-c"]),
        ({"text": "drafter died"}, ["2025-c"]),
        ({"text": "nice"}, ["2025-a", "2025-b"]),
        ({"text": "100%"}, []),
        ({"text": "2025_"}, []),
        ({"text": " Box "}, ["other"]),
        ({"since": date(2025, 6, 5)}, ["other", "ref"]),
        ({"until": date(2025, 6, 2)}, ["2025-a", "2025-b"]),
        ({"since": date(2025, 6, 2), "until": date(2025, 6, 2)}, ["2025-b"]),
        ({"since": datetime(2025, 6, 5, 12, 0, tzinfo=timezone(timedelta(hours=2)))}, ["other", "ref"]),
        ({"since": datetime(2025, 6, 5, 10, 0, 1, tzinfo=UTC)}, ["ref"]),
        ({"until": datetime(2025, 6, 1, 10, 0, tzinfo=UTC)}, []),
        ({"warm_ups": False, "labels": ("synthetic",)}, []),
        ({"run_ids": ("2025-a", "oth")}, ["2025-a", "other"]),
    ],
)
def test_a_filter_finds_what_it_asks_for_and_counts_it(filled, asked, found):
    assert ids(filled, **asked) == found
    assert count_runs(filled, RunFilter(**asked)) == len(found)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"methods": ("as2",)}, "method named 'as2'. Did you mean 'as2d'"),
        ({"devices": ("Bux",)}, "Did you mean 'Box'"),
        ({"windows": ("w9",)}, "Known: w"),
        ({"statuses": ("bogus",)}, "Known: "),  # half of its letters are in "eos", which is no likeness
        ({"statuses": ("faild",)}, "Did you mean 'failed'"),
        ({"tags": ("nicer",)}, "Did you mean 'nice'"),
        ({"groups": ("zzz",)}, "Known: g1, g2"),
    ],
)
def test_a_filter_value_nobody_has_is_told_with_the_nearest(filled, asked, says):
    with pytest.raises(UnknownNameError, match=says):
        list_runs(filled, RunFilter(**asked))


def test_pages_are_disjoint_and_complete(filled):
    pages = [list_runs(filled, limit=2, offset=k) for k in (0, 2, 4, 6)]
    assert [len(p) for p in pages] == [2, 2, 2, 0]
    found = [row.run_id for page in pages for row in page]
    assert (
        found == [row.run_id for row in list_runs(filled)] == ["ref", "other", "2025-d", "2025-c", "2025-b", "2025-a"]
    )


@pytest.mark.parametrize("descending", [True, False])
def test_what_is_not_known_comes_last_in_either_order(filled, descending):
    rows = list_runs(filled, order_by="tps", descending=descending)
    assert rows[-1].run_id == "2025-c"
    known = [row.tps for row in rows[:-1]]
    assert known == sorted(known, reverse=descending)


@pytest.mark.parametrize("column", orderable())
def test_runs_can_be_ordered_by_every_column_offered(filled, column):
    assert len(list_runs(filled, order_by=column)) == 6


def test_an_unknown_column_is_told_with_the_nearest(filled):
    with pytest.raises(UnknownNameError, match="Did you mean 'tps'"):
        list_runs(filled, order_by="tpss")


@pytest.mark.parametrize("what", DISTINCT)
def test_every_distinct_value_can_be_asked_for(filled, what):
    plural = {"status": "statuses"}.get(what, f"{what}s")
    for value in distinct(filled, what):
        assert count_runs(filled, RunFilter(**{plural: (value,)}, bin="with")) > 0
    with pytest.raises(UnknownNameError):
        distinct(filled, what + "?")


def test_the_only_run_that_begins_so_is_meant(filled):
    assert get_run(filled, "oth").run_id == "other"
    assert get_run(filled, "ref").run_id == "ref"


@pytest.mark.parametrize(
    ("run_id", "says"),
    [
        ("2025", r"4 runs begin with '2025' \(2025-a, 2025-b, 2025-c, 2025-d\)"),
        ("2026-a", "Did you mean '2025-a'"),
        ("gone", "is in the bin; restore it first"),
        ("", "There is no run ''"),
        ("zzzzzzzzzzz", "List the runs"),
    ],
)
def test_a_run_that_is_not_there_is_told_with_the_nearest(filled, run_id, says):
    with pytest.raises(RunNotFoundError, match=says):
        get_run(filled, run_id)


def test_in_an_empty_store_no_run_is_suggested(store):
    with pytest.raises(RunNotFoundError, match="The store is empty"):
        get_run(store, "x")


def test_an_id_that_begins_others_is_meant_itself(store, sample):
    for run_id in ("run", "run-1", "run-12"):
        ingest_run(store, sample(run_id))
    assert get_run(store, "run").run_id == "run"
    assert get_run(store, "run-1").run_id == "run-1"


# -- the same tokens as target-only?


def put(store, sample, run_id, tokens=sample_runs.TOKENS, **changes):
    ingest_run(store, sample(run_id, sample_runs.events(tokens), **changes))


def answer(store, run_id):
    row = get_run(store, run_id)
    return row.matches_target_only, row.reference_run_id


def test_without_a_target_only_run_there_is_no_answer(store, sample):
    put(store, sample, "a")
    assert answer(store, "a") == (None, None)


def test_the_newest_complete_target_only_run_decides(store, sample):
    put(store, sample, "a")
    put(store, sample, "new", created_at=DAYS[3], **REFERENCE)
    put(store, sample, "old", (1, 2, 3), created_at=DAYS[0], **REFERENCE)
    assert answer(store, "a") == (True, "new")
    put(store, sample, "newer", (1, 2, 3), created_at=DAYS[4], **REFERENCE)
    assert answer(store, "a") == (False, "newer")
    delete_run(store, "newer")
    assert answer(store, "a") == (True, "new")


def test_a_target_only_run_is_compared_with_another_one_never_with_itself(store, sample):
    put(store, sample, "first", created_at=DAYS[0], **REFERENCE)
    assert answer(store, "first") == (None, None)
    put(store, sample, "second", (1, 2, 3), created_at=DAYS[1], **REFERENCE)
    assert answer(store, "first") == (False, "second")
    assert answer(store, "second") == (False, "first")


def test_an_incomplete_failed_or_cancelled_run_has_no_answer_and_is_no_reference(store, sample, tmp_path):
    ingest_run(store, sample_runs.write_incomplete(tmp_path, "cut", **REFERENCE))
    for status in ("failed", "cancelled"):
        ingest_run(store, sample(status, sample_runs.events(), status, **REFERENCE))
    put(store, sample, "a")
    assert answer(store, "a") == (None, None)
    put(store, sample, "ref", **REFERENCE)
    for run_id in ("cut", "failed", "cancelled"):
        assert answer(store, run_id)[0] is None


@pytest.mark.parametrize(
    "other",
    [
        {"device": {"name": "Box"}},
        {"source": "replayed"},
        {"target": sample_runs.ModelRef("/m", "t", sample_runs.sha("another"))},
        {"audio": sample_runs.AudioRef("/a", sample_runs.sha("another audio"))},
        {"audio": sample_runs.AudioRef("/audio/w1.flac", sample_runs.sha("audio"), view_start_s=2.0)},
        {"instruction": "translate"},
        {"max_tokens": 64},
        {"precision": "low"},
    ],
    ids=["device", "label", "target", "audio", "audio view", "instruction", "output cap", "precision"],
)
def test_a_target_only_run_of_other_work_is_no_reference(store, sample, other):
    put(store, sample, "a")
    put(store, sample, "ref", **{**REFERENCE, **other})
    assert answer(store, "a") == (None, None)


def test_models_without_a_known_hash_are_never_taken_for_the_same(store, sample):
    unknown = sample_runs.ModelRef("/models/target")
    put(store, sample, "a", target=unknown)
    put(store, sample, "ref", **{**REFERENCE, "target": unknown})
    assert answer(store, "a") == (None, None)


def test_calibrations_and_collections_are_listed_or_not(tmp_path):
    with open_store(tmp_path / "data") as store:
        for name, method in [("a", "as2d"), ("b", "calibrate"), ("c", "collect")]:
            ingest_run(store, sample_runs.write_run(tmp_path, name, method=method))
        assert (ids(store), ids(store, operations=False)) == (["a", "b", "c"], ["a"])


@pytest.mark.parametrize("text", ["\ud800", "a\udcffb", "a\0b"])
def test_text_that_was_never_stored_finds_nothing(text, filled):
    assert list_runs(filled, RunFilter(text=text)) == []
    with pytest.raises(RunNotFoundError, match="There is no run"):
        get_run(filled, text)
