"""How do files come and go? By adb's sync service, as adbd serves it; its reasons are the system's own."""

import contextlib
import os
import stat
import struct
from collections.abc import Callable
from pathlib import Path

from device_bridge.virtual_phone.link import Stream

LARGEST_CHUNK = 64 * 1024
_READ = LARGEST_CHUNK * 15


async def serve_sync(stream: Stream, host_path: Callable[[str], str]) -> None:
    """Answer sync requests until the host quits.

    Args:
        host_path: where a path of the phone lies in this process's file system.
    """
    while True:
        request, size = struct.unpack("<4sI", await stream.read(8))
        if request == b"QUIT":
            return
        name = os.fsdecode(await stream.read(size))
        if request == b"STAT":
            await stream.write(b"STAT" + _short_stat(host_path(name)))
        elif request in {b"STA2", b"LST2"}:
            await stream.write(request + _long_stat(host_path(name), follow=request == b"STA2"))
        elif request in {b"LIST", b"LIS2"}:
            await stream.write(_listing(host_path(name), long=request == b"LIS2"))
        elif request in {b"RECV", b"RCV2"}:
            if request == b"RCV2":
                await stream.read(8)
            await _send_file(stream, host_path(name))
        elif request == b"SEND":
            path, _, mode = name.rpartition(",")
            await _receive_file(stream, host_path(path), int(mode))
        elif request == b"SND2":
            _, mode, _ = struct.unpack("<III", await stream.read(12))
            await _receive_file(stream, host_path(name), mode)
        else:
            await _fail(stream, f"unknown command {request!r}")
            return


def _short_stat(path: str) -> bytes:
    try:
        found = os.lstat(path)
    except OSError:
        return bytes(12)
    return struct.pack("<III", found.st_mode, found.st_size & 0xFFFFFFFF, int(found.st_mtime) & 0xFFFFFFFF)


def _long_stat(path: str, *, follow: bool) -> bytes:
    try:
        found = os.stat(path) if follow else os.lstat(path)  # noqa: PTH116 - one of two calls of one shape
    except OSError as error:
        return struct.pack("<IQQIIIIQqqq", error.errno or 5, *([0] * 10))
    return struct.pack(
        "<IQQIIIIQqqq", 0, found.st_dev, found.st_ino, found.st_mode, found.st_nlink, found.st_uid, found.st_gid,
        found.st_size, int(found.st_atime), int(found.st_mtime), int(found.st_ctime),
    )  # fmt: skip


def _listing(path: str, *, long: bool) -> bytes:
    try:
        names = [".", "..", *os.listdir(path)]  # noqa: PTH208 - names, not paths
    except OSError:
        names = []
    out = bytearray()
    for name in names:
        full, encoded = os.path.join(path, name), os.fsencode(name)  # noqa: PTH118 - "." must stay
        entry = _long_stat(full, follow=False) if long else struct.pack("<I", 0) + _short_stat(full)
        head = b"DNT2" + entry if long else b"DENT" + entry[4:]
        out += head + struct.pack("<I", len(encoded)) + encoded
    return bytes(out) + b"DONE" + bytes(72 if long else 16)


async def _send_file(stream: Stream, path: str) -> None:
    try:
        file = Path(path).open("rb")  # noqa: ASYNC230, SIM115 - local, and closed below
    except OSError as error:
        await _fail(stream, f"open failed: {error.strerror}")
        return
    with file:
        while True:
            try:
                data = file.read(_READ)
            except OSError as error:
                await _fail(stream, f"read failed: {error.strerror}")
                return
            if not data:
                break
            out = bytearray()
            for start in range(0, len(data), LARGEST_CHUNK):
                chunk = data[start : start + LARGEST_CHUNK]
                out += b"DATA" + struct.pack("<I", len(chunk)) + chunk
            await stream.write(bytes(out))
    await stream.write(b"DONE" + bytes(4))


async def _receive_file(stream: Stream, path: str, mode: int) -> None:
    """As adbd: the file is made anew, what fails is said at once, the rest is drained, a torn file is removed."""
    is_link = stat.S_ISLNK(mode)
    target = bytearray()
    descriptor, failed, done = -1, False, False
    try:
        try:
            descriptor = _create(path, mode, is_link=is_link)
        except OSError as error:
            failed = True
            await _fail(stream, f"couldn't create file: {error.strerror}")
        while True:
            kind, size = struct.unpack("<4sI", await stream.read(8))
            if kind == b"DONE":
                done = True
                break
            if kind != b"DATA" or size > LARGEST_CHUNK:
                if not failed:
                    await _fail(stream, "invalid data message")
                return
            data = await stream.read(size)
            if failed:
                continue
            if is_link:
                target += data
                continue
            try:
                while data:
                    data = data[os.write(descriptor, data) :]
            except OSError as error:
                failed = True
                await _fail(stream, f"write failed: {error.strerror}")
        if not failed:
            await _finish(stream, path, size, bytes(target) if is_link else None)
    finally:
        if descriptor >= 0:
            os.close(descriptor)
        if descriptor >= 0 and (failed or not done):
            with contextlib.suppress(FileNotFoundError):  # whoever has renamed it meanwhile keeps it, as with adbd
                os.unlink(path)  # noqa: PTH108 - as adbd


def _create(path: str, mode: int, *, is_link: bool) -> int:
    place = Path(path)
    if os.path.lexists(path) and not place.is_dir():
        place.unlink()
    place.parent.mkdir(parents=True, exist_ok=True)
    if is_link:
        return -1
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    os.fchmod(descriptor, mode & 0o777)
    return descriptor


async def _finish(stream: Stream, path: str, changed_s: int, target: bytes | None) -> None:
    if target is not None:
        try:
            os.symlink(target.rstrip(b"\0"), os.fsencode(path))  # noqa: PTH211 - names are bytes here
        except OSError as error:
            await _fail(stream, f"symlink failed: {error.strerror}")
            return
    else:
        with contextlib.suppress(OSError):  # adbd does not look either: it may have another name by now
            os.utime(path, (changed_s, changed_s))
    await stream.write(b"OKAY" + bytes(4))


async def _fail(stream: Stream, reason: str) -> None:
    data = reason.encode()
    await stream.write(b"FAIL" + struct.pack("<I", len(data)) + data)
