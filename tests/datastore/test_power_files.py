"""Counters of a trace as a file: what came in goes out, and what no trace holds does not come in."""

import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from perfetto_bytes import power_trace

from datastore import power_files
from datastore.errors import ArchiveError
from datastore.perfetto_traces import read_power_trace
from datastore.power_files import read_trace_file, trace_file
from datastore.power_traces import keep_trace, list_traces

DIGEST = "ab" * 32


@pytest.fixture
def whole(store):
    keep_trace(store, "p.pftrace", DIGEST, read_power_trace(power_trace(0, 500), "p.pftrace"))
    return trace_file(store, list_traces(store)[0])


def test_a_trace_comes_back_as_it_went_out(whole):
    assert read_trace_file(whole, "x") == (DIGEST, "p.pftrace", read_power_trace(power_trace(0, 500), "p.pftrace"))


def changed(whole, about=None, **columns):
    table = pq.read_table(io.BytesIO(whole)).slice(0, 1)
    said = json.loads(table.schema.metadata[b"as2d"]) | {"content_sha256": None} | (about or {})
    for name, value in columns.items():
        place = table.schema.get_field_index(name)
        kind = pa.string() if isinstance(value, str) else table.schema.field(name).type
        table = table.set_column(place, name, pa.array([value], kind))
    out = io.BytesIO()
    pq.write_table(table.replace_schema_metadata({"as2d": json.dumps(said)}), out)
    return out.getvalue()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"about": {"file_sha256": "../x"}}, "does not say which trace"),
        ({"kind": "engine"}, "is none that a trace holds"),
        ({"time_ns": [3, 2, 1]}, "is none that a trace holds"),
        ({"time_ns": [1]}, "is none that a trace holds"),
        ({"reading": [1.0, float("nan"), 2.0]}, "is none that a trace holds"),
        ({"time_ns": "1"}, "other columns"),
    ],
)
def test_what_no_trace_holds_is_refused(whole, change, sentence):
    assert read_trace_file(changed(whole), "x")[0] == DIGEST
    with pytest.raises(ArchiveError, match=sentence):
        read_trace_file(changed(whole, **change), "x")


def test_readings_under_the_hash_of_another_trace_are_refused(whole):
    sealed = json.loads(pq.read_schema(io.BytesIO(whole)).metadata[b"as2d"])["content_sha256"]
    table = pq.read_table(io.BytesIO(whole))
    for about, columns in (({"file_sha256": "cd" * 32}, table), ({}, table.slice(1)), ({"boot_ns": 1}, table)):
        out = io.BytesIO()
        said = json.loads(table.schema.metadata[b"as2d"]) | about
        assert said["content_sha256"] == sealed
        pq.write_table(columns.replace_schema_metadata({"as2d": json.dumps(said)}), out)
        with pytest.raises(ArchiveError, match="not those of the trace that it names"):
            read_trace_file(out.getvalue(), "x")


@given(st.binary(max_size=200))
def test_bytes_that_are_no_file_are_a_sentence(data):
    with pytest.raises(ArchiveError, match="export it again"):
        read_trace_file(data, "x")


def test_a_small_file_that_expands_without_limit_is_not_expanded(whole, monkeypatch):
    many = changed(whole, reading=[0.0] * 10_000)
    with monkeypatch.context() as patch:
        patch.setattr(power_files, "MOST_READINGS", 1_000)
        with pytest.raises(ArchiveError, match="expands beyond what"):
            read_trace_file(many, "x")
    monkeypatch.setattr(power_files, "_MOST_BYTES", 1_000_000)
    table = pq.read_table(io.BytesIO(changed(whole, name="n" * 30_000)))
    out = io.BytesIO()
    pq.write_table(pa.concat_tables([table] * 100).combine_chunks(), out)
    assert len(out.getvalue()) < 100_000
    with pytest.raises(ArchiveError, match="expands beyond what"):
        read_trace_file(out.getvalue(), "x")


def test_what_is_said_about_a_trace_is_bounded_too(whole):
    table = pq.read_table(io.BytesIO(whole))
    out = io.BytesIO()
    pq.write_table(table.replace_schema_metadata({"as2d": "[" * 100_000}), out)
    with pytest.raises(ArchiveError, match="nested too deep"):
        read_trace_file(out.getvalue(), "x")
