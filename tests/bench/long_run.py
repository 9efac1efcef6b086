"""A run of any length: one window's decisions again and again, each after the other on the clock and in the output."""

from dataclasses import replace
from pathlib import Path

from as2d_core.event import Event
from as2d_core.profiles import load_profile
from as2d_core.protocol import Writer, decode
from as2d_core.records import Mark, Publication, Round, RunHeader, Span
from as2d_core.replay.runs import replay_window
from as2d_core.replay.trajectories import load_corpus
from datastore.ingest import ingest_run
from datastore.store import Store

WINDOW = "long_00"


def long_run(store: Store, folder: Path, run_id: str, spans: int) -> int:
    """Take in a run of at least that many spans as if it had been measured; returns how many rounds it has."""
    replayed = replay_window(load_corpus("demo"), WINDOW, load_profile("k70"), "as2d", budget=7)
    header, *events, end = (decode(line) for line in replayed.lines)
    body = [event for event in events if not isinstance(event, Mark)]
    length_ns = max(event.time_ns for event in events if isinstance(event, Mark))
    tokens = sum(len(event.committed) for event in body if isinstance(event, Round))
    rounds = sum(isinstance(event, Round) for event in body)
    copies = -(-spans // sum(isinstance(event, Span) for event in body))
    path = folder / f"{run_id}.in"
    with path.open("w", encoding="utf-8") as file:
        writer = Writer(file.write)
        assert isinstance(header, RunHeader)
        asked = replace(header.request, run_id=run_id, group_id=None, max_tokens=tokens * copies + 1)
        writer.add(replace(header, run_id=run_id, request=asked, source="measured", clock="CLOCK_BOOTTIME"))
        for event in events:
            if isinstance(event, Mark) and event.name in ("request", "decode_start"):
                writer.add(event)
        for copy in range(copies):
            for event in body:
                writer.add(_later(event, copy * length_ns, copy * rounds, copy * tokens))
        for name in ("eos", "drained"):
            writer.add(Mark(name, copies * length_ns))
        writer.end("eos", tokens * copies, end.text, None)
    ingest_run(store, path)
    path.unlink()
    return rounds * copies


def _later(event: Event, ns: int, rounds: int, tokens: int) -> Event:
    """The same event after so much time, so many rounds and so many tokens of the output."""
    if isinstance(event, Span):
        number = None if event.round is None else event.round + rounds
        return replace(event, start_ns=event.start_ns + ns, end_ns=event.end_ns + ns, round=number)
    if isinstance(event, Publication):
        received = None if event.received_ns is None else event.received_ns + ns
        return replace(event, offset=event.offset + tokens, time_ns=event.time_ns + ns, received_ns=received)
    if isinstance(event, Round):
        return replace(
            event,
            index=event.index + rounds,
            start_ns=event.start_ns + ns,
            end_ns=event.end_ns + ns,
            cursor_before=event.cursor_before + tokens,
            cursor_after=event.cursor_after + tokens,
            visible=event.visible + tokens,
            moves=tuple((rule, before + tokens, after + tokens) for rule, before, after in event.moves),
        )
    return event
