"""The round loops of replay, one function per method (Section 4, Appendix D.1.3).

They run as plain Python over lists or arrays, and compiled over arrays (``compiling.compiled``),
with the same arithmetic in the same order: both agree to the last bit. Alignment and chain length
are the functions that a native run uses.
"""

import math
from typing import Any

from as2d_core.alignment import STOP, align_step, chain_length
from as2d_core.replay.schedule import drain_end
from as2d_core.width_rule import ruled_length

# Columns of the round table of ``as2d_loop``.
WIDTH, ACCEPTED, CURSOR_BEFORE, CURSOR_AFTER, VISIBLE, RUNNING = range(6)
ROUND_COLUMNS = 6


def as2d_loop(
    target: Any,
    candidates: Any,
    low_confidence: Any,
    batch_ends: Any,
    batch_times_ms: Any,
    producer_end_ms: float,
    operation_ms: float,
    budget: int,
    concurrent_ms: Any,
    idle_ms: Any,
    search_window: int,
    output_cap: int,
    width_table: Any,
    table: Any,
    boundaries_ms: Any,
) -> tuple[float, float, int, int, int, int, int]:
    """As²d on one window.

    Args:
        target: y[0..N-1].
        candidates, low_confidence: c[0..M-1] and whether each is below the threshold.
        batch_ends, batch_times_ms: candidates out after each batch, and when.
        producer_end_ms, operation_ms: end of the source by itself; length of one operation.
        budget: proposal budget b.
        concurrent_ms, idle_ms: cost of a round by width K, loop included; NaN = no cost.
        search_window, output_cap: W of alignment; largest number of committed tokens.
        width_table: of a width rule that covers the budget, or empty.
        table, boundaries_ms: filled with one row per round and N instants when they have room
            (N x ROUND_COLUMNS and N), or empty.

    Returns:
        ``(time_ms, eos_ms, rounds, k1_rounds, proposed, accepted, longest)``: ``longest`` is the most
        candidates that one round could have taken under the budget. A width without a cost gives NaN
        times and that width, negated, in place of the rounds.
    """
    total = len(target)
    now = 0.0
    committed = 1
    cursor = 0
    consumed = 0
    visible = 0
    batch = 0
    rounds = 0
    k1_rounds = 0
    proposed = 0
    accepted = 0
    longest = 0
    while committed < total:
        while batch < len(batch_ends) and batch_times_ms[batch] <= now:
            visible = batch_ends[batch]
            batch += 1
        cursor_before = cursor
        while consumed < committed and cursor < visible:
            rule, cursor, consumed = align_step(candidates, visible, target, committed, cursor, consumed, search_window)
            if rule == STOP:
                break
        running = now < producer_end_ms
        length = 0
        if consumed == committed:
            length = chain_length(low_confidence, cursor, visible, committed, budget, output_cap)
            if length > longest:
                longest = length
            length = ruled_length(width_table, length, running)
        width = length + 1
        cost = math.nan
        if running:
            if width < len(concurrent_ms):
                cost = concurrent_ms[width]
        elif width < len(idle_ms):
            cost = idle_ms[width]
        if math.isnan(cost):
            return math.nan, math.nan, -width, 0, 0, 0, budget
        matched = 0
        while (
            matched < length
            and committed + matched < total
            and candidates[cursor + matched] == target[committed + matched]
        ):
            matched += 1
        committed += matched
        if committed < total:
            committed += 1
        if length > 0:
            cursor += matched
            consumed = committed - 1
        else:
            k1_rounds += 1
        proposed += length
        accepted += matched
        if len(boundaries_ms) > 0:
            boundaries_ms[rounds] = now
            table[rounds, WIDTH] = width
            table[rounds, ACCEPTED] = matched
            table[rounds, CURSOR_BEFORE] = cursor_before
            table[rounds, CURSOR_AFTER] = cursor
            table[rounds, VISIBLE] = visible
            table[rounds, RUNNING] = 1 if running else 0
        rounds += 1
        now += cost
    return drain_end(now, producer_end_ms, operation_ms), now, rounds, k1_rounds, proposed, accepted, longest


