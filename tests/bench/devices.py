"""The runners that the bench measures: models stay resident for the whole bench."""

import json
import queue
import subprocess
import threading
from pathlib import Path

from as2d_core.errors import EngineError
from as2d_core.protocol import parse, request_to_json
from as2d_core.records import RunRecord
from as2d_core.request import Request
from as2d_core.runner.coordinator import Coordinator

RUN_DEADLINE_S = 600.0


class Device:
    """This computer's runner."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._coordinator = Coordinator(self._lines.append)
        self.widths: tuple[int, ...] | None = None
        self.streams: dict[str, list[str]] = {}
        """Lines of every run by its id."""

    def run(self, item: Request) -> RunRecord:
        """Run one request to its end."""
        self._lines.clear()
        self._coordinator.run(item)
        lines = list(self._lines)
        record = parse(lines)
        self.streams[record.run_id] = lines
        for test in record.self_tests:
            self.widths = test.exact_widths
        return record

    def close(self) -> None:
        """Let the models go."""
        self._coordinator.close()


class NativeDevice:
    """The native runner of this computer, a program that is fed requests."""

    def __init__(self, program: Path) -> None:
        self._process = subprocess.Popen(
            [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        self._lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self.widths: tuple[int, ...] | None = None

    def run(self, item: Request) -> RunRecord:
        """Run one request to its end.

        Raises:
            EngineError: the program ended, or said nothing for ``RUN_DEADLINE_S``.
        """
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request_to_json(item)) + "\n")
        self._process.stdin.flush()
        lines: list[str] = []
        while not lines or json.loads(lines[-1])["kind"] != "end":
            try:
                line = self._lines.get(timeout=RUN_DEADLINE_S)
            except queue.Empty:
                line = None
            if line is None:
                raise EngineError(f"The native runner broke off in the run {item.run_id}; its stderr says why.")
            lines.append(line)
        record = parse(lines)
        for test in record.self_tests:
            self.widths = test.exact_widths
        return record

    def close(self) -> None:
        """End the program."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(60)

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(None)
