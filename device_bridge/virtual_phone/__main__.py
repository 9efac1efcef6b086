"""``python -m device_bridge.virtual_phone``: one virtual phone, until it is told to end.

Prints one line of JSON when it is ready. Faults are lines of JSON, on stdin or on the control port.
"""

import argparse
import asyncio
import concurrent.futures.thread  # noqa: F401 - whatever is loaded late must be here before the jail closes
import encodings.idna  # noqa: F401
import inspect
import json
import os
import secrets
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from device_bridge.adb.servers import AdbServer, parse_server
from device_bridge.errors import VirtualPhoneError
from device_bridge.virtual_phone import isolation
from device_bridge.virtual_phone.faults import RefusedError, inflict
from device_bridge.virtual_phone.files import WORK, make_files
from device_bridge.virtual_phone.link import FEATURES, Stream
from device_bridge.virtual_phone.plug import Plug
from device_bridge.virtual_phone.presets import PRESETS, Preset, preset
from device_bridge.virtual_phone.shell_service import Children, ShellSetting, serve_shell
from device_bridge.virtual_phone.sync_service import serve_sync

KEEP_PLUGGED_S = 0.2


class Phone:
    """The phone: what is plugged in, what runs, and what is wrong with it."""

    def __init__(
        self,
        root: Path,
        kind: Preset,
        server: AdbServer | None,
        *,
        jailed: bool,
        prefix: Sequence[str] = (),
        port: int = 0,
    ) -> None:
        """``root`` is the phone's ``/`` as this process sees it: ``/`` itself inside a jail."""
        self.root = root
        self.preset = kind
        self.jailed = jailed
        self.auth = "trusted"
        self.thawed = asyncio.Event()
        self.thawed.set()
        self.bytes_per_s = 0.0
        self.children = Children()
        self._cable = Plug(self, lambda: server, port)
        self._air = Plug(self, lambda: server)
        self._on_air = False
        self._tasks: set[asyncio.Future[Any]] = set()
        base = "" if jailed else str(root)
        self._base = base
        self._setting = ShellSetting(
            f"{base}/system/bin/sh",
            {
                "PATH": f"{base}/system/bin:{base}/vendor/bin:/usr/local/bin:/usr/bin:/bin",
                "HOME": "/",
                "TMPDIR": f"{base}{WORK}",
                "USER": "shell",
                "LOGNAME": "shell",
                "SHELL": "/system/bin/sh",
                "ANDROID_DATA": f"{base}/data",
                "ANDROID_ROOT": f"{base}/system",
                "HOSTNAME": kind.device,
                "TERM": "dumb",
            },
            f"{base}/",
            tuple(prefix),
        )

    @property
    def port(self) -> int:
        """Where its first connection listens."""
        return self._cable.port

    # -- for the link ---------------------------------------------------------------------------------

    def banner(self) -> bytes:
        """What the phone says about itself when it is connected."""
        names = {"name": self.preset.device, "model": self.preset.model, "device": self.preset.device}
        said = "".join(f"ro.product.{name}={value};" for name, value in names.items())
        return f"device::{said}features={FEATURES}".encode()

    async def serve(self, stream: Stream, service: str) -> None:
        """One service that a host has asked for; one we do not have is closed at once."""
        kind, _, rest = service.partition(":")
        name, *options = kind.split(",")
        if name in {"shell", "exec"}:
            await stream.accept()
            text = rest if self.jailed else isolation.map_paths(rest, self.root)
            await serve_shell(stream, self._setting, self.children, options, text)
        elif name == "sync":
            await stream.accept()
            await serve_sync(stream, self._host_path)
        elif name == "reboot":
            await stream.accept()
            await inflict(self, "reboot", {})

    # -- for faults -----------------------------------------------------------------------------------

    async def unplug(self, *, air: bool = True) -> None:
        """Pull the plug; over the air it stays reachable when that is wanted."""
        await self._cable.pull()
        if air:
            await self._air.pull()

    async def plug(self) -> None:
        """Put it back."""
        await self._cable.put_in()
        if self._on_air:
            await self._air.put_in()

    async def wifi(self, *, on: bool) -> None:
        """Be reachable over a second connection, too, or not."""
        self._on_air = on
        await (self._air.put_in() if on else self._air.pull())

    def descendants(self) -> dict[int, int]:
        """Process ids of everything that runs on the phone, with the memory each holds, in pages."""
        sizes: dict[int, int] = {}
        parents: dict[int, int] = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    fields = (entry / "stat").read_text().rpartition(")")[2].split()
                    parents[int(entry.name)] = int(fields[1])
                    sizes[int(entry.name)] = int(fields[21])
                except (OSError, IndexError, ValueError):
                    continue
        ours, grown = {os.getpid()}, True
        while grown:
            more = {pid for pid, parent in parents.items() if parent in ours} - ours
            ours |= more
            grown = bool(more)
        return {pid: sizes[pid] for pid in ours - {os.getpid()} if pid in sizes}

    def end_processes(self) -> None:
        """Kill everything that runs on the phone."""
        for pid in self.descendants():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue

    def later(self, seconds: float, action: Callable[[], Any]) -> None:
        """Do something after a while."""

        async def work() -> None:
            await asyncio.sleep(seconds)
            result = action()
            if inspect.isawaitable(result):
                await result

        self._keep(asyncio.ensure_future(work()))

    # -- running --------------------------------------------------------------------------------------

    async def keep_plugged(self) -> None:
        """Be found by an adb server that has been started anew, as a phone on USB is."""
        while True:
            await asyncio.sleep(KEEP_PLUGGED_S)
            await self._cable.keep()
            await self._air.keep()

    async def control(self, reader: asyncio.StreamReader, write: Callable[[bytes], None], token: str | None) -> None:
        """Carry out faults, one a line; with a ``token`` only those that carry it."""
        while line := await reader.readline():
            answer: dict[str, Any] = {"ok": True}
            try:
                message = json.loads(line)
                if token is not None and not secrets.compare_digest(str(message.pop("token", "")), token):
                    raise RefusedError("wrong token")  # noqa: TRY301
                await inflict(self, str(message.pop("fault")), message)
            except RefusedError as refused:
                answer = {"ok": False, "error": str(refused)}
            except KeyError as error:
                answer = {"ok": False, "error": f"it needs {error.args[0]}=VALUE"}
            except ValueError as error:
                answer = {"ok": False, "error": f"one of its values is no number ({error})"}
            except (TypeError, OSError) as error:
                answer = {"ok": False, "error": f"{type(error).__name__}: {error}"}
            write(json.dumps(answer).encode() + b"\n")

    def _host_path(self, path: str) -> str:
        return f"{self._base}{path}" if path.startswith("/") else f"{self._base}/{path}"

    def _keep(self, task: asyncio.Future[Any]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _serve(phone: Phone, ready: dict[str, Any], control_file: Path) -> None:
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGCHLD, phone.children.reap)
    token = secrets.token_hex(16)

    async def controlled(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await phone.control(reader, writer.write, token)
        writer.close()

    control = await asyncio.start_server(controlled, "127.0.0.1", 0)
    port = control.sockets[0].getsockname()[1]
    await phone.plug()
    _write_privately(control_file, json.dumps({"port": port, "token": token}))
    out = os.fdopen(os.dup(1), "wb", buffering=0)
    out.write(json.dumps({**ready, "address": f"127.0.0.1:{phone.port}"}).encode() + b"\n")
    keeper = asyncio.ensure_future(phone.keep_plugged())
    stdin = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stdin), sys.stdin)
    await phone.control(stdin, lambda data: _void(out.write(data)), None)
    keeper.cancel()
    await phone.unplug()
    phone.end_processes()


