"""In which order are requests run that are to be compared? Interleaved, and there and back again.

Whatever drifts while a set runs (heat, clocks, other work) then meets every variant alike.
"""

import secrets
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from as2d_core.errors import RequestError
from as2d_core.request import Request

MOST_RUNS = 10_000


def new_id(prefix: str = "") -> str:
    """A name for a run, a job or a group: the time (UTC), then a random part."""
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    return f"{prefix}{stamp}-{secrets.token_hex(4)}"


def plan_comparison(
    variants: Sequence[Request], repetitions: int = 1, warm_ups: int = 0, group_id: str | None = None
) -> list[Request]:
    """Repeat every variant, the variants taking turns and every second turn backwards.

    Args:
        variants: one request for each method, setting and window; their run ids are replaced.
        repetitions: turns that count.
        warm_ups: turns before those, marked as such and left out of comparisons.
        group_id: name of the set; a new one when left out.

    Returns:
        ``len(variants) * (warm_ups + repetitions)`` requests with ``run_id``, ``group_id``,
        ``repetition`` (from 0, warm-ups counted apart), ``order`` and ``warm_up`` set.

    Raises:
        RequestError: there is nothing to run, or far too much.
    """
    if not variants or repetitions < 1 or warm_ups < 0:
        raise RequestError("A comparison needs at least one request and one repetition.")
    total = len(variants) * (warm_ups + repetitions)
    if total > MOST_RUNS:
        raise RequestError(f"A comparison of {total} runs is too much at once; choose at most {MOST_RUNS}.")
    group = group_id or new_id("g")
    turns = [(turn, True) for turn in range(warm_ups)] + [(turn, False) for turn in range(repetitions)]
    planned: list[Request] = []
    for turn, warm_up in turns:
        for variant in variants if turn % 2 == 0 else reversed(variants):
            planned.append(
                replace(
                    variant,
                    run_id=new_id(),
                    group_id=group,
                    repetition=turn,
                    order=len(planned),
                    warm_up=warm_up,
                )
            )
    return planned
