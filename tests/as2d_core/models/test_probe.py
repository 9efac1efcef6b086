import shutil

import pytest

from as2d_core.errors import ModelError
from as2d_core.models.demo_catalog import DRAFTER
from as2d_core.models.probe import probe_model

pytestmark = pytest.mark.models


@pytest.fixture
def copy(tmp_path):
    return shutil.copytree(DRAFTER, tmp_path / "copy")


def test_the_bundled_drafter_runs_here():
    probe = probe_model(DRAFTER)
    assert (probe.backend, probe.vocabulary) == ("cpu", 528)
    assert probe.forward_ms > 0


def test_a_model_that_crashes_is_a_sentence(copy):
    weights = copy / "llm.mnn.weight"
    weights.write_bytes(b"\xff" * weights.stat().st_size)
    with pytest.raises(ModelError, match=r"copy does not run here|could not load copy"):
        probe_model(copy)


def test_a_damaged_graph_is_a_sentence(copy):
    graph = copy / "llm.mnn"
    graph.write_bytes(graph.read_bytes()[: graph.stat().st_size // 2])
    with pytest.raises(ModelError, match="copy"):
        probe_model(copy)


def test_a_model_that_takes_too_long_is_a_sentence():
    with pytest.raises(ModelError, match=r"within 0\.01 s"):
        probe_model(DRAFTER, deadline_s=0.01)


def test_a_folder_that_is_no_model_is_refused_without_a_child(tmp_path):
    with pytest.raises(ModelError, match=r"config\.json is missing"):
        probe_model(tmp_path)
