"""How does a virtual phone get a file system and processes of its own? By namespaces, where the host allows them.

Inside, ``/data/local/tmp`` and ``/sys/class`` are what the names say, for every process of the phone,
and nothing outside can be written. A host that forbids user namespaces gets the fallback: paths in
commands are mapped to the phone's folder, programs run among those of the host, and faults that need
a mount are refused with that sentence.
"""

import ctypes
import os
import re
import select
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from device_bridge.errors import VirtualPhoneError
from device_bridge.virtual_phone.emulation import register
from device_bridge.virtual_phone.files import WORK

READ_ONLY, NO_SUID, NO_DEV, NO_EXEC, REMOUNT, BIND, RECURSIVE, PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
_NEW_MOUNTS, _NEW_USER, _NEW_PIDS = 0x20000, 0x10000000, 0x20000000
_DIE_WITH_PARENT, _DROP_CAPABILITY, _ADOPT_ORPHANS = 1, 24, 36
_IGNORE_MODE, _IGNORE_SEARCH = 1, 2
_GRACE_MS = 3000
SHELL_UID = 2000
_HOST_FOLDERS = ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "etc", "opt")
_PHONE_FOLDERS = r"/(?:data|system|vendor|sdcard|sys/class|sys/devices/system/cpu)(?![\w.-])"
_libc = ctypes.CDLL(None, use_errno=True)


