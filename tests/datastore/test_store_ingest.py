"""A run file is taken in whole, once, and under its own name; everything else is told."""

import hashlib
import json

import pytest
import sample_runs

from as2d_core.errors import RecordError
from datastore.errors import RunConflictError, StoreFolderError
from datastore.ingest import ingest_run
from datastore.queries import RunFilter, count_runs, get_run, list_runs
from datastore.recycling import delete_run
from datastore.run_row import device_key, output_sha256
from datastore.timeline import load_record
from datastore.verify import verify


def test_the_log_lies_in_the_data_folder_byte_for_byte_and_the_file_given_is_untouched(store, sample):
    log = sample()
    before = log.read_bytes()
    result = ingest_run(store, log)
    assert (result.added, result.status, result.problems) == (True, "eos", ())
    assert result.log == store.folders.runs / "run-1.ndjson"
    assert result.log.read_bytes() == before == log.read_bytes()


def test_the_same_file_again_changes_nothing(store, sample):
    ingest_run(store, sample())
    first = get_run(store, "run-1")
    again = ingest_run(store, sample())
    assert (again.added, again.extended, again.in_bin) == (False, False, False)
    assert get_run(store, "run-1") == first
    assert count_runs(store) == 1


def test_the_same_id_with_other_content_is_refused_and_the_stored_run_stays(store, sample):
    ingest_run(store, sample())
    kept = store.folders.runs / "run-1.ndjson"
    before = kept.read_bytes()
    with pytest.raises(RunConflictError, match="'run-1' is stored already, with other content"):
        ingest_run(store, sample("run-1", sample_runs.events(range(5))))
    assert kept.read_bytes() == before
    assert get_run(store, "run-1").committed_tokens == len(sample_runs.TOKENS)
    assert list(store.folders.runs.glob("*.part")) == []


def test_a_run_that_is_in_the_bin_stays_there_when_its_file_comes_again(store, sample):
    ingest_run(store, sample())
    delete_run(store, "run-1")
    again = ingest_run(store, sample())
    assert (again.added, again.in_bin) == (False, True)
    assert count_runs(store) == 0
    with pytest.raises(RunConflictError, match="in the bin"):
        ingest_run(store, sample("run-1", sample_runs.events(range(5))))


def test_an_incomplete_stream_is_stored_as_incomplete_with_what_is_wrong(store, tmp_path):
    result = ingest_run(store, sample_runs.write_incomplete(tmp_path, "cut", keep=9))
    row = get_run(store, "cut")
    assert result.status == row.status == "incomplete"
    assert row.problems == result.problems == ("10: the end line is missing",)
    assert row.tps is None
    assert row.matches_target_only is None


def test_a_stream_whose_end_counts_other_lines_is_incomplete(store, tmp_path):
    lines = sample_runs.lines("short")
    del lines[5]
    path = tmp_path / "short.ndjson"
    path.write_text("".join(lines))
    assert ingest_run(store, path).status == "incomplete"


def test_a_longer_part_of_an_incomplete_stream_replaces_it_and_keeps_what_people_wrote(store, tmp_path, sample):
    from datastore.annotations import add_tag, set_notes

    ingest_run(store, sample_runs.write_incomplete(tmp_path, "run-1"))
    add_tag(store, "run-1", "cable")
    set_notes(store, "run-1", "USB was pulled")
    result = ingest_run(store, sample())
    assert (result.added, result.extended) == (True, True)
    row = get_run(store, "run-1")
    assert (row.status, row.tags, row.notes) == ("eos", ("cable",), "USB was pulled")
    assert count_runs(store) == 1
    assert verify(store).problems == ()


def test_a_longer_part_of_a_stream_that_is_in_the_bin_is_refused_and_the_bin_stays_as_it_is(store, tmp_path, sample):
    ingest_run(store, sample_runs.write_incomplete(tmp_path, "run-1"))
    delete_run(store, "run-1")
    with pytest.raises(RunConflictError, match="in the bin"):
        ingest_run(store, sample())
    assert count_runs(store) == 0
    (kept,) = list_runs(store, RunFilter(bin="only"))
    assert kept.status == "incomplete"


def test_a_shorter_part_of_what_is_stored_changes_nothing(store, tmp_path, sample):
    ingest_run(store, sample())
    result = ingest_run(store, sample_runs.write_incomplete(tmp_path, "run-1"))
    assert (result.added, result.extended, result.status) == (False, False, "eos")
    assert get_run(store, "run-1").status == "eos"
    assert verify(store).problems == ()


def test_a_shorter_stream_that_is_no_part_of_what_is_stored_is_refused(store, tmp_path, sample):
    ingest_run(store, sample("run-1", sample_runs.events(range(30))))
    with pytest.raises(RunConflictError):
        ingest_run(store, sample_runs.write_incomplete(tmp_path, "run-1"))


def test_a_failed_run_is_stored_with_its_error(store, sample):
    ingest_run(store, sample("bad", [], status="failed", error="The drafter died."))
    row = get_run(store, "bad")
    assert (row.status, row.error, row.tps, row.elapsed_ms) == ("failed", "The drafter died.", None, None)


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"", "is empty"), (b"hello\n", "line 1"), (b'{"kind":"span"}\n', "line 1"), (b"\xff\xfe\x00\n", "line 1")],
)
def test_a_file_that_is_no_run_log_is_refused_with_its_path_and_line(store, tmp_path, content, says):
    path = tmp_path / "foreign.ndjson"
    path.write_bytes(content)
    with pytest.raises(RecordError, match=says) as told:
        ingest_run(store, path)
    assert str(path) in str(told.value)
    assert list(store.folders.runs.iterdir()) == []


