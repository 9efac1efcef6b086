import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "pages"))

from page_samples import put

from dashboard.cli import main
from dashboard.services.exports import MOST_TRACED, export_matching, run_trace
from dashboard.services.runs import RunFilter
from datastore.errors import ExportError


@pytest.fixture
def stored(workspace, tmp_path):
    put(workspace.store, tmp_path, "first")
    put(workspace.store, tmp_path, "second", method="sd", created_at="2026-03-02T10:00:00+00:00")
    return workspace


def test_the_command_writes_the_trace_of_a_run_under_a_beginning_of_its_id(stored, tmp_path, capsys):
    path = tmp_path / "run.trace.json"
    assert main(["show", "fir", "--trace", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"run": "first", "file": str(path)}
    body = json.loads(path.read_text())
    assert body["otherData"]["runs"][0]["run_id"] == "first"
    assert {"X", "s", "f", "C", "M"} <= {event["ph"] for event in body["traceEvents"]}


def test_matching_runs_become_one_trace_oldest_first(stored):
    body = json.loads(export_matching(stored, RunFilter(), "trace").data)
    assert [run["run_id"] for run in body["otherData"]["runs"]] == ["first", "second"]


@pytest.mark.parametrize("ids", [[], ["x"] * (MOST_TRACED + 1)])
def test_a_trace_of_no_or_too_many_runs_is_refused(stored, ids):
    with pytest.raises(ExportError, match="1 to 64 runs"):
        run_trace(stored, ids)


def test_a_trace_that_cannot_be_written_is_a_sentence(stored, tmp_path, capsys):
    assert main(["show", "first", "--trace", str(tmp_path / "no" / "x.json"), "--json"]) == 1
    assert "There is no folder" in json.loads(capsys.readouterr().out)["error"]
