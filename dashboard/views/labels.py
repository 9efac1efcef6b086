"""Where do direct labels go so that they do not overlap?"""

from collections.abc import Sequence


def spread(places: Sequence[float], gap: float) -> list[float]:
    """Positions as near as possible to ``places``, at least ``gap`` apart, in the same order of height.

    Neighbours that are too close are moved apart around their common middle, block by block.
    """
    order = sorted(range(len(places)), key=lambda i: places[i])
    blocks: list[tuple[float, list[int]]] = []
    for i in order:
        blocks.append((places[i], [i]))
        while len(blocks) > 1:
            (low_middle, low), (high_middle, high) = blocks[-2], blocks[-1]
            if high_middle - (len(high) - 1) * gap / 2 - (low_middle + (len(low) - 1) * gap / 2) >= gap - 1e-12:
                break
            members = low + high
            blocks[-2:] = [(sum(places[k] for k in members) / len(members), members)]
    out = [0.0] * len(places)
    for middle, members in blocks:
        first = middle - (len(members) - 1) * gap / 2
        for rank, i in enumerate(members):
            out[i] = first + rank * gap
    return out
