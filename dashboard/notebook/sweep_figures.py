"""How does a cell show a sweep? By the runs of its group, wherever they came from."""

from collections.abc import Mapping
from typing import Any

from dashboard.notebook.outputs import Block, Drawing, Sentence
from dashboard.notebook.source import Source
from dashboard.views.sweep import sweep_figure, sweep_info
from dashboard.views.theme import Theme
from datastore.queries import RunFilter
from datastore.sweeps import group_readings, preparation_ms


def sweep(source: Source, theme: Theme, given: Mapping[str, Any]) -> tuple[Block, ...]:
    """Sentences and panels of the runs of one group."""
    group = given["group"]
    rows = source.matching(RunFilter(groups=(group,), warm_ups=False))
    info = sweep_info(rows, preparation_ms(source.store, group), group_readings(source.store, group))
    said = tuple(Sentence(sentence) for sentence in info.sentences)
    return *said, Drawing(sweep_figure(info, theme), " ".join(info.notes))
