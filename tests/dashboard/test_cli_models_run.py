"""``as2d run`` with the bundled models on the real runner."""

import json

import pytest
from known_widths import know_widths

from as2d_core.models.demo_catalog import demo_window
from dashboard.cli import main
from dashboard.services.workspace import close_workspace
from datastore.opening import open_store

pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def store_folder(tmp_path_factory):
    """A data folder that knows exact widths of the bundled target, so that the runner need not test them."""
    folder = tmp_path_factory.mktemp("as2d")
    with open_store(folder) as store:
        know_widths(store, (2, 3, 4, 5, 8, 9))
    return folder


@pytest.fixture
def run(store_folder, monkeypatch, capsys):
    monkeypatch.setenv("AS2D_STORE", str(store_folder))

    def call(*arguments):
        code = main(["run", *map(str, arguments), "--json"])
        return code, json.loads(capsys.readouterr().out)

    yield call
    close_workspace()


def test_as2d_gives_the_tokens_of_target_only_and_accounts_for_its_time(run):
    code, out = run("--window", "clean_00", "--method", "as2d", "--budget", 7)
    assert (code, out["status"], out["matches_target_only"]) == (0, "eos", True)
    assert out["text"].endswith(".")
    assert out["committed_tokens"] == len(out["tokens"]) == out["rounds"] + out["accepted"] + 1
    assert out["accepted"] <= out["proposed"]  # how many are ready in time is the machine's affair
    assert out["D_ms"] + out["V_ms"] - out["O_ms"] + out["H_ms"] == pytest.approx(out["T_ms"], abs=1e-6)
    assert out["O_ms"] > 0


def test_a_file_of_the_user_is_heard(run, tmp_path):
    path = tmp_path / "мой файл.flac"
    path.write_bytes(demo_window("clean_01").path.read_bytes())
    code, out = run("--audio", path, "--method", "sd", "--width", 4, "--no-reference")
    assert (code, out["status"], out["matches_target_only"]) == (0, "eos", None)
    assert 0 < out["accepted"] <= out["proposed"]
    assert out["window_id"].startswith("мой файл.flac (")
    assert out["O_ms"] == 0


def test_a_budget_wider_than_is_known_to_be_exact_is_refused_with_the_largest_one(run):
    code, out = run("--window", "clean_00", "--budget", 40, "--no-reference")
    assert (code, "run_id" in out) == (1, False)  # no runner was asked, so there is no run
    assert "largest budget is 8" in out["error"]
