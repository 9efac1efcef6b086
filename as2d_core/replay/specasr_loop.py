"""SpecASR's round loop: adaptive drafts with recycling (Appendix D.1.3).

It runs as plain Python and compiled, like the loops of the other methods. What SpecASR does never
depends on a cost, so the loop counts operations; their price is a matter of ``specasr.price_specasr``.
"""

from typing import Any

from as2d_core.replay.branches import DrafterStates, fed_state

# Counters.
ROUNDS, K1_ROUNDS, PROPOSED, ACCEPTED, REUSED, SCALAR, PAIRED, REFRESHES, REFRESHED = range(9)
ASP_COUNTERS = 9
COUNTER_NAMES = (
    "rounds",
    "k1_rounds",
    "proposed",
    "accepted",
    "reused",
    "scalar_forwards",
    "paired_forwards",
    "refreshes",
    "refreshed",
)

# Columns of the round table.
WIDTH, MATCHED, TAKEN_OVER, REASON, SCALARS, PAIRS, REFRESH = range(7)
ASP_COLUMNS = 7

# Why a draft ended.
BUDGET, CONFIDENCE, DRAFTER_END = range(3)

# What is missing when a fact was not recorded: the state, and the tokens that had to be fed there.
COMPLETE = -1


def asp_room(cap: int) -> int:
    """Tokens that a work array of ``asp_loop`` must hold: an old draft and its longest extension."""
    return 2 * cap + 4


def meeting_point(old: Any, start: int, end: int, token: int, position: int) -> int:
    """Where the old branch ``old[start:end]`` goes on behind ``token``; -1 when it does not.

    The same position comes first, then the one before, then the one after; something must follow.
    """
    for shift in (0, -1, 1):
        at = start + position + shift
        if start <= at < end - 1 and old[at] == token:
            return at + 1
    return -1


def asp_loop(
    target: Any,
    drafter: DrafterStates,
    eos: int,
    cap: int,
    output_cap: int,
    paired: bool,
    draft: Any,
    draft_low: Any,
    old: Any,
    old_low: Any,
    counters: Any,
    widths: Any,
    table: Any,
) -> tuple[int, int, int]:
    """SpecASR's adaptive drafts with recycling on one window.

    A draft ends behind a token of low confidence, at the cap, or where the drafter says EOS. After a
    rejection the rest of the draft is the old branch. While the new branch is drafted from the
    corrected prefix, one forward a token, the old branch is extended beside it (``paired``: two
    output rows in one forward) as far as a draft could still use it, or stays as it is (one branch
    after the other). Where the new token is the old branch's at the same or an adjacent position,
    the old suffix joins the draft, one batched forward puts it into the cache, and drafting goes on
    behind it.

    Args:
        target: y[0..N-1].
        drafter: what the drafter says in every state.
        eos: the target's EOS.
        cap: most tokens of a draft.
        output_cap: largest number of committed tokens.
        paired: whether the old branch is extended beside the new one.
        draft, draft_low, old, old_low: work arrays with room for ``asp_room(cap)`` tokens and flags.
        counters: [ASP_COUNTERS] whole numbers, filled.
        widths: verifications by width K, filled; room up to K = cap + 1.
        table: filled with one row of ``ASP_COLUMNS`` per round when it has room, or empty.

    Returns:
        ``(state, first, last)``: ``COMPLETE`` and zeros; or a state, and ``draft[first:last]`` as the
        tokens that had to be fed there when a fact was missing (``old`` when ``last`` is negative,
        which is then its end, negated).
    """
    total = len(target)
    for i in range(ASP_COUNTERS):
        counters[i] = 0
    for i in range(len(widths)):
        widths[i] = 0
    committed = 1
    old_start = 0
    old_end = 0
    old_state = 0
    old_at = 0  # old_state has read old[:old_at]
    behind = False  # the draft's last token is not in the drafter's cache yet
    while committed < total:
        limit = output_cap - committed - 1
        if limit > cap:
            limit = cap
        length = 0
        state = committed
        at = 0  # state has read draft[:at]
        reason = BUDGET
        whole_in_cache = False
        scalars = 0
        pairs = 0
        refreshed = 0
        reused = 0
        if limit > 0:
            if behind:
                scalars += 1
            searching = old_start < old_end
            extending = paired and searching
            in_refresh = False  # the refresh has given the next token already
            while True:
                if extending and old_end - old_start <= limit:
                    while old_at < old_end:
                        to = fed_state(target, drafter, old_state, old[old_at])
                        if to < 0:
                            return old_state, old_at, -old_end
                        old_state = to
                        old_at += 1
                    word = drafter.words[old_state]
                    if word == eos:
                        extending = False
                    else:
                        old[old_end] = word
                        old_low[old_end] = drafter.low[old_state]
                        old_end += 1
                    pairs += 1
                elif not in_refresh:
                    scalars += 1
                in_refresh = False
                while at < length:
                    to = fed_state(target, drafter, state, draft[at])
                    if to < 0:
                        return state, at, length
                    state = to
                    at += 1
                token = drafter.words[state]
                if token == eos:
                    reason = DRAFTER_END
                    whole_in_cache = True
                    break
                draft[length] = token
                draft_low[length] = drafter.low[state]
                length += 1
                if draft_low[length - 1]:
                    reason = CONFIDENCE
                    break
                if length == limit:
                    break
                if searching:
                    suffix = meeting_point(old, old_start, old_end, token, length - 1)
                    if suffix >= 0:
                        searching = False
                        extending = False
                        refresh = 1
                        low = False
                        while suffix < old_end and length < limit and not low:
                            draft[length] = old[suffix]
                            low = old_low[suffix]
                            draft_low[length] = low
                            length += 1
                            suffix += 1
                            refresh += 1
                        reused += refresh - 1
                        refreshed = refresh
                        if low or length == limit:
                            if low:
                                reason = CONFIDENCE
                            whole_in_cache = True
                            break
                        in_refresh = True
        width = length + 1
        matched = 0
        while matched < length and committed + matched < total and draft[matched] == target[committed + matched]:
            matched += 1
        committed += matched
        if committed < total:
            committed += 1
        behind = matched == length and length > 0 and not whole_in_cache
        if matched == length:
            old_start = 0
            old_end = 0
        else:
            for i in range(length):
                old[i] = draft[i]
                old_low[i] = draft_low[i]
            old_start = matched + 1
            old_end = length
            # Nothing of the draft is fed before it is needed, so that no fact is asked for in vain.
            old_state = state
            old_at = at
        if len(table) > 0:
            row = counters[ROUNDS]
            table[row, WIDTH] = width
            table[row, MATCHED] = matched
            table[row, TAKEN_OVER] = reused
            table[row, REASON] = reason
            table[row, SCALARS] = scalars
            table[row, PAIRS] = pairs
            table[row, REFRESH] = refreshed
        widths[width] += 1
        counters[ROUNDS] += 1
        if length == 0:
            counters[K1_ROUNDS] += 1
        counters[PROPOSED] += length
        counters[ACCEPTED] += matched
        counters[REUSED] += reused
        counters[SCALAR] += scalars
        counters[PAIRED] += pairs
        if refreshed > 0:
            counters[REFRESHES] += 1
            counters[REFRESHED] += refreshed
    return COMPLETE, 0, 0


HELPERS = (fed_state, meeting_point)
"""What ``asp_loop`` calls."""
