"""Accept the matching prefix, take the target's correction or bonus (Section 4.2, Appendix C.2)."""

from collections.abc import Sequence

from as2d_core.errors import EngineError


def accept(candidates: Sequence[int], greedy: Sequence[int]) -> tuple[int, int]:
    """Compare a chain with the target's greedy tokens.

    Args:
        candidates: the k proposed tokens.
        greedy: the target's greedy token after the root and after each candidate (k + 1 of them).

    Returns:
        ``(accepted, next_token)``: how many candidates match, and the target's own token behind
        them (a correction, or the bonus after full acceptance).

    Raises:
        EngineError: the engine returned another number of rows than it was given.
    """
    if len(greedy) != len(candidates) + 1:
        raise EngineError(
            f"The target returned {len(greedy)} rows for a width of {len(candidates) + 1}; "
            "the backend does not compute the width it was asked for."
        )
    accepted = 0
    for token, expected in zip(candidates, greedy, strict=False):
        if token != expected:
            break
        accepted += 1
    return accepted, greedy[accepted]


def commit(candidates: Sequence[int], greedy: Sequence[int], eos: int, room: int) -> tuple[int, tuple[int, ...]]:
    """Tokens one verification adds to the output.

    The output ends with EOS wherever it appears (a serial drafter may propose it), and never
    grows by more than ``room`` tokens.

    Returns:
        ``(accepted, committed)`` where ``committed`` is the accepted prefix followed by the
        correction or bonus, cut at EOS and at ``room``.
    """
    accepted, following = accept(candidates, greedy)
    committed = (*candidates[:accepted], following)
    if eos in committed:
        committed = committed[: committed.index(eos) + 1]
    committed = committed[:room]
    return min(accepted, len(committed)), tuple(committed)
