"""One round of a stored run is told the same from a part of the record as from all of it."""

import pytest

from as2d_core.profiles import load_profile
from as2d_core.replay.runs import replay_window
from as2d_core.replay.trajectories import load_corpus
from dashboard.services.runs import load_record, load_round
from dashboard.views.rounds import round_details
from datastore.ingest import ingest_run


@pytest.mark.parametrize(("method", "window"), [("as2d", "long_00"), ("sd", "long_00"), ("specasr", "clean_00")])
def test_a_part_of_the_record_says_as_much_of_a_round(workspace, tmp_path, method, window):
    how = {"as2d": {"budget": 7}, "sd": {"width": 5}, "specasr": {}}[method]
    run = replay_window(load_corpus("demo"), window, load_profile("k70"), method, **how)
    path = tmp_path / "run.in"
    path.write_text("".join(run.lines), encoding="utf-8")
    run_id = ingest_run(workspace.store, path).run_id
    whole = load_record(workspace, run_id)
    for item in whole.rounds:
        part, total = load_round(workspace, run_id, item.index)
        assert round_details(part, item.index, None, total) == round_details(whole, item.index)
