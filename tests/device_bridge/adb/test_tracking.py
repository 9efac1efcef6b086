import pytest
from patience import PATIENCE_S, wait_for
from virtual_phones import OwnAdbServer, Phones

from device_bridge.adb import Tracker, tracking
from device_bridge.errors import AdbServerDownError


@pytest.fixture
def own(tmp_path):
    server = OwnAdbServer(tmp_path)
    yield server
    server.stop()


@pytest.fixture
def phones(own, tmp_path):
    started = Phones(own.server, tmp_path)
    yield started
    started.close()


@pytest.fixture
def track():
    made = []

    def build(*servers, **options):
        made.append(Tracker(servers, **options))
        return made[-1]

    yield build
    for tracker in made:
        tracker.close()


def wait_for_seen(tracker, condition):
    wait_for(lambda: condition(tracker.seen))


def test_phones_come_and_go_live(own, phones, track):
    told = []
    tracker = track(own.server, on_change=told.append, settle_s=0.15)
    assert tracker.wait(0, PATIENCE_S).phones == ()
    first, second = phones("k70"), phones("note9")
    wait_for_seen(tracker, lambda seen: {p.serial for p in seen.phones if p.ready} == {first.serial, second.serial})
    second.fault("unauthorized")
    wait_for_seen(tracker, lambda seen: {p.state for p in seen.phones} == {"device", "unauthorized"})
    first.fault("drop")
    wait_for_seen(tracker, lambda seen: [p.serial for p in seen.phones] == [second.serial])
    assert [seen.version for seen in told] == list(range(1, tracker.seen.version + 1))


def test_a_loose_plug_makes_no_flicker(own, phones, track, monkeypatch):
    monkeypatch.setattr(tracking, "LONGEST_SETTLE_S", 3600.0)
    phone = phones()
    told = []
    tracker = track(own.server, on_change=told.append, settle_s=0.1)
    wait_for_seen(tracker, lambda seen: any(p.ready for p in seen.phones))
    tracker._settle_s = 3600.0  # the plug is back before that, however slow this computer is
    told.clear()
    for _ in range(3):
        phone.fault("drop")
        wait_for(lambda: tracker._raw[own.server] == ())
        phone.fault("plug")
        wait_for(lambda: any(p.ready for p in tracker._raw[own.server]))
    tracker._settle_s = 0.0
    wait_for(lambda: tracker._changed_at is None)
    # The connection has a new number; nobody was told that the phone was gone.
    assert all([p.serial for p in seen.phones] == [phone.serial] for seen in told)


def test_a_server_that_is_down_is_a_sentence_beside_the_phones_of_the_others(own, phones, track, nobody):
    phone = phones()
    tracker = track(own.server, nobody, settle_s=0.1)
    wait_for_seen(tracker, lambda seen: [p.serial for p in seen.phones] == [phone.serial] and seen.problems)
    (problem,) = tracker.seen.problems
    assert isinstance(problem, AdbServerDownError)
    assert str(nobody) in str(problem)


def test_a_server_that_starts_again_is_found_again(own, phones, track):
    phone = phones()
    tracker = track(own.server, settle_s=0.1)
    wait_for_seen(tracker, lambda seen: any(p.ready for p in seen.phones))
    own.stop()
    wait_for_seen(tracker, lambda seen: seen.problems and not seen.phones)
    own.start()
    wait_for_seen(
        tracker, lambda seen: [p.serial for p in seen.phones if p.ready] == [phone.serial] and not seen.problems
    )
