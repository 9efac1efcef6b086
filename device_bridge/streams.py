"""Where do the lines of a running request go? Into a file at once, and into a record that can be watched."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import fields
from pathlib import Path
from typing import BinaryIO, Literal

from as2d_core.errors import RecordError
from as2d_core.protocol import RecordBuilder
from as2d_core.records import End, RunHeader, RunRecord
from as2d_core.request import OPERATIONS, Request
from device_bridge.errors import StreamWriteError

RunState = Literal["waiting", "running", "done", "failed", "cancelled", "skipped"]
ENDED: tuple[RunState, ...] = ("done", "failed", "cancelled", "skipped")


class LiveRun:
    """One request of a job, from its first line to its last.

    One thread calls ``take`` and ``close``; any thread may look.
    """

    def __init__(self, request: Request, folder: Path, *, again: bool = False) -> None:
        """Nothing is written before the first line.

        Args:
            folder: where ``<run_id>.ndjson`` will lie.
            again: the stream is read once more from its beginning, so that an earlier part is replaced.
        """
        self._again = again
        self.request = request
        self.path = folder / f"{request.run_id}.ndjson"
        self.state: RunState = "waiting"
        self.error: str | None = None
        """A sentence when the run failed or broke off."""
        self.stray_lines = 0
        """Lines that came before the run's header and belong to no run."""
        self._builder = RecordBuilder()
        self._file: BinaryIO | None = None
        self._lock = threading.Lock()

    @property
    def ended(self) -> bool:
        """Whether nothing more will come."""
        return self.state in ENDED

    @property
    def lines(self) -> int:
        """Lines taken so far; a page that saw this number before has nothing new to draw."""
        return self._builder.lines

    @property
    def started(self) -> bool:
        """Whether the run's header has come."""
        return self._builder.record is not None

    def record(self) -> RunRecord | None:
        """The record as it is now, as a copy that will not change; ``None`` before the header."""
        with self._lock:
            record = self._builder.record
            if record is None:
                return None
            shown = copy(record)
            for part in fields(record):
                held = getattr(record, part.name)
                if isinstance(held, list | dict):
                    setattr(shown, part.name, copy(held))
            return shown

    def stage(self) -> str:
        """What is happening now, as a clause."""
        with self._lock:
            return _stage(self.state, self.request, self._builder.record)

    def take(self, line: bytes) -> bool:
        """Take the next line of the stream; returns whether it was the last one.

        A line is on its way to the disk before it is parsed, damaged or not. Lines before the run's
        own header belong to no run: they are counted and left out.

        Raises:
            StreamWriteError: the file cannot be written.
        """
        text = line.decode("utf-8", "surrogateescape")
        if self._file is None:
            with self._lock:
                if not _begins(text, self.request.run_id):
                    self.stray_lines += 1
                    return False
            with self._writing():
                self._file = self.path.open("wb" if self._again else "xb")
            self.state = "running"
        with self._writing():
            self._file.write(line)
            self._file.flush()
        with self._lock:
            event = self._builder.feed(text)
        return isinstance(event, End)

    def close(self) -> None:
        """No more lines come: put the file on the disk for good.

        Raises:
            StreamWriteError: that did not work.
        """
        file, self._file = self._file, None
        if file is None:
            return
        with self._lock:
            if self._builder.lines:  # there are none when the first line could not be written
                self._builder.finish()
        try:
            with self._writing():
                file.flush()
                os.fsync(file.fileno())
        finally:
            with suppress(OSError):
                file.close()
            if not self._builder.lines:
                with suppress(OSError):
                    self.path.unlink()  # an empty file is no run

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except FileExistsError:
            raise StreamWriteError(
                f"A run {self.request.run_id} is in {self.path.parent} already.", "Give the request another run id."
            ) from None
        except OSError as error:
            raise StreamWriteError(
                f"The lines of run {self.request.run_id} cannot be written to {self.path} ({error.strerror or error}).",
                "Free some space or check the folder; what came before is kept.",
            ) from error


def _begins(text: str, run_id: str) -> bool:
    """Whether a line is the header of this run."""
    builder = RecordBuilder()
    try:
        event = builder.feed(text)
    except RecordError:
        return False
    return isinstance(event, RunHeader) and event.run_id == run_id


def _stage(state: RunState, request: Request, record: RunRecord | None) -> str:
    if state in ENDED:
        return {"done": "finished", "failed": "failed", "cancelled": "cancelled", "skipped": "not run"}[state]
    if record is None:
        return "waiting for the runner"
    if "eos" in record.marks:
        return "finishing" if request.method == "target-only" else "waiting for the drafter to stand still"
    if record.conditions and not record.conditions[-1].passed:
        return f"waiting, because {'; '.join(record.conditions[-1].missing)}"
    if record.samples:
        return f"measuring, {len(record.samples)} samples"
    if "decode_start" in record.marks:
        if request.method in OPERATIONS:
            return "working"
        return f"decoding, {len(record.tokens)} tokens"
    if record.conditions and "request" not in record.marks:
        return "checking its conditions"
    if record.engines:
        return "preparing the audio" if request.gates is None else "preparing the audio, then resting"
    if request.target.exact_widths is None:
        return "loading the models, and at their first use testing which widths are exact"
    return "loading the models"
