"""Which phones are connected, what are they, and in which state are they now? Asked over adb.

Nothing is changed, except that a setting which an earlier measurement left behind is put back.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from as2d_core.errors import As2dError
from as2d_core.records import Telemetry
from as2d_core.runner.sensors import Sensors
from dashboard.services.phones import greet, phone_readiness
from datastore.locations import Folders
from device_bridge.adb import AdbPhone, AdbServer, PhoneEntry, configured_servers, list_phones
from device_bridge.errors import DeviceError
from device_bridge.facts import PhoneFacts, read_conditions, read_facts
from device_bridge.setup.checks import Readiness
from device_bridge.setup.readiness import from_error

ASK_S = 10.0


@dataclass(frozen=True, slots=True)
class ListedPhone:
    """A phone as it is listed. Nothing was asked from it yet."""

    id: str
    name: str
    entry: PhoneEntry

    @property
    def ready(self) -> bool:
        """Whether it can be asked anything."""
        return self.entry.ready


@dataclass(frozen=True, slots=True)
class PhoneList:
    """Phones of all adb servers, and a sentence for each server that does not answer."""

    phones: tuple[ListedPhone, ...]
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PhoneLook:
    """One phone, looked at once."""

    facts: PhoneFacts | None
    readiness: Readiness
    problem: str | None = None
    """A sentence when it could not be asked."""

    @property
    def virtual(self) -> bool:
        """Whether it is one of our own virtual phones."""
        return self.facts is not None and bool(self.facts.value("virtual"))


def connected_phones(servers: Sequence[AdbServer] | None = None) -> PhoneList:
    """Every phone that an adb server knows, whatever its state; servers are not started by looking."""
    try:
        asked = configured_servers() if servers is None else servers
    except DeviceError as error:
        return PhoneList((), (str(error),))
    entries, errors = list_phones(asked)
    listed = tuple(ListedPhone(entry.id, entry.name, entry) for entry in entries)
    return PhoneList(listed, tuple(str(error) for error in errors))


def look_at(folders: Folders, phone: ListedPhone) -> PhoneLook:
    """Facts and readiness of one phone; a phone that does not answer has a sentence instead."""
    try:
        readiness = phone_readiness(folders, phone.entry)
    except As2dError as error:
        readiness = Readiness(phone.id, (from_error("model", error, "Models"),))
    if not phone.ready:
        return PhoneLook(None, readiness)
    greet(phone.entry)
    adb = AdbPhone(phone.entry.server, phone.entry.serial)
    try:
        return PhoneLook(read_facts(lambda text: _ask(adb, text)), readiness)
    except DeviceError as error:
        return PhoneLook(None, readiness, str(error))


def phone_conditions(phone: ListedPhone) -> PhoneFacts:
    """What changes while a phone lies there: battery, temperature, cores, screen.

    Raises:
        DeviceError: it does not answer.
    """
    adb = AdbPhone(phone.entry.server, phone.entry.serial)
    return read_conditions(lambda text: _ask(adb, text))


def computer_reading(sensors: Sensors | None = None) -> Telemetry:
    """The same for this computer."""
    return (sensors or Sensors()).read()


def _ask(phone: AdbPhone, text: str) -> str:
    return phone.script(text, timeout_s=ASK_S, check=False, what="reading the phone's state").text
