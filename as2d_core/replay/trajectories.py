"""Trajectory sets as Parquet files: one row per window, the drafters nested in it.

Format 2 added what a drafter says off the true path, chunks, and the languages of a drafter; files of
format 1 are read as sets that do not hold them.
"""

import json
from dataclasses import asdict
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from as2d_core.errors import TrajectoryError, unknown_name
from as2d_core.reading import is_file
from as2d_core.replay.branches import Branches, ErrorChannel
from as2d_core.replay.synthetic import GENERATED_IDS, generated_corpus
from as2d_core.replay.windows import DrafterTrajectory, TrajectorySet, WindowTrajectory

__all__ = [
    "DrafterTrajectory",
    "TrajectorySet",
    "WindowTrajectory",
    "corpus_ids",
    "load_corpus",
    "read_corpus",
    "write_corpus",
]

FORMAT = 2
MOST_VALUES, MOST_BYTES = 100_000_000, 2_000_000_000
"""What a set of trajectories may expand to: a thousand times the packaged ones."""
_ROWS_AT_ONCE = 16
_KEY = b"as2d"

_DRAFTER_1 = [
    pa.field("name", pa.string()),
    pa.field("candidates", pa.list_(pa.int32())),
    pa.field("confidences", pa.list_(pa.float64())),
    pa.field("batch_tokens", pa.int32()),
    pa.field("source_capped", pa.bool_()),
    pa.field("agrees", pa.list_(pa.bool_())),
    pa.field("prefix_confidences", pa.list_(pa.float64())),
]
_BRANCHES = pa.struct(
    [
        pa.field("leaves", pa.list_(pa.int32())),
        pa.field("feeds", pa.list_(pa.int32())),
        pa.field("lengths", pa.list_(pa.int32())),
        pa.field("tokens", pa.list_(pa.int32())),
        pa.field("confidences", pa.list_(pa.float64())),
        pa.field("draft_cap", pa.int32()),
        pa.field("threshold", pa.float64()),
    ]
)
_CHANNEL = pa.struct([pa.field("wrong", pa.list_(pa.int32())), pa.field("skipped", pa.list_(pa.int32()))])
_DRAFTER_2 = [
    *_DRAFTER_1,
    pa.field("prefix_tokens", pa.list_(pa.int32())),
    pa.field("branches", _BRANCHES),
    pa.field("error_channel", _CHANNEL),
    pa.field("chunk_ends", pa.list_(pa.int32())),
]


def _schema(drafter: list[Any]) -> Any:
    return pa.schema(
        [
            pa.field("window_id", pa.string()),
            pa.field("group", pa.string()),
            pa.field("language", pa.string()),
            pa.field("task", pa.string()),
            pa.field("duration_s", pa.float64()),
            pa.field("audio_sha256", pa.string()),
            pa.field("split", pa.string()),
            pa.field("instruction", pa.string()),
            pa.field("target_tokens", pa.list_(pa.int32())),
            pa.field("target_capped", pa.bool_()),
            pa.field("target_text", pa.string()),
            pa.field("drafters", pa.list_(pa.struct(drafter))),
        ]
    )


SCHEMA = _schema(_DRAFTER_2)
_SCHEMAS = {1: _schema(_DRAFTER_1), 2: SCHEMA}
_NULLABLE = frozenset(
    {
        "audio_sha256",
        "confidences",
        "agrees",
        "prefix_confidences",
        "prefix_tokens",
        "branches",
        "error_channel",
        "chunk_ends",
        "threshold",
    }
)


def corpus_ids() -> list[str]:
    """Ids of the packaged trajectory sets, then of the generated ones."""
    folder = files(__package__).joinpath("data")
    found = folder.iterdir() if folder.is_dir() else ()
    return [
        *sorted(f.name.removesuffix(".parquet") for f in found if f.name.endswith(".parquet")),
        *GENERATED_IDS,
    ]


def load_corpus(id_or_path: str | Path) -> TrajectorySet:
    """A packaged or generated trajectory set by its id, or any trajectory file by its path.

    Generated sets are kept in memory: loading one again costs nothing.

    Raises:
        UnknownNameError: there is no packaged set of that id, and it names no file.
        TrajectoryError: the file cannot be read, or holds a malformed set.
    """
    name = str(id_or_path)
    if name in GENERATED_IDS:
        return generated_corpus(name)
    if name in corpus_ids():
        with as_file(files(__package__).joinpath("data", f"{name}.parquet")) as path:
            return read_corpus(path)
    if name == "demo":
        raise TrajectoryError(
            "The packaged demo trajectories (replay/data/demo.parquet) are missing from this installation; "
            "install the package again, or collect a set and give its path."
        )
    path = Path(id_or_path)
    if path.suffix == ".parquet" or is_file(path):
        return read_corpus(path)
    raise unknown_name("trajectory set", name, corpus_ids())


def read_corpus(path: Path) -> TrajectorySet:
    """Read and check a trajectory file.

    Raises:
        TrajectoryError: the file cannot be read, or holds a malformed set.
    """
    if not is_file(path):
        raise TrajectoryError(f"There is no trajectory file at {path}.")
    try:
        table = _read_limited(path)
    except (OSError, ValueError, pa.ArrowException) as error:
        said = str(error).rstrip(".")
        raise TrajectoryError(f"{path} cannot be read as a Parquet file: {said}.") from error
    try:
        return _from_table(table)
    except TrajectoryError as error:
        raise TrajectoryError(f"{path}: {error}") from error


