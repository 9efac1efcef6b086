"""What do figure cells show of a Perfetto trace's power counters beside a run?"""

from collections.abc import Mapping
from typing import Any

from dashboard.notebook.outputs import Block, Drawing, Grid, Sentence
from dashboard.notebook.source import Source
from dashboard.services.power import power_beside
from dashboard.views import numbers
from dashboard.views.power import left_sentence, power_figure, power_info, rails_table
from dashboard.views.theme import Theme


def power(source: Source, theme: Theme, given: Mapping[str, Any]) -> tuple[Block, ...]:
    """Every trace that covers a run, or why none does."""
    record = source.record(given["run"])
    start = record.marks.get("decode_start")
    found, left = power_beside(source.store, record)
    out: list[Block] = []
    for beside in found:
        info = power_info(beside, beside.start_ns if start is None else start.time_ns)
        out.append(Drawing(power_figure(info, theme), " ".join((f"{info.file}.", *info.sentences)), strip=True))
        table = rails_table(beside)
        rows = tuple(
            (name, None if numbers.missing(joules) else joules, None if numbers.missing(watts) else watts, why)
            for name, joules, watts, why in table.itertuples(index=False)
        )
        if rows:
            out.append(Grid(tuple(table.columns), rows))
    if not found:
        out.append(Sentence(left_sentence(left) or "No Perfetto trace with power counters was taken in yet."))
    return tuple(out)
