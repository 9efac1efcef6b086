"""Where does an arm64 Python come from on a Debian-like computer? From its package sources, without becoming root.

apt gets a configuration of its own: the sources, keys and proxies are the computer's, everything it
writes goes into a folder of ours, nothing is installed, and no hook of the computer is run.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from device_bridge.bundle.errors import OWN_PYTHON_HINT, BundleError, NoPackageSourceError

PACKAGES = ("python3-minimal", "libpython3-stdlib", "libstdc++6")
"""The interpreter, its library, and what MNN needs; apt adds what these depend on."""
UPDATE_S, DOWNLOAD_S, UNPACK_S = 300.0, 900.0, 120.0
_KEPT = re.compile(r'^(?:Acquire::|Dir::Etc::(?:sourcelist|sourceparts|trusted|trustedparts|netrc|netrcparts)\b)[^"]*"')


def debian_python(folder: Path, say: Callable[[str], None]) -> Path:
    """Download and unpack an arm64 Python below ``folder``; returns the root of the unpacked packages.

    Raises:
        NoPackageSourceError: there is no apt here, or its sources have no arm64 packages.
        BundleError: apt or the unpacking failed in another way.
    """
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise NoPackageSourceError(
            "This computer has no apt, from which an arm64 Python could be taken.", OWN_PYTHON_HINT
        )
    environment = _own_configuration(folder)
    say("Reading the list of arm64 packages.")
    # One source of several may lack arm64; only the download tells whether that matters.
    updated = _run(["apt-get", "update", "-q"], UPDATE_S, environment)
    say("Downloading an arm64 Python.")
    wanted = ["apt-get", "install", "--download-only", "--no-install-recommends", "-y", "-q", *PACKAGES]
    done = _run(wanted, DOWNLOAD_S, environment)
    archives = sorted((folder / "cache" / "archives").glob("*.deb"))
    if done.returncode or not archives:
        said = _complaint(done) or _complaint(updated) or "apt said nothing"
        raise NoPackageSourceError(
            f"The package sources of this computer gave no arm64 Python (apt: {said}).", OWN_PYTHON_HINT
        )
    root = folder / "root"
    for index, archive in enumerate(archives, 1):
        say(f"Unpacking packages, {index} of {len(archives)}")
        unpacked = _run(["dpkg-deb", "--extract", str(archive), str(root)], UNPACK_S, environment)
        if unpacked.returncode:
            raise BundleError(f"The package {archive.name} cannot be unpacked ({_complaint(unpacked)}).", "Try again.")
    return root


def _own_configuration(folder: Path) -> dict[str, str]:
    for part in ("state/lists/partial", "cache/archives/partial", "empty"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    (folder / "state" / "status").touch()
    dumped = _run(["apt-config", "dump"], UNPACK_S, os.environ)
    kept = [line for line in dumped.stdout.decode("utf-8", "replace").splitlines() if _KEPT.match(line)]
    place = str(folder).replace("\\", "\\\\").replace('"', '\\"')
    own = [
        f'Dir::State "{place}/state";',
        f'Dir::State::status "{place}/state/status";',
        f'Dir::Cache "{place}/cache";',
        f'Dir::Log "{place}/cache";',
        f'Dir::Etc::parts "{place}/empty";',
        'Dir::Etc::main "/dev/null";',
        f'Dir::Etc::preferencesparts "{place}/empty";',
        'APT::Architecture "arm64";',
        'APT::Architectures { "arm64"; };',
        'APT::Sandbox::User "";',
        'Acquire::Languages "none";',
        'Debug::NoLocking "true";',
    ]
    file = folder / "apt.conf"
    file.write_text("\n".join([*kept, *own, ""]), encoding="utf-8")
    return {**os.environ, "APT_CONFIG": str(file), "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}


def _run(command: list[str], timeout_s: float, environment: Mapping[str, str]) -> "subprocess.CompletedProcess[bytes]":
    try:
        return subprocess.run(
            command, capture_output=True, stdin=subprocess.DEVNULL, timeout=timeout_s, env=environment, check=False
        )
    except subprocess.TimeoutExpired:
        raise BundleError(
            f"{command[0]} did not finish within {timeout_s:g} s.", "Check the network, and try again."
        ) from None
    except OSError as error:
        raise BundleError(f"{command[0]} cannot be started ({error}).") from error


def _complaint(done: "subprocess.CompletedProcess[bytes]") -> str:
    """The first thing that was an error."""
    lines = [line.strip() for line in done.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    errors = [line.removeprefix("E: ") for line in lines if line.startswith("E: ")]
    return (errors or lines or [""])[0].rstrip(".")[:300]
