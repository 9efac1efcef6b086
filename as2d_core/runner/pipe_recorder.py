"""How does a record leave the target process? In small groups over the pipe, without waking anybody in between."""

from collections.abc import Iterable
from multiprocessing.connection import Connection
from typing import Any

from as2d_core.clock import now_ns
from as2d_core.errors import As2dError
from as2d_core.event import Event
from as2d_core.records import Mark, Pieces, Publication, Round
from as2d_core.runner.pipes import asker, send

FLUSH_NS = 150_000_000
"""Events travel at most this often while decoding: every message wakes another process."""
ALIVE_NS = 1_000_000_000
"""A sign of life is sent at most this often."""
ASK_NS = 20_000_000
"""Whether the run was cancelled is asked at most this often: it is a system call between two forwards."""


class CancelledError(As2dError):
    """The run was cancelled before it decoded anything."""


class PipeRecorder:
    """``engines.base.Recorder`` that sends events to the coordinator in small groups."""

    def __init__(self, pipe: Connection, piece: Any = None) -> None:
        self._pipe = pipe
        self._asked = asker(pipe)
        self.piece = piece
        self._events: list[Event] = []
        self._known: set[int] = set()
        self._flushed_ns = now_ns()
        self._asked_ns = self._flushed_ns - ASK_NS
        self._cancelled = False

    now_ns = staticmethod(now_ns)

    def add(self, *events: Any) -> None:
        self._events.extend(events)
        if now_ns() - self._flushed_ns > FLUSH_NS:
            self.flush()

    def cancelled(self) -> bool:
        now = now_ns()
        if now - self._asked_ns >= ASK_NS:
            self._asked_ns = now
            self._ask()
        return self._cancelled

    def _ask(self) -> None:
        if not self._cancelled and self._asked():
            self._cancelled = self._pipe.recv()[0] == "cancel"

    def stop_if_cancelled(self) -> None:
        """Between two stages of preparation, which has no rounds that could ask.

        Raises:
            CancelledError: the user asked to stop.
        """
        self._ask()
        if self._cancelled:
            raise CancelledError

    def still_works(self) -> None:
        """Something that leaves no events has come a bit further: silence would be taken for a process that hangs.

        Raises:
            CancelledError: the user asked to stop.
        """
        self.stop_if_cancelled()
        if now_ns() - self._flushed_ns > ALIVE_NS:
            self.flush()
            send(self._pipe, ("events", []))

    def flush(self) -> None:
        """Send what has gathered."""
        if self._events:
            pieces = self._new_pieces(self._events)
            send(self._pipe, ("events", [*pieces, *self._events]))
            self._events = []
        self._flushed_ns = now_ns()

    def _new_pieces(self, events: Iterable[Event]) -> list[Pieces]:
        new: set[int] = set()
        for event in events:
            match event:
                case Round():
                    new.update(event.committed, event.candidates)
                case Publication():
                    new.update(event.tokens)
                case Mark() if event.token is not None:
                    new.add(event.token)
        new -= self._known
        if not new or self.piece is None:
            return []
        self._known |= new
        text, raw = {}, {}
        for token in sorted(new):
            data = self.piece(token)
            try:
                text[str(token)] = data.decode()
            except UnicodeDecodeError:
                raw[str(token)] = data.hex()
        return [Pieces(text, raw)]
