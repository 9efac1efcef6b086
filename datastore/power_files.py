"""How do the power counters of a trace travel? As a Parquet file of their own: a row for each counter.

What was said about the trace (its file, the hash of it, boot time, build, notes) is the file's ``as2d`` metadata. The
trace itself does not travel, so its hash cannot be checked against it; ``content_sha256`` ties it to these readings.
"""

import hashlib
import io
import json
import math
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from as2d_core.reading import parse_json
from datastore.errors import ArchiveError
from datastore.export import ABOUT
from datastore.perfetto_traces import MOST_READINGS, PowerCounter, PowerTrace
from datastore.power_traces import KeptTrace, load_counters
from datastore.run_row import clean
from datastore.store import Store

KINDS = ("battery", "rail")
_MOST_COUNTERS = 10_000
_MOST_BYTES = 1 << 29
_SCHEMA = pa.schema(
    [
        ("kind", pa.string()),
        ("name", pa.string()),
        ("unit", pa.string()),
        ("time_ns", pa.list_(pa.int64())),
        ("reading", pa.list_(pa.float64())),
    ]
)


def trace_file(store: Store, trace: KeptTrace) -> bytes:
    """A kept trace as a file; times in ns on the phone's boot-time clock."""
    about = {
        "file_sha256": trace.file_sha256,
        "file_name": trace.file_name,
        "boot_ns": trace.boot_ns,
        "build": trace.build,
        "notes": list(trace.notes),
    }
    counters = load_counters(store, trace.file_sha256)
    about["content_sha256"] = content_sha256(trace.file_sha256, trace.boot_ns, counters)
    rows = [
        [item.kind for item in counters],
        [item.name for item in counters],
        [item.unit for item in counters],
        [list(item.time_ns) for item in counters],
        [list(item.values) for item in counters],
    ]
    table = pa.table([pa.array(c, f.type) for c, f in zip(rows, _SCHEMA, strict=True)], schema=_SCHEMA)
    out = io.BytesIO()
    pq.write_table(table.replace_schema_metadata({ABOUT: json.dumps(about)}), out, compression="zstd")
    data: bytes = out.getvalue()
    return data


def content_sha256(file_sha256: str, boot_ns: int | None, counters: Sequence[PowerCounter]) -> str:
    """Hash of a trace's readings together with the trace that they are said to be of."""
    said = hashlib.sha256(json.dumps([file_sha256, boot_ns]).encode())
    for item in counters:
        said.update(json.dumps([item.kind, item.name, item.unit, len(item.values)]).encode())
        said.update(np.array(item.time_ns, "<i8").tobytes() + np.array(item.values, "<f8").tobytes())
    return said.hexdigest()


def read_trace_file(data: bytes, name: str) -> tuple[str, str, PowerTrace]:
    """Hash and name of the original file, and its counters. Nothing of it is trusted: it may come from anybody.

    Raises:
        ArchiveError: it is no such file, holds what no trace holds, or its readings are not those of the trace that
            it names.
    """
    try:
        file = pq.ParquetFile(io.BytesIO(data))
        expected = {field.name: field.type for field in _SCHEMA}
        if {field.name: field.type for field in file.schema_arrow} != expected:
            raise ArchiveError(f"{name} has other columns than the counters of a trace; export it again.")
        about = parse_json((file.schema_arrow.metadata or {}).get(ABOUT.encode(), b"null").decode())
        counters = tuple(_counter(row, name) for row in _rows(file, name))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise ArchiveError(f"{name} is damaged ({error}); export it again.") from error
    if sum(len(item.values) for item in counters) > MOST_READINGS:
        raise ArchiveError(f"{name} holds over {MOST_READINGS:,} readings, more than a trace that was taken in.")
    about = about if isinstance(about, dict) else {}
    digest, boot_ns, notes = str(about.get("file_sha256", "")), about.get("boot_ns"), about.get("notes")
    if not counters or not re.fullmatch(r"[0-9a-f]{64}", digest):
        raise ArchiveError(f"{name} does not say which trace its counters are of; export it again.")
    whole = type(boot_ns) is int and 0 <= boot_ns < 1 << 62
    sealed = about.get("content_sha256")  # files of the first version have none
    if sealed is not None and sealed != content_sha256(digest, boot_ns if whole else None, counters):
        raise ArchiveError(f"The readings in {name} are not those of the trace that it names; export it again.")
    trace = PowerTrace(
        counters,
        boot_ns if whole else None,
        str(clean(about["build"])) if isinstance(about.get("build"), str) else None,
        tuple(str(clean(note)) for note in notes if isinstance(note, str)) if isinstance(notes, list) else (),
    )
    return digest, str(about.get("file_name") or name), trace


def _rows(file: pq.ParquetFile, name: str) -> Iterator[dict[str, Any]]:
    """Row by row, and counted: a small file may say one thing a thousand million times.

    Raises:
        ArchiveError: it expands beyond what a trace holds.
    """
    groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
    values = sum(group.column(i).num_values for group in groups for i in range(group.num_columns))
    size = sum(group.total_byte_size for group in groups)
    small = file.metadata.num_rows <= _MOST_COUNTERS and values <= 3 * MOST_READINGS and size <= _MOST_BYTES
    expanded = 0
    for batch in file.iter_batches(batch_size=1) if small else ():
        expanded += batch.nbytes
        if expanded > _MOST_BYTES:
            break
        yield from batch.to_pylist()
    if not small or expanded > _MOST_BYTES:
        raise ArchiveError(f"{name} expands beyond what the counters of a trace take; export it again.")


def _counter(row: dict[str, Any], name: str) -> PowerCounter:
    times, readings = row["time_ns"] or [], row["reading"] or []
    known = row["kind"] in KINDS and isinstance(row["name"], str) and isinstance(row["unit"], str)
    numbers = all(isinstance(value, float) and math.isfinite(value) for value in readings)
    rising = all(isinstance(time, int) for time in times) and all(a <= b for a, b in pairwise(times))
    if not (known and numbers and rising and 0 < len(times) == len(readings)):
        raise ArchiveError(f"A counter in {name} is none that a trace holds; export it again.")
    return PowerCounter(row["kind"], str(clean(row["name"])), str(clean(row["unit"])), tuple(times), tuple(readings))
