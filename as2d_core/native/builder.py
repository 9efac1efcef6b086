"""Builds the native runner with CMake. What is missing is a sentence before a compiler is started."""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from as2d_core.errors import As2dError

SOURCES = Path(__file__).parent
PROGRAM = "as2d-runner"
FUZZER = "as2d-fuzz"
CONFIGURE_DEADLINE_S = 300
BUILD_DEADLINE_S = 1800
_KEPT_TEST_BUILDS = 6
_PARTS = ("*.txt", "cmake/*.cmake", "src/**/*.[ch]pp", "src/**/*.in", "fuzz/*.cpp")


class NativeBuildError(As2dError):
    """The native runner cannot be built; says what is missing or what the compiler said."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """What CMake is told besides the sources."""

    preset: str = "host"
    definitions: tuple[tuple[str, str], ...] = ()
    """CMake variables by name."""


def missing_tools() -> list[str]:
    """Programs without which nothing can be built for this computer, for a sentence."""
    lacking = [] if shutil.which("cmake") else ["cmake"]
    if not any(shutil.which(name) for name in (os.environ.get("CXX") or "c++", "c++", "g++", "clang++")):
        lacking.append("a C++ compiler (g++ or clang++)")
    return lacking


def sources_sha256() -> str:
    """Hash over the names and contents of everything that is compiled."""
    digest = hashlib.sha256()
    for path in sorted({path for part in _PARTS for path in SOURCES.glob(part)}):
        digest.update(path.relative_to(SOURCES).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def build(folder: Path, configuration: Configuration, say: Callable[[str], None] = lambda _: None) -> Path:
    """Configure and compile in ``folder``; returns the path of the program.

    Raises:
        NativeBuildError: CMake or the compiler failed; the message ends with what they said.
    """
    folder.mkdir(parents=True, exist_ok=True)
    configure = ["cmake", "--preset", configuration.preset, "-B", str(folder.absolute())]
    if shutil.which("ninja"):
        configure += ["-G", "Ninja"]
    configure += [f"-D{name}={value}" for name, value in configuration.definitions]
    say("Configuring")
    _run(configure, CONFIGURE_DEADLINE_S, "configure the native runner")
    say("Compiling")
    compiling = ["cmake", "--build", str(folder.absolute()), "--parallel", str(os.cpu_count() or 1)]
    _run(compiling, BUILD_DEADLINE_S, "compile the native runner")
    program = folder / PROGRAM
    if not program.is_file():
        raise NativeBuildError(f"CMake built no {PROGRAM} in {folder}; remove the folder and build again.")
    return program


def build_for_tests(cache: Path, sanitize: str = "") -> Path:
    """The program for this computer, built once for each content of the sources; several processes may ask at once."""
    key = hashlib.sha256(f"{sources_sha256()} {sanitize} {os.environ.get('CXX', '')}".encode()).hexdigest()[:24]
    folder = cache / key
    program = folder / PROGRAM
    if program.is_file():
        return program
    cache.mkdir(parents=True, exist_ok=True)
    with _alone(cache / "lock"):
        if program.is_file():
            return program
        working = cache / f"{key}.building"
        shutil.rmtree(working, ignore_errors=True)
        definitions = (
            # One unit of many files compiles in half the time.
            ("CMAKE_UNITY_BUILD", "ON"),
            ("CMAKE_UNITY_BUILD_BATCH_SIZE", "12"),
            ("CMAKE_CXX_FLAGS_RELEASE", "-O0" if sanitize else "-O1"),
            ("AS2D_SANITIZE", sanitize),
            ("AS2D_FUZZER", "ON" if sanitize else "OFF"),
        )
        built = build(working, Configuration("host", definitions))
        finished = cache / f"{key}.finished"
        shutil.rmtree(finished, ignore_errors=True)
        finished.mkdir()
        for path in (built, built.with_name(FUZZER)):
            if path.is_file():
                shutil.move(path, finished / path.name)
        shutil.rmtree(working, ignore_errors=True)
        finished.rename(folder)
        _forget_old_builds(cache)
    return program


def _run(command: Sequence[str], deadline_s: float, what: str) -> None:
    try:
        done = subprocess.run(
            list(command),
            cwd=SOURCES,
            capture_output=True,
            timeout=deadline_s,
            stdin=subprocess.DEVNULL,
            text=True,
            errors="replace",
            check=False,
        )
    except FileNotFoundError:
        raise NativeBuildError("cmake was not found; install CMake 3.21 or newer.") from None
    except subprocess.TimeoutExpired:
        raise NativeBuildError(f"It took more than {deadline_s:.0f} s to {what}; it was stopped.") from None
    if done.returncode:
        said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        errors = [line for line in said if "error" in line.lower()] or said[-20:]
        raise NativeBuildError(f"Could not {what}:\n" + "\n".join(errors[:20]))


@contextmanager
def _alone(lock: Path) -> Any:
    """Hold a lock between processes while the block runs; where the system has none, the last one wins."""
    with lock.open("w", encoding="ascii") as file:
        try:
            import fcntl
        except ImportError:
            yield
            return
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _forget_old_builds(cache: Path) -> None:
    builds = sorted((path for path in cache.iterdir() if path.is_dir()), key=lambda path: path.stat().st_mtime)
    for path in builds[:-_KEPT_TEST_BUILDS]:
        shutil.rmtree(path, ignore_errors=True)
