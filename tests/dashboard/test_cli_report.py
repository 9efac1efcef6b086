import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "pages"))

from page_samples import put

from dashboard.cli import main
from dashboard.services.workspace import close_workspace


@pytest.fixture
def stored(workspace, tmp_path):
    put(workspace.store, tmp_path, "first")
    put(workspace.store, tmp_path, "second", method="target-only")
    return workspace


def call(capsys, *arguments):
    code = main(["report", *map(str, arguments), "--json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(("runs", "template"), [(["first"], "run"), (["first", "second"], "comparison")])
def test_the_usual_template_follows_the_number_of_runs(stored, tmp_path, capsys, runs, template):
    path = tmp_path / "report.html"
    code, out = call(capsys, *runs, "--title", "A & B", "--tag", "x", "--output", path)
    assert (code, out["template"], out["runs"]) == (0, template, runs)
    page = path.read_text(encoding="utf-8")
    assert out["bytes"] == path.stat().st_size < 8_000_000
    assert "<h1>A &amp; B</h1>" in page


def test_a_profile_is_reported_by_its_name_alone(stored, tmp_path, capsys):
    code, out = call(capsys, "--profile", "k70", "--output", tmp_path / "p.html")
    assert (code, out["template"]) == (0, "profile")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["firts"], "Did you mean 'first'"),
        ([], "1 to 500 runs"),
        (["first", "--output", "x.pdf"], "written as .html or .zip"),
        (["first", "--output", "no/such/folder/x.html"], "There is no folder no/such/folder"),
    ],
)
def test_what_cannot_be_reported_is_one_sentence(stored, tmp_path, capsys, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    code, out = call(capsys, *arguments)
    assert code == 1
    assert said in out["error"]
    assert list(tmp_path.glob("*.html")) == []


def test_a_bundle_is_written_and_taken_in_by_another_store(stored, tmp_path, capsys, monkeypatch):
    path = tmp_path / "shared.zip"
    assert call(capsys, "first", "second", "--output", path)[0] == 0
    close_workspace()
    monkeypatch.setenv("AS2D_STORE", str(tmp_path / "other"))
    for expected in ("added", "present"):
        assert main(["import", str(path), "--json"]) == 0
        out = json.loads(capsys.readouterr().out)
        assert sorted(out[expected]) == ["first", "second"]


def test_what_is_refused_is_said_and_is_the_exit_code(stored, tmp_path, capsys):
    path = tmp_path / "x.zip"
    path.write_bytes(b"no archive")
    assert main(["import", str(path), "--json"]) == 1
    assert "is no ZIP archive" in json.loads(capsys.readouterr().out)["error"]
    assert main(["import", str(tmp_path / "not_there.json"), "--json"]) == 1
    assert "cannot be read (No such file" in json.loads(capsys.readouterr().out)["error"]


def test_rates_of_other_programs_are_taken_in_by_their_content(stored, tmp_path, capsys):
    result = {"n_gen": 64, "n_prompt": 0, "avg_ts": 31.5, "stddev_ts": 0.5, "model_type": "m", "n_threads": 4}
    path = tmp_path / "bench.jsonl"
    path.write_text("a line of a log\n" + json.dumps(result) + "\n")
    assert main(["import", str(path)]) == 0
    said = capsys.readouterr().out
    assert "31.50 tok/s" in said
    assert "without results" in said
    assert main(["import", str(path), "--json"]) == 0
    out = json.loads(capsys.readouterr().out)
    assert out["foreign"][0]["tps"] == 31.5
    assert any("were here already" in note for note in out["notes"])


def test_a_file_of_nothing_known_is_refused(stored, tmp_path, capsys):
    path = tmp_path / "x.json"
    path.write_text("{}")
    assert main(["import", str(path), "--json"]) == 1
    assert "holds no result of llm_bench" in json.loads(capsys.readouterr().out)["error"]
