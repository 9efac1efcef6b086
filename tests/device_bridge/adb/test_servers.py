import socket
import threading
import time
from contextlib import suppress

import pytest
from patience import PATIENCE_S
from virtual_phones import OwnAdbServer, Phones

from device_bridge.adb import AdbPhone, AdbServer, configured_servers, list_phones, pick_phone
from device_bridge.adb.servers import PhoneEntry, _entry, parse_server, phone_address
from device_bridge.adb.wire import _start_hint
from device_bridge.errors import (
    AdbServerDownError,
    AmbiguousPhoneError,
    CommandFailedError,
    CommandTimeoutError,
    DeviceError,
    NoPermissionError,
    NoPhoneError,
    PhoneLostError,
    PhoneNotFoundError,
    UnauthorizedError,
)

HERE = AdbServer()


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("lab-3", "lab-3", 5037),
        ("10.0.0.7:6000", "10.0.0.7", 6000),
        ("tcp:localhost:5038", "localhost", 5038),
        ("[::1]:5039", "::1", 5039),
    ],
)
def test_an_address_names_a_server(text, host, port):
    assert parse_server(text) == AdbServer(host, port)


@pytest.mark.parametrize("text", ["", "a b", "host:", "host:0", "host:99999", "http://x", "::1"])
def test_what_is_no_address_is_refused(text):
    with pytest.raises(DeviceError, match="host:port"):
        parse_server(text)


def test_servers_come_from_the_variable_or_from_those_of_adb(monkeypatch):
    for name in ("AS2D_ADB_SERVERS", "ADB_SERVER_SOCKET", "ANDROID_ADB_SERVER_PORT"):
        monkeypatch.delenv(name, raising=False)
    assert configured_servers() == (HERE,)
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", "5999")
    assert configured_servers() == (AdbServer("127.0.0.1", 5999),)
    monkeypatch.setenv("AS2D_ADB_SERVERS", "lab-1, lab-2:5038,lab-1")
    assert configured_servers() == (AdbServer("lab-1"), AdbServer("lab-2", 5038))


@pytest.mark.parametrize(
    ("line", "state", "error"),
    [
        ("0123 unauthorized usb:1-1 transport_id:3", "unauthorized", UnauthorizedError),
        ("???? no permissions (missing udev rules?); see [http://x/y] usb:1-2", "no permissions", NoPermissionError),
        ("0123 recovery product:manet", "recovery", DeviceError),
    ],
)  # fmt: skip
def test_a_listed_phone_that_is_not_ready_says_what_to_do(line, state, error):
    entry = _entry(HERE, line)
    assert entry.state == state
    assert isinstance(entry.problem(), error)
    assert entry.problem().hint


def test_a_ready_phone_is_listed_with_its_model(shared_phone):
    (entry,) = [p for p in shared_phone.server.phones() if p.serial == shared_phone.serial]
    assert (entry.name, entry.ready, entry.problem()) == (shared_phone.preset.model, True, None)


@pytest.fixture
def lonely(tmp_path):
    """An adb server of one test, and what starts phones at it."""
    own = OwnAdbServer(tmp_path)
    phones = Phones(own.server, tmp_path)
    yield own.server, phones
    phones.close()
    own.stop()


def test_a_phone_is_picked_because_it_is_alone_or_by_serial_id_or_model(lonely):
    server, phones = lonely
    with pytest.raises(NoPhoneError, match="USB debugging"):
        pick_phone([server])
    first = phones("k70")
    assert pick_phone([server]).serial == first.serial
    other = phones("note9")
    for wanted in (other.serial, f"{other.serial}@{server}", other.preset.model.lower(), "redmi note 9 pro"):
        assert pick_phone([server], wanted).serial == other.serial
    with pytest.raises(AmbiguousPhoneError, match=r"Several phones .* \(Redmi Note 9 Pro\)"):
        pick_phone([server])
    for nobody in ("nobody", ""):
        with pytest.raises(PhoneNotFoundError, match="Connected: "):
            pick_phone([server], nobody)


def test_a_server_that_is_down_is_an_error_beside_the_phones_of_the_others(own_adb, nobody):
    with pytest.raises(AdbServerDownError, match=f"adb -P {nobody.port} start-server"):
        pick_phone([nobody])
    _, errors = list_phones([nobody, own_adb.server])
    assert [type(error) for error in errors] == [AdbServerDownError]
    with pytest.raises(AdbServerDownError):
        AdbPhone(nobody, "x").run(["true"])


def test_what_to_do_about_a_server_that_is_down_is_done_on_its_own_computer():
    assert "'as2d phone doctor' starts it" in _start_hint("127.0.0.1", 5037)
    assert "Start it there (adb -P 5038 start-server)" in _start_hint("lab-3", 5038)
    assert "ssh -N -L 6037:127.0.0.1:5038 lab-3" in _start_hint("lab-3", 5038)


