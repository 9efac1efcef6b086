"""An MNN graph says how many bytes of weights belong to it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from as2d_core.models.demo_catalog import DRAFTER, TARGET
from as2d_core.models.graph import weight_bytes

AUDIO = (DRAFTER / "audio.mnn").read_bytes()


@pytest.mark.parametrize("graph", ["llm.mnn", "audio.mnn"])
@pytest.mark.parametrize("folder", [TARGET, DRAFTER], ids=lambda folder: folder.name)
def test_a_bundled_graph_wants_its_weights_to_the_last_byte(folder, graph):
    assert weight_bytes((folder / graph).read_bytes()) == (folder / f"{graph}.weight").stat().st_size


@pytest.mark.parametrize("graph", [b"", b"x", bytes(1000), b"\xff" * 1000, AUDIO[:100], b"text " * 1000])
def test_what_is_no_graph_wants_nothing_known(graph):
    assert weight_bytes(graph) is None


@given(st.data())
def test_a_damaged_graph_never_raises(data):
    graph = bytearray(AUDIO[:30_000])
    for _ in range(data.draw(st.integers(1, 20))):
        graph[data.draw(st.integers(0, len(graph) - 1))] = data.draw(st.integers(0, 255))
    wanted = weight_bytes(bytes(graph))
    assert wanted is None or wanted >= 0
