"""How do our replays on the synthetic corpus compare with the paper's tables, and why do they differ?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from as2d_core.profiles.catalogue import load_profile
from as2d_core.profiles.profile import Profile
from as2d_core.published.ledger import half_unit
from as2d_core.published.phone_replay import PhoneReplay, figure, replay_phone
from as2d_core.published.reasons import lacking, reasons
from as2d_core.published.tables import ALL, PublishedCell, PublishedTable, published_table, published_tables
from as2d_core.replay.windows import TrajectorySet

PHONES = ("k70", "11pro", "mi14", "note9")
CORPUS = "paper-688"

_SLACK = 1e-9


@dataclass(frozen=True, slots=True)
class ComparedCell:
    """One printed number beside a replayed one."""

    cell: PublishedCell
    replayed: float | None
    """``None``: it could not be replayed."""
    reasons: tuple[str, ...]
    """Why they do not agree; empty where they do."""

    @property
    def why(self) -> str:
        """The reasons as one line."""
        return "; ".join(self.reasons)

    @property
    def published(self) -> float:
        return float(self.cell.printed)

    @property
    def deviation(self) -> float | None:
        """Replayed minus published, in the cell's unit."""
        return None if self.replayed is None else self.replayed - self.published

    @property
    def deviation_percent(self) -> float | None:
        """The same as a share of the published figure; ``None`` also when that is 0."""
        return None if self.deviation is None or self.published == 0 else 100 * self.deviation / self.published

    @property
    def verdict(self) -> str:
        """``agrees`` (within the printed rounding), ``differs`` or ``n/a``."""
        if self.replayed is None:
            return "n/a"
        return "agrees" if agrees(self.cell.printed, self.replayed) else "differs"


@dataclass(frozen=True, slots=True)
class ComparedTable:
    """A table of the paper, cell by cell."""

    table: PublishedTable
    corpus: str
    label: str
    """What the replayed trajectories are; the published ones were measured on servers and are not public."""
    cells: tuple[ComparedCell, ...]


def agrees(printed: str, value: float) -> bool:
    """Whether a value rounds to a printed number, give or take a tie."""
    return abs(value - float(printed)) <= half_unit(printed) + _SLACK


def published_profiles() -> dict[str, Profile]:
    """The packaged profiles of the paper's phones by id."""
    return {name: load_profile(name) for name in PHONES}


def replay_phones(corpus: TrajectorySet, profiles: Mapping[str, Profile]) -> dict[str, PhoneReplay]:
    """Replay every method on every phone.

    Raises:
        ProfileError: a profile cannot be compared with the paper.
    """
    return {name: replay_phone(corpus, profile) for name, profile in profiles.items()}


def compare_tables(
    corpus: TrajectorySet, phones: Mapping[str, PhoneReplay], table_ids: Sequence[str] | None = None
) -> tuple[ComparedTable, ...]:
    """Put replays beside the paper's tables.

    Args:
        corpus: what was replayed.
        phones: its replays by profile id.
        table_ids: ``None`` = all.

    Raises:
        UnknownNameError: there is no such table; suggests the nearest.
    """
    chosen = published_tables() if table_ids is None else tuple(map(published_table, table_ids))
    return tuple(
        ComparedTable(table, corpus.id, corpus.label, tuple(_compared(cell, phones) for cell in table.cells))
        for table in chosen
    )


def _compared(cell: PublishedCell, phones: Mapping[str, PhoneReplay]) -> ComparedCell:
    key = cell.key
    profile = phones[key.phone].profile if key.phone != ALL and key.phone in phones else None
    replayed = figure(key, phones)
    if replayed is None:
        return ComparedCell(cell, None, (lacking(profile),))
    return ComparedCell(cell, replayed, () if agrees(cell.printed, replayed) else reasons(key, profile))
