import os
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest

from as2d_core.errors import ModelError, UnknownNameError
from as2d_core.models.demo_catalog import DRAFTER, TARGET
from dashboard.services import models
from dashboard.services.folders import user_folders


@pytest.fixture
def folders(data_folder):
    return user_folders()


@pytest.fixture
def copy(tmp_path):
    return shutil.copytree(DRAFTER, tmp_path / "mine")


@pytest.fixture
def probed(monkeypatch):
    """Folders that were tried, in place of trying them."""
    tried = []

    def probe(folder):
        tried.append(folder)
        info = models.describe_model(folder)
        return models.Probe(info.name, info.sha256, models.mnn_version(), "cpu", 5, 1.0, 1.0, 1.0)

    monkeypatch.setattr(models, "probe_model", probe)
    return tried


def test_the_bundled_models_are_there_and_is_not_tried(folders, probed):
    assert [(e.id, e.bundled, e.problem) for e in models.list_models(folders)] == [
        ("demo-target", True, None),
        ("demo-drafter", True, None),
        ("demo-light", True, None),
    ]
    assert models.usable_model(folders, "demo-target").path == TARGET
    assert probed == []


def test_an_added_folder_is_tried_and_kept(folders, copy, probed):
    entry = models.add_model(folders, copy)
    assert (entry.id, entry.path, probed) == ("mine", copy, [copy])
    assert models.resolve_model(folders, "mine") == copy
    assert [e.id for e in models.list_models(folders)] == ["demo-target", "demo-drafter", "demo-light", "mine"]


def test_adding_twice_is_once_and_another_folder_of_that_name_gets_another_id(folders, copy, probed, tmp_path):
    models.add_model(folders, copy)
    models.add_model(folders, copy)
    other = models.add_model(folders, shutil.copytree(copy, tmp_path / "x" / "mine"))
    assert other.id == "mine-2"
    assert len(models.list_models(folders)) == 5


def test_a_folder_that_is_no_model_is_not_kept(folders, tmp_path):
    with pytest.raises(ModelError, match=r"config\.json"):
        models.add_model(folders, tmp_path)
    assert len(models.list_models(folders)) == 3


def test_a_folder_by_path_is_tried_once(folders, copy, probed):
    models.usable_model(folders, str(copy))
    models.usable_model(folders, str(copy))
    assert probed == [copy]


def test_a_folder_that_has_changed_is_tried_again(folders, copy, probed):
    models.add_model(folders, copy)
    config = copy / "config.json"
    config.write_text(config.read_text() + "\n")
    assert models.list_models(folders)[3].probe is None
    models.usable_model(folders, "mine")
    assert len(probed) == 2


def test_a_folder_that_has_gone_stays_listed_with_the_reason(folders, copy, probed):
    models.add_model(folders, copy)
    shutil.rmtree(copy)
    assert "no model folder" in models.list_models(folders)[3].problem


def test_a_model_that_the_settings_name_by_its_folder_can_be_chosen(folders, copy, probed):
    chosen = models.choose_default_models(folders, drafter=str(copy))
    listed = models.selectable_models(folders, chosen)
    assert [(e.id, e.problem) for e in listed[3:]] == [(str(copy), None)]
    assert models.model_problem(folders, chosen.target, chosen.drafter) is None


def test_a_model_folder_that_was_moved_away_is_told_with_the_way_on(folders, copy, probed):
    models.add_model(folders, copy)
    chosen = models.choose_default_models(folders, drafter="mine")
    shutil.rmtree(copy)
    problem = models.model_problem(folders, chosen.target, chosen.drafter)
    assert problem.sentence == f"The drafter mine cannot be used: There is no model folder at {copy}."
    assert "Put its folder back" in problem.advice
    assert problem.demo_usable
    assert models.model_problem(folders, chosen.target, None) is None
    models.remove_model(folders, "mine")
    assert [e.id for e in models.selectable_models(folders, chosen)][3:] == ["mine"]
    assert "no model" in models.model_problem(folders, chosen.target, chosen.drafter).sentence


def test_demo_models_that_are_not_whole_are_told_with_where_they_come_from(folders, copy, monkeypatch):
    (copy / "llm.mnn").unlink()
    monkeypatch.setitem(models.BUNDLED, "demo-drafter", copy)
    problem = models.model_problem(folders, "demo-target", "demo-drafter")
    assert "llm.mnn is not in" in problem.sentence
    assert "install it again" in problem.advice
    assert not problem.demo_usable


def test_removing_leaves_the_files(folders, copy, probed):
    models.add_model(folders, copy)
    assert models.remove_model(folders, "mine") == copy
    assert copy.is_dir()
    with pytest.raises(UnknownNameError):
        models.remove_model(folders, "mine")
    with pytest.raises(ModelError, match="comes with"):
        models.remove_model(folders, "demo-target")


def test_an_unknown_id_suggests_the_nearest(folders):
    with pytest.raises(UnknownNameError, match="demo-drafter"):
        models.resolve_model(folders, "demo-draftr")


def test_a_name_that_cannot_be_kept_is_refused(folders, tmp_path):
    folder = os.fsencode(tmp_path) + b"/\xff"
    os.mkdir(folder)  # noqa: PTH102 - a path that is no text
    with pytest.raises(ModelError, match="cannot be kept"):
        models.resolve_model(folders, os.fsdecode(folder))


@pytest.mark.models
def test_a_model_that_crashes_is_not_kept(folders, copy):
    weights = copy / "llm.mnn.weight"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(ModelError, match="mine"):
        models.add_model(folders, copy)
    assert len(models.list_models(folders)) == 3


@pytest.mark.parametrize("text", ["", "[]", "{", '{"folders": {"x": 7}, "probes": {}}', "[" * 100_000])
def test_a_damaged_list_is_set_aside_before_it_is_written_again(text, folders, copy, probed):
    models.add_model(folders, copy)
    (folders.models / models.REGISTRY_FILE).write_text(text, encoding="utf-8")
    assert len(models.list_models(folders)) == 3
    models.add_model(folders, copy)
    assert [e.id for e in models.list_models(folders)][3:] == ["mine"]
    assert [p.read_text(encoding="utf-8") for p in folders.models.glob("registry.damaged-*.json")] == [text]


def test_models_that_are_added_at_once_are_all_kept(folders, copy, probed, tmp_path):
    copies = [shutil.copytree(copy, tmp_path / f"model{i}") for i in range(6)]
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda folder: models.add_model(folders, folder), copies))
    assert {e.id for e in models.list_models(folders) if not e.bundled} == {f"model{i}" for i in range(6)}
