"""What stands in the file of a figure? Plain numbers with their unit in the column's name, for those that had no table.

Values that are missing are None, never 0.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from dashboard.views.cost_parts import CostRow
from dashboard.views.outputs_compare import OutputsInfo
from dashboard.views.timeline_info import TimelineInfo
from dashboard.views.windows import WindowsInfo
from dashboard.views.zoom import Window, whole


def rounds_frame(info: TimelineInfo, window: Window | None = None) -> pd.DataFrame:
    """One row for each round that reaches into the part of a run that is shown; times are ms after decode start."""
    low, high = window or whole(info)
    rounds = info.rounds
    shown = np.flatnonzero((rounds.end_ms >= low) & (rounds.boundary_ms <= high))
    columns = {
        "round": rounds.index,
        "boundary_ms": rounds.boundary_ms,
        "target_start_ms": rounds.start_ms,
        "target_end_ms": rounds.end_ms,
        "width": rounds.width,
        "proposed": rounds.proposed,
        "accepted": rounds.accepted,
        "reused": rounds.reused,
        "committed": rounds.committed,
        "ready": rounds.ready,
        "corrected": rounds.corrected,
    }
    frame = pd.DataFrame({name: values[shown] for name, values in columns.items()})
    return frame.assign(width_reason=[rounds.reasons[row] for row in shown.tolist()])


def budget_map_frame(info: WindowsInfo) -> pd.DataFrame:
    """One row for each cell of the map, in its order; a pair that cannot run has no figures."""
    count, budgets = len(info.windows), len(info.budgets)

    def cells(values: np.ndarray) -> list[Any]:
        return [None if np.isnan(value) else float(value) for value in values.ravel()]

    return pd.DataFrame(
        {
            "window": [name for name in info.windows for _ in range(budgets)],
            "drafter": [info.drafter] * (count * budgets),
            "budget": list(info.budgets) * count,
            "loss_percent": cells(info.loss),
            "tps": cells(info.tps),
            "against_target_only": cells(info.ratio),
        }
    )


def cost_frame(rows: Sequence[CostRow]) -> pd.DataFrame:
    """One row a setting: its parts of T in ms a committed token."""
    return pd.DataFrame(
        {
            "setting": [row.name for row in rows],
            "t_ms": [row.total for row in rows],
            "d_ms": [row.draft for row in rows],
            "v_ms": [row.verify for row in rows],
            "o_ms": [row.overlap for row in rows],
            "h_ms": [row.idle for row in rows],
            "runs": [row.runs for row in rows],
        }
    )


def outputs_frame(info: OutputsInfo) -> pd.DataFrame:
    """One row for each run whose output differs or cannot be compared; all of them."""
    return pd.DataFrame(
        {
            "setting": [row.name for row in info.rows],
            "window": [row.window for row in info.rows],
            "run": [row.run_id for row in info.rows],
            "reference_run": [row.reference_id for row in info.rows],
            "output": [row.verdict for row in info.rows],
            "first_difference": [row.first for row in info.rows],
            "word_edits": [row.edits for row in info.rows],
            "words": [row.words for row in info.rows],
        }
    )


def arrow_table(frame: pd.DataFrame) -> pa.Table:
    """The rows of a file; columns of several kinds of values, which a query may give, are written as text."""
    try:
        return pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        texts = {
            name: [None if value is None else str(value) for value in frame[name]]
            for name in frame.columns
            if frame[name].dtype == object
        }
        return pa.Table.from_pandas(frame.assign(**texts), preserve_index=False)