def test_a_file_that_is_not_there_is_told_with_its_path(store, tmp_path):
    with pytest.raises(StoreFolderError, match=r"none\.ndjson cannot be read"):
        ingest_run(store, tmp_path / "none.ndjson")


def test_a_folder_is_no_run_file(store, tmp_path):
    with pytest.raises(StoreFolderError, match="cannot be read"):
        ingest_run(store, tmp_path)


def test_a_log_that_lies_there_unknown_with_other_content_is_not_overwritten(store, sample):
    foreign = store.folders.runs / "run-1.ndjson"
    foreign.write_text("something else\n")
    with pytest.raises(RunConflictError, match="lies there already"):
        ingest_run(store, sample())
    assert foreign.read_text() == "something else\n"
    assert count_runs(store) == 0


def test_the_row_holds_what_header_and_request_say(store, sample):
    ingest_run(store, sample(drafter_pace_ms=30.0, repetition=2, order=5, warm_up=True, source="replayed"))
    row = get_run(store, "run-1")
    assert row.device_key == "Phone | A1"
    assert (row.label, row.emulated, row.drafter_pace_ms) == ("replayed", True, 30.0)
    assert (row.repetition, row.run_order, row.warm_up, row.group_id, row.window_id) == (2, 5, True, "g1", "w1")
    assert (row.budget, row.width, row.threshold, row.target_threads) == (4, None, 0.4, 2)
    assert (row.target_sha256, row.drafter_sha256) == (sample_runs.sha("target"), sample_runs.sha("drafter"))
    assert (row.runner_version, row.mnn_version, row.clock) == ("0.1.0", "3.6.1", "CLOCK_BOOTTIME")
    assert row.created_at.isoformat() == "2025-06-01T10:00:00+00:00"


def test_the_figures_are_those_of_the_accounting(store, sample):
    ingest_run(store, sample())
    row = get_run(store, "run-1")
    assert (row.committed_tokens, row.rounds, row.proposed, row.accepted, row.k1_rounds) == (7, 3, 3, 3, 0)
    assert (row.total_ns, row.draft_ns, row.verify_ns) == (31_000_000, 18_000_000, 27_000_000)
    assert row.total_ns == row.draft_ns + row.verify_ns - row.overlap_ns + row.idle_ns
    assert (row.elapsed_ms, row.response_ms) == (31.0, 40.0)
    assert row.tps == pytest.approx(7 / 0.031)
    wanted = hashlib.sha256(b"11,12,13,14,15,16,2").hexdigest()
    assert row.output_sha256 == output_sha256(list(sample_runs.TOKENS)) == wanted


def test_a_run_that_never_decoded_has_no_figures_instead_of_zeros(store, sample):
    ingest_run(store, sample("bad", [], status="failed"))
    row = get_run(store, "bad")
    figures = (row.tps, row.elapsed_ms, row.response_ms, row.total_ns, row.own_ms_per_round, row.output_sha256)
    assert figures == (None,) * 6


@pytest.mark.parametrize(
    ("device", "key"),
    [
        ({"key": "mine", "name": "Phone"}, "mine"),
        ({"name": "Phone", "serial": "A1", "cpu": "x"}, "Phone | A1"),
        ({"name": "Phone", "unit": "a1b2", "cpu": "x"}, "Phone | a1b2"),
        ({"name": "This computer", "cpu": "EPYC"}, "This computer | EPYC"),
        ({"model": "Pixel"}, "Pixel"),
        ({"name": "", "model": None}, "unknown device"),
        ({}, "unknown device"),
    ],
)
def test_the_device_key_is_the_same_after_a_system_update(device, key):
    assert device_key(device) == key
    assert device_key({**device, "release": "6.6"}) == key


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("2025-06-01T12:00:00+02:00", "2025-06-01T10:00:00+00:00"),
        ("2025-06-01T10:00:00Z", "2025-06-01T10:00:00+00:00"),
        ("2025-06-01", "2025-06-01T00:00:00+00:00"),
        ("yesterday", None),
        ("", None),
        ("0001-01-01T00:00:00+23:00", None),
    ],
)
def test_the_time_of_a_run_is_an_instant_or_nothing(store, sample, text, wanted):
    ingest_run(store, sample(created_at=text))
    [row] = list_runs(store)
    assert (row.created_at and row.created_at.isoformat()) == wanted


def test_unknown_kinds_are_counted(store, tmp_path):
    lines = sample_runs.lines("new", [sample_runs.Mark("x", 1)])
    path = tmp_path / "new.ndjson"
    path.write_text(lines[0] + json.dumps({"kind": "hologram", "x": 1}) + "\n")
    ingest_run(store, path)
    assert load_record(store, "new").unknown == {"hologram": 1}


def test_ids_that_differ_in_case_only_are_different_runs(store, sample):
    for run_id in ("Run", "run", "RUN"):
        ingest_run(store, sample(run_id))
    assert {r.run_id for r in list_runs(store, RunFilter(text="run"))} == {"Run", "run", "RUN"}
    assert len({p.name.lower() for p in store.folders.runs.iterdir()}) == 3


def test_another_stream_never_replaces_an_incomplete_one_however_long_it_is(store, tmp_path, sample):
    ingest_run(store, sample_runs.write_incomplete(tmp_path, "run-1"))
    with pytest.raises(RunConflictError):
        ingest_run(store, sample("run-1", sample_runs.events(range(30))))
    assert get_run(store, "run-1").status == "incomplete"
