"""What several parts of the tests share: the bundled models on the real runner, and phones that are none."""

import fcntl
import itertools
import os
import signal
import socket
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from live_runner import LiveRunner, demo_request
from one_compiler import compiled_once
from virtual_phones import OwnAdbServer, Phones

from as2d_core.protocol import parse
from device_bridge.adb.servers import AdbServer

ROOT = Path(__file__).parent
QUICK = ("dashboard/views", "as2d_core/profiles", "as2d_core/published")
"""Folders of tests that start nothing and wait for nothing."""

# No test ever asks the adb server of whoever runs the tests: nobody listens here.
os.environ["AS2D_ADB_SERVERS"] = "127.0.0.1:9"

# An example that a frozen machine made slow is no mistake of the code that it tries.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

# A shell ignores interrupts for what it starts in the background, and children inherit that: tests interrupt some.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """One worker more than there are cores: a third of the time, a worker waits for something else than a core."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return (cores or 1) + 1


def pytest_collection_modifyitems(items):
    """Files that wait run beside files that compute, and quick ones come last: no worker is left alone."""
    files = defaultdict(list)
    for item in items:
        files[item.path].append(item)
    folders = defaultdict(list)
    for path in files:
        folders[path.parent].append(path)
    begun = {}
    for folder, paths in folders.items():
        quick = any(folder == ROOT / name for name in QUICK)
        for number, path in enumerate(paths):
            begun[path] = number / len(paths) * (1.0 if quick else 0.85)
    items[:] = [item for path in sorted(files, key=begun.__getitem__) for item in files[path]]


@pytest.fixture(scope="session")
def folder_of_all(tmp_path_factory):
    """A folder that all workers share, and no later run of the tests."""
    folder = tmp_path_factory.getbasetemp()
    return folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder


@pytest.fixture(scope="session", autouse=True)
def _one_compiler(folder_of_all):
    with compiled_once(folder_of_all):
        yield


@pytest.fixture(scope="session")
def self_test(folder_of_all):
    """The width self-test of the bundled target on this processor, run once for all workers."""
    kept = folder_of_all / "self-test.ndjson"
    with (folder_of_all / "self-test.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            runner = LiveRunner()
            try:
                runner.send(demo_request("self-test"))
                lines = runner.lines("end")
            finally:
                runner.close()
            kept.write_text("".join(lines), encoding="utf-8")
    record = parse(kept.read_text(encoding="utf-8").splitlines(keepends=True))
    assert record.problems == []
    (event,) = record.self_tests
    return event


@pytest.fixture(scope="session")
def exact_widths(self_test):
    """Widths that tests pass on, so that no other runner spends seconds on a self-test."""
    return self_test.exact_widths


@pytest.fixture(scope="session")
def ask(exact_widths):
    """Builds requests over the bundled pair with an id of their own: ``ask("as2d", budget=7)``."""
    numbers = itertools.count(1)

    def build(method="target-only", window="clean_00", **fields):
        fields.setdefault("run_id", f"test-{next(numbers)}")
        fields.setdefault("exact_widths", exact_widths)
        return demo_request(fields.pop("run_id"), method, window, **fields)

    return build


@pytest.fixture
def start_runner():
    """Starts runners of one's own, for tests that kill or stop them."""
    started = []

    def start(*arguments):
        started.append(LiveRunner(*arguments))
        return started[-1]

    yield start
    for runner in started:
        runner.close()


@pytest.fixture(scope="session")
def runner():
    """One resident runner for tests that leave it as they found it."""
    shared = LiveRunner()
    yield shared
    shared.close()


@pytest.fixture(scope="session")
def reference(runner, ask):
    """Target-only tokens of a window, decoded once."""
    known = {}

    def tokens(window="clean_00", **fields):
        key = (window, *sorted(fields.items()))
        if key not in known:
            record = runner.run(ask("target-only", window, **fields))
            assert record.status in {"eos", "capped"}
            known[key] = tuple(record.tokens)
        return known[key]

    return tokens


@pytest.fixture(scope="session")
def nobody():
    """An adb server that is not there, and cannot come: its port is taken, and nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield AdbServer("127.0.0.1", taken.getsockname()[1])


@pytest.fixture(scope="session")
def own_adb(tmp_path_factory):
    """A real adb server on a port of its own, for as long as the tests run."""
    own = OwnAdbServer(tmp_path_factory.mktemp("adb"))
    yield own
    own.stop()


@pytest.fixture
def start_phone(own_adb, tmp_path):
    """Starts virtual phones: ``start_phone("mi14", storage_mb=64)``; they end with the test."""
    phones = Phones(own_adb.server, tmp_path)
    yield phones
    phones.close()


@pytest.fixture(scope="session")
def shared_phone(own_adb, tmp_path_factory):
    """One virtual phone for tests that leave it as they found it."""
    phones = Phones(own_adb.server, tmp_path_factory.mktemp("phones"))
    yield phones("k70", storage_mb=512)
    phones.close()
