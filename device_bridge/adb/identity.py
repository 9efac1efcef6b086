"""Which connections lead to one phone? The same hardware on a cable and over the air is one phone, with one id.

An adb server lists connections. A phone's own serial number (``ro.serialno``) says whose they are;
some makers give the same number to many phones, so that what runs there is compared, too.
"""

import re
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from device_bridge.adb.phone import AdbPhone
from device_bridge.adb.servers import AdbServer, PhoneEntry, list_phones
from device_bridge.adb.wire import FIND_HINT
from device_bridge.errors import AmbiguousPhoneError, DeviceError, NoPhoneError, PhoneNotFoundError

ASK_S = 4.0
LOOK_AGAIN_S = 1.0
"""A phone whose connection is lost is looked for at most this often."""
_AT_ONCE = 8
_ASK = (
    "getprop ro.serialno; getprop ro.product.model; cat /proc/sys/kernel/random/boot_id 2> /dev/null || echo; "
    "getprop ro.product.marketname; true"
)
_SERIAL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{2,63}")
"""What can be the id of a phone: it becomes the name of its profile."""
Hardware = tuple[str, str, str, str]
"""Serial number, model, the number that the kernel made up when the phone was switched on, the name it is sold by."""


@dataclass(frozen=True, slots=True)
class KnownPhone:
    """One phone and every connection that leads to it."""

    id: str
    """Its own serial number where it tells one; else the name of its connection."""
    connections: tuple[PhoneEntry, ...]
    """The best one first: one that is ready before others, a cable before the air."""
    sold_as: str = ""
    """The name it is sold under, where it tells one."""
    told: bool = True
    """Whether it said who it is; one that is frozen does not."""

    @property
    def entry(self) -> PhoneEntry:
        """The best connection."""
        return self.connections[0]

    @property
    def server(self) -> AdbServer:
        return self.entry.server

    @property
    def serial(self) -> str:
        """Name of the best connection at its server."""
        return self.entry.serial

    @property
    def name(self) -> str:
        """What a person calls it: its model when that is known."""
        return self.entry.name

    @property
    def shown(self) -> str:
        """Its id, with the name that a person knows it by, or why it tells none."""
        if not self.ready:
            return f"{self.id} ({self.entry.state})"
        return f"{self.id} ({self.sold_as or self.name}{'' if self.told else ', which did not say who it is'})"

    @property
    def ready(self) -> bool:
        return self.entry.ready

    @property
    def names(self) -> frozenset[str]:
        """Everything that a person may call it by, its model left out."""
        return frozenset({self.id, *(name for entry in self.connections for name in (entry.id, entry.serial))})

    def problem(self) -> DeviceError | None:
        """Why nothing can be run on it now; ``None`` when it is ready."""
        return self.entry.problem()


class Identities:
    """Remembers which connection belongs to which phone; each is asked once. Any thread may call."""

    def __init__(self) -> None:
        self._known: dict[tuple[AdbServer, str, str], Hardware] = {}
        self._lock = threading.Lock()

    def phones(self, entries: Sequence[PhoneEntry]) -> tuple[KnownPhone, ...]:
        """The phones behind connections, in the order of their first ones.

        A connection that is not ready, or does not answer, stands for a phone of its own.
        """
        new = [entry for entry in entries if entry.ready and self._find(entry) is None]
        if new:
            with ThreadPoolExecutor(min(_AT_ONCE, len(new))) as pool:
                for entry, hardware in zip(new, pool.map(_ask, new), strict=True):
                    if hardware is not None:
                        with self._lock:
                            self._known[_key(entry)] = hardware
        return _grouped([(entry, self._find(entry)) for entry in entries])

    def _find(self, entry: PhoneEntry) -> Hardware | None:
        with self._lock:
            return self._known.get(_key(entry))


