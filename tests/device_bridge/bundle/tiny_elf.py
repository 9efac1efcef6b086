"""The smallest arm64 programs and libraries: a header, one loaded part, and the names of what they need."""

import struct

ARM64 = 183
_TEXT_AT = 0x400


def tiny_elf(needed=(), machine=ARM64, ballast=b"", content=b"as2d"):
    """An ELF file of one loaded part; ``ballast`` lies behind it and is not loaded."""
    strings = b"\0" + b"".join(name.encode() + b"\0" for name in needed)
    offsets = [strings.index(name.encode() + b"\0") for name in needed]
    entries = [(1, offset) for offset in offsets] + [(5, 0x300), (10, len(strings)), (0, 0)]
    dynamic = b"".join(struct.pack("<qQ", *entry) for entry in entries)
    body = bytearray(_TEXT_AT)
    body[0x200 : 0x200 + len(dynamic)] = dynamic
    body[0x300 : 0x300 + len(strings)] = strings
    body += content
    head = struct.pack(
        "<4sBBBB8xHHIQQQIHHHHHH",
        b"\x7fELF", 2, 1, 1, 0, 3, machine, 1, 0, 64, 0, 0, 64, 56, 2, 64, 0, 0,
    )  # fmt: skip
    load = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, len(body), len(body), 0x1000)
    dyn = struct.pack("<IIQQQQQQ", 2, 6, 0x200, 0x200, 0x200, len(dynamic), len(dynamic), 8)
    body[: len(head)] = head
    body[64 : 64 + 112] = load + dyn
    return bytes(body) + ballast
