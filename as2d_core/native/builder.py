"""Builds the native runner with CMake. What is missing is a sentence before a compiler is started."""

import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from as2d_core.native.errors import NativeBuildError

SOURCES = Path(__file__).parent
PROGRAM = "as2d-runner"
FUZZER = "as2d-fuzz"
CONFIGURE_DEADLINE_S = 300
BUILD_DEADLINE_S = 1800
_KEPT_BUILDS = 6
_IN_USE_S = 86_400.0
"""A build that was made or asked for so recently may be running."""
_STEP = re.compile(r"\[(?:(\d+)/(\d+)|\s*(\d+)%)\]")
"""How ninja and make count what they compile."""
_PARTS = ("*.txt", "cmake/*.cmake", "src/**/*.[ch]pp", "src/**/*.in", "fuzz/*.cpp")


@dataclass(frozen=True, slots=True)
class Configuration:
    """What CMake is told besides the sources."""

    preset: str = "host"
    definitions: tuple[tuple[str, str], ...] = ()
    """CMake variables by name."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables that CMake gets beside those of this process."""


def find_tool(name: str) -> str | None:
    """Path of a program: on the path, or beside the Python that runs this, where pip puts it."""
    return shutil.which(name) or shutil.which(name, path=str(Path(sys.prefix, "Scripts" if os.name == "nt" else "bin")))


def cmake_version() -> tuple[int, ...] | None:
    """Version of CMake; ``None`` when there is none that answers."""
    program = find_tool("cmake")
    if program is None:
        return None
    try:
        said = subprocess.run([program, "--version"], capture_output=True, timeout=60, check=False, text=True).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r"version (\d+)\.(\d+)(?:\.(\d+))?", said)
    return tuple(int(part) for part in found.groups(default="0")) if found else None


def missing_tools() -> list[str]:
    """Programs without which nothing can be built for this computer, for a sentence."""
    lacking = [] if find_tool("cmake") else ["cmake"]
    if not any(find_tool(name) for name in (os.environ.get("CXX") or "c++", "c++", "g++", "clang++")):
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
    cmake, ninja = find_tool("cmake") or "cmake", find_tool("ninja")
    configure = [cmake, "--preset", configuration.preset, "-B", str(folder.absolute())]
    if ninja:
        configure += ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}"]
    configure += [f"-D{name}={value}" for name, value in configuration.definitions]
    environment = {**os.environ, **configuration.environment}
    say("Configuring")
    _run(configure, environment, CONFIGURE_DEADLINE_S, "configure the native runner")
    say("Compiling")
    compiling = [cmake, "--build", str(folder.absolute()), "--parallel", str(os.cpu_count() or 1)]
    _run(compiling, environment, BUILD_DEADLINE_S, "compile the native runner", say)
    program = folder / PROGRAM
    if not program.is_file():
        raise NativeBuildError(f"CMake built no {PROGRAM} in {folder}; remove the folder and build again.")
    return program


def build_for_tests(cache: Path, sanitize: str = "", preset: str = "host") -> Path:
    """The program of a preset, built once for each content of the sources; several processes may ask at once."""
    asked = [sources_sha256(), sanitize, os.environ.get("CXX", ""), *([] if preset == "host" else [preset])]
    key = hashlib.sha256(" ".join(asked).encode()).hexdigest()[:24]
    folder = cache / key
    program = folder / PROGRAM
    if program.is_file():
        os.utime(folder)  # it is in use
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
        built = build(working, Configuration(preset, definitions))
        finished = cache / f"{key}.finished"
        shutil.rmtree(finished, ignore_errors=True)
        finished.mkdir()
        for path in (built, built.with_name(FUZZER)):
            if path.is_file():
                shutil.move(path, finished / path.name)
        shutil.rmtree(working, ignore_errors=True)
        finished.rename(folder)
        forget_old_builds(cache)
    return program


def _run(
    command: Sequence[str],
    environment: Mapping[str, str],
    deadline_s: float,
    what: str,
    say: Callable[[str], None] = lambda _: None,
) -> None:
    late = threading.Event()
    try:
        process = subprocess.Popen(
            list(command),
            cwd=SOURCES,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except FileNotFoundError:
        raise NativeBuildError("cmake was not found; install CMake 3.21 or newer.") from None

    def stop() -> None:
        late.set()
        _end(process)

    timer = threading.Timer(deadline_s, stop)
    timer.start()
    said = []
    try:
        with process:
            for line in process.stdout or ():
                if line.strip():
                    said.append(line.rstrip())
                counted = _STEP.match(line)
                if counted:
                    say(f"Compiling, {counted[1]} of {counted[2]}" if counted[2] else f"Compiling, {counted[3]} %")
    except BaseException:
        _end(process)
        raise
    finally:
        timer.cancel()
    if late.is_set():
        raise NativeBuildError(f"It took more than {deadline_s:.0f} s to {what}; it was stopped.")
    if process.returncode:
        errors = [line for line in said if "error" in line.lower()] or said[-20:]
        raise NativeBuildError(f"Could not {what}:\n" + "\n".join(errors[:20]))


def _end(process: subprocess.Popen[str]) -> None:
    """With the compilers that it has started."""
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


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


def forget_old_builds(cache: Path) -> None:
    """Remove all but the newest few folders of a cache, and none that somebody else may be using."""
    builds = sorted((path.stat().st_mtime, path) for path in cache.iterdir() if path.is_dir())
    for made_at, path in builds[:-_KEPT_BUILDS]:
        if time.time() - made_at > _IN_USE_S:
            shutil.rmtree(path, ignore_errors=True)
