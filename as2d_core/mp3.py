"""How long is an MP3 file really? As long as its frames, which are counted: a decoder guesses it from the first one.

A file whose bitrate varies says its number of frames in a header of its own ("Xing"). Where that is missing, or says
too few, as after joining two files, the decoder would stop early without a word. So the file is handed to
it with such a header in front.
"""

import struct
from dataclasses import dataclass

_RATES = {3: (44_100, 48_000, 32_000), 2: (22_050, 24_000, 16_000), 0: (11_025, 12_000, 8_000)}
"""Sample rates by version: 3 is MPEG 1, 2 is MPEG 2, 0 is MPEG 2.5."""
_KBPS_1 = (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320)
_KBPS_2 = (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160)
_SAME = 0xFFFE_0C00
"""Bits of a frame's head that all frames of a file share: version, layer, sample rate."""
_NO_CRC, _PADDING, _BITRATE = 0x0001_0000, 0x0000_0200, 0x0000_F000
_FRAMES_SAID = 1
_MOST_JUNK = 1 << 18
"""Bytes of a file that may lie between its frames, all together."""
_MOST_TAGS = 100
"""A file has one or two; more are junk."""
_SLACK = 2
"""Frames at the end of a file that some encoders do not count."""


@dataclass(frozen=True, slots=True)
class _Frame:
    head: int
    length: int


def with_length(data: bytes) -> bytes:
    """The same MP3 file, in which a decoder finds how long it is.

    Args:
        data: a whole file; anything that is no MP3 is returned as it is.

    Returns:
        The same bytes when they say enough; else without what they say wrongly, with a header in front.
    """
    start = _first(data)
    frame = None if start is None else _frame(data, start)
    if start is None or frame is None:
        return data
    said = _said(data, start, frame)
    if said is not None:
        start += frame.length
    frames, same = _count(data, start, frame.head)
    if said is None and same:
        return data  # one bitrate: the size of the file says it all
    if said is not None and said + _SLACK >= frames:
        return data  # a file that was cut off keeps what it said: whoever reads it tells that the rest is missing
    return _header(frame.head, frames) + data[start:]


def _first(data: bytes) -> int | None:
    """Where the first frame is that another one follows."""
    at = tags = 0
    while tags < _MOST_TAGS and data[at : at + 3] == b"ID3" and len(data) >= at + 10:
        size = sum((byte & 0x7F) << shift for byte, shift in zip(data[at + 6 : at + 10], (21, 14, 7, 0), strict=True))
        tags += 1
        at += 10 + size + (10 if data[at + 5] & 0x10 else 0)
    return _next(data, at, None, at + _MOST_JUNK)


def _next(data: bytes, at: int, like: int | None, until: int) -> int | None:
    """Where the next frame begins, whose own next one is where it should be, or is the last."""
    end = min(until, len(data) - 4)
    while 0 <= (at := data.find(b"\xff", at, end + 1)) <= end:
        frame = _frame(data, at, like)
        if frame is not None:
            after = at + frame.length
            if after >= len(data) - 4 or _frame(data, after, frame.head) is not None:
                return at
        at += 1
    return None


def _frame(data: bytes, at: int, like: int | None = None) -> _Frame | None:
    """The frame of layer III there, if there is one, of the same kind as ``like``."""
    if at + 4 > len(data):
        return None
    head = int.from_bytes(data[at : at + 4], "big")
    version, bitrate, rate = head >> 19 & 3, head >> 12 & 15, head >> 10 & 3
    if head >> 21 != 0x7FF or version == 1 or head >> 17 & 3 != 1 or bitrate in (0, 15) or rate == 3:
        return None
    if like is not None and (head ^ like) & _SAME:
        return None
    kbps = (_KBPS_1 if version == 3 else _KBPS_2)[bitrate]
    size = (144_000 if version == 3 else 72_000) * kbps // _RATES[version][rate]
    return _Frame(head, size + (1 if head & _PADDING else 0))


def _side_bytes(head: int) -> int:
    """Where a header of its own begins in a frame: after its head, check and side information."""
    mono, first = head >> 6 & 3 == 3, head >> 19 & 3 == 3
    return 4 + (0 if head & _NO_CRC else 2) + ((17 if mono else 32) if first else (9 if mono else 17))


def _said(data: bytes, start: int, frame: _Frame) -> int | None:
    """How many frames the file says that it has; ``None`` when it does not say."""
    for place in (start + _side_bytes(frame.head), start + _side_bytes(frame.head | _NO_CRC)):
        if data[place : place + 4] in (b"Xing", b"Info") and len(data) >= place + 12:
            flags, frames = struct.unpack_from(">II", data, place + 4)
            return int(frames) if flags & _FRAMES_SAID else None
    if data[start + 36 : start + 40] == b"VBRI" and len(data) >= start + 54:
        return int(struct.unpack_from(">I", data, start + 50)[0])
    return None


def _count(data: bytes, start: int, like: int) -> tuple[int, bool]:
    """Whole frames from ``start`` on, and whether all of them have one bitrate; what lies between is passed over."""
    at, frames, junk = start, 0, 0
    rates = set()
    while True:
        frame = _frame(data, at, like)
        if frame is None:
            after = _next(data, at, like, at + _MOST_JUNK - junk)
            if after is None:
                break
            junk, at = junk + after - at, after
            continue
        if at + frame.length > len(data):
            break
        frames += 1
        rates.add(frame.head & _BITRATE)
        at += frame.length
    return frames, len(rates) <= 1


def _header(head: int, frames: int) -> bytes:
    """A frame that holds nothing but the number of frames after it."""
    plain = (head | _NO_CRC) & ~(_BITRATE | _PADDING)
    # The smallest bitrate whose frame has room for it.
    body = struct.pack(">4sII", b"Xing", _FRAMES_SAID, frames)
    for bitrate in range(1, 15):
        whole = (plain | bitrate << 12).to_bytes(4, "big")
        frame = _frame(whole, 0)
        if frame is not None and frame.length >= _side_bytes(plain) + len(body):
            return (whole + bytes(_side_bytes(plain) - 4) + body).ljust(frame.length, b"\0")
    raise AssertionError("the largest frame has room for it")  # pragma: no cover
