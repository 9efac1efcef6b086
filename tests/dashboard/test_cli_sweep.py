import json

import pytest

from dashboard.cli import main
from dashboard.services.opened import OPENED

ASKED = ("--window", "clean_00", "--instruction", "ok", "--quiet")


@pytest.fixture
def as2d(workspace, capsys, monkeypatch):
    """Runs a command with --json over the workspace of the fake runner, which stays open; exit code and document."""
    monkeypatch.setattr(OPENED, "close", lambda _: None)

    def call(*arguments):
        capsys.readouterr()
        code = main([*arguments, "--json"])
        return code, json.loads(capsys.readouterr().out)

    return call


def test_a_sustained_sweep_says_every_request_and_its_verdict(as2d):
    code, out = as2d("sweep", "sustained", *ASKED, "--times", "3")
    assert (code, out["done"], out["planned"], out["complete"]) == (0, 3, 3, True)
    assert out["drift"]["As²d b=7"]["verdict"] == "undecided"
    assert [r["Method"] for r in out["requests"]] == ["As²d b=7"] * 3


def test_methods_take_turns_at_every_position(as2d):
    given = ("--methods", "target-only,as2d", "--length", "1", "--step", "1")
    code, out = as2d("sweep", "positions", *ASKED, *given)
    assert (code, out["kind"], out["planned"]) == (0, "positions", 6)
    assert sorted(r["View ends (s)"] for r in out["requests"]) == [1.0, 1.0, 2.0, 2.0, 3.0, 3.0]


def test_a_sweep_that_failed_says_how_to_go_on_and_does(as2d):
    code, out = as2d("sweep", "blocks", "--window", "clean_00", "--instruction", "fail", "--quiet", "--length", "1")
    assert code == 1
    assert f"as2d sweep resume {out['sweep']}" in out["error"]
    assert len(out["failures"]) == 3
    code, again = as2d("sweep", "resume", out["sweep"], "--quiet")
    assert (code, len(again["failures"])) == (1, 6)
    assert as2d("sweep", "show", out["sweep"])[1]["done"] == 0
    assert [s["sweep"] for s in as2d("sweep", "list")[1]["sweeps"]] == [out["sweep"]]


def test_a_sweep_that_is_not_there_is_a_sentence(as2d):
    code, out = as2d("sweep", "show", "nowhere")
    assert code == 1
    assert "nowhere" in out["error"]


def test_both_lengths_of_a_sustained_sweep_are_refused(as2d):
    code, out = as2d("sweep", "sustained", *ASKED, "--times", "3", "--minutes", "1")
    assert code == 1
    assert "one of the two" in out["error"]
