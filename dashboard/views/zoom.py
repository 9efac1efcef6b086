"""Which window of time is shown after a step? Zoom and shift inside the whole of a run, in ms."""

from dashboard.views.timeline_info import TimelineInfo

Window = tuple[float, float]
LEAST_MS = 1.0


def whole(info: TimelineInfo) -> Window:
    """All of a run."""
    return 0.0, max(info.end_ms, LEAST_MS)


def valid(window: tuple[float | None, float | None], info: TimelineInfo) -> Window | None:
    """A window that was asked for, cut to the run; ``None`` (the whole run) when it is none."""
    low, high = whole(info)
    start, end = (low if window[0] is None else window[0]), (high if window[1] is None else window[1])
    start, end = max(low, start), min(high, end)
    if end - start < LEAST_MS or (start, end) == (low, high):
        return None
    return start, end


def zoomed(window: Window | None, info: TimelineInfo, factor: float) -> Window | None:
    """``factor`` times as much time around the same middle."""
    low, high = window or whole(info)
    half = max((high - low) * factor, LEAST_MS) / 2
    middle = (low + high) / 2
    return valid((middle - half, middle + half), info)


def shifted(window: Window | None, info: TimelineInfo, share: float) -> Window | None:
    """The same length, moved by a share of it, stopping at the ends of the run."""
    if window is None:
        return None
    low, high = whole(info)
    step = (window[1] - window[0]) * share
    step = max(low - window[0], min(step, high - window[1]))
    return valid((window[0] + step, window[1] + step), info)


def around_rounds(info: TimelineInfo, index: int, count: int) -> Window | None:
    """The window of ``count`` rounds that begin with the one of that index."""
    at = [row for row in range(len(info.rounds)) if info.rounds.index[row] == index]
    if not at:
        return None
    last = min(at[0] + count, len(info.rounds)) - 1
    return valid((float(info.rounds.start_ms[at[0]]), float(info.rounds.end_ms[last])), info)


def first_round(info: TimelineInfo, window: Window | None) -> int | None:
    """Index of the first round that verifies candidates in a window, or else of the first at all; ``None`` without."""
    low, high = window or whole(info)
    seen = [row for row in range(len(info.rounds)) if low <= info.rounds.start_ms[row] < high]
    wide = (row for row in seen if info.rounds.proposed[row] > 0)
    row = next(wide, seen[0] if seen else None)
    return None if row is None else int(info.rounds.index[row])
