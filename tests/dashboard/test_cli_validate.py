import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dashboard.cli import main
from dashboard.services.requests import RunForm
from dashboard.services.running import start_run


@pytest.fixture
def log(workspace, tmp_path):
    job = start_run(workspace, RunForm(window_id="clean_00", instruction="ok 5"), with_reference=False)
    assert job.wait(120)
    path = tmp_path / "run.ndjson"
    path.write_bytes(next(workspace.folders.runs.glob("*.ndjson")).read_bytes())
    return path


def check(capsys, path):
    code = main(["validate", str(path)])
    return code, capsys.readouterr()


def test_a_whole_record_is_accepted_with_its_counts(log, capsys):
    code, said = check(capsys, log)
    assert (code, said.err) == (0, "")
    assert "5 round" in said.out
    assert "6 tokens" in said.out


def test_as_json_a_whole_record_gives_counts(log, capsys):
    assert main(["validate", str(log), "--json"]) == 0
    out = json.loads(capsys.readouterr().out)
    assert (out["status"], out["tokens"], out["counts"]["round"]) == ("eos", 6, 5)


def test_a_run_that_is_kept_here_is_found_by_its_id(log, capsys):
    run_id = json.loads(log.read_text().splitlines()[0])["run_id"]
    code, said = check(capsys, run_id)
    assert (code, "6 tokens" in said.out) == (0, True)


def test_as_json_a_broken_record_gives_every_finding(log, capsys):
    log.write_bytes(log.read_bytes()[:-10])
    assert main(["validate", str(log), "--json"]) == 1
    out = json.loads(capsys.readouterr().out)
    assert out["error"].startswith(f"{log}:")
    assert len(out["findings"]) == 2


@settings(
    max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None
)
@given(data=st.data())
def test_a_truncated_record_is_one_line_that_names_the_line(log, capsys, data):
    whole = log.read_bytes()
    cut = log.with_name("cut.ndjson")
    cut.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
    code, said = check(capsys, cut)
    assert code == 1
    assert said.err == ""
    assert len(said.out.splitlines()) == 1
    assert said.out.startswith(f"{cut}:")
    assert said.out.split(":")[1].isdigit()


@settings(
    max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None
)
@given(content=st.binary(max_size=400))
def test_any_bytes_are_one_line(tmp_path, capsys, content):
    path = tmp_path / "any"
    path.write_bytes(content)
    code, said = check(capsys, path)
    assert code == 1
    assert len(said.out.splitlines()) == 1
    assert said.out.startswith(f"{path}:1: ")


@pytest.mark.parametrize("name", ["missing.ndjson", ".", "a\nb.ndjson", "\udcff.ndjson"])
def test_a_file_that_is_not_there_is_one_line(tmp_path, capsys, name):
    code, said = check(capsys, tmp_path / name)
    assert code == 1
    assert len(said.out.splitlines()) == 1
    assert ":1: " in said.out