def standard_sd_loop(
    agrees: Any, width: int, draft_ms: float, verify_ms: Any, loop_ms: float, output_cap: int
) -> tuple[float, int, int]:
    """Standard speculative decoding at a fixed width on one window.

    Args:
        agrees: N flags: the drafter's greedy token after the true prefix y[0..i-1] equals y[i].
        width: physical width K; only the output cap makes it smaller.
        draft_ms: one draft forward while the target waits.
        verify_ms: verification by width K, loop not included; NaN = no cost.
        loop_ms: the rest of a round.
        output_cap: largest number of committed tokens.

    Returns:
        ``(time_ms, rounds, draft_forwards)``; a width without a cost gives a NaN time and that
        width, negated, in place of the rounds.
    """
    total = len(agrees)
    now = 0.0
    committed = 1
    rounds = 0
    forwards = 0
    behind = False
    while committed < total:
        length = width - 1
        if length > output_cap - committed - 1:
            length = output_cap - committed - 1
        if length < 0:
            length = 0
        cost = math.nan
        if length + 1 < len(verify_ms):
            cost = verify_ms[length + 1]
        if math.isnan(cost):
            return math.nan, -(length + 1), 0
        drafts = length
        # After a full acceptance the last draft token is not in the drafter's cache yet.
        if behind and length > 0:
            drafts += 1
        matched = 0
        while matched < length and committed + matched < total and agrees[committed + matched]:
            matched += 1
        behind = matched == length
        committed += matched
        if committed < total:
            committed += 1
        forwards += drafts
        rounds += 1
        now += drafts * draft_ms
        now += cost + loop_ms
    return now, rounds, forwards


def as2d_grid_loop(
    target: Any,
    target_offsets: Any,
    caps: Any,
    candidates: Any,
    low_confidence: Any,
    candidate_offsets: Any,
    batch_ends: Any,
    batch_times_ms: Any,
    batch_offsets: Any,
    producer_end_ms: Any,
    operation_ms: float,
    budgets: Any,
    concurrent_ms: Any,
    idle_ms: Any,
    search_window: int,
    width_table: Any,
    table: Any,
    boundaries_ms: Any,
    times_ms: Any,
    counts: Any,
) -> None:
    """As²d with one drafter on every window under every budget.

    Windows lie one behind the other in flat arrays, cut by their offsets (W + 1 each). Budgets rise:
    one that no round of the budget before it could have used up changes nothing, and is copied.
    ``candidate_offsets`` of a window without this drafter are equal, and its ``producer_end_ms``
    is NaN. ``width_table`` is that of a width rule that covers every budget, or empty. ``table`` and
    ``boundaries_ms`` are empty. Fills ``times_ms`` [B, W] and ``counts`` [B, W, 4] (rounds, k1 rounds,
    proposed, accepted); NaN and -1 where a pair cannot run.
    """
    for w in range(len(caps)):
        y = target[target_offsets[w] : target_offsets[w + 1]]
        c = candidates[candidate_offsets[w] : candidate_offsets[w + 1]]
        low = low_confidence[candidate_offsets[w] : candidate_offsets[w + 1]]
        ends = batch_ends[batch_offsets[w] : batch_offsets[w + 1]]
        times = batch_times_ms[batch_offsets[w] : batch_offsets[w + 1]]
        longest = 0
        for b in range(len(budgets)):
            if math.isnan(producer_end_ms[w]):
                times_ms[b, w] = math.nan
                counts[b, w, :] = -1
                continue
            if b > 0 and longest < budgets[b - 1]:
                times_ms[b, w] = times_ms[b - 1, w]
                counts[b, w, :] = counts[b - 1, w, :]
                continue
            time_ms, _, rounds, k1_rounds, proposed, accepted, longest = as2d_loop(
                y,
                c,
                low,
                ends,
                times,
                producer_end_ms[w],
                operation_ms,
                budgets[b],
                concurrent_ms,
                idle_ms,
                search_window,
                caps[w],
                width_table,
                table,
                boundaries_ms,
            )
            times_ms[b, w] = time_ms
            if math.isnan(time_ms):
                counts[b, w, :] = -1
            else:
                counts[b, w, 0] = rounds
                counts[b, w, 1] = k1_rounds
                counts[b, w, 2] = proposed
                counts[b, w, 3] = accepted


def standard_sd_grid_loop(
    agrees: Any,
    offsets: Any,
    caps: Any,
    present: Any,
    widths: Any,
    draft_ms: float,
    verify_ms: Any,
    loop_ms: float,
    times_ms: Any,
) -> None:
    """Standard SD with one drafter on every window at every width; fills ``times_ms`` [K, W].

    ``present`` says on which windows the drafter's agreement is known.
    """
    for w in range(len(caps)):
        for k in range(len(widths)):
            if present[w]:
                flags = agrees[offsets[w] : offsets[w + 1]]
                times_ms[k, w] = standard_sd_loop(flags, widths[k], draft_ms, verify_ms, loop_ms, caps[w])[0]
            else:
                times_ms[k, w] = math.nan
