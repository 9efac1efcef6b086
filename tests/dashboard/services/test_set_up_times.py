"""How long setting up will take: the speed seen before, what else it takes, and n/a where neither is known."""

import pytest

from dashboard.services.set_up_times import (
    SEEN_FILE,
    SeenTimes,
    SetUpEstimate,
    SetUpMeter,
    estimate,
    expected_set_up,
    keep_times,
    seen_times,
)
from dashboard.views.device_cards import set_up_text
from datastore.locations import Folders
from device_bridge.setup.checks import Readiness
from device_bridge.setup.setup import Transferred

MB = 1_000_000


class Clock:
    now_s = 0.0

    def __call__(self):
        return self.now_s


def a_set_up(*steps, ended=True, before=None):
    """What is seen of one that says these things, each after so many seconds."""
    clock, said = Clock(), []
    meter = SetUpMeter(said.append, clock)
    for wait_s, sentence in steps:
        clock.now_s += wait_s
        meter.say(sentence)
    clock.now_s += 1
    assert said == [sentence for _, sentence in steps]
    return meter.seen(before or SeenTimes(), ended=ended)


def sending(what, done_mb, total_mb=100):
    return Transferred(what, done_mb * MB, total_mb * MB)


def test_the_speed_is_that_of_the_bytes_that_crossed_and_building_is_not_in_the_rest():
    seen = a_set_up(
        (300, "Fetching Python"), (0, sending("Python", 10)), (2, sending("Python", 90)), (5, "Starting the runner"),
        (4, sending("a model", 0)), (3, sending("a model", 40)),
    )  # fmt: skip
    assert seen == SeenTimes(120 * MB / 5, 5 + 4 + 1)


def test_what_lay_there_already_was_not_sent():
    assert a_set_up((1, sending("Python", 100)), (1, "Starting")).bytes_per_s is None


def test_a_set_up_that_was_broken_off_tells_the_speed_only_and_what_was_known_before_stays():
    steps = ((0, sending("Python", 0)), (2, sending("Python", 50)))
    assert a_set_up(*steps, ended=False, before=SeenTimes(7.0, 9.0)) == SeenTimes(25 * MB, 9.0)
    assert a_set_up((1, "Looking"), ended=False, before=SeenTimes(7.0, 9.0)) == SeenTimes(7.0, 9.0)


def test_what_a_set_up_took_is_known_the_next_time_for_this_phone_alone(tmp_path):
    folders = Folders(tmp_path)
    clock = Clock()
    meter = SetUpMeter(lambda _: None, clock)
    for clock.now_s, done_mb in ((0.0, 0), (2.0, 80)):
        meter.say(sending("Python", done_mb))
    clock.now_s = 5.0
    keep_times(folders, "usb:1", meter, ended=True)
    readiness = Readiness("usb:1", (), python_bytes=20 * MB, model_bytes=100 * MB)
    assert expected_set_up(folders, "usb:1", readiness) == SetUpEstimate(120 * MB, 3.0, 6.0)
    assert expected_set_up(folders, "usb:2", readiness) == SetUpEstimate(120 * MB, None, None)
    (tmp_path / "runner").write_bytes(bytes(4 * MB))
    assert expected_set_up(folders, "usb:1", readiness, native=True).to_send_bytes == 100 * MB
    native = expected_set_up(folders, "usb:1", readiness, native=True, program=tmp_path / "runner")
    assert native.to_send_bytes == 104 * MB
    assert expected_set_up(folders, "usb:1", readiness, native=True, program=tmp_path / "no").to_send_bytes is None
    assert expected_set_up(folders, "usb:1", Readiness("usb:1", ())).to_send_bytes is None


@pytest.mark.parametrize("text", ["", "[]", '{"usb:1": 3}', '{"usb:1": {"bytes_per_s": -1, "rest_s": "soon"}}', "{"])
def test_times_that_cannot_be_read_are_unknown(tmp_path, text):
    (tmp_path / SEEN_FILE).write_text(text, encoding="utf-8")
    assert seen_times(Folders(tmp_path), "usb:1") == SeenTimes()


@pytest.mark.parametrize(
    ("seen", "to_send_bytes", "text"),
    [
        (SeenTimes(40e6, 8), 60 * MB, "at most 60.0 MB to send, about 10 s as seen here before"),
        (SeenTimes(40e6, None), 80 * MB, "at most 80.0 MB to send, which takes about 2 s as seen here before; the "
         "rest n/a"),
        (SeenTimes(None, 8), 80 * MB, "at most 80.0 MB to send, time n/a: not seen on this phone before"),
        (SeenTimes(None, 8), 0, "nothing to send, about 8 s as seen here before"),
        (SeenTimes(), 0, "nothing to send, time n/a: not seen on this phone before"),
        (SeenTimes(40e6, 8), None, "how much is to be sent is not known yet, nor how long it takes (n/a)"),
    ],
)  # fmt: skip
def test_what_is_not_known_is_said_to_be_so(seen, to_send_bytes, text):
    assert set_up_text(estimate(seen, to_send_bytes)) == text
