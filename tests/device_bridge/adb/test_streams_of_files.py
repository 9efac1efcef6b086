"""What goes over the wire for a file: all of it, in order, and the phone is told to hash on the way."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from device_bridge.adb.segments import _crossed
from device_bridge.adb.wire import Deadline, Wire
from device_bridge.errors import CommandTimeoutError, PhoneLostError


class Line:
    """A socket that takes as many bytes at once as it is told to, and then ends as it is told to."""

    def __init__(self, takes=(), end=None):
        self.got = bytearray()
        self._takes, self._end = list(takes), end

    def settimeout(self, seconds):
        assert seconds > 0

    def sendmsg(self, parts):
        if self._end is not None and not self._takes:
            raise self._end
        some = b"".join(parts)[: self._takes.pop(0) if self._takes else None]
        self.got += some
        return len(some)


def wire_of(line):
    wire = object.__new__(Wire)
    wire.socket = line
    return wire


@given(st.lists(st.binary(max_size=20), max_size=8), st.lists(st.integers(1, 30), max_size=20))
def test_parts_arrive_as_one_however_little_the_line_takes_at_once(parts, takes):
    line = Line(takes)
    wire_of(line).send_parts(parts, Deadline(60, "The test"))
    assert bytes(line.got) == b"".join(parts)


@pytest.mark.parametrize(
    ("end", "error"), [(TimeoutError(), CommandTimeoutError), (ConnectionResetError("reset"), PhoneLostError)]
)
def test_parts_that_nobody_takes_are_a_deadline_that_passed_or_a_line_that_was_lost(end, error):
    with pytest.raises(error):
        wire_of(Line([3], end)).send_parts([b"four", b"more"], Deadline(60, "The test"))


@given(size=st.integers(1, 1 << 33), piece=st.integers(1 << 16, 1 << 20))
def test_a_phone_hashes_on_the_way_in_a_bounded_number_of_steps_and_is_told_all_that_crossed(size, piece):
    piece = max(piece, size >> 9)
    told, steps = [], []
    crossed = _crossed(100, size, told.append, lambda: steps.append(told[-1] if told else 0))
    for sent in [*range(piece, size, piece), size]:
        crossed(sent)
    assert told[-1] == 100 + size
    assert len(steps) <= 40 + (size >> 24)
    if size >= 8 << 20:
        assert 0 < size - (steps[-1] - 100) <= max(4 * piece, 8 << 20)
