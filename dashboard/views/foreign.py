"""What did other programs measure? Their rates as a table, with what is odd about each beside it."""

from collections.abc import Sequence

import pandas as pd

from dashboard.views import numbers, text
from datastore.foreign_benches import ForeignResult

COLUMNS = ("Program", "Model", "Device", "Backend", "Threads", "Test", "Tokens", "Rate", "± SD", "Repetitions", "Notes")


def foreign_table(results: Sequence[ForeignResult]) -> pd.DataFrame:
    """One row a test, as text; what a file does not say is n/a, never 0."""
    rows = [
        (
            item.tool,
            _text(item.model),
            _text(item.device),
            _text(item.backend),
            numbers.count(item.threads),
            {"both": "prompt + output"}.get(item.test, item.test),
            _tokens(item),
            numbers.tps(item.tps),
            numbers.tps(item.sd_tps),
            numbers.count(item.samples),
            " ".join(item.notes) or "none",
        )
        for item in results
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _tokens(item: ForeignResult) -> str:
    named = (("prompt", item.prompt_tokens), ("output", item.generated_tokens))
    return ", ".join(f"{count:,} {name}" for name, count in named if count is not None) or numbers.NA


def _text(value: str | None) -> str:
    return numbers.NA if value is None else text.shortened(text.visible(value, spaces=False))
