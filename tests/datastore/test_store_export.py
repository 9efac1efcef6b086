"""What leaves the store says what was asked for, and logs leave byte for byte."""

import csv
import io
import json
import zipfile
from dataclasses import replace
from datetime import date

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sample_runs

from as2d_core.errors import UnknownNameError
from datastore.annotations import add_tag
from datastore.errors import DiskFullError, ExportError, LogMissingError, StoreFolderError
from datastore.export import export_file, export_runs, table_file
from datastore.ingest import ingest_run
from datastore.opening import open_store
from datastore.queries import RunFilter, get_run
from datastore.recycling import delete_run

ASKED = RunFilter(methods=("as2d",), since=date(2025, 1, 1))


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    made = tmp_path_factory.mktemp("filled")
    with open_store(made / "data") as store:
        ingest_run(store, sample_runs.write_run(made, "run-1"))
        ingest_run(
            store, sample_runs.write_run(made, "run-2", [], status="failed", error='He said "no", twice\nand left')
        )
        ingest_run(store, sample_runs.write_run(made, "ref", method="target-only", drafter=None, budget=None))
        add_tag(store, "run-1", "good")
        yield store


def test_one_run_as_ndjson_is_its_log_byte_for_byte(filled):
    export = export_runs(filled, RunFilter(run_ids=("run-1",)), "ndjson")
    assert export.name == "run-1.ndjson"
    assert export.data == (filled.folders.runs / "run-1.ndjson").read_bytes()


def test_several_runs_as_ndjson_are_their_logs_byte_for_byte_with_a_manifest_that_says_what_was_asked(filled):
    export = export_runs(filled, ASKED, "ndjson")
    assert export.name.endswith(".zip")
    with zipfile.ZipFile(io.BytesIO(export.data)) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        assert manifest["filters"] == {"methods": ["as2d"], "since": "2025-01-01"}
        assert {r["run_id"]: r["tags"] for r in manifest["runs"]} == {"run-1": ["good"], "run-2": []}
        for item in manifest["runs"]:
            assert archive.read(item["file"]) == (filled.folders.runs / f"{item['run_id']}.ndjson").read_bytes()


def test_csv_says_in_its_first_line_what_was_asked(filled):
    text = export_runs(filled, ASKED, "csv").data.decode()
    first, rest = text.split("\n", 1)
    assert first.startswith("# ")
    about = json.loads(first[2:])
    assert about["filters"] == {"methods": ["as2d"], "since": "2025-01-01"}
    assert about["table"] == "runs"
    rows = list(csv.DictReader(io.StringIO(rest)))
    assert {r["run_id"] for r in rows} == {"run-1", "run-2"}
    failed = next(r for r in rows if r["run_id"] == "run-2")
    assert failed["error"] == 'He said "no", twice\nand left'
    assert (failed["tps"], failed["emulated"]) == ("", "false")
    frame = pd.read_csv(io.StringIO(text), skiprows=1)
    assert frame.set_index("run_id").loc["run-1", "tps"] == pytest.approx(7 / 0.031)


def test_parquet_says_in_its_metadata_what_was_asked_and_keeps_types(filled):
    table = pq.read_table(io.BytesIO(export_runs(filled, ASKED, "parquet").data))
    assert json.loads(table.schema.metadata[b"as2d"])["filters"]["methods"] == ["as2d"]
    rows = {row["run_id"]: row for row in table.to_pylist()}
    assert rows["run-1"]["tps"] == get_run(filled, "run-1").tps
    assert rows["run-2"]["tps"] is None
    assert rows["run-1"]["tags"] == ["good"]


def test_json_holds_the_question_and_the_rows(filled):
    body = json.loads(export_runs(filled, ASKED, "json").data)
    assert body["about"]["filters"] == {"methods": ["as2d"], "since": "2025-01-01"}
    rows = {row["run_id"]: row for row in body["rows"]}
    assert rows["run-1"]["matches_target_only"] is True
    assert rows["run-1"]["reference_run_id"] == "ref"
    assert rows["run-2"]["matches_target_only"] is None


@pytest.mark.parametrize("file_format", ["csv", "parquet", "json"])
def test_rounds_leave_with_the_run_they_belong_to(filled, file_format):
    data = export_runs(filled, RunFilter(run_ids=("run-1",)), file_format, "rounds").data
    if file_format == "csv":
        rows = list(csv.DictReader(io.StringIO(data.decode().split("\n", 1)[1])))
        first = {**rows[0], "committed": json.loads(rows[0]["committed"]), "round": int(rows[0]["round"])}
    elif file_format == "json":
        rows = json.loads(data)["rows"]
        first = rows[0]
    else:
        rows = pq.read_table(io.BytesIO(data)).to_pylist()
        first = rows[0]
    assert len(rows) == 3
    assert (first["run_id"], first["label"], first["round"], first["committed"]) == ("run-1", "measured", 0, [12, 13])


