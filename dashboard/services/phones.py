"""Which phone is meant, what should be on it, and is it? For the command line and the pages."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from dashboard.services.models import resolve_model
from dashboard.services.phone_watch import IDENTITIES
from dashboard.services.set_up_times import SetUpMeter, keep_times
from dashboard.services.settings import read_settings
from datastore.locations import Folders
from device_bridge.adb import AdbPhone, KnownPhone, Route, configured_servers, list_phones, pick_phone
from device_bridge.errors import DeviceError, SetUpRunningError
from device_bridge.ledger import Ledger
from device_bridge.setup.checks import Check, Readiness
from device_bridge.setup.chosen import chosen_runner
from device_bridge.setup.cleaning import Removed, clean
from device_bridge.setup.doctor import doctor
from device_bridge.setup.native import set_up_native
from device_bridge.setup.readiness import check_readiness
from device_bridge.setup.setup import Say, SetUp, set_up
from device_bridge.setup.wanted import Wanted, wanted_now
from device_bridge.stay_awake import put_back_left

_being_set_up: set[str] = set()
_lock = threading.Lock()


def meant_phone(wanted: str | None, *, start_server: bool = True) -> KnownPhone:
    """The phone a person means, ready to work.

    Args:
        wanted: id, serial or model; may be left out when there is only one.

    Raises:
        DeviceError: none, or more than one, is meant, or it is not ready.
    """
    servers = configured_servers()
    if start_server and len(servers) == 1:
        servers[0].ensure()
    entry = pick_phone(servers, wanted, IDENTITIES)
    greet(entry)
    return entry


def connect_phone(address: str) -> str:
    """Let the (first) adb server connect a phone over the network; returns its serial.

    Raises:
        UnauthorizedError: somebody has to allow it on the phone.
        DeviceError: there is no phone at this address, or it is none.
    """
    server = configured_servers()[0]
    server.ensure()
    return server.connect(address)


def pair_phone(address: str, code: str) -> None:
    """Let the (first) adb server pair with a phone that shows an address and a code.

    Raises:
        DeviceError: the phone does not answer there, or the code is another.
    """
    server = configured_servers()[0]
    server.ensure()
    server.pair(address, code)


def greet(entry: KnownPhone) -> None:
    """A phone was connected: what an earlier session could not put back on it is put back now."""
    with suppress(DeviceError):  # whoever needs the phone sees what is wrong with it
        put_back_left(phone_of(entry))


def phone_models(folders: Folders, names: Sequence[str] = ()) -> list[Path]:
    """Folders of the models that go onto a phone: those named, else the pair that the settings name.

    Raises:
        UnknownNameError, ModelError: there is none of this name.
    """
    settings = read_settings(folders)
    return [resolve_model(folders, name) for name in (names or (settings.target, settings.drafter))]


def wanted_on_phone(folders: Folders, names: Sequence[str] = ()) -> Wanted:
    """What a phone needs for these models.

    Raises:
        As ``phone_models``, and BundleError when the data folder cannot be written.
    """
    return wanted_now(folders.phone_bundles, phone_models(folders, names))


def phone_readiness(folders: Folders, entry: KnownPhone, names: Sequence[str] = ()) -> Readiness:
    """Checklist of one phone, for its card. Raises as ``wanted_on_phone``."""
    return check_readiness(phone_of(entry), wanted_on_phone(folders, names), entry.name)


def set_phone_up(
    folders: Folders,
    entry: KnownPhone,
    names: Sequence[str] = (),
    *,
    probe: bool = True,
    say: Say = lambda _: None,
    cancel: threading.Event | None = None,
) -> SetUp:
    """Bring everything that is missing to a phone. Raises as ``setup.set_up``, and SetUpRunningError."""
    models, phone, cache = phone_models(folders, names), phone_of(entry), folders.phone_bundles
    with _set_up_alone(entry), _timed(folders, entry, say) as told:
        return set_up(phone, cache, models, name=entry.name, probe=probe, say=told, cancel=cancel)


def set_native_up(
    folders: Folders,
    entry: KnownPhone,
    program: Path | None,
    names: Sequence[str] = (),
    *,
    probe: bool = True,
    say: Say = lambda _: None,
    cancel: threading.Event | None = None,
) -> SetUp:
    """Let a phone use a native runner, with its models. Raises as ``native.set_up_native``, and SetUpRunningError.

    Args:
        program: a file here; ``None``: the one that the phone uses already.
    """
    wanted = wanted_on_phone(folders, names)
    with _set_up_alone(entry), _timed(folders, entry, say) as told:
        return set_up_native(phone_of(entry), program, wanted, name=entry.name, probe=probe, say=told, cancel=cancel)


@contextmanager
def _timed(folders: Folders, entry: KnownPhone, say: Say) -> Iterator[Say]:
    """What it takes is remembered, so that the next time it can be said before; a failure's speed counts, too."""
    meter, ended = SetUpMeter(say), False
    try:
        yield meter.say
        ended = True
    finally:
        keep_times(folders, entry.id, meter, ended=ended)


@contextmanager
def _set_up_alone(entry: KnownPhone) -> Iterator[None]:
    """Two people at two tabs would send the same files over each other.

    Raises:
        SetUpRunningError: somebody sets this phone up in this program.
    """
    with _lock:
        if entry.id in _being_set_up:
            raise SetUpRunningError(f"{entry.name} is being set up already.", "Wait until that has finished.")
        _being_set_up.add(entry.id)
    try:
        yield
    finally:
        with _lock:
            _being_set_up.discard(entry.id)


def examine_phone(folders: Folders, entry: KnownPhone, names: Sequence[str] = ()) -> Iterator[Check]:
    """Every link from the cable to a forward pass, as it is tried. Raises as ``wanted_on_phone``."""
    return doctor(phone_of(entry), wanted_on_phone(folders, names), entry.name)


def clean_phone(folders: Folders, entry: KnownPhone, *, everything: bool = False) -> Removed:
    """Remove earlier versions from a phone, or everything of ours. Raises as ``cleaning.clean``."""
    if everything:
        return clean(phone_of(entry), everything=True)
    wanted = wanted_on_phone(folders)
    phone = phone_of(entry)
    native = chosen_runner(phone)
    keep = [wanted.runtime_folder, wanted.core_folder, *wanted.model_folders, native and native.folder]
    return clean(phone, [folder for folder in keep if folder])


def forget_left_jobs(incoming: Path, phone_id: str) -> list[str]:
    """What was left running on a phone is not gone on with by a later program; returns the titles of these jobs."""
    ledger = Ledger(incoming)
    left = [job for job in ledger.read()[0] if job.device_id == phone_id]
    for job in left:
        ledger.remove(job.job_id)
    return [job.title for job in left]


def phones_now() -> tuple[KnownPhone, ...]:
    """The phones of all servers; a server that does not answer has none."""
    try:
        return IDENTITIES.phones(list_phones(configured_servers())[0])
    except DeviceError:
        return ()


def phone_of(phone: KnownPhone) -> AdbPhone:
    """The phone itself, over whichever of its connections works."""
    return AdbPhone(phone.server, phone.serial, Route(phone, phones_now))
