import csv
import io
import json

import numpy as np
import pytest
import soundfile

from as2d_core.replay.trajectories import load_corpus
from dashboard.cli import main
from dashboard.services.collection import folder_windows


@pytest.fixture
def as2d(data_folder, capsys):
    """Runs a command with --json; gives exit code and its one document."""

    def call(*arguments):
        code = main([*map(str, arguments), "--json"])
        return code, json.loads(capsys.readouterr().out)

    return call


def test_a_set_that_was_exported_can_be_imported_and_replayed(as2d, tmp_path):
    code, out = as2d("collect", "--corpus", "demo", "--export", tmp_path / "out")
    assert (code, out["windows"], out["label"]) == (0, 260, "measured")
    assert out["manifest"]["sha256"]
    code, out = as2d("collect", "--import", tmp_path / "out", "--corpus", "theirs")
    assert (code, out["corpus"], out["target_tokens"]) == (0, "theirs", load_corpus("demo").tokens)
    code, out = as2d("replay", "--profile", "k70", "--corpus", "theirs", "--method", "target-only")
    assert (code, out["corpus"], out["windows"]) == (0, "theirs", 260)


def test_csv_is_one_line_a_window_and_drafter(data_folder, tmp_path, capsys):
    assert main(["collect", "--corpus", "demo", "--export", str(tmp_path / "out"), "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) == 260
    assert sum(int(row["target tokens"]) for row in rows) == load_corpus("demo").tokens


def test_a_kept_set_is_replaced_only_when_asked(as2d, tmp_path):
    as2d("collect", "--corpus", "demo", "--export", tmp_path / "out")
    again = ("collect", "--import", tmp_path / "out", "--corpus", "theirs")
    assert as2d(*again)[0] == 0
    code, out = as2d(*again)
    assert (code, out["error"]) == (
        1,
        "A trajectory set 'theirs' is kept already; replace it, or give the new one another name.",
    )
    assert as2d(*again, "--replace")[0] == 0
    code, out = as2d("collect", "--corpus", "theirs", "--export", tmp_path / "out")
    assert code == 1
    assert "holds a trajectory set already" in out["error"]


def test_a_damaged_file_is_not_kept(as2d, tmp_path):
    as2d("collect", "--corpus", "demo", "--export", tmp_path / "out")
    path = tmp_path / "out" / "trajectories.parquet"
    path.write_bytes(path.read_bytes()[:-100])
    code, out = as2d("collect", "--import", tmp_path / "out", "--corpus", "theirs")
    assert code == 1
    assert "it is cut short or another file" in out["error"]
    code, out = as2d("replay", "--profile", "k70", "--corpus", "theirs")
    assert code == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["collect"], "A trajectory set needs a name"),
        (["collect", "--export", "out"], "A trajectory set needs a name"),
        (["collect", "--import", "gone"], "There is no trajectory set at gone"),
        (["collect", "--corpus", "dmo", "--export", "out"], "demo"),
        (["collect", "--corpus", "demo"], "'demo' is a packaged trajectory set"),
        (["collect", "--corpus", "A b"], "lower-case letters"),
    ],
)
def test_what_cannot_be_done_is_a_sentence(as2d, arguments, said, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    code, out = as2d(*arguments)
    assert code == 1
    assert said in out["error"]


def test_a_file_that_cannot_be_heard_is_listed_and_keeps_no_other_from_being_collected(tmp_path):
    samples = np.zeros(16_000 * 40, np.float32)
    soundfile.write(tmp_path / "long.wav", samples, 16_000)
    soundfile.write(tmp_path / "short.wav", samples[:16_000], 16_000)
    (tmp_path / "text.mp3").write_text("no audio")
    found = {window.window_id: window.duration_s for window in folder_windows(tmp_path, "Write down what is said.")}
    assert list(found) == ["long", "short", "text"]
    assert found["short"] == 1.0
    assert np.isnan([found["long"], found["text"]]).all()


def test_the_bundled_recordings_are_listed(as2d, capsys):
    code, out = as2d("windows", "--task", "transcribe")
    assert (code, len(out["windows"]), out["windows"][0]["task"]) == (0, 60, "transcribe")
    assert as2d("windows", "--group", "nobody")[0] == 1
    assert main(["windows"]) == 0
    assert "long_00" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["store", "models", "profile", "phone", "bundle"])
def test_the_help_of_a_group_says_what_it_is_about_and_gives_an_example(name, capsys):
    with pytest.raises(SystemExit):
        main([name, "--help"])
    said = capsys.readouterr().out
    assert f"example:\n  as2d {name}" in said
    assert len(said.partition("\n\n")[2].partition("\n\n")[0]) > 40
