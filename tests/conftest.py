"""What several parts of the tests share: the bundled models on the real runner, and phones that are none."""

import itertools
import os
import signal

import pytest
from live_runner import LiveRunner, demo_request
from virtual_phones import OwnAdbServer, Phones

# No test ever asks the adb server of whoever runs the tests: nobody listens here.
os.environ["AS2D_ADB_SERVERS"] = "127.0.0.1:9"

# A shell ignores interrupts for what it starts in the background, and children inherit that: tests interrupt some.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def self_test():
    """The width self-test of the bundled target on this processor, run once a session."""
    runner = LiveRunner()
    try:
        record = runner.run(demo_request("self-test"))
    finally:
        runner.close()
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
