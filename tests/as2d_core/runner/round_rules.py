"""What every round of an As²d run must have been, worked out from the output and what was visible.

Written from the paper's Section 4.2 and Appendix C.3, on its own: it shares no code with the decoder.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Expected:
    cursor_before: int
    cursor_after: int
    moves: tuple
    candidates: tuple
    accepted: int
    committed: tuple


def expected_rounds(record):
    """One ``Expected`` for every round of a complete record."""
    request = record.request
    y, c = record.tokens, record.candidates
    confidence = [value for batch in record.publications for value in batch.confidences]
    u = s = 0
    n = 1
    out = []
    for item in record.rounds:
        before = u
        u, s, moves = _align(y, c, u, s, n, item.visible, request.search_window)
        chain = []
        while s == n and len(chain) < request.budget and u + len(chain) < item.visible:
            if n + len(chain) + 1 >= request.max_tokens:
                break
            chain.append(c[u + len(chain)])
            if request.threshold is not None and confidence[u + len(chain) - 1] < request.threshold:
                break
        accepted = 0
        while accepted < len(chain) and n + accepted < len(y) and chain[accepted] == y[n + accepted]:
            accepted += 1
        committed = tuple(y[n : n + accepted + 1])
        n += len(committed)
        if chain:
            u, s = u + accepted, n - 1
        out.append(Expected(before, u, tuple(moves), tuple(chain), accepted, committed))
    return out


def _align(y, c, u, s, n, visible, window):
    moves = []
    while s < n and u < visible:
        before = u
        if c[u] == y[s]:
            rule, u, s = "match", u + 1, s + 1
        elif s + 1 == n:
            moves.append(("next target token needed", u, u))
            break
        else:
            following = y[s + 1]
            found = [j for j in range(u + 1, u + window + 1) if j < visible and c[j] == following]
            edge = u + window
            if c[u] == following:
                rule, u, s = "target inserted a token", u + 1, s + 2
            elif found:
                rule, u, s = "next target token found", found[0] + 1, s + 2
            elif edge + 1 < visible and (c[edge], c[edge + 1]) == (y[s], following):
                rule, u, s = "correction and continuation found", edge + 2, s + 2
            else:
                rule, s = "no match", s + 1
        moves.append((rule, before, u))
    return u, s, moves
