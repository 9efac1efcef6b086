"""What does an adb server understand? Requests with a length in hexadecimal, answered by OKAY or FAIL."""

import re
import selectors
import socket
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Self

from device_bridge.adb.commands import encoded
from device_bridge.errors import (
    AdbServerDownError,
    AmbiguousPhoneError,
    CommandTimeoutError,
    DeviceError,
    NoPermissionError,
    NoPhoneError,
    OfflineError,
    PhoneLostError,
    PhoneNotFoundError,
    UnauthorizedError,
)

USUAL_PORT = 5037
LOCAL_HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})
UNLOCK_HINT = "Unlock the phone and accept 'Allow USB debugging'; if it does not ask, unplug it and plug it in again."
PERMISSION_HINT = (
    "On Linux, add a udev rule for the phone or join the group plugdev, then plug the phone in again "
    "(https://developer.android.com/studio/run/device)."
)
OFFLINE_HINT = "Unplug the phone and plug it in again, or, where adb itself is installed: adb reconnect"
FIND_HINT = "Check the cable and that USB debugging is on; 'as2d devices' lists the phones that are there."
_OTHER_HINT = "Something else uses this port: check the address in AS2D_ADB_SERVERS."
_BLOCK = 1 << 18


class Deadline:
    """A point in time, on the monotonic clock, that a wait must not pass."""

    def __init__(self, seconds: float, what: str) -> None:
        """``what`` is what is waited for, as the start of a sentence."""
        self._ends = time.monotonic() + seconds
        self._seconds = seconds
        self._what = what

    def left_s(self) -> float:
        """Seconds left.

        Raises:
            CommandTimeoutError: there are none.
        """
        left = self._ends - time.monotonic()
        if left <= 0:
            raise self.passed()
        return left

    def passed(self) -> CommandTimeoutError:
        """The error for a deadline that has passed."""
        return CommandTimeoutError(
            f"{self._what} did not answer within {self._seconds:g} s.",
            "Check the cable and that the phone is awake, then try again.",
        )


class Wire:
    """One connection to an adb server."""

    def __init__(self, host: str, port: int, deadline: Deadline) -> None:
        """Connect.

        Raises:
            AdbServerDownError: nobody listens there.
            CommandTimeoutError: the deadline passed.
        """
        try:
            self.socket = socket.create_connection((host, port), deadline.left_s())
        except TimeoutError:
            raise CommandTimeoutError(
                f"The adb server at {host}:{port} did not answer in time.",
                "Check that its computer is on, and that no firewall stands between.",
            ) from None
        except socket.gaierror:
            raise AdbServerDownError(
                f"There is no computer {host}, which should have an adb server at port {port}.",
                "Check the name in AS2D_ADB_SERVERS.",
            ) from None
        except OSError as error:
            raise AdbServerDownError(
                f"No adb server answers at {host}:{port} ({error.strerror or error}).", _start_hint(host, port)
            ) from None
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Hang up; what runs at the other end hears of it."""
        self.socket.close()

    def ask(self, request: str, deadline: Deadline, who: str = "the phone") -> None:
        """Send one request and wait until it is accepted.

        Raises:
            DeviceError: it was refused; the class says why.
            CommandTimeoutError, PhoneLostError: no answer came.
        """
        data = encoded(request)
        self.send(b"%04x" % len(data) + data, deadline)
        answer = self.receive(4, deadline)
        if answer == b"FAIL":
            raise refusal(self.receive_block(deadline).decode("utf-8", "replace"), who)
        if answer != b"OKAY":
            raise DeviceError(f"What answers at the adb server's port is no adb server: {answer!r}.", _OTHER_HINT)

    def send(self, data: bytes, deadline: Deadline) -> None:
        """Send everything.

        Raises:
            CommandTimeoutError, PhoneLostError: it could not be sent.
        """
        self.socket.settimeout(deadline.left_s())
        try:
            self.socket.sendall(data)
        except TimeoutError:
            raise deadline.passed() from None
        except OSError as error:
            raise lost(str(error.strerror or error)) from None

    def send_parts(self, parts: Sequence[bytes | memoryview], deadline: Deadline) -> None:
        """Send everything, as if it were one; nothing is copied.

        Raises:
            As ``send``.
        """
        left = [memoryview(part) for part in parts]
        try:
            while left:
                self.socket.settimeout(deadline.left_s())
                sent = self.socket.sendmsg(left)
                while left and sent >= len(left[0]):
                    sent -= len(left.pop(0))
                if sent:
                    left[0] = left[0][sent:]
        except TimeoutError:
            raise deadline.passed() from None
        except OSError as error:
            raise lost(str(error.strerror or error)) from None

    def acknowledge(self) -> None:
        """Tell the server at once that what it sent has come: it holds small things back for that, up to 40 ms."""
        if sys.platform == "linux":  # elsewhere the system does so by itself, or cannot be asked
            with suppress(OSError):
                self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)

    def receive_some(self, deadline: Deadline) -> bytes:
        """What comes next, empty at the end.

        Raises:
            CommandTimeoutError, PhoneLostError: nothing came.
        """
        self.socket.settimeout(deadline.left_s())
        try:
            data = self.socket.recv(_BLOCK)
        except TimeoutError:
            raise deadline.passed() from None
        except OSError as error:
            raise lost(str(error.strerror or error)) from None
        self.acknowledge()
        return data

    def wait_readable(self, timeout_s: float) -> bool:
        """Whether something comes, or the other side hangs up, within the time."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.socket, selectors.EVENT_READ)
            return bool(selector.select(timeout_s))

    def receive(self, size: int, deadline: Deadline) -> bytes:
        """Exactly ``size`` bytes.

        Raises:
            CommandTimeoutError, PhoneLostError: fewer came.
        """
        parts = bytearray()
        while len(parts) < size:
            self.socket.settimeout(deadline.left_s())
            try:
                part = self.socket.recv(size - len(parts))
            except TimeoutError:
                raise deadline.passed() from None
            except OSError as error:
                raise lost(str(error.strerror or error)) from None
            if not part:
                raise lost("the connection was closed")
            parts += part
        self.acknowledge()
        return bytes(parts)

    def receive_block(self, deadline: Deadline) -> bytes:
        """A block with its length before it, in four hexadecimal digits.

        Raises:
            CommandTimeoutError, PhoneLostError: it did not come whole.
        """
        length = self.receive(4, deadline)
        if length == b"FAIL":  # it had accepted the request, and could not do it after all
            raise refusal(self.receive_block(deadline).decode("utf-8", "replace"), "the adb server")
        try:
            size = int(length, 16)
        except ValueError:
            raise DeviceError(f"The adb server sent a length that is none: {length!r}.", _OTHER_HINT) from None
        return self.receive(size, deadline)


