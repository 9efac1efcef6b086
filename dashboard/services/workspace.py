"""What does this process work with? One store, one job manager, one folder for streams that come in."""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path

from as2d_core.errors import As2dError
from as2d_core.profiles.profile import Profile
from dashboard.services.folders import incoming_folder
from dashboard.services.opened import OPENED
from dashboard.services.phone_runs import find_phone
from dashboard.services.phone_watch import IDENTITIES, PhoneWatch
from dashboard.services.phones import greet
from dashboard.services.set_ups import SetUps
from dashboard.services.settings import Settings, read_settings
from dashboard.views.run_labels import ended
from datastore.errors import StoreError
from datastore.files import translated_os
from datastore.ingest import ingest_run
from datastore.locations import data_folder
from datastore.opening import open_store
from datastore.store import Store
from device_bridge.adb import KnownPhone
from device_bridge.devices import Device
from device_bridge.errors import (
    AdbServerDownError,
    JobsClosedError,
    NoPhoneError,
    PhoneNotFoundError,
    UnknownDeviceError,
    unknown_device,
)
from device_bridge.jobs import Job, JobManager
from device_bridge.local import LocalDevice


class Workspace:
    """The open store and everything that runs. One for each data folder of a process."""

    def __init__(self, store: Store, devices: Iterable[Device]) -> None:
        self.store = store
        self.folders = store.folders
        self.incoming = incoming_folder(store.folders)
        self.jobs = JobManager(self.incoming, devices, self._take_stream, self._find_phone)
        self.set_ups = SetUps(store.folders, self.jobs)
        """Phones that are being set up, whichever page asked for it."""
        self.notices = [*store.notices, *self._take_leftovers(), *self.jobs.left_problems()]
        """What opening found and did, and what happened since beside what anybody asked for, in sentences."""
        self.tell: Callable[[str], None] = lambda _: None
        """Called from a thread with each sentence that comes later."""
        self.resumed: list[Job] = []
        """Jobs that an earlier program left running on phones, and that are followed again."""
        self.left_profiles: dict[str, Future[Profile]] = {}
        """By job, what comes of the calibrations among them."""
        self._taking_up = threading.Lock()
        self.phones = PhoneWatch(self._phone_came, IDENTITIES, lambda: bool(self.jobs.left_jobs()))
        """The phones that are there now. It looks from the first time on that somebody asks, or something waits."""
        if self._take_up_left(None):
            self.phones.start()

    @property
    def settings(self) -> Settings:
        return read_settings(self.folders)

    def close(self) -> None:
        """End what runs and give the store back."""
        self.phones.close()
        self.set_ups.close()
        self.jobs.close()
        self.store.close()

    def _take_stream(self, path: Path) -> None:
        """A stream has ended or broken off: into the store with it."""
        ingest_run(self.store, path)
        path.unlink(missing_ok=True)

    def _find_phone(self, device_id: str) -> Device:
        """A phone that somebody asks for by its id, serial or model.

        Raises:
            UnknownDeviceError: nobody knows it; the message says what was looked through.
            UnauthorizedError, OfflineError, AmbiguousPhoneError: it is there but cannot be used.
        """
        try:
            return find_phone(self.folders, device_id)
        except (AdbServerDownError, NoPhoneError, PhoneNotFoundError) as error:
            known = unknown_device(device_id, [device.id for device in self.jobs.devices()])
            raise UnknownDeviceError(f"{known} Nor is it a phone: {error}") from error

    def _phone_came(self, phone: KnownPhone) -> None:
        """A phone is ready: what earlier programs have left there is put back, and taken up again."""
        greet(phone)
        for name in phone.names:
            self._take_up_left(name)

    def _take_up_left(self, device_id: str | None) -> bool:
        """Follow what was left running on a phone, or on any; returns whether something waits for its phone still."""
        with self._taking_up:
            for left in self.jobs.left_jobs():
                if device_id is not None and left.device_id != device_id:
                    continue
                try:
                    job = self.jobs.resume(left)
                    self.resumed.append(job)
                    self._fit_later(job)
                except JobsClosedError:
                    return False
                except UnknownDeviceError:
                    self._notice(
                        f"The job {left.title!r} was left running on {left.device_id}, which is not connected; "
                        "it is followed again when that is."
                    )
                except As2dError as error:
                    self._notice(f"The job {left.title!r} was left running on {left.device_id}: {error}")
                else:
                    self._notice(f"The job {left.title!r}, left running on {left.device_id}, is followed again.")
            return bool(self.jobs.left_jobs())

    def _fit_later(self, job: Job) -> None:
        """A calibration whose program did not live to see its end gets its profile all the same."""
        if any(run.request.method != "calibrate" for run in job.runs):
            return
        fitted = self.left_profiles[job.id] = Future()

        def fit() -> None:
            from dashboard.services.calibration import fit_left

            try:
                profile = fit_left(self, job)
            except As2dError as error:
                fitted.set_exception(error)
                if job.state != "left":  # this program ends, too, and a later one follows it
                    self._notice(f"No profile came of {job.title!r}, left running on {job.device_name}: {error}")
            else:
                fitted.set_result(profile)
                self._notice(
                    f"{job.title!r}, left running on {job.device_name}, has ended; its profile is {profile.id}."
                )

        threading.Thread(target=fit, name="as2d-fit-left", daemon=True).start()

    def _notice(self, sentence: str) -> None:
        """Say something once, however often it comes up."""
        if sentence not in self.notices:
            self.notices.append(sentence)
            self.tell(sentence)

    def _take_leftovers(self) -> list[str]:
        """Streams that were being written when an earlier program was killed."""
        with translated_os(self.incoming):
            self.incoming.mkdir(parents=True, exist_ok=True)
        notices = []
        awaited = {request.run_id for left in self.jobs.left_jobs() for request in left.remaining}
        for path in sorted(self.incoming.glob("*.ndjson")):
            try:
                result = ingest_run(self.store, path)
            except StoreError as error:
                notices.append(f"The stream {path} was not taken in: {error}")
            except As2dError as error:
                aside = path.with_suffix(".damaged")
                with suppress(OSError):
                    path.replace(aside)
                notices.append(f"A stream that was left behind cannot be read and is now {aside}: {error}")
            else:
                with suppress(OSError):  # taken in again the next time, which changes nothing
                    path.unlink()
                if result.run_id not in awaited:  # of those, the sentence about their job says more
                    notices.append(
                        f"Run {result.run_id} was left behind by a program that ended: {ended(result.status)}."
                    )
        return notices


def open_workspace(folder: Path | str | None = None, devices: Iterable[Device] | None = None) -> Workspace:
    """The workspace of a data folder (default: ``AS2D_STORE``, or the user's data folder), opened at the first call.

    Args:
        devices: what to run on; only looked at by the call that opens. Default: this computer.

    Raises:
        StoreLockedError: another process holds the folder; the message names it.
        StoreError: the store cannot be opened for another reason.
    """

    def made(key: Path) -> Workspace:
        store = open_store(key)
        try:
            return Workspace(store, [LocalDevice()] if devices is None else devices)
        except BaseException:
            store.close()
            raise

    return OPENED.get(Path(data_folder() if folder is None else folder).absolute(), made)


def close_workspace(folder: Path | str | None = None) -> None:
    """Close the workspace of a data folder, if it is open."""
    OPENED.close(Path(data_folder() if folder is None else folder).absolute())
