"""What if drafting or verification cost more or less? The same replay with scaled costs, and how sure a gap is."""

from dataclasses import replace

from as2d_core.errors import RequestError
from as2d_core.profiles.profile import ChunkCosts, Profile
from as2d_core.replay.budgets import fixed_times
from as2d_core.replay.grid import Grid
from as2d_core.replay.hindsight import oracle
from as2d_core.replay.pooling import Bootstrap, Interval

LEAST, MOST = 0.1, 10.0


def scaled_costs(profile: Profile, draft: float = 1.0, verify: float = 1.0) -> Profile:
    """A profile whose draft forwards and verifications cost a multiple; target-only steps and the loop stay.

    Args:
        profile: what was measured or published.
        draft: factor on every draft forward, serial, overlapped and paired, and on every chunk.
        verify: factor on verification of every width, idle and concurrent.

    Raises:
        RequestError: a factor is no sensible one.
    """
    for name, factor in (("draft", draft), ("verification", verify)):
        if not LEAST <= factor <= MOST:
            raise RequestError(f"The {name} cost times {factor:g} makes no sense; choose {LEAST:g} to {MOST:g}.")
    if draft == 1.0 and verify == 1.0:
        return profile
    paired = profile.paired_forward_ms
    return replace(
        profile,
        name=f"{profile.name}, draft × {draft:g}, verification × {verify:g}",
        draft_serial_ms=profile.draft_serial_ms * draft,
        draft_overlapped_ms=profile.draft_overlapped_ms * draft,
        paired_forward_ms=None if paired is None else paired * draft,
        chunk_sources={
            name: ChunkCosts(costs.chunk_ms * draft, costs.convert_ms * draft)
            for name, costs in profile.chunk_sources.items()
        },
        verify_idle_ms={width: cost * verify for width, cost in profile.verify_idle_ms.items()},
        verify_concurrent_ms={width: cost * verify for width, cost in profile.verify_concurrent_ms.items()},
        spread={},
    )


def gap_interval(grid: Grid, drafter: str, budget: int) -> Interval | None:
    """95 % interval of a pair's gap to the oracle in percent; ``None`` when the pair is not there or cannot run."""
    if drafter not in grid.drafters or budget not in grid.budgets:
        return None
    times, _ = fixed_times(grid)
    pair = times[grid.drafters.index(drafter), grid.budgets.index(budget)]
    return Bootstrap(grid.tokens).gap(pair, oracle(grid).time_ms)
