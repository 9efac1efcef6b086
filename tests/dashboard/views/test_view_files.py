"""Files of figures hold what is shown, in plain numbers, and nothing in place of what is missing."""

import numpy as np
import pandas as pd
import pytest
from run_rows import row
from test_view_budgets import grid
from view_samples import decode

from dashboard.views.cost_parts import cost_rows
from dashboard.views.files import arrow_table, budget_map_frame, cost_frame, outputs_frame, rounds_frame
from dashboard.views.outputs_compare import outputs_info
from dashboard.views.run_groups import run_groups
from dashboard.views.timeline import timeline_info
from dashboard.views.windows import windows_info

INFO = timeline_info(decode())
ALONE = row("t", "target-only", 2000.0)
OURS = row("o")


def test_the_file_of_a_timeline_holds_every_round_of_the_run():
    frame = rounds_frame(INFO)
    assert frame["round"].tolist() == INFO.rounds.index.tolist()
    assert frame["accepted"].sum() == INFO.rounds.accepted.sum()
    assert frame["width_reason"].tolist() == list(INFO.rounds.reasons)


def test_it_holds_the_rounds_in_view_alone():
    low, high = INFO.end_ms / 3, INFO.end_ms / 2
    frame = rounds_frame(INFO, (low, high))
    assert 0 < len(frame) < len(INFO.rounds)
    assert (frame["target_end_ms"] >= low).all()
    assert (frame["boundary_ms"] <= high).all()


def test_the_file_of_the_map_holds_every_cell_and_nothing_for_a_pair_that_cannot_run():
    info = windows_info(grid(infeasible=(12,)), "a")
    frame = budget_map_frame(info)
    assert len(frame) == len(info.windows) * len(info.budgets)
    one = frame[(frame["window"] == info.windows[2]) & (frame["budget"] == info.budgets[1])].iloc[0]
    assert one["loss_percent"] == pytest.approx(info.loss[2, 1])
    assert one["tps"] == pytest.approx(info.tps[2, 1])
    assert frame[frame["budget"] == 12]["loss_percent"].isna().all()
    assert np.isfinite(frame[frame["budget"] == 7]["loss_percent"].astype(float)).all()


def test_costs_add_up_and_outputs_name_both_runs():
    groups = run_groups([ALONE, OURS])
    costs = cost_frame(cost_rows(groups))
    total = costs["d_ms"] + costs["v_ms"] - costs["o_ms"] + costs["h_ms"]
    assert costs["t_ms"].tolist() == pytest.approx(total.tolist())
    outputs = outputs_frame(outputs_info(groups, "Target-only", {"o": (1, 2, 9), "t": (1, 2, 3)}))
    assert set(outputs["run"]) <= {"o", "t"}
    assert (outputs["reference_run"] == "t").all()


def test_columns_of_several_kinds_are_written_as_text_and_what_is_missing_stays_missing():
    table = arrow_table(pd.DataFrame({"mixed": [1, "two", None], "plain": [1.5, 2.5, None]}))
    assert table["mixed"].to_pylist() == ["1", "two", None]
    assert table["plain"].to_pylist()[:2] == [1.5, 2.5]
