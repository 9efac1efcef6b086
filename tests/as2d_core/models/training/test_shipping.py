"""What ships is whole, within its sizes, and replaces what was there only when it is."""

import shutil

import pytest

from as2d_core.errors import AudioError, ModelError, TrainingError
from as2d_core.models.demo_catalog import DRAFTER, FOLDER, LIGHT, TARGET
from as2d_core.models.folder import describe_model
from as2d_core.models.training import shipping
from as2d_core.models.training.shipping import FOLDERS, ship_models, ship_recordings, ship_trajectories
from as2d_core.models.window_index import read_index
from as2d_core.replay.trajectories import load_corpus, read_corpus, write_corpus


@pytest.fixture
def exports(tmp_path):
    for name, source in {"target": TARGET, "paper": DRAFTER, "light": LIGHT}.items():
        shutil.copytree(source, tmp_path / "exports" / name)
    return tmp_path / "exports"


def test_models_replace_those_before(exports, tmp_path):
    (tmp_path / "demo" / "target").mkdir(parents=True)
    (tmp_path / "demo" / "target" / "old").touch()
    size = ship_models(exports, tmp_path / "demo")
    infos = [describe_model(tmp_path / "demo" / folder) for folder in FOLDERS.values()]
    assert size == sum(info.size_bytes for info in infos)
    assert infos[0].sha256 == describe_model(TARGET).sha256
    assert sorted(path.name for path in (tmp_path / "demo").iterdir()) == sorted(FOLDERS.values())
    assert not (tmp_path / "demo" / "target" / "old").exists()


def test_a_missing_or_foreign_export_replaces_nothing(exports, tmp_path):
    shutil.rmtree(exports / "light")
    with pytest.raises(TrainingError, match="no light in"):
        ship_models(exports, tmp_path / "demo")
    shutil.copytree(LIGHT, exports / "light")
    file = exports / "light" / "tokenizer.mtok"
    file.write_bytes(file.read_bytes() + b" ")
    with pytest.raises(ModelError, match="another tokenizer"):
        ship_models(exports, tmp_path / "demo")
    assert not (tmp_path / "demo").exists()


def test_too_much_does_not_ship(exports, tmp_path, monkeypatch):
    monkeypatch.setattr(shipping, "MOST_MODEL_BYTES", 1_000_000)
    with pytest.raises(TrainingError, match="at most 1 MB ship"):
        ship_models(exports, tmp_path / "demo")


def test_recordings_ship_with_their_index_and_nothing_else(tmp_path):
    shutil.copytree(FOLDER / "windows", tmp_path / "made")
    (tmp_path / "made" / "notes.txt").touch()
    ship_recordings(tmp_path / "made", tmp_path / "demo")
    assert [w.window_id for w in read_index(tmp_path / "demo" / "windows")] == [
        w.window_id for w in read_index(tmp_path / "made")
    ]
    assert not (tmp_path / "demo" / "windows" / "notes.txt").exists()
    with pytest.raises(AudioError, match="no index"):
        ship_recordings(tmp_path, tmp_path / "demo")


def test_trajectories_ship_under_their_new_name(tmp_path):
    corpus = load_corpus("demo-tasks")
    write_corpus(corpus, tmp_path / "mine.parquet")
    ship_trajectories({"other": tmp_path / "mine.parquet"}, tmp_path)
    found = read_corpus(tmp_path / "other.parquet")
    assert (found.id, found.windows) == ("other", corpus.windows)
