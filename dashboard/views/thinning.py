"""How are many values drawn as few? Lines keep what stands out, neighbours are merged, bars are averaged over time."""

import numpy as np

from dashboard.views.timeline_columns import Floats, Ints

MAX_LINE_POINTS = 2_000
"""Points of a line that a browser draws without a wait."""


def thinned(time: Floats, values: Floats, limit: int = MAX_LINE_POINTS) -> Ints:
    """Rows to keep of a long line: the lowest and highest of every stretch, the ends always."""
    n = len(time)
    if n <= limit:
        return np.arange(n)
    edges = np.linspace(0, n, limit // 2 + 1).astype(np.int64)[:-1]
    filled = np.where(np.isfinite(values), values, 0.0)
    stretch = np.searchsorted(edges, np.arange(n), side="right") - 1
    order = np.lexsort((filled, stretch))
    last = np.append(edges[1:], n) - 1
    return np.unique(np.concatenate([[0, n - 1], order[edges], order[last]]))


def mean_heights(start: Floats, end: Floats, heights: Floats, edges: Floats) -> Floats:
    """Mean height of every piece in every time bin, shape [bins, pieces]; time that no bar covers counts as 0.

    Args:
        start: start of each bar, ms, ascending and without overlap.
        end: end of each bar, ms.
        heights: heights of each bar's pieces, shape [bars, pieces].
        edges: bin edges, ms, ascending.
    """
    if not len(start):
        return np.zeros((len(edges) - 1, heights.shape[1]))
    stop = np.maximum.accumulate(end)
    begin = np.maximum(start, np.append(-np.inf, stop[:-1]))
    time = np.stack([begin, np.maximum(stop, begin)], axis=1).ravel()
    filled = np.zeros((2 * len(start), heights.shape[1]))
    filled[1::2] = heights * (time[1::2] - time[0::2])[:, None]
    total = np.cumsum(filled, axis=0)
    at_edges = np.stack([np.interp(edges, time, column) for column in total.T], axis=1)
    return np.diff(at_edges, axis=0) / np.diff(edges)[:, None]


def merged_starts(n: int, groups: int) -> Ints:
    """First row of every group when ``n`` neighbours are merged into at most ``groups`` equal ones."""
    size = -(-n // max(groups, 1)) if n else 1
    return np.arange(0, n, max(size, 1))
