"""How does a virtual phone run arm64 programs on another processor? The kernel hands them to an emulator, in its jail.

Registered inside the jail's own namespace (Linux 6.7 and later), it holds for every program of the
phone however deep it is started, and for nothing outside.
"""

import platform
import shutil
from pathlib import Path

from device_bridge.errors import VirtualPhoneError

EMULATORS = ("qemu-aarch64-static", "qemu-aarch64")
_NAME = "as2d-arm64"
_HEAD = r"\x7fELF\x02\x01\x01" + r"\x00" * 9 + r"\x02\x00\xb7\x00"
"""64-bit, little-endian, for ARM."""
_MASK = r"\xff" * 7 + r"\x00" + r"\xff" * 8 + r"\xfe\xff\xff\xff"
"""Whatever the system says it is made for, program or library."""


def find_emulator() -> Path | None:
    """The program that runs arm64 programs on this computer, if there is one and it is needed."""
    if platform.machine() in {"aarch64", "arm64"}:
        return None
    return next((Path(found) for name in EMULATORS if (found := shutil.which(name))), None)


def register(mounted: Path, emulator: Path) -> None:
    """Hand arm64 programs to ``emulator``; ``mounted`` is where binfmt_misc of this namespace is mounted.

    Raises:
        VirtualPhoneError: the kernel does not take it.
    """
    # F opens the emulator now, so that it need not be found inside the jail.
    rule = f":{_NAME}:M::{_HEAD}:{_MASK}:{emulator}:F"
    try:
        (mounted / "register").write_text(rule, encoding="ascii")
    except OSError as error:
        raise VirtualPhoneError(
            f"This computer's kernel does not hand arm64 programs to {emulator.name} ({error}).",
            "A virtual phone that runs arm64 programs needs Linux 6.7 or later.",
        ) from error