class Route:
    """How a phone is reached now; when its connection is lost, another one to the same phone is taken."""

    def __init__(self, phone: KnownPhone, look: Callable[[], Iterable[KnownPhone]]) -> None:
        """Begin with the best connection.

        Args:
            look: says which phones are connected now.
        """
        self._id = phone.id
        self._entry = phone.entry
        self._look = look
        self._lock = threading.Lock()
        self._looked_s = 0.0

    def __call__(self) -> PhoneEntry:
        """The connection to use."""
        return self._entry

    def renew(self) -> None:
        """Take the best connection that there is now; none leaves everything as it was."""
        found = next((phone for phone in self._look() if phone.id == self._id), None)
        if found is not None and found.ready:
            self._entry = found.entry

    def lost(self, entry: PhoneEntry) -> None:
        """Told that a connection does not work: the next attempt may go over another one."""
        with self._lock:
            if entry != self._entry or time.monotonic() - self._looked_s < LOOK_AGAIN_S:
                return
            self._looked_s = time.monotonic()
        self.renew()


def pick_phone(
    servers: Sequence[AdbServer], wanted: str | None = None, identities: Identities | None = None
) -> KnownPhone:
    """The one phone that is meant, ready to work.

    Args:
        wanted: its id, its serial, the name of a connection, its model, or the name it is sold under; may be left out
            when there is only one.
        identities: what is known of connections already.

    Raises:
        NoPhoneError, PhoneNotFoundError, AmbiguousPhoneError: none, or more than one, is meant.
        UnauthorizedError, OfflineError, NoPermissionError: it is there but not ready.
        AdbServerDownError: no server answers.
    """
    entries, errors = list_phones(servers)
    phones = (identities or Identities()).phones(entries)
    meant = [p for p in phones if wanted is None or wanted in p.names]
    if not meant and wanted is not None:
        meant = [p for p in phones if wanted and wanted.casefold() in (p.name.casefold(), p.sold_as.casefold())]
    names = ", ".join(p.shown for p in meant or phones)
    if not meant:
        if errors and not phones:
            raise errors[0]
        if wanted is not None:
            raise PhoneNotFoundError(
                f"Phone {wanted} is not connected.", f"Connected: {names}." if names else FIND_HINT
            )
        raise NoPhoneError("No phone is connected.", FIND_HINT)
    ready = [p for p in meant if p.ready] or meant
    if len(ready) > 1:
        raise AmbiguousPhoneError(f"Several phones are connected: {names}.", "Say which one is meant.")
    problem = ready[0].problem()
    if problem is not None:
        raise problem
    return ready[0]


def _grouped(found: Sequence[tuple[PhoneEntry, Hardware | None]]) -> tuple[KnownPhone, ...]:
    groups: dict[object, list[PhoneEntry]] = {}
    for entry, hardware in found:
        groups.setdefault(hardware or entry.id, []).append(entry)
    serials = [key[0] for key in groups if isinstance(key, tuple)]
    phones = []
    for key, entries in groups.items():
        best = sorted(entries, key=_rank)
        # A number that several phones claim names none of them.
        own = key[0] if isinstance(key, tuple) and serials.count(key[0]) == 1 else best[0].id
        sold_as = key[3] if isinstance(key, tuple) else ""
        phones.append(KnownPhone(own, tuple(best), sold_as, told=isinstance(key, tuple)))
    return tuple(phones)


def _rank(entry: PhoneEntry) -> tuple[bool, bool]:
    return not entry.ready, "usb" not in entry.details


def _key(entry: PhoneEntry) -> tuple[AdbServer, str, str]:
    return entry.server, entry.serial, entry.details.get("transport_id", "")


def _ask(entry: PhoneEntry) -> Hardware | None:
    """What the phone at the other end says it is; ``None`` when it says nothing that can be used."""
    try:
        told = AdbPhone(entry.server, entry.serial).script(_ASK, timeout_s=ASK_S, what="asking who it is").text
    except DeviceError:
        return None
    serial, model, boot, sold_as, *_ = [*(line.strip() for line in told.splitlines()), "", "", "", ""]
    return (serial, model, boot, sold_as) if _SERIAL.fullmatch(serial) else None
