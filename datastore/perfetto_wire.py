"""How are the bytes of a Perfetto trace taken apart? As protobuf fields, none of which is trusted.

A trace is a sequence of packets, each a field of its own, so that one which was cut off is read up to the cut.
"""

import struct
import zlib
from collections.abc import Iterator

import pyarrow as pa

from datastore.errors import ForeignError

PACKET, COMPRESSED, COMPRESSED_ZSTD = 1, 50, 133
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
MOST_INFLATED = 400_000_000
"""Bytes that all compressed packets of one trace may become."""
MOST_PACKETS = 5_000_000
"""Packets of one trace; empty ones take two bytes each."""
_BLOCK = 1 << 18
MOST_DEPTH = 2
"""Compressed packets within compressed packets; the format has one level."""

Field = tuple[int, int, int | memoryview]
"""Number, wire type, and a whole number or the bytes."""


class CutOffError(ForeignError):
    """The bytes end within a field."""


class TooMuchError(ForeignError):
    """It expands beyond what is read."""


class Inflated:
    """How many packets there were so far, what the compressed ones have become, and how many are damaged."""

    def __init__(self) -> None:
        self.bytes = 0
        self.packets = 0
        self.damaged = 0


def fields(data: memoryview) -> Iterator[Field]:
    """Fields of one message in their order.

    Raises:
        CutOffError: it ends within a field.
        ForeignError: it is no protobuf message.
    """
    at, end = 0, len(data)
    while at < end:
        key, at = _varint(data, at)
        number, kind = key >> 3, key & 7
        if number == 0:
            raise ForeignError("field 0 is no field of a message")
        if kind == VARINT:
            value, at = _varint(data, at)
            yield number, kind, value
            continue
        if kind == BYTES:
            length, at = _varint(data, at)
        elif kind in (FIXED64, FIXED32):
            length = 8 if kind == FIXED64 else 4
        else:
            raise ForeignError(f"wire type {kind} is none that a trace uses")
        if length > end - at:
            raise CutOffError("it ends within a field")
        yield number, kind, data[at : at + length]
        at += length


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data):
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, at
        shift += 7
        if shift > 63:
            raise ForeignError("a number has more than 64 bits")
    raise CutOffError("it ends within a number")


def signed(value: int) -> int:
    """An ``int64`` from what a varint holds."""
    return value - (1 << 64) if value >> 63 else value


def real(data: memoryview) -> float:
    """A ``float`` or ``double``."""
    return float(struct.unpack("<f" if len(data) == 4 else "<d", data)[0])


def packets(data: memoryview, inflated: Inflated, depth: int = 0) -> Iterator[memoryview]:
    """Packets of a trace, those that are compressed included; ``CutOffError`` at the cut of one that is not whole.

    Raises:
        CutOffError, ForeignError: as ``fields``.
        TooMuchError: they are too many, or what is compressed becomes too large.
    """
    for number, kind, value in fields(data):
        if number != PACKET or kind != BYTES or isinstance(value, int):
            continue
        inflated.packets += 1
        if inflated.packets > MOST_PACKETS:
            raise TooMuchError(f"it has more than {MOST_PACKETS:,} packets; record power counters alone")
        parts = _whole_fields(value, inflated)
        if parts is None:
            continue
        packed = [
            (inner, content)
            for inner, inner_kind, content in parts
            if inner in _DECODERS and inner_kind == BYTES and not isinstance(content, int)
        ]
        if not packed:
            yield value
        elif depth < MOST_DEPTH:
            try:
                whole = _inflate(*packed[-1], inflated)
                yield from packets(memoryview(whole), inflated, depth + 1)
            except CutOffError:
                inflated.damaged += 1
        else:
            inflated.damaged += 1


def _whole_fields(packet: memoryview, inflated: Inflated) -> list[Field] | None:
    """All fields of a packet; ``None`` when it is damaged, which is counted."""
    try:
        return list(fields(packet))
    except ForeignError:
        inflated.damaged += 1
        return None


def _inflate(codec: int, data: memoryview, inflated: Inflated) -> bytes:
    left = MOST_INFLATED - inflated.bytes
    try:
        out = _DECODERS[codec](data, left + 1)
    except (zlib.error, OSError):
        inflated.damaged += 1
        return b""
    if len(out) > left:
        raise TooMuchError(
            f"its compressed packets become more than {MOST_INFLATED / 1e6:.0f} MB; record power counters alone"
        )
    inflated.bytes += len(out)
    return out


def _by_zlib(data: memoryview, most: int) -> bytes:
    return zlib.decompressobj().decompress(data, most)


def _by_zstd(data: memoryview, most: int) -> bytes:
    # In blocks, as buffers: what would hold everything at once is not given back when the packet is damaged.
    out = bytearray()
    with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
        while len(out) < most and (block := stream.read_buffer(min(_BLOCK, most - len(out)))):
            out += block
    return bytes(out)


_DECODERS = {COMPRESSED: _by_zlib, COMPRESSED_ZSTD: _by_zstd}
"""By field of a packet: gives at most so many bytes of what was compressed."""
