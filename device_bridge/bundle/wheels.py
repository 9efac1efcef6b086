"""Where do MNN and numpy for arm64 come from? From the package index that pip is configured with, as wheels."""

import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from device_bridge.bundle.errors import BundleError

DOWNLOAD_S = 900.0
OLDEST_GLIBC = 17
"""Second number of the first glibc that wheels for arm64 were built for (2.17)."""


def wanted_wheels() -> tuple[str, ...]:
    """What the runner needs beside Python. MNN is the very version of this computer, so that tokens can be compared."""
    try:
        mnn = f"MNN=={version('MNN')}"
    except PackageNotFoundError:
        mnn = "MNN>=3.6.1,<3.7"
    return (mnn, "numpy>=2.0,<3", "soundfile>=0.13,<0.15", "soxr>=0.5,<2")


def download_wheels(
    folder: Path, python: tuple[int, int], glibc: tuple[int, int], say: Callable[[str], None]
) -> list[Path]:
    """Download wheels for an arm64 Linux with this Python and this glibc.

    Raises:
        BundleError: pip is missing, or found no wheels.
    """
    say("Downloading MNN and numpy for arm64.")
    tag = f"{python[0]}{python[1]}"
    platforms = [f"manylinux_2_{minor}_aarch64" for minor in range(OLDEST_GLIBC, glibc[1] + 1)] + [
        "manylinux2014_aarch64"
    ]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check"]
    command += ["--only-binary=:all:", "--implementation", "cp", "--python-version", f"{python[0]}.{python[1]}"]
    for abi in (f"cp{tag}", "abi3", "none"):
        command += ["--abi", abi]
    for platform in platforms:
        command += ["--platform", platform]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        done = subprocess.run(
            [*command, "--dest", str(folder), *wanted_wheels()],
            capture_output=True, stdin=subprocess.DEVNULL, timeout=DOWNLOAD_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise BundleError(f"pip did not finish within {DOWNLOAD_S:g} s.", "Check the network, and try again.") from None
    except OSError as error:
        raise BundleError(f"pip cannot be started ({error}).") from error
    if done.returncode:
        raise BundleError(
            f"No arm64 wheels for Python {python[0]}.{python[1]} were to be had (pip: {_complaint(done.stderr)}).",
            "Check the network and pip's settings, or give a folder of wheels with --wheels FOLDER.",
        )
    return given_wheels(folder)


def given_wheels(folder: Path) -> list[Path]:
    """The wheels in a folder.

    Raises:
        BundleError: there is none, or one that is needed is not among them.
    """
    if not folder.expanduser().is_dir():
        raise BundleError(f"There is no folder {folder}.", "Give the folder that holds the arm64 wheels.")
    wheels = sorted(folder.expanduser().glob("*.whl"))
    names = {wheel.name.partition("-")[0].casefold() for wheel in wheels}
    missing = [name for name in ("mnn", "numpy", "soundfile", "soxr") if name not in names]
    if missing:
        *others, last = missing
        named = f"{', '.join(others)} and {last}" if others else last
        raise BundleError(
            f"{folder} holds no wheel of {named}.",
            "Put arm64 Linux wheels (…aarch64.whl) of MNN, numpy, soundfile and soxr there, with what they depend on.",
        )
    wrong = [w.name for w in wheels if not w.stem.endswith(("_aarch64", "-any"))]
    if wrong:
        raise BundleError(f"{wrong[0]} is no wheel for arm64 Linux.", "Download it for the platform …aarch64.")
    return wheels


def unpack_wheels(wheels: Sequence[Path], site: Path) -> None:
    """Unpack wheels into one folder of packages.

    Raises:
        BundleError: a wheel is damaged.
    """
    for wheel in wheels:
        try:
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(site)
        except (zipfile.BadZipFile, OSError) as error:
            raise BundleError(f"The wheel {wheel.name} cannot be unpacked ({error}).", "Build again.") from error


def _complaint(said: bytes) -> str:
    lines = [line.strip() for line in said.decode("utf-8", "replace").splitlines()]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    return (errors or [line for line in lines if line] or ["it said nothing"])[-1].rstrip(".")[:300]
