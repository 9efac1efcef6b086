"""Which states can a target be in on one window, and when? The ground that the within-window oracle is searched on.

A state is what alignment left behind at a boundary: committed tokens n, cursor u, consumed tokens s.
How a round goes on from there depends on the boundary's time only through the batches that are out
and on whether the producer runs, so that time falls into stretches between *events*, and
neighbouring events with the same outcome into one *stage* of the state. A *move* is one chain length
in one stage: what it costs and which state it leads to.

``explore`` finds every state and the earliest time at which a target that may also wait for a
publication can be there. Who may wait is never worse off for arriving earlier, and so one time for a
state is enough: the result is exact for a target that may wait, and no target that never waits is
faster. ``latest_starts`` turns that around: who is in a state later than this cannot beat a given time.
"""

import math
from typing import Any

from as2d_core.alignment import STOP, align_step, chain_length
from as2d_core.replay.schedule import drain_end

# Columns of a state, a stage and a move.
COMMITTED, CURSOR, CONSUMED, NEXT_OF_COMMITTED, FIRST_STAGE, STAGES, PLACE = range(7)
FIRST_EVENT, LAST_EVENT, FIRST_MOVE, MOVES = range(4)
NEXT_STATE, LENGTH = range(2)
STATE_COLUMNS, STAGE_COLUMNS, MOVE_COLUMNS = 7, 4, 2

DONE = -1
"""Next state of a move that completes the output."""
TOO_SMALL = -1
"""Number of states when an array was too small."""


def event_times(batch_ends: Any, batch_times_ms: Any, producer_end_ms: float, event_ms: Any, event_visible: Any) -> int:
    """When does the outcome of a round change? At 0, with every batch, and when the producer ends.

    Fills ``event_ms`` and ``event_visible`` (batches + 3 long); one more instant, infinity, follows.

    Returns:
        The number of events.
    """
    event_ms[0] = 0.0
    event_visible[0] = 0
    count = 1
    for batch in range(len(batch_ends)):
        if batch_times_ms[batch] > event_ms[count - 1]:
            event_ms[count] = batch_times_ms[batch]
            count += 1
        event_visible[count - 1] = batch_ends[batch]
    if producer_end_ms > event_ms[count - 1]:
        event_ms[count] = producer_end_ms
        event_visible[count] = event_visible[count - 1]
        count += 1
    event_ms[count] = math.inf
    return count


def state_of(heads: Any, states: Any, count: int, committed: int, cursor: int, consumed: int) -> int:
    """The number of a state; when it is new it is added as number ``count``, if there is room."""
    state = heads[committed]
    while state >= 0:
        if states[state, CURSOR] == cursor and states[state, CONSUMED] == consumed:
            return int(state)
        state = states[state, NEXT_OF_COMMITTED]
    if count < len(states):
        states[count, COMMITTED] = committed
        states[count, CURSOR] = cursor
        states[count, CONSUMED] = consumed
        states[count, NEXT_OF_COMMITTED] = heads[committed]
        heads[committed] = count
    return count


