"""Which phones are connected, what are they, and in which state are they now? Asked over adb.

Nothing is changed, except that a setting which an earlier measurement left behind is put back.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from as2d_core.errors import As2dError
from as2d_core.records import Telemetry
from as2d_core.runner.android import parse_cores
from as2d_core.runner.sensors import Sensors
from dashboard.services.phone_watch import IDENTITIES
from dashboard.services.phones import greet, phone_of, phone_readiness
from dashboard.services.workspace import Workspace
from datastore.locations import Folders
from device_bridge.adb import AdbPhone, AdbServer, KnownPhone, configured_servers, list_phones
from device_bridge.errors import DeviceError
from device_bridge.facts import COMMANDS, PhoneFacts, read_conditions, read_facts
from device_bridge.sessions import FoundSession, end_session, find_sessions
from device_bridge.setup.checks import Readiness
from device_bridge.setup.readiness import from_error

ASK_S = 10.0


@dataclass(frozen=True, slots=True)
class PhoneList:
    """Phones of all adb servers, and a sentence for each server that does not answer."""

    phones: tuple[KnownPhone, ...]
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PhoneLook:
    """One phone, looked at once."""

    facts: PhoneFacts | None
    readiness: Readiness
    problem: str | None = None
    """A sentence when it could not be asked."""
    runners: tuple[FoundSession, ...] = ()
    """Runners that live on it, of whichever program."""

    @property
    def virtual(self) -> bool:
        """Whether it is one of our own virtual phones."""
        return self.facts is not None and bool(self.facts.value("virtual"))


def seen_phones(workspace: Workspace) -> PhoneList:
    """The same as the program knows it already: nobody is asked, and nobody waits."""
    seen = workspace.phones.seen()
    return PhoneList(seen.phones, tuple(str(problem) for problem in seen.problems))


def connected_phones(servers: Sequence[AdbServer] | None = None) -> PhoneList:
    """Every phone that an adb server knows, whatever its state; servers are not started by looking."""
    try:
        asked = configured_servers() if servers is None else servers
    except DeviceError as error:
        return PhoneList((), (str(error),))
    entries, errors = list_phones(asked)
    return PhoneList(IDENTITIES.phones(entries), tuple(str(error) for error in errors))


def look_at(folders: Folders, phone: KnownPhone) -> PhoneLook:
    """Facts and readiness of one phone; a phone that does not answer has a sentence instead."""
    try:
        readiness = phone_readiness(folders, phone)
    except As2dError as error:
        readiness = Readiness(phone.id, (from_error("model", error, "Models"),))
    if not phone.ready:
        return PhoneLook(None, readiness)
    greet(phone)
    adb = phone_of(phone)
    try:
        runners = tuple(session for session in find_sessions(adb) if session.alive)
        return PhoneLook(read_facts(lambda text: _ask(adb, text)), readiness, runners=runners)
    except DeviceError as error:
        return PhoneLook(None, readiness, str(error))


def orphans(workspace: Workspace, phone: KnownPhone) -> list[FoundSession]:
    """Runners on a phone that nobody here follows: earlier programs, or other computers, have left them there.

    Raises:
        DeviceError: it does not answer.
    """
    if workspace.jobs.active(phone.id) is not None or any(
        left.device_id in phone.names for left in workspace.jobs.left_jobs()
    ):
        return []  # it is followed, or about to be
    ours = {getattr(device, "session_id", None) for device in workspace.jobs.devices()}
    found = find_sessions(phone_of(phone))
    return [session for session in found if session.alive and session.id not in ours]


def end_runner(phone: KnownPhone, session_id: str) -> None:
    """End a runner on a phone, with everything it has started.

    Raises:
        DeviceError: the phone is not there.
    """
    end_session(phone_of(phone), session_id)


def runner_sentence(session: FoundSession) -> str:
    """What a runner that lives on a phone does, and who started it."""
    doing = "works on a run" if session.busy else "waits for requests"
    host = session.about.get("host")
    started = f"It was started from {host}." if host else "Who started it is not known."
    return f"A runner of another program {doing} on this phone. {started}"


def phone_conditions(phone: KnownPhone) -> PhoneFacts:
    """What changes while a phone lies there: battery, temperature, cores, screen.

    Raises:
        DeviceError: it does not answer.
    """
    adb = phone_of(phone)
    return read_conditions(lambda text: _ask(adb, text))


def phone_cores(phone: KnownPhone) -> tuple[int, ...]:
    """Numbers of the cores that a phone has; empty where it does not say.

    Raises:
        DeviceError: it does not answer.
    """
    return parse_cores(_ask(phone_of(phone), COMMANDS["possible"])) or ()


def computer_reading(sensors: Sensors | None = None) -> Telemetry:
    """The same for this computer."""
    return (sensors or Sensors()).read()


def _ask(phone: AdbPhone, text: str) -> str:
    return phone.script(text, timeout_s=ASK_S, check=False, what="reading the phone's state").text
