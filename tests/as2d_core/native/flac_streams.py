"""Random FLAC streams that use every form of the format, also those that no encoder chooses by itself."""

import random

import numpy as np

FIXED = ((), (1,), (2, -1), (3, -3, 1), (4, -6, 4, -1))
"""Coefficients of the fixed predictors by their order."""


class Bits:
    """Bits behind one another, the highest first."""

    def __init__(self):
        self.text = ""

    def put(self, value, width):
        if width:
            self.text += format(value & ((1 << width) - 1), f"0{width}b")

    def bytes(self):
        self.text += "0" * (-len(self.text) % 8)
        return int("1" + self.text, 2).to_bytes(len(self.text) // 8 + 1, "big")[1:]


def crc(data, polynomial, width):
    """Checksum of a frame's header (8 bits) or of a whole frame (16 bits)."""
    value = 0
    for byte in data:
        value ^= byte << (width - 8)
        for _ in range(8):
            value = (value << 1) ^ (polynomial if value >> (width - 1) else 0)
            value &= (1 << width) - 1
    return value


def stream(seed):
    """A random stream.

    Returns:
        Its bytes, its samples as shape [n, channels] of whole numbers, and the bits that those have.
    """
    chance = random.Random(seed)
    bits = chance.choice([8, 8, 12, 16, 16, 20, 24, 24])
    channels = chance.choice([1, 1, 2, 2, 2, 3, 8])
    frames, blocks = [], []
    sizes = [
        2048,
        *(chance.choice([192, 576, 256, 1024, chance.randint(16, 700)]) for _ in range(chance.randint(0, 3))),
    ]
    if chance.random() < 0.5:
        sizes.append(chance.randint(1, 15))  # only the last block may be so short
    for size in sizes:
        block = _samples(chance, size, channels, bits)
        frames.append(_frame(chance, sum(map(len, blocks)), block, bits))
        blocks.append(block)
    samples = np.concatenate(blocks)
    info = Bits()
    for value, width in ((16, 16), (4096, 16), (0, 24), (0, 24), (16_000, 20), (channels - 1, 3), (bits - 1, 5)):
        info.put(value, width)
    info.put(len(samples), 36)
    info.put(0, 128)
    metadata = b"\x00\x00\x00\x22" + info.bytes() + b"\x81\x00\x00\x05" + bytes(5)
    return b"fLaC" + metadata + b"".join(frames), samples, bits


def _samples(chance, size, channels, bits):
    top = (1 << (bits - 1)) - 1
    kind = chance.choice(["wave", "wave", "noise", "constant", "wasted"])
    if kind == "constant":
        return np.full((size, channels), chance.randint(-top, top))
    if kind == "wave":
        turn = np.arange(size)[:, None] * 0.05 + np.arange(channels) * 0.01
        return np.round(0.6 * top * np.sin(turn) + np.array([[chance.uniform(-3, 3)] for _ in range(size)])).astype(int)
    block = np.array([[chance.randint(-top, top) for _ in range(channels)] for _ in range(size)])
    return block if kind == "noise" else block >> 3 << 3


def _frame(chance, first, block, bits):
    size, channels = block.shape
    lanes = [[int(v) for v in block[:, c]] for c in range(channels)]
    code = channels - 1
    if channels == 2 and chance.random() < 0.75:
        code = chance.choice([8, 9, 10])
        left, right = lanes
        side = [a - b for a, b in zip(left, right, strict=True)]
        middle = [(a + b) >> 1 for a, b in zip(left, right, strict=True)]
        lanes = {8: [left, side], 9: [side, right], 10: [middle, side]}[code]
    out = Bits()
    out.put(0x7FFC, 15)
    out.put(1, 1)  # blocks of different sizes: each names its first sample
    known = {192: 1, 576: 2, 256: 8, 1024: 10}
    size_code = known.get(size, 7) if chance.random() < 0.7 else 7
    rate_code = chance.choice([0, 5, 12, 13, 14])
    for value, width in ((size_code, 4), (rate_code, 4), (code, 4)):
        out.put(value, width)
    out.put(chance.choice([0, {8: 1, 12: 2, 16: 4, 20: 5, 24: 6}[bits]]), 3)
    out.put(0, 1)
    for byte in chr(first).encode():
        out.put(byte, 8)
    if size_code == 7:
        out.put(size - 1, 16)
    if rate_code > 11:
        out.put({12: 16, 13: 16_000, 14: 1_600}[rate_code], 8 if rate_code == 12 else 16)
    out.put(crc(out.bytes(), 0x07, 8), 8)
    for index, lane in enumerate(lanes):
        side = (code, index) in {(8, 1), (9, 0), (10, 1)}
        _subframe(chance, out, lane, bits + side)
    body = out.bytes()
    return body + crc(body, 0x8005, 16).to_bytes(2, "big")


def _subframe(chance, out, lane, bits):
    wasted = 0
    while any(lane) and all(v % (2 << wasted) == 0 for v in lane):
        wasted += 1
    kinds = ["verbatim", "fixed", "fixed", "linear", "linear"]
    kind = "constant" if len(set(lane)) == 1 and chance.random() < 0.7 else chance.choice(kinds)
    order = 0
    if kind == "fixed":
        order = chance.randint(0, min(4, len(lane) - 1))
    elif kind == "linear":
        order = chance.choice([1, 2, 8, chance.randint(1, 32)])
        if order >= len(lane):
            kind, order = "verbatim", 0
    out.put({"constant": 0, "verbatim": 1, "fixed": 8 + order, "linear": 31 + order}[kind], 7)
    out.put(1 if wasted else 0, 1)
    if wasted:
        out.put(1, wasted)
    bits -= wasted
    lane = [v >> wasted for v in lane]
    first = {"constant": 1, "verbatim": len(lane)}.get(kind, order)
    for value in lane[:first]:
        out.put(value, bits)
    if kind in ("constant", "verbatim"):
        return
    coefficients, shift = FIXED[order] if kind == "fixed" else (), 0
    if kind == "linear":
        precision, shift = chance.randint(5, 15), chance.randint(3, 12)
        top = min((1 << (precision - 1)) - 1, (1 << shift) // 2)
        coefficients = [chance.randint(-top, top) // order for _ in range(order)]
        out.put(precision - 1, 4)
        out.put(shift, 5)
        for value in coefficients:
            out.put(value, precision)
    residual = [
        lane[i] - (sum(c * lane[i - 1 - k] for k, c in enumerate(coefficients)) >> shift)
        for i in range(order, len(lane))
    ]
    _residual(chance, out, residual, order, len(lane))


def _residual(chance, out, residual, order, size):
    method = chance.choice([0, 1])
    fitting = [p for p in range(5) if size % (1 << p) == 0 and size >> p > order]
    partition_order = chance.choice(fitting)
    out.put(method, 2)
    out.put(partition_order, 4)
    each = size >> partition_order
    for number in range(1 << partition_order):
        part = residual[max(0, number * each - order) : (number + 1) * each - order]
        widest = max((abs(v) for v in part), default=0).bit_length() + 1
        escaped = widest <= 31 and chance.random() < 0.2
        if escaped or (method == 0 and 20 < widest < 32):
            out.put(15 if method == 0 else 31, 4 + method)
            out.put(0 if not any(part) else widest, 5)
            for value in part if any(part) else ():
                out.put(value, widest)
            continue
        parameter = min(14 if method == 0 else 30, max(0, widest - chance.randint(1, 4)))
        out.put(parameter, 4 + method)
        for value in part:
            folded = value * 2 if value >= 0 else -value * 2 - 1
            out.put(1, (folded >> parameter) + 1)
            out.put(folded, parameter)