def why_no_namespaces() -> str | None:
    """Why this host cannot jail a phone, in the system's words; ``None`` when it can. Tried in a child."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        reason = b""
        try:
            _unshare()
            _mount("none", "/", None, RECURSIVE | PRIVATE)
        except OSError as error:
            reason = (error.strerror or str(error)).encode()
        os.write(write_end, reason)
        os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as pipe:
        reason = pipe.read()
    os.waitpid(pid, 0)
    return reason.decode() or None


def enter(root: Path, visible: Sequence[str], storage_mb: int | None, emulator: Path | None = None) -> None:
    """Become the first process of a jail; the caller stays outside as its guard and never returns from here.

    Args:
        root: folder that becomes ``/``.
        visible: absolute folders of the host that the phone may read, at the same place.
        storage_mb: size of the work folder, kept in memory; ``None`` keeps it on the disk, unbounded.
        emulator: program of the host that runs arm64 programs of the phone.

    Raises:
        VirtualPhoneError: a part of the jail cannot be made.
    """
    try:
        if emulator is not None:
            _hand_over_foreign_programs(root, emulator)
        _unshare()
        pid = os.fork()
        if pid:
            _guard(pid)
        _libc.prctl(_DIE_WITH_PARENT, signal.SIGKILL)
        _mount("none", "/", None, RECURSIVE | PRIVATE)
        _mount(str(root), str(root), None, BIND | RECURSIVE)
        for folder in dict.fromkeys((*(f"/{name}" for name in _HOST_FOLDERS), *visible)):
            _show(root, folder)
        for name in ("dev", "proc", "tmp"):
            (root / name).mkdir(exist_ok=True)
        _mount("/dev", f"{root}/dev", None, BIND | RECURSIVE)
        _mount_processes(root)
        work = f"{root}{WORK}"
        if storage_mb is None:
            _mount(work, work, None, BIND)
        else:
            _mount("tmpfs", work, "tmpfs", NO_SUID | NO_DEV, f"size={storage_mb}m,mode=0771")
        os.chroot(root)
        os.chdir("/")
    except OSError as error:
        raise VirtualPhoneError(f"The virtual phone cannot be jailed: {error}.") from error


def remount_work(*, read_only: bool = False, no_exec: bool = False) -> None:
    """Change what may be done in the work folder.

    Raises:
        OSError: somebody has a file open for writing there, or there is no jail.
    """
    flags = (READ_ONLY if read_only else 0) | (NO_EXEC if no_exec else 0) | NO_SUID | NO_DEV
    _mount(None, WORK, None, BIND | REMOUNT | flags)


def adopt_orphans() -> None:
    """Without a jail: whoever is orphaned among our descendants becomes our child."""
    _libc.prctl(_ADOPT_ORPHANS, 1, 0, 0, 0)


def obey_modes() -> None:
    """Give up the power to ignore the modes of files, for us and all we start, as on a phone."""
    for capability in (_IGNORE_MODE, _IGNORE_SEARCH):
        _libc.prctl(_DROP_CAPABILITY, capability, 0, 0, 0)
    head = (ctypes.c_uint32 * 2)(0x20080522, 0)
    data = (ctypes.c_uint32 * 6)()
    if _libc.capget(head, data) == 0:
        mask = ~((1 << _IGNORE_MODE) | (1 << _IGNORE_SEARCH))
        for index in (0, 1, 2):  # effective, permitted, inheritable
            data[index] &= mask & 0xFFFFFFFF
        _libc.capset(head, data)


def map_paths(text: str, root: Path) -> str:
    """Without a jail: a command whose paths of the phone point into its folder."""
    return re.sub(rf"(?<![\w.-]){_PHONE_FOLDERS}", lambda found: f"{root}{found[0]}", text)


def check_mappable(root: Path, *, emulated: bool) -> None:
    """Refuse a folder whose name would change the meaning of a command it is put into.

    Raises:
        VirtualPhoneError: it holds something else than letters, digits, dots, dashes and underscores, or
            arm64 programs are to be run (``emulated``), which takes a jail.
    """
    if emulated:
        raise VirtualPhoneError("A virtual phone runs arm64 programs only on a host that has namespaces for users.")
    if not re.fullmatch(r"[\w./-]+", str(root)):
        raise VirtualPhoneError(
            f"A virtual phone without namespaces cannot live in {root}.", "Choose a folder with a plain name."
        )


def _hand_over_foreign_programs(root: Path, emulator: Path) -> None:
    """Register the emulator in a namespace around the jail: only its root may, and the jail has none."""
    _unshare(_NEW_USER | _NEW_MOUNTS, inside=0)
    _mount("none", "/", None, RECURSIVE | PRIVATE)
    formats = root / "system/formats"  # what is registered lasts as long as this is mounted somewhere
    formats.mkdir(exist_ok=True)
    _mount("binfmt_misc", str(formats), "binfmt_misc", 0)
    register(formats, emulator)


def _unshare(spaces: int = _NEW_USER | _NEW_MOUNTS | _NEW_PIDS, inside: int = SHELL_UID) -> None:
    uid, gid = os.getuid(), os.getgid()
    if _libc.unshare(spaces):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
    Path("/proc/self/uid_map").write_text(f"{inside} {uid} 1\n", encoding="ascii")
    Path("/proc/self/gid_map").write_text(f"{inside} {gid} 1\n", encoding="ascii")


def _guard(pid: int) -> NoReturn:
    """Wait for the jail; end it when we are told to end, or when whoever started us is gone and it does not end itself.

    The system's own signal at a parent's death is no use here: it comes when the thread ends that started us.
    """
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: os.kill(pid, signal.SIGKILL))
    jail, waits = os.pidfd_open(pid), select.poll()
    waits.register(jail, select.POLLIN)
    waits.register(0, select.POLLHUP)
    if jail not in (ready for ready, _ in waits.poll()):
        waits.unregister(0)
        if not waits.poll(_GRACE_MS):
            os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def _show(root: Path, folder: str) -> None:
    """Make a folder of the host readable at the same place inside."""
    source, target = Path(folder), Path(f"{root}{folder}")
    if source.is_symlink() and source.parent == Path("/"):
        if not os.path.lexists(target):
            target.symlink_to(source.readlink())
        return
    if not source.is_dir():
        return
    target.mkdir(parents=True, exist_ok=True)
    _mount(folder, str(target), None, BIND | RECURSIVE)
    found = os.statvfs(target).f_flag
    # Flags that the host has set are locked in a user namespace, and must be kept.
    kept = found & (os.ST_NOSUID | os.ST_NODEV | os.ST_NOEXEC)
    times = (0x200000 if found & os.ST_RELATIME else 0) | (0x400 if found & os.ST_NOATIME else 0)
    _mount(None, str(target), None, BIND | REMOUNT | READ_ONLY | kept | times)


def _mount_processes(root: Path) -> None:
    try:
        _mount("proc", f"{root}/proc", "proc", NO_SUID | NO_DEV | NO_EXEC)
    except OSError:  # a container that masks parts of /proc forbids a fresh one
        _mount("/proc", f"{root}/proc", None, BIND | RECURSIVE)
    for name in ("cpuinfo", "meminfo"):
        _mount(f"{root}/system/proc/{name}", f"{root}/proc/{name}", None, BIND)


def _mount(source: str | None, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    def c(text: str | None) -> bytes | None:
        return None if text is None else os.fsencode(text)

    if _libc.mount(c(source), c(target), c(kind), ctypes.c_ulong(flags), c(data)):
        number = ctypes.get_errno()
        raise OSError(number, f"mounting {target}: {os.strerror(number)}")
