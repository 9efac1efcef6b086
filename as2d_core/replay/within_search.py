"""What is the best sequence of widths on one window? The search over boundary times, in loops that compile.

A target that never waits can be in one state at many times, and an earlier one is not always the
better one: it may miss a publication by a hair. ``search`` keeps all of these times while they fit,
and a part of them when they do not. ``enclose`` keeps intervals that hold all of them, joined where
they do not fit, and so bounds what ``search`` may have missed.
"""

import math
from typing import Any

from as2d_core.replay.schedule import drain_end
from as2d_core.replay.within_loops import (
    DONE,
    FIRST_EVENT,
    FIRST_MOVE,
    FIRST_STAGE,
    LAST_EVENT,
    LENGTH,
    MOVES,
    NEXT_STATE,
    STAGES,
)


def keep_few(times_ms: Any, parents: Any, count: int, room: int, tolerance_ms: float) -> int:
    """Sort the labels of one state, drop equal ones, and thin them out to ``room`` when there are more.

    Returns:
        How many are left; negated when some had to be dropped.
    """
    order = times_ms[:count].argsort(kind="mergesort")
    sorted_ms, sorted_parents = times_ms[:count][order], parents[:count][order]
    kept = 0
    for i in range(count):
        if kept == 0 or sorted_ms[i] - times_ms[kept - 1] > tolerance_ms:
            times_ms[kept] = sorted_ms[i]
            parents[kept] = sorted_parents[i]
            kept += 1
    if kept <= room:
        return kept
    for i in range(room):
        # Evenly over the whole range, the earliest and the latest always among them.
        j = i * (kept - 1) // (room - 1)
        times_ms[i] = times_ms[j]
        parents[i] = parents[j]
    return -room