def explore(
    target: Any,
    candidates: Any,
    low_confidence: Any,
    event_ms: Any,
    event_visible: Any,
    events: int,
    producer_end_ms: float,
    operation_ms: float,
    budget: int,
    concurrent_ms: Any,
    idle_ms: Any,
    search_window: int,
    output_cap: int,
    heads: Any,
    states: Any,
    earliest_ms: Any,
    order: Any,
    stages: Any,
    moves: Any,
    move_ms: Any,
) -> tuple[float, int]:
    """Every state a target under the budget can be in, and the earliest time it can be there.

    Fills ``states``, their ``earliest_ms``, ``stages``, ``moves`` with ``move_ms``, and ``order``:
    states by committed tokens. ``heads`` has room for N + 1.

    Returns:
        ``(bound_ms, states)``: no sequence of widths is faster than the bound.
        ``TOO_SMALL`` in place of the states when an array has to be longer.
    """
    total = len(target)
    for n in range(total + 1):
        heads[n] = -1
    count = state_of(heads, states, 0, 1, 0, 0) + 1
    earliest_ms[0] = 0.0
    placed = stage = move = 0
    best = math.inf
    for committed in range(1, total):
        state = heads[committed]
        while state >= 0:
            order[placed] = state
            states[state, PLACE] = placed
            placed += 1
            states[state, FIRST_STAGE] = stage
            arrival = earliest_ms[state]
            event = 0
            while event_ms[event + 1] <= arrival:
                event += 1
            last_cursor = last_consumed = last_length = -1
            last_running = False
            for at in range(event, events):
                cursor, consumed = states[state, CURSOR], states[state, CONSUMED]
                visible = event_visible[at]
                while consumed < committed and cursor < visible:
                    rule, cursor, consumed = align_step(
                        candidates, visible, target, committed, cursor, consumed, search_window
                    )
                    if rule == STOP:
                        break
                running = event_ms[at] < producer_end_ms
                length = 0
                if consumed == committed:
                    length = chain_length(low_confidence, cursor, visible, committed, budget, output_cap)
                if (
                    at > event
                    and cursor == last_cursor
                    and consumed == last_consumed
                    and length == last_length
                    and running == last_running
                ):
                    stages[stage - 1, LAST_EVENT] = at
                    continue
                last_cursor, last_consumed, last_length, last_running = cursor, consumed, length, running
                if stage == len(stages) or move + length + 1 > len(moves):
                    return best, TOO_SMALL
                start = arrival if at == event else event_ms[at]
                stages[stage, FIRST_EVENT] = at
                stages[stage, LAST_EVENT] = at
                stages[stage, FIRST_MOVE] = move
                matched = 0
                while (
                    matched < length
                    and committed + matched < total
                    and candidates[cursor + matched] == target[committed + matched]
                ):
                    matched += 1
                cheapest, least = matched, math.inf
                if not running:
                    for wide in range(matched, length + 1):
                        if wide + 1 < len(idle_ms) and idle_ms[wide + 1] < least:
                            cheapest, least = wide, idle_ms[wide + 1]
                for wide in range(length + 1):
                    # A chain behind its first mismatch leads to the same state. With the producer at rest the cheapest
                    # width stands for all; while it runs, a dearer one may be better: it meets a later publication.
                    if not running and wide >= matched and wide != cheapest:
                        continue
                    taken = min(wide, matched)
                    cost = math.nan
                    if running:
                        if wide + 1 < len(concurrent_ms):
                            cost = concurrent_ms[wide + 1]
                    elif wide + 1 < len(idle_ms):
                        cost = idle_ms[wide + 1]
                    if math.isnan(cost):
                        continue
                    following = committed + taken
                    if following < total:
                        following += 1
                    moves[move, LENGTH] = wide
                    move_ms[move] = cost
                    if following >= total:
                        moves[move, NEXT_STATE] = DONE
                        end = drain_end(start + cost, producer_end_ms, operation_ms)
                        if end < best:
                            best = end
                    else:
                        caught_up = following - 1 if consumed == committed else consumed
                        reached = state_of(heads, states, count, following, cursor + taken, caught_up)
                        if reached == count:
                            if count == len(states):
                                return best, TOO_SMALL
                            earliest_ms[count] = math.inf
                            count += 1
                        moves[move, NEXT_STATE] = reached
                        if start + cost < earliest_ms[reached]:
                            earliest_ms[reached] = start + cost
                    move += 1
                stages[stage, MOVES] = move - stages[stage, FIRST_MOVE]
                stage += 1
            states[state, STAGES] = stage - states[state, FIRST_STAGE]
            state = states[state, NEXT_OF_COMMITTED]
    return best, placed


def latest_starts(
    states: Any,
    order: Any,
    placed: int,
    stages: Any,
    moves: Any,
    move_ms: Any,
    event_ms: Any,
    producer_end_ms: float,
    operation_ms: float,
    limit_ms: float,
    latest_ms: Any,
) -> None:
    """The latest time in every state from which the output can still be complete before ``limit_ms``.

    The target may wait here; who never waits can only be slower. Fills ``latest_ms`` by state;
    minus infinity where it cannot.
    """
    done = limit_ms
    if operation_ms > 0.0 and limit_ms <= producer_end_ms:
        # The producer runs on to its next operation boundary: only boundaries before the limit are of use.
        done = (math.ceil(limit_ms / operation_ms - 1e-9) - 1) * operation_ms
    for place in range(placed - 1, -1, -1):
        state = order[place]
        latest = -math.inf
        first = states[state, FIRST_STAGE]
        for stage in range(first, first + states[state, STAGES]):
            opens, closes = event_ms[stages[stage, FIRST_EVENT]], event_ms[stages[stage, LAST_EVENT] + 1]
            begin = stages[stage, FIRST_MOVE]
            for move in range(begin, begin + stages[stage, MOVES]):
                reached = moves[move, NEXT_STATE]
                start = (done if reached == DONE else latest_ms[reached]) - move_ms[move]
                if start >= opens:
                    if start > closes:
                        start = closes
                    if start > latest:
                        latest = start
        latest_ms[state] = latest
