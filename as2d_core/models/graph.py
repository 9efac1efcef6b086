"""How many bytes of weights does an MNN graph want? MNN reads on behind the end of a shorter file without a word.

A graph is a flatbuffer of MNN's schema (``Net``, ``Op``, ``Convolution2D``, ``LayerNorm``), read here
only as far as that question goes. Weights outside of it are named by lists of 64-bit integers: an
offset, then the sizes of what lies there one after the other.
"""

import struct

_OPLISTS = 3
_MAIN_TYPE, _MAIN = 1, 2
_OUTSIDE = {9: 6, 88: 5}
"""By the type of an operator's parameters, which of their fields names weights: convolution, layer normalization."""


def weight_bytes(graph: bytes) -> int | None:
    """Least length of the weight file of a graph; ``None`` when ``graph`` is none that can be followed.

    A graph that keeps all weights inside itself wants 0 bytes.
    """
    try:
        return max((sum(place) for place in _places(_Tables(graph))), default=0)
    except (struct.error, IndexError, ValueError):
        return None


def _places(tables: "_Tables") -> list[tuple[int, ...]]:
    operators = tables.field(tables.target(0), _OPLISTS)
    if operators is None:
        raise ValueError("no operators")
    places = []
    for operator in tables.vector(tables.target(operators), "I"):
        kind, main = tables.field(operator, _MAIN_TYPE), tables.field(operator, _MAIN)
        if kind is None or main is None:
            continue
        number = _OUTSIDE.get(tables.graph[kind])
        outside = None if number is None else tables.field(tables.target(main), number)
        if outside is not None:
            place = tables.vector(tables.target(outside), "q")
            if len(place) > 1 and min(place) >= 0:
                places.append(place)
    return places


class _Tables:
    """The three rules of a flatbuffer: forward offsets, tables with a list of their fields, vectors."""

    def __init__(self, graph: bytes) -> None:
        self.graph = graph

    def target(self, at: int) -> int:
        """Where the offset that lies at ``at`` points to."""
        return at + int(self._number("I", at))

    def field(self, table: int, number: int) -> int | None:
        """Where a field of a table lies, ``None`` when the table does not have it."""
        fields = table - self._number("i", table)
        place = 4 + 2 * number
        if place >= self._number("H", fields):
            return None
        offset = self._number("H", fields + place)
        return table + offset if offset else None

    def vector(self, at: int, code: str) -> tuple[int, ...]:
        """The numbers of a vector; of one of tables (``I``), where they lie."""
        count = self._number("I", at)
        size = struct.calcsize(f"<{code}")
        if at < 0 or count * size > len(self.graph):
            raise ValueError("a vector is longer than the file")
        numbers = struct.unpack_from(f"<{count}{code}", self.graph, at + 4)
        return tuple(at + 4 + size * i + n for i, n in enumerate(numbers)) if code == "I" else numbers

    def _number(self, code: str, at: int) -> int:
        if at < 0:
            raise ValueError("an offset points before the file")
        return int(struct.unpack_from(f"<{code}", self.graph, at)[0])
