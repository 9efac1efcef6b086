"""Do the paper's figures follow from each other, and how do our replays compare with its tables?"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from as2d_core.published.comparison import (
    CORPUS,
    ComparedTable,
    compare_tables,
    published_profiles,
    replay_phones,
)
from as2d_core.published.ledger import Recomputed, check_ledger
from as2d_core.published.tables import published_table, table_ids
from as2d_core.replay.trajectories import load_corpus


@dataclass(frozen=True, slots=True)
class PublishedReport:
    """The checked ledger and the compared tables; either may be left out."""

    ledger: tuple[Recomputed, ...]
    tables: tuple[ComparedTable, ...]

    @property
    def missing(self) -> int:
        """Cells that could not be replayed."""
        return sum(cell.replayed is None for table in self.tables for cell in table.cells)


def check_published(
    tables: Sequence[str] | None = None,
    *,
    with_ledger: bool = True,
    progress: Callable[[str], None] = lambda _: None,
) -> PublishedReport:
    """Recompute the ledger and put replays of the synthetic corpus beside the paper's tables.

    Args:
        tables: their ids; ``None`` = all, none = only the ledger.
        with_ledger: whether to recompute the ledger.
        progress: is told what is going on.

    Raises:
        UnknownNameError: there is no such table; suggests the nearest.
    """
    chosen = table_ids() if tables is None else list(dict.fromkeys(published_table(name).id for name in tables))
    ledger = ()
    if with_ledger:
        progress("Recomputing published figures")
        ledger = check_ledger()
    if not chosen:
        return PublishedReport(ledger, ())
    progress("Generating the synthetic corpus")
    corpus = load_corpus(CORPUS)
    phones = {}
    for name, profile in published_profiles().items():
        progress(f"Replaying on {profile.name}")
        phones |= replay_phones(corpus, {name: profile})
    return PublishedReport(ledger, compare_tables(corpus, phones, chosen))


@cache
def compared_tables() -> tuple[ComparedTable, ...]:
    """All tables beside replays, worked out once in a process: nothing of it depends on the store."""
    return check_published(with_ledger=False).tables


@cache
def recomputed_ledger() -> tuple[Recomputed, ...]:
    """Every figure that follows from others, worked out once in a process."""
    return check_published([]).ledger
