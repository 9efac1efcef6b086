"""Where does the read cursor go after a target boundary? (Section 4.2 and Appendix C.3 of the paper.)

The rules are pure index arithmetic over two token sequences, so that the native loop runs them on
Python lists and the replay kernel compiles the very same functions over arrays.
"""

from collections.abc import Sequence

DEFAULT_SEARCH_WINDOW = 16
"""Candidates looked at beyond the cursor; the paper calls the search bounded and gives no bound."""

# What one step of alignment did. Small integers, because the compiled kernel shares them.
STOP = 0  # the next target token is needed first: this round has K = 1
MATCH = 1  # the candidate is the committed token
INSERTION = 2  # the target inserted a token; the candidate matches the one after it
NEXT_TOKEN = 3  # the next target token was found further on
CORRECTION_PAIR = 4  # the correction followed by the next target token was found further on
UNMATCHED = 5  # nothing found; the committed token is passed over, the cursor stays

RULE_NAMES = {
    STOP: "next target token needed",
    MATCH: "match",
    INSERTION: "target inserted a token",
    NEXT_TOKEN: "next target token found",
    CORRECTION_PAIR: "correction and continuation found",
    UNMATCHED: "no match",
}


def align_step(
    candidates: Sequence[int],
    visible: int,
    target: Sequence[int],
    committed: int,
    cursor: int,
    consumed: int,
    search_window: int,
) -> tuple[int, int, int]:
    """Compare one committed token with the candidate at the cursor and move on by one rule.

    Call it only while ``consumed < committed`` and ``cursor < visible``.

    Args:
        candidates: the source's tokens, at least ``visible`` of them.
        visible: number of candidates published at this boundary.
        target: committed target tokens, at least ``committed`` of them.
        committed: number of committed tokens n.
        cursor: index u of the next candidate.
        consumed: number s of committed tokens that alignment has used up.
        search_window: how far past the cursor the search may look (W).

    Returns:
        ``(rule, cursor, consumed)`` after the step. ``rule == STOP`` leaves both as they were.
    """
    anchor = target[consumed]
    if candidates[cursor] == anchor:
        return MATCH, cursor + 1, consumed + 1
    if consumed + 1 >= committed:
        return STOP, cursor, consumed
    following = target[consumed + 1]
    if candidates[cursor] == following:
        return INSERTION, cursor + 1, consumed + 2
    last = cursor + search_window
    if last > visible - 1:
        last = visible - 1
    for j in range(cursor + 1, last + 1):
        if candidates[j] == following:
            return NEXT_TOKEN, j + 1, consumed + 2
    # Nearer pairs would have been found above as NEXT_TOKEN: only the window's far edge is left.
    edge = cursor + search_window
    if edge + 1 < visible and candidates[edge] == anchor and candidates[edge + 1] == following:
        return CORRECTION_PAIR, edge + 2, consumed + 2
    return UNMATCHED, cursor, consumed + 1


def chain_length(
    low_confidence: Sequence[bool],
    cursor: int,
    visible: int,
    committed: int,
    budget: int,
    output_cap: int,
) -> int:
    """How many candidates the next verification takes when alignment has caught up.

    At most ``budget``, at most what is published, never past the output cap, and no further than
    the first candidate whose confidence is below the threshold (that one is included).

    Args:
        low_confidence: one flag per candidate; all false when the source gives no confidences.
        cursor: index of the first candidate to take.
        visible: number of candidates published at this boundary.
        committed: committed tokens so far, known root included.
        budget: proposal budget b (candidates, not width).
        output_cap: largest number of committed tokens.
    """
    length = visible - cursor
    if length > budget:
        length = budget
    if length > output_cap - committed - 1:
        length = output_cap - committed - 1
    if length < 0:
        length = 0
    for k in range(length):
        if low_confidence[cursor + k]:
            return k + 1
    return length
