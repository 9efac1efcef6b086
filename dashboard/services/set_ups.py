"""Which phones are being set up, and how did it end? It goes on when the page that asked for it is closed."""

import atexit
import threading
import time
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Literal

from as2d_core.errors import As2dError
from dashboard.services.phones import set_native_up, set_phone_up
from datastore.locations import Folders
from device_bridge.adb import KnownPhone
from device_bridge.errors import JobsClosedError, SetUpRunningError
from device_bridge.jobs import JobManager
from device_bridge.setup.setup import Transferred

LONGEST_S = 4 * 3600.0
"""Two models of a gigabyte each over slow air take an hour; what takes longer than this does not come to an end."""
CLOSE_WAIT_S = 15.0

State = Literal["running", "cancelling", "done", "cancelled", "failed"]


@dataclass(frozen=True, slots=True)
class WantedRunner:
    """What a phone is to use: Python's runner, or a native one."""

    native: bool = False
    program: Path | None = None
    """File of a native runner here; ``None``: the one that is on the phone."""


@dataclass(frozen=True, slots=True)
class SetUpNow:
    """A set-up at one moment, or how it ended."""

    number: int
    """No two set-ups of a program have the same."""
    phone_id: str
    phone_name: str
    state: State
    sentence: str
    """What is being done; after the end, how it ended."""
    share: float | None = None
    """0 to 1 of the transfer that the sentence is about; ``None`` when it is about something else."""

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self.state in ("running", "cancelling")


class _SetUp:
    """One set-up; ``now`` is replaced as a whole, under ``lock``."""

    def __init__(self, now: SetUpNow) -> None:
        self.now = now
        self.lock = threading.Lock()
        self.cancel, self.late, self.over = threading.Event(), threading.Event(), threading.Event()

    def say(self, sentence: str) -> None:
        share = sentence.share if isinstance(sentence, Transferred) else None
        with self.lock:
            if self.now.state == "running":  # one that is being cancelled says so until it has ended
                self.now = replace(self.now, sentence=str(sentence), share=share)

    def stop(self) -> None:
        with self.lock:
            if self.now.state == "running":
                self.now = replace(
                    self.now, state="cancelling", sentence="Cancelling; what has arrived is kept.", share=None
                )
        self.cancel.set()

    def stop_late(self) -> None:
        self.late.set()
        self.stop()

    def end(self, state: State, sentence: str) -> None:
        with self.lock:
            self.now = replace(self.now, state=state, sentence=sentence, share=None)
        self.over.set()


class SetUps:
    """The last set-up of each phone of this process. Every method may be called from any thread."""

    def __init__(self, folders: Folders, jobs: JobManager, longest_s: float = LONGEST_S) -> None:
        """Nothing is set up yet.

        Args:
            jobs: a phone runs no job while it is set up, and is not set up while it runs one.
            longest_s: a set-up that takes longer is stopped.
        """
        self._folders, self._jobs, self._longest_s = folders, jobs, longest_s
        self._known: dict[str, _SetUp] = {}
        self._lock = threading.Lock()
        self._numbers = count(1)
        self._closed = False
        atexit.register(self.close)

    def start(self, phone: KnownPhone, runner: WantedRunner) -> None:
        """Begin to set a phone up; how far it is, and how it ended, is told by ``of``.

        Raises:
            SetUpRunningError: it is being set up already.
            DeviceBusyError: it runs a job.
            JobsClosedError: this program is about to end.
        """
        with self._lock:
            if self._closed:
                raise JobsClosedError("No phone can be set up any more: this program is about to end.")
            self._jobs.hold(
                phone.id,
                lambda: SetUpRunningError(
                    f"{phone.name} is being set up already.",
                    "Wait until that has finished, or cancel it on the Devices page.",
                ),
            )
            now = SetUpNow(next(self._numbers), phone.id, phone.name, "running", "Looking at the phone")
            work = self._known[phone.id] = _SetUp(now)
        thread = threading.Thread(
            target=self._work, args=(work, phone, runner), name=f"as2d-set-up-{now.number}", daemon=True
        )
        try:
            thread.start()
        except RuntimeError as error:  # the system gives no more threads
            self._jobs.release(phone.id)
            work.end("failed", f"Setting {phone.name} up could not begin ({error}); close something and try again.")

    def of(self, phone_id: str) -> SetUpNow | None:
        """The set-up of a phone that runs, or the last one; ``None``: there was none, or it was dismissed."""
        with self._lock:
            work = self._known.get(phone_id)
        return None if work is None else work.now

    def running(self) -> list[SetUpNow]:
        """Those that have not ended, the first one first."""
        with self._lock:
            known = [work.now for work in self._known.values()]
        return sorted((now for now in known if now.running), key=lambda now: now.number)

    def cancel(self, phone_id: str) -> None:
        """Let the set-up of a phone end as soon as it can; what has arrived is kept. One that has ended stays so."""
        with self._lock:
            work = self._known.get(phone_id)
        if work is not None:
            work.stop()

    def dismiss(self, phone_id: str) -> None:
        """Somebody has read how the set-up of a phone ended. One that runs goes on."""
        with self._lock:
            work = self._known.get(phone_id)
            if work is not None and not work.now.running:
                del self._known[phone_id]

    def wait(self, phone_id: str, timeout_s: float) -> bool:
        """Wait for the end of a phone's set-up; whether it has ended."""
        with self._lock:
            work = self._known.get(phone_id)
        return work is None or work.over.wait(timeout_s)

    def close(self) -> None:
        """Cancel what runs; also done when the interpreter exits."""
        with self._lock:
            self._closed = True
            left = [work for work in self._known.values() if not work.over.is_set()]
        for work in left:
            work.stop()
        ends_s = time.monotonic() + CLOSE_WAIT_S
        for work in left:
            work.over.wait(max(0.0, ends_s - time.monotonic()))
        atexit.unregister(self.close)

    def _work(self, work: _SetUp, phone: KnownPhone, runner: WantedRunner) -> None:
        alarm = threading.Timer(self._longest_s, work.stop_late)
        alarm.daemon = True
        state: State = "failed"
        sentence = f"Setting {phone.name} up was given up."
        try:
            alarm.start()
            self._carry_out(work, phone, runner)
            state, sentence = "done", f"{phone.name} is set up."
        except (As2dError, OSError) as error:
            sentence = str(error)
            if work.late.is_set():
                sentence = f"Setting {phone.name} up took longer than {self._longest_s / 3600:g} h and was stopped."
            elif work.cancel.is_set():
                state, sentence = "cancelled", f"Setting {phone.name} up was cancelled. What has arrived is kept."
        except Exception as error:  # noqa: BLE001 - whatever happens, it ends with a sentence that somebody reads
            sentence = (
                f"Setting {phone.name} up was given up, by a mistake of this program: {type(error).__name__}: {error}."
            )
        finally:
            alarm.cancel()
            self._jobs.release(phone.id)
            work.end(state, sentence)

    def _carry_out(self, work: _SetUp, phone: KnownPhone, runner: WantedRunner) -> None:
        if runner.native:
            set_native_up(self._folders, phone, runner.program, say=work.say, cancel=work.cancel)
        else:
            set_phone_up(self._folders, phone, say=work.say, cancel=work.cancel)
        for device in self._jobs.devices():
            if device.id == phone.id:
                device.close()  # a runner that waits there for requests is the one from before
