"""An adb server and virtual phones of the tests' own: on their own port, with their own keys, ended with them."""

import contextlib
import itertools
import os
import subprocess

from patience import PATIENCE_S, wait_for
from ports import free_port

from device_bridge.adb.servers import AdbServer, adb_program
from device_bridge.errors import DeviceError
from device_bridge.virtual_phone import VirtualPhone


class OwnAdbServer:
    """A real adb server; ``stop`` and ``start`` keep its port."""

    def __init__(self, folder):
        self.folder = folder
        self.server = AdbServer("127.0.0.1", free_port())
        self._process = None
        self.start()

    def start(self):
        environment = dict(os.environ, HOME=str(self.folder), TMPDIR=str(self.folder), ADB_MDNS="0", ADB_LIBUSB="0")
        environment.pop("ADB_SERVER_SOCKET", None)
        with (self.folder / "adb.log").open("ab") as log:
            self._process = subprocess.Popen(
                [adb_program(), "-P", str(self.server.port), "nodaemon", "server"],
                env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip
        wait_for(self._answers)

    def _answers(self):
        assert self._process.poll() is None, (self.folder / "adb.log").read_text()
        with contextlib.suppress(DeviceError):
            self.server.version(1.0)
            return True
        return False

    def stop(self):
        self._process.kill()
        self._process.wait(PATIENCE_S)


class Phones:
    """Starts virtual phones at one server, and ends them."""

    def __init__(self, server, folder):
        self._server, self._folder = server, folder
        self._numbers = itertools.count()
        self._started = []

    def __call__(self, preset="k70", *, wait=True, **options):
        number = next(self._numbers)
        phone = VirtualPhone(self._folder / f"phone{number}", self._server, preset, **options)
        self._started.append(phone)
        if wait:
            phone.wait_ready()
        return phone

    def close(self):
        for phone in self._started:
            phone.close()
