"""Where do cells get their runs, profiles and sets from? A store that is open, whoever opened it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from as2d_core.profiles.profile import Profile
from as2d_core.records import RunRecord
from as2d_core.replay.windows import TrajectorySet
from dashboard.services.budgets import BudgetReport, compare_costs, open_corpus
from dashboard.services.profiles import load_profile
from datastore import queries, timeline
from datastore.locations import Folders
from datastore.queries import RunFilter, RunRow
from datastore.store import QueryResult, Store

MOST_ROWS = 1_000
QUERY_S = 10.0
_KEPT = 16
"""Records that are held for the next cell."""


@dataclass(slots=True)
class Source:
    """What cells may read; nothing can be changed through it."""

    store: Store
    _records: dict[str, RunRecord] = field(default_factory=dict)
    _reports: dict[tuple[str, ...], BudgetReport] = field(default_factory=dict)

    @property
    def folders(self) -> Folders:
        return self.store.folders

    def row(self, run_id: str) -> RunRow:
        """One run; a unique beginning of its id is enough. Raises RunNotFoundError."""
        return queries.get_run(self.store, run_id)

    def rows(self, run_ids: Sequence[str]) -> list[RunRow]:
        """Runs in the order asked for. Raises RunNotFoundError."""
        return [self.row(run_id) for run_id in dict.fromkeys(run_ids)]

    def matching(self, where: RunFilter, limit: int | None = None) -> list[RunRow]:
        """Runs that match, newest first. Raises UnknownNameError."""
        return queries.list_runs(self.store, where, limit=limit)

    def record(self, run_id: str) -> RunRecord:
        """A whole run. Raises RunNotFoundError."""
        row = self.row(run_id)
        if row.run_id not in self._records:
            while len(self._records) >= _KEPT:
                self._records.pop(next(iter(self._records)))
            self._records[row.run_id] = timeline.load_record(self.store, row.run_id)
        return self._records[row.run_id]

    def profile(self, name: str) -> Profile:
        """A cost profile. Raises UnknownNameError, ProfileError."""
        return load_profile(self.folders, name)

    def corpus(self, name: str) -> TrajectorySet:
        """A trajectory set. Raises UnknownNameError, TrajectoryError."""
        return open_corpus(self.folders, name)

    def budgets(self, profile: str, corpus: str, split: str) -> BudgetReport:
        """Every budget on every window. Raises UnknownNameError, ProfileError, TrajectoryError, RequestError."""
        key = (profile, corpus, split)
        if key not in self._reports:
            self._reports[key] = compare_costs(self.profile(profile), self.corpus(corpus), split)
        return self._reports[key]

    def query(self, sql: str, parameters: dict[str, Any]) -> QueryResult:
        """One SELECT, with a limit of rows and time. Raises QueryError, StoreBusyError."""
        return self.store.query(sql, parameters, MOST_ROWS, QUERY_S)
