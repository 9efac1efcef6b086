"""Trajectory sets as Parquet files: one row per window, the drafters nested in it."""

import json
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from as2d_core.errors import TrajectoryError, unknown_name
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

FORMAT = 1
_KEY = b"as2d"

_DRAFTER = pa.struct(
    [
        pa.field("name", pa.string()),
        pa.field("candidates", pa.list_(pa.int32())),
        pa.field("confidences", pa.list_(pa.float64())),
        pa.field("batch_tokens", pa.int32()),
        pa.field("source_capped", pa.bool_()),
        pa.field("agrees", pa.list_(pa.bool_())),
        pa.field("prefix_confidences", pa.list_(pa.float64())),
    ]
)
SCHEMA = pa.schema(
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
        pa.field("drafters", pa.list_(_DRAFTER)),
    ]
)
_NULLABLE = frozenset({"audio_sha256", "confidences", "agrees", "prefix_confidences"})


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
    if path.suffix == ".parquet" or path.is_file():
        return read_corpus(path)
    raise unknown_name("trajectory set", name, corpus_ids())


def read_corpus(path: Path) -> TrajectorySet:
    """Read and check a trajectory file.

    Raises:
        TrajectoryError: the file cannot be read, or holds a malformed set.
    """
    try:
        table = pq.read_table(path, memory_map=False)
    except (OSError, pa.ArrowException) as error:
        raise TrajectoryError(f"{path} cannot be read as a Parquet file: {error}.") from error
    try:
        return _from_table(table)
    except TrajectoryError as error:
        raise TrajectoryError(f"{path}: {error}") from error


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
        "settings": dict(corpus.settings),
        "created_at": corpus.created_at,
        "note": corpus.note,
    }
    columns: dict[str, list[Any]] = {name: [] for name in SCHEMA.names}
    for window in corpus.windows:
        for name in SCHEMA.names[:-1]:
            columns[name].append(getattr(window, name))
        columns["drafters"].append(
            [{field.name: getattr(drafter, field.name) for field in _DRAFTER} for drafter in window.drafters]
        )
    schema = SCHEMA.with_metadata({_KEY: json.dumps(header, ensure_ascii=False).encode()})
    table = pa.table(columns, schema=schema)
    pq.write_table(table, path, compression="zstd")


def _from_table(table: Any) -> TrajectorySet:
    header = _header(table.schema.metadata or {})
    for field in SCHEMA:
        if field.name not in table.schema.names:
            raise TrajectoryError(f"The column {field.name} is missing.")
    try:
        rows = table.select(SCHEMA.names).cast(SCHEMA).to_pylist()
    except (pa.ArrowException, ValueError) as error:
        raise TrajectoryError(f"A column has another type than a trajectory set needs: {error}.") from error
    windows = tuple(_window(row, i) for i, row in enumerate(rows))
    try:
        return TrajectorySet(windows=windows, **header)
    except TypeError as error:
        raise TrajectoryError(f"The file's description is incomplete: {error}.") from error


def _header(metadata: dict[bytes, bytes]) -> dict[str, Any]:
    if _KEY not in metadata:
        raise TrajectoryError("The file has no description of a trajectory set; it was not written by this program.")
    try:
        header = json.loads(metadata[_KEY])
    except ValueError as error:
        raise TrajectoryError(f"The file's description is not JSON ({error}).") from error
    if not isinstance(header, dict) or header.pop("format", None) != FORMAT:
        raise TrajectoryError(f"The file's description is not of format {FORMAT}.")
    for name, kind in (("id", str), ("label", str), ("eos", int), ("output_cap", int)):
        if not isinstance(header.get(name), kind) or isinstance(header[name], bool):
            raise TrajectoryError(f"The file's description has no valid {name}.")
    return header


def _window(row: dict[str, Any], index: int) -> WindowTrajectory:
    where = f"Window {row['window_id']!r} (row {index})"
    _no_nulls(row, where)
    drafters = []
    for item in row["drafters"]:
        if item is None:
            raise TrajectoryError(f"{where}: a drafter is empty.")
        _no_nulls(item, f"{where}, drafter {item['name']!r}")
        drafters.append(DrafterTrajectory(**{k: _tuple(v) for k, v in item.items()}))
    values = {k: _tuple(v) for k, v in row.items() if k != "drafters"}
    return WindowTrajectory(**values, drafters=tuple(drafters))


def _no_nulls(item: dict[str, Any], where: str) -> None:
    for name, value in item.items():
        if value is None and name not in _NULLABLE:
            raise TrajectoryError(f"{where}: {name} is empty.")
        # Single confidences may be missing; tokens and flags may not.
        if isinstance(value, list) and name not in ("confidences", "drafters"):
            position = next((i for i, element in enumerate(value) if element is None), None)
            if position is not None:
                raise TrajectoryError(f"{where}: {name} is empty at position {position}.")


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