def test_a_phone_that_is_not_there_is_said_to_be_so(own_adb):
    with pytest.raises(PhoneNotFoundError, match="is not connected"):
        AdbPhone(own_adb.server, "a b;'c").run(["true"])


def test_an_address_where_no_phone_listens_is_a_sentence_and_is_not_kept_as_a_phone(own_adb):
    with pytest.raises(
        DeviceError, match=r"127\.0\.0\.1:1 .*refused.* Nothing listens at this port: take the one that"
    ):
        own_adb.server.connect(" 127.0.0.1:1 ")
    assert "127.0.0.1:1" not in [entry.serial for entry in own_adb.server.phones()]
    with pytest.raises(DeviceError, match=r"Pairing with 127\.0\.0\.1:1 failed \(adb: .* under 'Pair device"):
        own_adb.server.pair("127.0.0.1:1", "123456")


@pytest.mark.parametrize("address", ["", " ", "a b:1", "phone:0", "phone:99999", "phone:5x", "::1:5555", "user@host:1"])
def test_what_is_no_address_of_a_phone_never_reaches_the_server(nobody, address):
    for ask in (nobody.connect, lambda text: nobody.pair(text, "123456")):
        with pytest.raises(DeviceError, match="no network address of a phone"):
            ask(address)


def test_an_address_without_a_port_means_the_usual_one_and_for_pairing_nothing():
    assert phone_address(" lab-phone ", 5555) == "lab-phone:5555"
    assert phone_address("[fe80::1]:37213") == "[fe80::1]:37213"
    with pytest.raises(DeviceError, match="host:port"):
        phone_address("lab-phone")


def test_a_phone_in_the_network_that_is_offline_is_not_told_to_be_unplugged(nobody):
    said = str(PhoneEntry(nobody, "10.0.0.7:5555", "offline").problem())
    assert "as2d phone connect 10.0.0.7:5555" in said
    assert "nplug" not in said


class Listener:
    """A server that accepts, answers with fixed bytes, and says nothing more."""

    def __init__(self, answer):
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.server = AdbServer("127.0.0.1", self._socket.getsockname()[1])
        self._kept = []
        self._answer = answer
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self):
        while True:
            try:
                link, _ = self._socket.accept()
            except OSError:
                return
            self._kept.append(link)
            with suppress(OSError):  # the other side may have gone
                link.sendall(self._answer)

    def close(self):
        with suppress(OSError):  # wakes the thread where closing alone does not; some systems refuse it
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(PATIENCE_S)
        for link in self._kept:
            link.close()


@pytest.fixture
def listener():
    made = []

    def build(answer=b""):
        made.append(Listener(answer))
        return made[-1]

    yield build
    for one in made:
        one.close()


def test_the_deadline_covers_the_opening_too(listener):
    began = time.monotonic()
    with pytest.raises(CommandTimeoutError):
        AdbPhone(listener().server, "x").run(["true"], timeout_s=0.3)
    assert time.monotonic() - began < 60


def test_something_else_at_the_port_is_no_adb_server(listener):
    with pytest.raises(DeviceError, match="no adb server"):
        listener(b"HTTP/1.1 400 Bad Request").server.version()


def test_a_short_answer_is_an_error_and_never_a_result(shared_phone, listener):
    packets = b"OKAYOKAY" + b"\x01\x03\x00\x00\x00abc"
    fake = listener(packets)
    shell = AdbPhone(fake.server, "x").open_shell("true")
    output = shell.output()
    assert next(output) == ("out", b"abc")
    fake.close()
    with pytest.raises(PhoneLostError):
        next(output)
    shell.close()


def test_a_command_gives_both_outputs_and_its_exit_code(shared_phone):
    output = shared_phone.phone.script("echo to out; echo to err >&2; exit 3", check=False)
    assert (output.out, output.err, output.code) == (b"to out\n", b"to err\n", 3)
    assert output.said == "to err"


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (126, "may not be executed"),
        (127, "was not found"),
        (132, "instruction that this processor lacks"),
        (134, "aborted"),
        (137, "memory ran out"),
        (139, "crashed"),
        (3, "exit code 3"),
    ],
)
def test_an_exit_code_is_explained(shared_phone, code, words):
    with pytest.raises(CommandFailedError, match=words) as caught:
        shared_phone.phone.script(f"exit {code}", what="the probe")
    assert caught.value.code == code
    assert bool(caught.value.hint) == (code != 3)


def test_stdin_reaches_a_command_and_large_output_comes_back_whole(shared_phone):
    data = bytes(range(256)) * 8000
    assert shared_phone.phone.run(["cat"], stdin=data).out == data
    assert len(shared_phone.phone.run(["head", "-c", "5000000", "/dev/zero"]).out) == 5_000_000


def test_a_command_that_does_not_end_passes_its_deadline(shared_phone):
    with pytest.raises(CommandTimeoutError, match="sleep on phone"):
        shared_phone.phone.run(["sleep", "30"], timeout_s=0.3)
