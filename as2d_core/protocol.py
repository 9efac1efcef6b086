"""The runner protocol: run records as lines of JSON, written, read and checked.

A stream is complete when its last line is an ``end`` whose counts and hash match the lines before
it. Anything else is incomplete, and is kept as such.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, asdict, fields, is_dataclass
from pathlib import Path
from typing import Any, TextIO

from as2d_core.errors import RecordError
from as2d_core.event import Event
from as2d_core.field_types import check_fields, integer
from as2d_core.gates import Gates
from as2d_core.reading import check_regular, parse_json
from as2d_core.records import EVENT_TYPES, SCHEMA_VERSION, End, Pieces, RunHeader, RunRecord, Unknown
from as2d_core.request import AudioRef, ModelRef, Placement, Request
from as2d_core.width_rule import WidthRule, width_rule_faults

MAX_LINE_BYTES = 1_000_000
"""No event comes near this; a longer line is not one of ours."""

_TUPLES = {
    "tokens",
    "confidences",
    "committed",
    "candidates",
    "exact_widths",
    "core_mhz",
    "ceiling_mhz",
    "missing",
    "target_cores",
    "drafter_cores",
    "cores",
    "asked_cores",
    "widths",
    "target_tokens",
    "forced",
    "forced_confidences",
    "branch_leaves",
    "branch_feeds",
    "branch_lengths",
    "branch_tokens",
    "branch_confidences",
    "concurrent",
    "idle",
}
_NESTED = {
    "target": ModelRef,
    "drafter": ModelRef,
    "audio": AudioRef,
    "placement": Placement,
    "request": Request,
    "width_rule": WidthRule,
    "gates": Gates,
}
_MAY_BE_NULL = ("drafter", "width_rule", "gates")


def encode(event: Event) -> str:
    """One event as one line of JSON, newline not included."""
    if isinstance(event, Unknown):
        return json.dumps({"kind": event.name, **event.body}, ensure_ascii=False, separators=(",", ":"))
    body: dict[str, Any] = {"kind": event.kind}
    extra: Mapping[str, Any] = {}
    for item in fields(event):  # type: ignore[arg-type]
        value = getattr(event, item.name)
        if item.name == "extra":
            extra = value
        else:
            body[item.name] = asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
    for name, value in extra.items():
        body.setdefault(name, value)
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def decode(text: str, line: int | None = None) -> Event:
    """Read one line.

    Unknown fields are kept in ``extra``; a kind this version does not know becomes ``Unknown``.

    Raises:
        RecordError: the line is no event; says what is wrong, with the line number.
    """
    if len(text) > MAX_LINE_BYTES:
        raise RecordError(f"the line has {len(text)} characters, more than any event can have", line)
    try:
        body = parse_json(text)
    except ValueError as error:
        raise RecordError(f"not a whole line of JSON ({error})", line) from error
    if not isinstance(body, dict):
        raise RecordError("not a JSON object", line)
    name = body.pop("kind", None)
    if not isinstance(name, str):
        raise RecordError("the object has no kind", line)
    cls = EVENT_TYPES.get(name)
    if cls is None:
        return Unknown(name=name, body=body)
    try:
        event: Event = _build(cls, body)
        _check(event)
    except (TypeError, ValueError, KeyError, AttributeError, ArithmeticError) as error:
        raise RecordError(f"{name}: {error}", line) from error
    return event


def request_from_json(body: Mapping[str, Any]) -> Request:
    """A request from a JSON object.

    Raises:
        RecordError: a field is missing, unknown or of the wrong type.
    """
    if not isinstance(body, Mapping):
        raise RecordError("a request is a JSON object")
    try:
        request: Request = _build(Request, dict(body), strict=True)
        _check_request(request)
    except (TypeError, ValueError, KeyError, AttributeError, ArithmeticError) as error:
        raise RecordError(f"request: {error}") from error
    return request


def request_to_json(request: Request) -> dict[str, Any]:
    """A request as a JSON object."""
    return asdict(request)


class Writer:
    """Writes one run's lines and closes it with the matching ``end``."""

    def __init__(self, write: Any) -> None:
        """``write`` takes one line of text with its newline, and flushes."""
        self._write = write
        self._hash = hashlib.sha256()
        self._counts: dict[str, int] = {}

    def add(self, event: Event) -> None:
        """Write one event."""
        name = event.name if isinstance(event, Unknown) else event.kind
        self._counts[name] = self._counts.get(name, 0) + 1
        text = encode(event) + "\n"
        self._hash.update(text.encode())
        self._write(text)

    def end(
        self,
        status: str,
        tokens: int,
        text: str | None = None,
        error: str | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> End:
        """Write the ``end`` line; its hash covers every line before it."""
        event = End(status, tokens, dict(self._counts), self._hash.hexdigest(), text, error, dict(extra or {}))
        self._write(encode(event) + "\n")
        return event


def read_run(path: Path) -> RunRecord:
    """Read a run file, complete or not.

    Raises:
        RecordError: the file does not begin with a run header.
        OSError: the file cannot be read.
    """
    check_regular(path)
    with open_lines(path) as lines:
        return parse(lines)


def open_lines(path: Path) -> TextIO:
    """The lines of a run file as they were written: only a line feed ends one, and none is put for other bytes.

    Raises:
        OSError: the file cannot be read.
    """
    return path.open(encoding="utf-8", errors="surrogateescape", newline="\n")


def parse(lines: Iterable[str]) -> RunRecord:
    """Build a run record from lines (newlines included).

    A damaged or missing line does not lose the rest: it is listed in ``problems``, as
    ``(line number, what is wrong)`` text, and the record counts as incomplete.

    Raises:
        RecordError: the first line is no run header, so that nothing can be attributed.
    """
    builder = RecordBuilder()
    for text in lines:
        builder.feed(text)
    return builder.finish()


class RecordBuilder:
    """A run record that grows line by line: what ``parse`` does, for a stream that is still coming."""

    def __init__(self) -> None:
        self.record: RunRecord | None = None
        """The record so far; ``None`` until the run header has come."""
        self.lines = 0
        """Lines taken so far."""
        self._digest = hashlib.sha256()
        self._counts: dict[str, int] = {}

    def feed(self, text: str) -> Event | None:
        """Take the next line, newline included.

        Returns:
            The event that was added to the record; ``None`` when the line is at fault and was
            listed in the record's ``problems`` instead.

        Raises:
            RecordError: it is the first line and no run header.
        """
        self.lines += 1
        number = self.lines
        event: Event | None = None
        problem: str | None = None
        if not text.endswith("\n"):
            problem = "the line is cut off"
        else:
            try:
                event = decode(text, number)
            except RecordError as error:
                problem = str(error)
        record = self.record
        if record is None:
            if not isinstance(event, RunHeader):
                raise RecordError(problem or "the first line is not a run header", number)
            self.record = record = RunRecord(event)
        elif event is not None and record.end is not None:
            problem = "a line follows the end"
        elif isinstance(event, RunHeader):
            problem = "a second run header"
        elif event is not None:
            record.add(event)
            if isinstance(event, End):
                _check_end(record, event, self._counts, self._digest.hexdigest(), number)
        if problem is not None:
            record.problems.append(f"{number}: {problem}")
        if event is not None and record.end is None:
            name = event.name if isinstance(event, Unknown) else event.kind
            self._counts[name] = self._counts.get(name, 0) + 1
        self._digest.update(text.encode("utf-8", "surrogateescape"))
        return event if problem is None else None

    def finish(self) -> RunRecord:
        """The record, after the last line.

        Raises:
            RecordError: no line came at all.
        """
        if self.record is None:
            raise RecordError("the file is empty", 1)
        if self.record.end is None:
            self.record.problems.append(f"{self.lines + 1}: the end line is missing")
        return self.record


def _check_end(record: RunRecord, end: End, counts: dict[str, int], digest: str, number: int) -> None:
    if dict(end.counts) != counts:
        wrong = sorted(k for k in {*end.counts, *counts} if end.counts.get(k, 0) != counts.get(k, 0))
        record.problems.append(f"{number}: the end line counts other lines than there are ({', '.join(wrong)})")
    if end.sha256 != digest:
        record.problems.append(f"{number}: the hash of the end line does not match the lines before it")


def _build(cls: type, body: dict[str, Any], strict: bool = False) -> Any:
    known = {f.name: f for f in fields(cls)}
    values: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    for name, value in body.items():
        if name in known and name != "extra":
            values[name] = _value(name, value, strict)
        elif strict:
            raise ValueError(f"unknown field {name!r}")
        else:
            extra[name] = value
    missing = [
        name
        for name, f in known.items()
        if name not in values and f.default is MISSING and f.default_factory is MISSING
    ]
    if missing:
        raise ValueError(f"{', '.join(missing)} missing")
    if "extra" in known and extra:
        values["extra"] = extra
    return cls(**values)


def _value(name: str, value: Any, strict: bool) -> Any:
    if name in _NESTED and isinstance(value, dict):
        return _build(_NESTED[name], value, strict)
    if name in _NESTED and not (value is None and name in _MAY_BE_NULL):
        raise ValueError(f"{name} is not an object")
    if isinstance(value, list):
        if name in ("moves", "classes"):
            return tuple(tuple(item) for item in value)
        if name in _TUPLES:
            return tuple(value)
    return value


def _check(event: Event) -> None:
    """Types and ranges that hold for every event on its own."""
    for item in fields(event):  # type: ignore[arg-type]
        value = getattr(event, item.name)
        annotation = str(item.type)
        if (item.name.endswith("_ns") and not (value is None and "None" in annotation)) or annotation in (
            "int",
            "<class 'int'>",
        ):
            integer(item.name, value, 0)
        elif annotation in ("str", "<class 'str'>") and not isinstance(value, str):
            raise ValueError(f"{item.name} is not text")
        elif "tuple[int" in annotation and not (value is None and "None" in annotation):
            if not isinstance(value, tuple):
                raise ValueError(f"{item.name} is not a list")
            for token in value:
                if not isinstance(token, tuple):
                    integer(item.name, token, None)
        elif "Mapping" in annotation and not isinstance(value, Mapping):
            raise ValueError(f"{item.name} is not an object")
    start, end = getattr(event, "start_ns", None), getattr(event, "end_ns", None)
    if start is not None and end is not None and end < start:
        raise ValueError("it ends before it starts")
    if isinstance(event, Pieces):
        for token, piece in (*event.text.items(), *event.hex.items()):
            integer("a token", int(token), 0)
            if not isinstance(piece, str):
                raise ValueError(f"the piece of token {token} is not text")
        for piece in event.text.values():
            piece.encode()
        for piece in event.hex.values():
            bytes.fromhex(piece)
    if isinstance(event, RunHeader):
        if event.schema_version > SCHEMA_VERSION:
            raise ValueError(
                f"schema version {event.schema_version} is newer than {SCHEMA_VERSION}; update this program"
            )
        if not isinstance(event.request, Request):
            raise ValueError("request is not an object")
        _check_request(event.request)


def _check_request(request: Request) -> None:
    check_fields(request)
    for name in ("max_tokens", "batch_tokens", "search_window", "repetition", "order"):
        integer(name, getattr(request, name), 0)
    for name in ("budget", "width", "draft_cap"):
        if getattr(request, name) is not None:
            integer(name, getattr(request, name), 0)
    if not request.run_id:
        raise ValueError("run_id is empty")
    if request.width_rule is not None:
        for fault in width_rule_faults(request.width_rule):
            raise ValueError(f"the width rule cannot be applied: {fault}")
