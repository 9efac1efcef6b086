import shutil

import pytest

from as2d_core.errors import ModelError
from as2d_core.models.demo_catalog import DRAFTER
from as2d_core.models.vocabulary import token_pieces
from as2d_core.replay.trajectories import load_corpus


@pytest.mark.models
def test_pieces_of_a_sequence_join_to_its_text():
    window = load_corpus("demo").window("clean_00")
    said = window.target_tokens[:-1]  # without EOS
    pieces = token_pieces(DRAFTER, (*said, -2))
    assert b"".join(pieces[t] for t in said).decode() == window.target_text
    assert -2 not in pieces


@pytest.mark.models
def test_a_model_that_cannot_be_loaded_is_a_sentence(tmp_path):
    copy = shutil.copytree(DRAFTER, tmp_path / "copy")
    (copy / "tokenizer.mtok").write_bytes(b"\x00" * 100)
    with pytest.raises(ModelError, match="copy"):
        token_pieces(copy, [1, 2])


def test_a_folder_that_is_no_model_is_refused_without_a_child(tmp_path):
    with pytest.raises(ModelError, match=r"config\.json is missing"):
        token_pieces(tmp_path, [1])