def test_failed_runs_are_exported_with_the_others(filled):
    rows = json.loads(export_runs(filled, None, "json").data)["rows"]
    assert {r["run_id"]: r["status"] for r in rows} == {"run-1": "eos", "run-2": "failed", "ref": "eos"}


def test_an_export_without_rows_is_refused(filled):
    with pytest.raises(ExportError, match="No run matches"):
        export_runs(filled, RunFilter(methods=("specasr",)))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [(("xlsx",), "csv"), (("cvs",), "Did you mean 'csv'"), (("csv", "round"), "Did you mean 'rounds'")],
)
def test_an_unknown_format_or_table_is_told_with_the_nearest(filled, arguments, says):
    with pytest.raises(UnknownNameError, match=says):
        export_runs(filled, None, *arguments)


def test_a_log_that_is_gone_or_changed_is_never_exported_as_if_it_were_the_run(store, sample):
    ingest_run(store, sample())
    log = store.folders.runs / "run-1.ndjson"
    content = log.read_bytes()
    log.write_bytes(content + b"\n")
    with pytest.raises(LogMissingError, match="was changed"):
        export_runs(store, None, "ndjson")
    log.unlink()
    with pytest.raises(LogMissingError, match="cannot be read"):
        export_runs(store, None, "ndjson")
    assert export_runs(store, None, "csv").data


def test_runs_in_the_bin_leave_only_when_asked_for(store, sample):
    ingest_run(store, sample())
    delete_run(store, "run-1")
    with pytest.raises(ExportError):
        export_runs(store)
    content = (store.folders.bin / "run-1.ndjson").read_bytes()
    assert export_runs(store, RunFilter(bin="only"), "ndjson").data == content


@pytest.mark.parametrize("name", ["runs.csv", "runs.parquet", "runs.json", "logs.zip"])
def test_a_file_gets_the_format_of_its_suffix(filled, tmp_path, name):
    path = export_file(filled, tmp_path / name)
    marks = {"csv": b"# {", "parquet": b"PAR1", "json": b'{"about"', "zip": b"PK"}
    assert path.read_bytes().startswith(marks[name.split(".")[1]])


def test_a_file_that_cannot_be_written_is_told_and_leaves_nothing_half(filled, tmp_path, monkeypatch):
    import errno
    import os

    with pytest.raises(StoreFolderError, match=r"There is no folder .*nowhere for runs\.csv; make it, or name another"):
        export_file(filled, tmp_path / "nowhere" / "runs.csv")

    def full(_descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(DiskFullError):
            export_file(filled, tmp_path / "runs.csv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "＝1"])
def test_what_somebody_called_a_window_is_no_formula_in_csv(name, tmp_path):
    with open_store(tmp_path / "data") as store:
        audio = replace(sample_runs.request("x").audio, window_id=name)
        ingest_run(store, sample_runs.write_run(tmp_path, "run-1", audio=audio))
        text = export_runs(store, None, "csv").data.decode()
    row = next(csv.DictReader(io.StringIO(text.split("\n", 1)[1])))
    assert row["window_id"] == f"'{name}"


@pytest.mark.parametrize("kind", ["csv", "parquet", "json"])
def test_rows_that_were_worked_out_carry_what_they_were_made_from(kind):
    rows = pa.table({"tokens": ["2 to 18"], "won_ms": [61.5]})
    data = table_file(rows, "aligned", {"first": "run-1"}, kind).data
    if kind == "parquet":
        read = pq.read_table(io.BytesIO(data))
        about, found = json.loads(read.schema.metadata[b"as2d"]), read.to_pylist()
    elif kind == "json":
        body = json.loads(data)
        about, found = body["about"], body["rows"]
    else:
        first, *rest = data.decode().splitlines()
        about = json.loads(first.removeprefix("# "))
        found = [{"tokens": r["tokens"], "won_ms": float(r["won_ms"])} for r in csv.DictReader(rest)]
    assert (about["table"], about["filters"]) == ("aligned", {"first": "run-1"})
    assert found == rows.to_pylist()


def test_an_unknown_format_of_a_table_suggests_the_nearest():
    with pytest.raises(UnknownNameError, match="csv"):
        table_file(pa.table({"x": [1]}), "x", {}, "cvs")
