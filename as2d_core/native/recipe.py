"""Can this be built? Everything is checked, each with a sentence, before a compiler is started."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from as2d_core.native.builder import SOURCES, Configuration, cmake_version, find_tool, missing_tools
from as2d_core.native.errors import NativeBuildError
from as2d_core.native.mnn_build import MnnBuild, inspect_mnn
from as2d_core.native.ndk import API_LEVEL, Ndk, check_api_level, find_ndk
from as2d_core.native.targets import CROSS_COMPILER, HOST, Target, find_target

OLDEST_CMAKE = (3, 21)


@dataclass(frozen=True, slots=True)
class Wish:
    """What somebody wants to have built."""

    preset: str = HOST
    mnn: Path | None = None
    """Folder of an MNN build; without it only scripted requests can be run."""
    ndk: Path | None = None
    api_level: int | None = None


@dataclass(frozen=True, slots=True)
class Recipe:
    """A wish that can be fulfilled, as far as can be seen without a compiler."""

    target: Target
    mnn: MnnBuild | None
    ndk: Ndk | None
    api_level: int | None
    configuration: Configuration

    @property
    def key(self) -> str:
        """Name of its build folder: CMake keeps what it has found, so that another MNN or NDK needs another folder."""
        parts = [str(SOURCES), str(find_tool("ninja")), *map(list, self.configuration.definitions)]
        text = json.dumps([*parts, *sorted(self.configuration.environment.items())])
        return f"{self.target.name}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def make_recipe(wish: Wish, environment: Mapping[str, str] | None = None) -> Recipe:
    """Check a wish.

    Raises:
        UnknownNameError: there is no such preset.
        NativeBuildError: something is missing, too old, or for another machine; says what to do.
    """
    target = find_target(wish.preset)
    if not target.android and (wish.ndk is not None or wish.api_level is not None):
        raise NativeBuildError(
            f"--ndk and --api are for Android, and the preset {target.name} is for {target.title}; leave them out, or "
            "give --preset android-arm64."
        )
    _check_cmake()
    ndk = find_ndk(wish.ndk, environment) if target.android else None
    _check_compiler(target)
    level = None
    if ndk is not None:
        level = API_LEVEL if wish.api_level is None else wish.api_level
        check_api_level(level, ndk)
    if wish.mnn is None and target.opencl:
        raise NativeBuildError(
            f"The preset {target.name} needs an MNN with OpenCL; give its folder with --mnn, or choose the preset "
            f"{target.name.removesuffix('-opencl')}."
        )
    mnn = None if wish.mnn is None else inspect_mnn(wish.mnn, target)
    with_opencl = target.opencl or (not target.android and mnn is not None and "opencl" in mnn.parts)
    definitions = [
        ("MNN_ROOT", "" if mnn is None else str(mnn.root)),
        ("AS2D_OPENCL", "ON" if with_opencl else "OFF"),
        *([("ANDROID_PLATFORM", f"android-{level}")] if level is not None else []),
    ]
    variables = {} if ndk is None else {"ANDROID_NDK_HOME": str(ndk.root)}
    return Recipe(target, mnn, ndk, level, Configuration(target.name, tuple(definitions), variables))


def _check_cmake() -> None:
    version, wanted = cmake_version(), ".".join(map(str, OLDEST_CMAKE))
    how = "install one with: pip install cmake ninja (Debian and Ubuntu: apt install cmake ninja-build)"
    if version is None:
        raise NativeBuildError(f"CMake was not found; {how}.")
    if version < OLDEST_CMAKE:
        raise NativeBuildError(f"CMake {'.'.join(map(str, version))} is too old, and {wanted} is needed; {how}.")
    if not (find_tool("ninja") or find_tool("make")):
        raise NativeBuildError("Neither ninja nor make was found, and CMake needs one of them; pip install ninja.")


def _check_compiler(target: Target) -> None:
    """The NDK brings its own."""
    if target.android:
        return
    if target.name == HOST:
        lacking = [name for name in missing_tools() if name != "cmake"]
        if lacking:
            raise NativeBuildError(
                f"{lacking[0][0].upper()}{lacking[0][1:]} was not found, nor what CXX names; install one (Debian and "
                "Ubuntu: apt install g++; macOS: xcode-select --install), or name it in CXX."
            )
    elif target.machine != find_target(HOST).machine and find_tool(CROSS_COMPILER) is None:
        raise NativeBuildError(
            f"{CROSS_COMPILER} was not found, with which the preset {target.name} is compiled; install it (Debian and "
            "Ubuntu: apt install g++-aarch64-linux-gnu)."
        )
