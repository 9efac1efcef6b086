"""Which window of time is shown after a step? Zoom and shift inside the whole of a run, in ms."""

import numpy as np

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
    rounds = info.rounds
    at = np.flatnonzero(rounds.index == index)
    if not len(at):
        return None
    reached = np.cumsum(rounds.members[at[0] :])
    last = min(at[0] + int(np.searchsorted(reached, count)), len(rounds) - 1)
    return valid((float(rounds.start_ms[at[0]]), float(rounds.end_ms[last])), info)


def first_round(info: TimelineInfo, window: Window | None) -> int | None:
    """Index of the first round that verifies candidates in a window, or else of the first at all; ``None`` without."""
    low, high = window or whole(info)
    rounds = info.rounds
    seen = np.flatnonzero((rounds.start_ms >= low) & (rounds.start_ms < high))
    wide = seen[rounds.proposed[seen] > 0]
    if len(wide):
        return int((rounds.index if rounds.merged is None else rounds.merged.proposing)[wide[0]])
    return int(rounds.index[seen[0]]) if len(seen) else None


def has_round(info: TimelineInfo, index: int) -> bool:
    """Whether the run has a round of that index. In outline, rounds are numbered from 0 without a gap."""
    if info.rounds.merged is not None:
        return 0 <= index < info.total_rounds
    return bool((info.rounds.index == index).any())


def neighbours(info: TimelineInfo, index: int) -> tuple[int | None, int | None]:
    """The rounds before and after the one of that index, as the record has them."""
    if info.rounds.merged is not None:
        return (index - 1 if index > 0 else None), (index + 1 if index + 1 < info.total_rounds else None)
    order = info.rounds.index
    at = int(np.flatnonzero(order == index)[0])
    return (int(order[at - 1]) if at > 0 else None), (int(order[at + 1]) if at + 1 < len(order) else None)
