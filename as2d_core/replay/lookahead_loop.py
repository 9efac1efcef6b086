"""The round loop of prefix lookahead: standard SD whose drafter goes on while the target verifies (Table 13)."""

import math
from typing import Any

from as2d_core.replay.branches import DrafterStates, fed_state
from as2d_core.replay.specasr_loop import meeting_point

# Parts of the time, in milliseconds.
DRAFTING, WAITING, VERIFYING, LOOPING, DRAINING, BESIDE = range(6)
LOOKAHEAD_PARTS = 6

# Counters.
ROUNDS, PROPOSED, ACCEPTED, FORWARDS, AHEAD, AHEAD_USED, AHEAD_REALIGNED = range(7)
LOOKAHEAD_COUNTERS = 7


def lookahead_loop(
    agrees: Any,
    target: Any,
    drafter: DrafterStates,
    known: bool,
    eos: int,
    width: int,
    draft_ms: float,
    ahead_ms: float,
    concurrent_ms: Any,
    idle_ms: Any,
    loop_ms: float,
    output_cap: int,
    old: Any,
    parts: Any,
    counters: Any,
) -> int:
    """Prefix lookahead on one window: standard SD whose drafter goes on while the target verifies.

    Beside a verification the drafter reads its own last token, guesses the bonus, and drafts the next
    round behind that guess. The drafts that are verified, and so every round, stay those of standard
    SD. When everything was accepted and the guess is the target's bonus, the forwards that were
    finished or begun need not be repeated. When only the guess was wrong, the forward that read the
    last token is still good. After a rejection all of them are void. A forward that has begun must
    end before the drafter can do anything else.

    Args:
        agrees: N flags: the drafter's greedy token after the true prefix y[0..i-1] equals y[i].
        target, drafter, eos: y[0..N-1] and what the drafter says in every state; read only if ``known``.
        known: whether tokens off the true path are known, so that realigned tokens can be counted.
        width: physical width K; only the output cap makes it smaller.
        draft_ms, ahead_ms: one draft forward while the target waits; one beside its verification.
        concurrent_ms, idle_ms: verification by width K beside the drafter and alone, loop not
            included; NaN = no cost.
        loop_ms: the rest of a round; the drafter looks ahead until its end.
        output_cap: largest number of committed tokens.
        old: work array with room for 4 K tokens.
        parts: [LOOKAHEAD_PARTS] milliseconds, filled. All but ``BESIDE`` sum up to the time;
            ``BESIDE`` is drafting that verification hides.
        counters: [LOOKAHEAD_COUNTERS] filled. ``AHEAD_REALIGNED``: looked-ahead tokens behind a
            rejection that the next draft says again where the two meet, -1 when that is not known.

    Returns:
        0, or a width that has no cost, negated.
    """
    total = len(agrees)
    for i in range(LOOKAHEAD_PARTS):
        parts[i] = 0.0
    for i in range(LOOKAHEAD_COUNTERS):
        counters[i] = 0
    committed = 1
    needed_more = 0  # a catch-up forward that the next draft needs
    ready = 0  # forwards of the next draft that are done
    tail_ms = 0.0  # what is left of the forward that has begun
    while committed < total:
        length = width - 1
        if length > output_cap - committed - 1:
            length = output_cap - committed - 1
        if length < 0:
            length = 0
        forwards = 0
        if length > 0:
            forwards = length + needed_more - ready
        # The next draft, if all of this one is accepted.
        next_length = width - 1
        if next_length > output_cap - committed - length - 2:
            next_length = output_cap - committed - length - 2
        most_ahead = 0
        if length > 0 and next_length > 0:
            most_ahead = next_length + 1
        cost = math.nan
        if most_ahead > 0:
            if length + 1 < len(concurrent_ms):
                cost = concurrent_ms[length + 1]
        elif length + 1 < len(idle_ms):
            cost = idle_ms[length + 1]
        if math.isnan(cost):
            return -(length + 1)
        parts[WAITING] += tail_ms
        parts[DRAFTING] += forwards * draft_ms
        counters[FORWARDS] += forwards
        parts[VERIFYING] += cost
        parts[LOOPING] += loop_ms
        window_ms = cost + loop_ms
        ahead = most_ahead
        if most_ahead > 0 and window_ms < most_ahead * ahead_ms:
            ahead = math.ceil(window_ms / ahead_ms)
            if ahead > most_ahead:
                ahead = most_ahead
        beside_ms = ahead * ahead_ms
        tail_ms = beside_ms - window_ms
        if tail_ms < 0.0:
            tail_ms = 0.0
        parts[BESIDE] += beside_ms - tail_ms
        counters[AHEAD] += ahead
        matched = 0
        while matched < length and committed + matched < total and agrees[committed + matched]:
            matched += 1
        first = committed
        committed += matched
        guessed = committed < total and agrees[committed]
        if committed < total:
            committed += 1
        counters[ROUNDS] += 1
        counters[PROPOSED] += length
        counters[ACCEPTED] += matched
        needed_more = 0
        ready = 0
        if committed >= total:
            parts[DRAINING] += tail_ms
            break
        if matched == length and length > 0:
            needed_more = 1
            if guessed:
                ready = ahead
            elif ahead > 0:
                ready = 1
        counters[AHEAD_USED] += ready
        if not known:
            counters[AHEAD_REALIGNED] = -1
        elif ahead > 0 and not (matched == length and guessed) and counters[AHEAD_REALIGNED] >= 0:
            found = realigned_tokens(target, drafter, eos, first, matched, length, ahead, committed, next_length, old)
            if found < 0:
                counters[AHEAD_REALIGNED] = -1
            else:
                counters[AHEAD_REALIGNED] += found
    return 0


def realigned_tokens(
    target: Any,
    drafter: DrafterStates,
    eos: int,
    first: int,
    matched: int,
    length: int,
    ahead: int,
    committed: int,
    next_length: int,
    old: Any,
) -> int:
    """How many looked-ahead tokens the next draft says again, from where it meets the old branch.

    Args:
        target, drafter, eos: y[0..N-1] and what the drafter says.
        first: committed tokens when the old draft began.
        matched: how many of its ``length`` tokens were accepted.
        ahead: looked-ahead tokens behind it, the guess among them.
        committed: committed tokens now.
        next_length: most tokens of the next draft.
        old: work array with room for ``length + ahead`` tokens.

    Returns:
        The count; -1 when a token was not recorded.
    """
    state = first
    end = 0
    while end < length + ahead:
        word = drafter.words[state]
        if word == eos:
            break
        old[end] = word
        end += 1
        if end < length + ahead:
            state = fed_state(target, drafter, state, word)
            if state < 0:
                return -1
    start = matched + 1
    state = committed
    suffix = -1
    found = 0
    for position in range(next_length):
        word = drafter.words[state]
        if word == eos:
            break
        if suffix < 0:
            suffix = meeting_point(old, start, end, word, position)
        elif suffix < end and old[suffix] == word:
            if suffix >= length:
                found += 1
            suffix += 1
        else:
            break
        if position + 1 < next_length:
            state = fed_state(target, drafter, state, word)
            if state < 0:
                return -1
    return found


HELPERS = (fed_state, meeting_point, realigned_tokens)
"""What ``lookahead_loop`` calls."""