def _read_limited(path: Path) -> Any:
    """The table, read a few rows at a time and counted: a small file may say one thing a thousand million times.

    Raises:
        TrajectoryError: it expands beyond anything that is a trajectory set.
    """
    with pq.ParquetFile(path, memory_map=False) as file:
        groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
        values = sum(group.column(i).num_values for group in groups for i in range(group.num_columns))
        batches, size = [], 0
        for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE) if values <= MOST_VALUES else ():
            plain = {name: _decoded(column) for name, column in zip(batch.schema.names, batch.columns, strict=True)}
            batches.append(pa.table(plain))
            size += batches[-1].nbytes
            if size > MOST_BYTES:
                break
        if values > MOST_VALUES or size > MOST_BYTES:
            raise TrajectoryError(
                f"{path} expands to more than {MOST_VALUES:,} values or {MOST_BYTES / 1e9:g} GB, which no set of "
                "trajectories does; nothing was taken from it."
            )
        empty = pa.table({field.name: pa.array([], field.type) for field in file.schema_arrow})
        return pa.concat_tables(batches or [empty]).replace_schema_metadata(file.schema_arrow.metadata)


def _decoded(column: Any) -> Any:
    """A column whose size is what it holds, not what it says once."""
    if pa.types.is_dictionary(column.type):
        return column.dictionary_decode()
    if "dictionary<" in str(column.type):
        raise TrajectoryError(f"A column is a {column.type}; write plain lists of values.")
    return column


def write_corpus(corpus: TrajectorySet, path: Path) -> None:
    """Write a trajectory file.

    Raises:
        OSError: the file cannot be written.
    """
    header = {
        "format": FORMAT,
        "id": corpus.id,
        "label": corpus.label,
        "eos": corpus.eos,
        "output_cap": corpus.output_cap,
        "models": dict(corpus.models),
        "languages": {name: list(languages) for name, languages in corpus.languages.items()},
        "settings": dict(corpus.settings),
        "created_at": corpus.created_at,
        "note": corpus.note,
    }
    columns: dict[str, list[Any]] = {name: [] for name in SCHEMA.names}
    for window in corpus.windows:
        for name in SCHEMA.names[:-1]:
            columns[name].append(getattr(window, name))
        columns["drafters"].append([asdict(drafter) for drafter in window.drafters])
    schema = SCHEMA.with_metadata({_KEY: json.dumps(header, ensure_ascii=False).encode()})
    table = pa.table(columns, schema=schema)
    pq.write_table(table, path, compression="zstd")


def _from_table(table: Any) -> TrajectorySet:
    schema, header = _header(table.schema.metadata or {})
    for field in schema:
        if field.name not in table.schema.names:
            raise TrajectoryError(f"The column {field.name} is missing.")
    try:
        rows = table.select(schema.names).cast(schema).to_pylist()
    except (pa.ArrowException, ValueError) as error:
        raise TrajectoryError(f"A column has another type than a trajectory set needs: {error}.") from error
    windows = tuple(_window(row, i) for i, row in enumerate(rows))
    try:
        return TrajectorySet(windows=windows, **header)
    except TypeError as error:
        raise TrajectoryError(f"The file's description is incomplete: {error}.") from error


def _header(metadata: dict[bytes, bytes]) -> tuple[Any, dict[str, Any]]:
    if _KEY not in metadata:
        raise TrajectoryError("The file has no description of a trajectory set; it was not written by this program.")
    try:
        header = json.loads(metadata[_KEY])
    except (ValueError, RecursionError) as error:
        raise TrajectoryError(f"The file's description is not JSON ({error}).") from error
    known = " or ".join(map(str, _SCHEMAS))
    schema = _SCHEMAS.get(header.pop("format", None)) if isinstance(header, dict) else None
    if schema is None:
        raise TrajectoryError(f"The file's description is not of format {known}; update this program.")
    for name, kind in (("id", str), ("label", str), ("eos", int), ("output_cap", int)):
        if not isinstance(header.get(name), kind) or isinstance(header[name], bool):
            raise TrajectoryError(f"The file's description has no valid {name}.")
    languages = header.get("languages", {})
    if not isinstance(languages, dict) or not all(isinstance(names, list) for names in languages.values()):
        raise TrajectoryError("The file's description has no valid languages.")
    header["languages"] = {drafter: tuple(names) for drafter, names in languages.items()}
    return schema, header


def _window(row: dict[str, Any], index: int) -> WindowTrajectory:
    where = f"Window {row['window_id']!r} (row {index})"
    _no_nulls(row, where)
    drafters = []
    for item in row["drafters"]:
        if item is None:
            raise TrajectoryError(f"{where}: a drafter is empty.")
        drafters.append(_drafter(item, f"{where}, drafter {item['name']!r}"))
    values = {k: _tuple(v) for k, v in row.items() if k != "drafters"}
    return WindowTrajectory(**values, drafters=tuple(drafters))


def _drafter(item: dict[str, Any], where: str) -> DrafterTrajectory:
    _no_nulls(item, where)
    values = {k: _tuple(v) for k, v in item.items()}
    for name, kind in (("branches", Branches), ("error_channel", ErrorChannel)):
        inner = item.get(name)
        if inner is not None:
            _no_nulls(inner, f"{where}, {name}", nullable=frozenset({"threshold"}), gaps=())
            values[name] = kind(**{k: _tuple(v) for k, v in inner.items()})
    return DrafterTrajectory(**values)


def _no_nulls(
    item: dict[str, Any],
    where: str,
    nullable: frozenset[str] = _NULLABLE,
    gaps: tuple[str, ...] = ("confidences", "drafters"),
) -> None:
    for name, value in item.items():
        if value is None and name not in nullable:
            raise TrajectoryError(f"{where}: {name} is empty.")
        # Single confidences may be missing; tokens and flags may not.
        if isinstance(value, list) and name not in gaps:
            position = next((i for i, element in enumerate(value) if element is None), None)
            if position is not None:
                raise TrajectoryError(f"{where}: {name} is empty at position {position}.")


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
