"""The native runner, built once for all tests and kept outside the tree under the hash of its sources."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import platformdirs
import pytest

from as2d_core.native.builder import NativeBuildError, build_for_tests, missing_tools

DEADLINE_S = 300
BUILD_DEADLINE_S = 900
SOAK_DEADLINE_S = 7200


@dataclass(frozen=True)
class NativeRunner:
    """A program that is fed lines and asked for lines."""

    program: Path

    def run(self, lines, *arguments):
        with self.start(*arguments) as process:
            out, err = process.communicate("".join(f"{line}\n" for line in lines).encode(), timeout=DEADLINE_S)
        assert b"Sanitizer" not in err, err.decode()
        assert b"runtime error" not in err, err.decode()
        assert process.returncode in {0, 1, 2}, err.decode()
        return out.decode()

    def start(self, *arguments):
        return subprocess.Popen(
            [self.program, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **SANITIZER_OPTIONS},
        )


SANITIZER_OPTIONS = {"UBSAN_OPTIONS": "print_stacktrace=1", "TSAN_OPTIONS": "halt_on_error=1 exitcode=66"}


def built_runner(sanitize=""):
    """The host's native runner; skips where there is no compiler."""
    lacking = missing_tools()
    if lacking:
        pytest.skip(f"The native runner is not tested: {' and '.join(lacking)} not found. Install a C++ compiler.")
    try:
        return NativeRunner(build_for_tests(Path(platformdirs.user_cache_dir("as2d")) / "native-tests", sanitize))
    except NativeBuildError as error:
        pytest.fail(str(error))


@pytest.fixture(scope="session")
def native_runner():
    """The host's runner, with the sanitizers in AS2D_NATIVE_SANITIZE; or the program in AS2D_NATIVE_RUNNER."""
    given = os.environ.get("AS2D_NATIVE_RUNNER")
    return NativeRunner(Path(given).absolute()) if given else built_runner(os.environ.get("AS2D_NATIVE_SANITIZE", ""))


@pytest.fixture(scope="session")
def memory_checked_runner():
    """The same, with every access and every undefined operation checked."""
    return built_runner("address,undefined")


@pytest.fixture(scope="session")
def thread_checked_runner():
    """The same, with every race between threads reported."""
    return built_runner("thread")


def pytest_collection_modifyitems(items):
    """Whoever asks first waits for the compiler; the long tests take long besides."""
    for item in items:
        if any(name.endswith("_runner") for name in getattr(item, "fixturenames", ())):
            soaks = item.get_closest_marker("soak") is not None
            item.add_marker(pytest.mark.timeout(SOAK_DEADLINE_S if soaks else BUILD_DEADLINE_S))