def _start_hint(host: str, port: int) -> str:
    """How the server that is missing there is started."""
    with_port = "" if port == USUAL_PORT else f" -P {port}"
    start = f"adb{with_port} start-server"
    if host in LOCAL_HOSTS:
        return f"'as2d phone doctor' starts it; where adb itself is installed, {start} does, too."
    return (
        f"Start it there ({start}), and bring it here, as a server listens to its own computer only: "
        f"ssh -N -L 6037:127.0.0.1:{port} {host}, with AS2D_ADB_SERVERS=127.0.0.1:6037."
    )


def lost(reason: str) -> PhoneLostError:
    """The error for a connection that ended before the answer was complete."""
    return PhoneLostError(
        f"The connection to the phone ended in the middle ({reason}).",
        "Check the cable; the work goes on where it stopped once the phone is back.",
    )


def refusal(text: str, who: str) -> DeviceError:
    """The error for what an adb server said when it refused something.

    Args:
        text: the server's own words.
        who: the phone that was meant, as people know it.
    """
    first = text.strip().partition("\n")[0].rstrip(".")
    rules: tuple[tuple[str, type[DeviceError], str, str], ...] = (
        ("unauthorized|still authorizing", UnauthorizedError, f"{who} does not trust this computer", UNLOCK_HINT),
        ("no permissions|insufficient permissions", NoPermissionError, f"No permission to talk to {who}",
         PERMISSION_HINT),
        ("device offline|still connecting", OfflineError, f"{who} is offline", OFFLINE_HINT),
        ("more than one device", AmbiguousPhoneError, "Several phones are connected", "Say which one is meant."),
        ("no devices|any android device", NoPhoneError, "No phone is connected", FIND_HINT),
        ("not found|no such device|unknown host service|device .* not", PhoneNotFoundError, f"{who} is not connected",
         FIND_HINT),
        ("^closed$|connection closed|^$", PhoneLostError, f"{who} closed the connection", OFFLINE_HINT),
    )  # fmt: skip
    for pattern, kind, sentence, hint in rules:
        if re.search(pattern, text.strip(), re.IGNORECASE):
            return kind(f"{sentence[0].upper()}{sentence[1:]} (adb: {first or 'closed'}).", hint)
    return DeviceError(f"adb refused to work with {who}: {first}.")
