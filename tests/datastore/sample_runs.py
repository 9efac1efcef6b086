"""Run files of any shape, written as a runner writes them."""

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from as2d_core.event import Event
from as2d_core.operation_records import SelfTest
from as2d_core.protocol import Writer
from as2d_core.records import Mark, Pieces, Publication, Round, RunHeader, Span, Telemetry
from as2d_core.request import AudioRef, ModelRef, Placement, Request

MS = 1_000_000
TOKENS = (11, 12, 13, 14, 15, 16, 2)
DEVICE = {"name": "Phone", "serial": "A1", "cpu": "SM8550", "release": "5.15"}


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def request(run_id: str, **changes: Any) -> Request:
    base = Request(
        run_id=run_id,
        method="as2d",
        target=ModelRef("/models/target", "target-0.6B", sha("target")),
        audio=AudioRef("/audio/w1.flac", sha("audio"), 12.5, "w1"),
        drafter=ModelRef("/models/drafter", "ctc-drafter", sha("drafter")),
        budget=4,
        placement=Placement((4, 5), (6,), 2, 1),
        group_id="g1",
    )
    return replace(base, **changes)


def header(run_id: str, **changes: Any) -> RunHeader:
    names = {"device", "versions", "clock", "created_at", "source", "extra"}
    own = {k: v for k, v in changes.items() if k in names}
    asked = {k: v for k, v in changes.items() if k not in names}
    return replace(
        RunHeader(
            schema_version=1,
            run_id=run_id,
            request=request(run_id, **asked),
            device=DEVICE,
            versions={"as2d": "0.1.0", "mnn": "3.6.1"},
            clock="CLOCK_BOOTTIME",
            created_at="2025-06-01T10:00:00+00:00",
        ),
        **own,
    )


def events(tokens: Iterable[int] = TOKENS, step_ms: float = 10.0) -> list[Event]:
    """A run that commits two tokens a round; the drafter works beside the first half."""
    tokens = tuple(tokens)
    step = int(step_ms * MS)
    out: list[Event] = [Mark("request", 0), Mark("decode_start", step, tokens[0])]
    out.append(Pieces({str(t): f"t{t}" for t in tokens[:-1]}, {str(tokens[-1]): "ff"}))
    out.append(Publication("ctc", 0, tokens[1:4], (0.9, None, 0.25), step, step))
    now, cursor = step, 0
    for index, place in enumerate(range(1, len(tokens), 2)):
        new = tokens[place : place + 2]
        out.append(Span("target", "verify", now, now + step - MS, index))
        if index % 2 == 0:
            out.append(Span("drafter", "draft", now + MS, now + step, None, 8, {"batch": index}))
        out.append(
            Round(
                index, now, now + step, len(new), 8, len(new) - 1, len(new) - 1, new, new[:-1], "d" * (len(new) - 1),
                cursor, cursor + len(new) - 1, 3, True, "budget", (("match", cursor, cursor + 1),), step - MS,
            )
        )  # fmt: skip
        cursor += len(new) - 1
        now += step
    out.append(Telemetry(now, 31.5, -250.0, 4000.0, False, 0, (2000.0, None), 255))
    out.append(Mark("eos", now))
    out.append(Mark("drained", now + MS))
    return out


def self_test() -> SelfTest:
    return SelfTest(
        sha("target"),
        (2, 3, 4),
        "bit-equal",
        ((2, 3, 4), (6,)),
        {"6": 1},
        90,
        {"cpu": "SM8550", "mnn_version": "3.6.1", "threads": 2, "precision": "high", "memory": "high"},
    )


def lines(
    run_id: str, body: Iterable[Event] | None = None, status: str = "eos", error: str | None = None, **changes: Any
) -> list[str]:
    """All lines of a complete run; ``changes`` go to the header or its request, whoever has the field."""
    out: list[str] = []
    writer = Writer(out.append)
    writer.add(header(run_id, **changes))
    count = 0
    for event in events() if body is None else body:
        writer.add(event)
        count += len(event.committed) if isinstance(event, Round) else 0
    writer.end(status, count + 1, "some words", error)
    return out


def write_run(folder: Path, run_id: str, *args: Any, name: str | None = None, **changes: Any) -> Path:
    """A complete run file; returns its path."""
    path = folder / (name or f"{sha(run_id)[:12]}.ndjson")
    path.write_text("".join(lines(run_id, *args, **changes)), encoding="utf-8")
    return path


def write_incomplete(folder: Path, run_id: str, keep: int = 6, **changes: Any) -> Path:
    """The first ``keep`` lines of a run file."""
    path = folder / f"{sha(run_id)[:12]}.part-of-a-run"
    path.write_text("".join(lines(run_id, **changes)[:keep]), encoding="utf-8")
    return path