def search(
    states: Any,
    order: Any,
    placed: int,
    stages: Any,
    moves: Any,
    move_ms: Any,
    event_ms: Any,
    producer_end_ms: float,
    operation_ms: float,
    latest_ms: Any,
    limit_ms: float,
    tolerance_ms: float,
    labels_ms: Any,
    parents: Any,
    counts: Any,
    lengths: Any,
) -> tuple[float, int, bool]:
    """The fastest sequence of widths before ``limit_ms`` for a target that never waits.

    ``labels_ms`` and ``parents`` are [states, L] of room for boundary times; ``counts`` by state.
    ``lengths`` (N long) is filled with the candidates of every round.

    Returns:
        ``(time_ms, rounds, complete)``: infinity and 0 when none was found; ``complete`` when
        nothing was left out, so that none exists that is faster.
    """
    room = labels_ms.shape[1] // 2
    for place in range(placed):
        counts[order[place]] = 0
    labels_ms[0, 0] = 0.0
    parents[0, 0] = -1
    counts[0] = 1
    complete = True
    best, best_label, best_move = math.inf, -1, -1
    for place in range(placed):
        state = order[place]
        if counts[state] == 0:
            continue
        kept = keep_few(labels_ms[state], parents[state], counts[state], room, tolerance_ms)
        if kept < 0:
            complete = False
            kept = -kept
        stage = states[state, FIRST_STAGE]
        for label in range(kept):
            now = labels_ms[state, label]
            if now > latest_ms[state]:
                break
            # With the producer at rest nothing depends on time any more: the earliest stands for all later ones.
            if label > 0 and labels_ms[state, label - 1] >= producer_end_ms:
                break
            while event_ms[stages[stage, LAST_EVENT] + 1] <= now:
                stage += 1
            begin = stages[stage, FIRST_MOVE]
            for move in range(begin, begin + stages[stage, MOVES]):
                after = now + move_ms[move]
                reached = moves[move, NEXT_STATE]
                if reached == DONE:
                    end = drain_end(after, producer_end_ms, operation_ms)
                    if end < best and end < limit_ms - tolerance_ms:
                        best = end
                        best_label = state * labels_ms.shape[1] + label
                        best_move = move
                elif after <= latest_ms[reached]:
                    if counts[reached] == labels_ms.shape[1]:
                        left = keep_few(labels_ms[reached], parents[reached], counts[reached], room, tolerance_ms)
                        if left < 0:
                            complete = False
                            left = -left
                        counts[reached] = left
                    labels_ms[reached, counts[reached]] = after
                    parents[reached, counts[reached]] = (state * labels_ms.shape[1] + label) * len(moves) + move
                    counts[reached] += 1
    if best_label < 0:
        return best, 0, complete
    # Back from the last round to the first.
    rounds = 0
    label, move = best_label, best_move
    while True:
        lengths[rounds] = moves[move, LENGTH]
        rounds += 1
        parent = parents[label // labels_ms.shape[1], label % labels_ms.shape[1]]
        if parent < 0:
            break
        label, move = parent // len(moves), parent % len(moves)
    for i in range(rounds // 2):
        lengths[i], lengths[rounds - 1 - i] = lengths[rounds - 1 - i], lengths[i]
    return best, rounds, complete


def merge_nearest(low_ms: Any, high_ms: Any, count: int, room: int) -> int:
    """Sort the intervals of one state and join neighbours, nearest first, until at most ``room`` are left."""
    order = low_ms[:count].argsort(kind="mergesort")
    sorted_low, sorted_high = low_ms[:count][order], high_ms[:count][order]
    kept = 0
    for i in range(count):
        if kept > 0 and sorted_low[i] <= high_ms[kept - 1]:
            if sorted_high[i] > high_ms[kept - 1]:
                high_ms[kept - 1] = sorted_high[i]
        else:
            low_ms[kept] = sorted_low[i]
            high_ms[kept] = sorted_high[i]
            kept += 1
    while kept > room:
        # All gaps up to the one that must still close are closed at once.
        gaps = low_ms[1:kept] - high_ms[: kept - 1]
        gaps.sort()
        widest = gaps[kept - room - 1]
        left = 1
        for i in range(1, kept):
            if low_ms[i] - high_ms[left - 1] <= widest:
                high_ms[left - 1] = high_ms[i]
            else:
                low_ms[left] = low_ms[i]
                high_ms[left] = high_ms[i]
                left += 1
        kept = left
    return kept


def enclose(
    states: Any,
    order: Any,
    placed: int,
    stages: Any,
    moves: Any,
    move_ms: Any,
    event_ms: Any,
    producer_end_ms: float,
    operation_ms: float,
    latest_ms: Any,
    low_ms: Any,
    high_ms: Any,
    counts: Any,
) -> float:
    """A time that no sequence of widths of a target that never waits can beat.

    ``low_ms`` and ``high_ms`` are [states, L] of room for intervals of boundary times.

    Returns:
        The bound; infinity when none is faster than what ``latest_ms`` was made for.
    """
    room = low_ms.shape[1] // 2
    for place in range(placed):
        counts[order[place]] = 0
    low_ms[0, 0] = high_ms[0, 0] = 0.0
    counts[0] = 1
    best = math.inf
    for place in range(placed):
        state = order[place]
        if counts[state] == 0:
            continue
        kept = merge_nearest(low_ms[state], high_ms[state], counts[state], room)
        first = states[state, FIRST_STAGE]
        last = first + states[state, STAGES]
        for i in range(kept):
            low, high = low_ms[state, i], high_ms[state, i]
            if low > latest_ms[state]:
                break
            if i > 0 and low_ms[state, i - 1] >= producer_end_ms:
                break
            if high > latest_ms[state]:
                high = latest_ms[state]
            for stage in range(first, last):
                opens, closes = event_ms[stages[stage, FIRST_EVENT]], event_ms[stages[stage, LAST_EVENT] + 1]
                if closes <= low:
                    continue
                if opens > high:
                    break
                start = max(opens, low)
                stop = min(closes, high)
                if start >= producer_end_ms:
                    stop = start
                begin = stages[stage, FIRST_MOVE]
                for move in range(begin, begin + stages[stage, MOVES]):
                    reached = moves[move, NEXT_STATE]
                    after = start + move_ms[move]
                    if reached == DONE:
                        end = drain_end(after, producer_end_ms, operation_ms)
                        if end < best:
                            best = end
                    elif after <= latest_ms[reached]:
                        if counts[reached] == low_ms.shape[1]:
                            counts[reached] = merge_nearest(low_ms[reached], high_ms[reached], counts[reached], room)
                        low_ms[reached, counts[reached]] = after
                        high_ms[reached, counts[reached]] = stop + move_ms[move]
                        counts[reached] += 1
    return best
