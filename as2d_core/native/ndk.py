"""Where is Android's NDK, and can it build for the wanted phones?"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from as2d_core.native.errors import NativeBuildError
from as2d_core.reading import read_json, read_words

API_LEVEL = 28
"""Android 9, the oldest the runner is built for unless something else is said."""
TOOLCHAIN_FILE = "build/cmake/android.toolchain.cmake"
_VARIABLES = ("ANDROID_NDK_HOME", "ANDROID_NDK_ROOT", "ANDROID_NDK")
_SDK_VARIABLES = ("ANDROID_HOME", "ANDROID_SDK_ROOT")
_REVISION = re.compile(r"^Pkg\.Revision\s*=\s*(\S+)", re.MULTILINE)
_OLDEST_64_BIT = 21
_NEWEST_CMAKE = re.compile(r"NDK_MAX_PLATFORM_LEVEL\s+\"?(\d+)")
_OLDEST_CMAKE = re.compile(r"NDK_MIN_PLATFORM_LEVEL\s+\"?(\d+)")


@dataclass(frozen=True, slots=True)
class Ndk:
    """An NDK that can be used."""

    root: Path
    version: str | None
    """As it says itself, for example ``27.2.12479018``."""
    levels: tuple[int, int] | None
    """Lowest and highest API level it builds for; ``None`` when it does not say."""


def find_ndk(given: Path | None = None, environment: Mapping[str, str] | None = None) -> Ndk:
    """The NDK that was named, or the one of the environment, or the newest of the Android SDK.

    Raises:
        NativeBuildError: there is none, or what is named is none; says what was looked through.
    """
    known = os.environ if environment is None else environment
    if given is not None:
        return _read(given.expanduser().absolute(), "--ndk")
    for name in _VARIABLES:
        if known.get(name):
            return _read(Path(known[name]).expanduser().absolute(), name)
    for name in _SDK_VARIABLES:
        if known.get(name):
            usable = [folder for folder in _inside_sdk(Path(known[name]).expanduser()) if _has_toolchain(folder)]
            if usable:
                return _read(max(usable, key=_version_key).absolute(), name)
    raise NativeBuildError(
        "No Android NDK was found: ANDROID_NDK_HOME and ANDROID_NDK_ROOT are not set, and ANDROID_HOME names no folder "
        "with ndk/VERSION in it; install the NDK (Android Studio: SDK Manager, SDK Tools, NDK) and give its folder "
        "with --ndk FOLDER."
    )


def check_api_level(level: int, ndk: Ndk) -> None:
    """Refuse a level that this NDK does not build for; its toolchain file would silently take another one.

    Raises:
        NativeBuildError: it does not.
    """
    lowest, highest = ndk.levels or (_OLDEST_64_BIT, None)
    if level < max(lowest, _OLDEST_64_BIT) or (highest is not None and level > highest):
        upper = "" if highest is None else f" to {highest}"
        raise NativeBuildError(
            f"API level {level} is not one of {max(lowest, _OLDEST_64_BIT)}{upper or ' and higher'}, for which the NDK "
            f"at {ndk.root} builds 64-bit programs; give --api {API_LEVEL}, or what your oldest phone has."
        )


def _read(root: Path, source: str) -> Ndk:
    if not root.is_dir():
        raise NativeBuildError(f"{source} names {root}, and there is no such folder; give the folder of an NDK.")
    if not _has_toolchain(root):
        inside = [folder for folder in _inside_sdk(root) if _has_toolchain(folder)]
        hint = f"give {max(inside, key=_version_key)}" if inside else "give the folder of a whole NDK"
        raise NativeBuildError(f"{source} names {root}, which is no NDK: {TOOLCHAIN_FILE} is missing; {hint}.")
    try:
        found = _REVISION.search(read_words(root / "source.properties"))
    except OSError:
        found = None
    return Ndk(root, found[1] if found else None, _levels(root))


def _levels(root: Path) -> tuple[int, int] | None:
    """Newer NDKs have a list of platforms, and all of the last years a file for CMake."""
    try:
        body = read_json(root / "meta/platforms.json")
        return int(body["min"]), int(body["max"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    try:
        text = read_words(root / "build/cmake/platforms.cmake")
    except OSError:
        return None
    lowest, highest = _OLDEST_CMAKE.search(text), _NEWEST_CMAKE.search(text)
    return (int(lowest[1]), int(highest[1])) if lowest and highest else None


def _inside_sdk(sdk: Path) -> Iterator[Path]:
    yield from (folder for folder in sdk.glob("ndk/*") if folder.is_dir())
    if (sdk / "ndk-bundle").is_dir():
        yield sdk / "ndk-bundle"


def _has_toolchain(root: Path) -> bool:
    return (root / TOOLCHAIN_FILE).is_file()


def _version_key(folder: Path) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", folder.name))
