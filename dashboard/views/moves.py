"""Where did alignment take the cursor before a round? Read with care: a record may come from anywhere."""

from as2d_core.alignment import CORRECTION_PAIR, INSERTION, MATCH, NEXT_TOKEN, RULE_NAMES
from as2d_core.records import Round

Step = tuple[str, int, int]
"""(rule, cursor before, cursor after)."""

_LARGEST = 2**53
_USED = {RULE_NAMES[MATCH]: 1, RULE_NAMES[INSERTION]: 1, RULE_NAMES[NEXT_TOKEN]: 1, RULE_NAMES[CORRECTION_PAIR]: 2}


def moves_of(item: Round) -> tuple[Step, ...]:
    """Alignment steps of a round; what is no step is left out."""
    return tuple(step for step in item.moves if _is_step(step)) if isinstance(item.moves, tuple | list) else ()


def chain_start(item: Round) -> int:
    """Index of the first candidate behind the aligned cursor."""
    steps = moves_of(item)
    return steps[-1][2] if steps else item.cursor_before


def used_by(rule: str) -> int:
    """Candidates that a step used because they equal committed tokens; the others it passed over."""
    return _USED.get(rule, 0)


def _is_step(step: object) -> bool:
    return (
        isinstance(step, tuple | list)
        and len(step) == 3
        and isinstance(step[0], str)
        and all(isinstance(place, int) and 0 <= place < _LARGEST for place in step[1:])
    )
