"""For which machines is the runner built? One preset of CMake for each."""

import platform
import sys
from dataclasses import dataclass

from as2d_core.errors import unknown_name


@dataclass(frozen=True, slots=True)
class Target:
    """What a preset builds for."""

    name: str
    """Name of the preset in CMakePresets.json."""
    title: str
    machine: str
    """Processor as ``uname -m`` calls it."""
    system: str
    """``linux``, ``android``, or what Python calls another one."""
    opencl: bool = False
    one_file: bool = True
    """Whether the program goes to another machine, and MNN must be in it."""

    @property
    def android(self) -> bool:
        return self.system == "android"


HOST = "host"
CROSS_COMPILER = "aarch64-linux-gnu-g++"
"""Debian's, for the preset linux-arm64."""


def targets() -> tuple[Target, ...]:
    """All of them; the first is this computer."""
    machine = {"arm64": "aarch64", "AMD64": "x86_64"}.get(platform.machine(), platform.machine())
    return (
        Target(HOST, "this computer", machine, sys.platform, one_file=False),
        Target("android-arm64", "phones, models on the CPU", "aarch64", "android"),
        Target("android-arm64-opencl", "phones, models on the CPU or the GPU", "aarch64", "android", opencl=True),
        Target("linux-arm64", "arm64 Linux and virtual phones", "aarch64", "linux"),
    )


def find_target(name: str) -> Target:
    """A target by the name of its preset.

    Raises:
        UnknownNameError: there is none of this name.
    """
    known = {target.name: target for target in targets()}
    if name not in known:
        raise unknown_name("preset", name, [*known])
    return known[name]