def _write_privately(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)
    path.touch(0o600)
    path.write_text(text, encoding="utf-8")


def _void(_: object) -> None:
    """Take a value that nobody asks for."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Be a phone."""
    parser = argparse.ArgumentParser(prog="python -m device_bridge.virtual_phone", description=__doc__)
    parser.add_argument("--root", type=Path, required=True, help="folder of the phone's files")
    parser.add_argument("--preset", default="k70", help=f"one of {', '.join(PRESETS)}")
    parser.add_argument("--serial", required=True, help="of the hardware")
    parser.add_argument("--server", help="adb server to appear at, host:port")
    parser.add_argument("--port", type=int, default=0, help="port to listen on")
    parser.add_argument("--storage-mb", type=int, help="size of the work folder, kept in memory")
    parser.add_argument("--visible", action="append", default=[], help="folder of this computer it may read")
    parser.add_argument("--prefix", action="append", default=[], help="word before the shell, such as an emulator")
    parser.add_argument("--emulator", type=Path, help="program of this computer that runs arm64 programs")
    parser.add_argument("--isolation", choices=("auto", "mapped"), default="auto")
    options = parser.parse_args(arguments)
    try:
        root = options.root.absolute()
        root.mkdir(parents=True, exist_ok=True)
        root = root.resolve()
        kind = preset(options.preset)
        reason = "asked for" if options.isolation == "mapped" else isolation.why_no_namespaces()
        jailed = reason is None
        if not jailed:
            isolation.check_mappable(root, emulated=options.emulator is not None)
        make_files(root, kind, options.serial, "" if jailed else str(root))
        server = parse_server(options.server) if options.server else None
        seen = root
        if jailed:
            isolation.enter(root, options.visible, options.storage_mb, options.emulator)
            seen = Path("/")
        else:
            isolation.adopt_orphans()
        isolation.obey_modes()
    except (VirtualPhoneError, OSError) as error:
        print(json.dumps({"error": str(error)}), flush=True)
        return 1
    ready = {"isolation": "namespaces" if jailed else "mapped", "reason": reason}

    async def live() -> None:
        phone = Phone(seen, kind, server, jailed=jailed, prefix=options.prefix, port=options.port)
        await _serve(phone, ready, seen / "control.json")

    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        # Whoever started us ignores hang-ups (nohup), and programs inherit that; of a phone's shell they must not.
        signal.signal(signal.SIGHUP, lambda *_: None)
    asyncio.run(live())
    return 0


if __name__ == "__main__":
    sys.exit(main())
