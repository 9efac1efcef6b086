"""Evaluation windows become recordings once each, and their index says everything that is asked about them."""

import numpy as np
import pytest
import soundfile
from tones import PLAN, make_tone_bank

from as2d_core.errors import TrainingError
from as2d_core.models.training.evaluate import GROUPS, evaluation_items
from as2d_core.models.training.names import SPLIT_SEEDS
from as2d_core.models.training.recordings import split_seed, write_recordings
from as2d_core.models.window_index import read_index

EACH = 2


@pytest.fixture(scope="module")
def items(tmp_path_factory):
    banks = tmp_path_factory.mktemp("banks")
    for name in ("familiar", "fast", "new_voice"):
        make_tone_bank(banks / name, PLAN)
    return list(evaluation_items(banks, 5, EACH))


def test_every_item_is_found_again_with_its_sound(items, tmp_path):
    size = write_recordings(items, tmp_path, "validation")
    found = read_index(tmp_path)
    assert sorted((w.instruction, w.reference) for w in found) == sorted(
        (i.query.instruction, i.query.answer) for i in items
    )
    assert len(list(tmp_path.glob("*.flac"))) == EACH * len(GROUPS)
    assert size == sum(path.stat().st_size for path in tmp_path.glob("*.flac"))
    assert {w.split for w in found} == {"validation"}
    first = next(w for w in found if w.window_id == "val_clean_00")
    samples, rate = soundfile.read(first.path)
    assert rate == 16_000
    assert np.abs(samples - items[0].samples).max() <= 1 / 32768
    assert first.duration_s == pytest.approx(len(samples) / rate, abs=0.001)


def test_sealed_windows_are_test_windows(items, tmp_path):
    write_recordings(items, tmp_path, "sealed")
    assert {w.split for w in read_index(tmp_path)} == {"test"}


def test_windows_of_all_splits_can_stand_in_one_set(items, tmp_path):
    names = []
    for split in ("development", "validation", "sealed"):
        write_recordings(items, tmp_path / split, split)
        names += [w.window_id for w in read_index(tmp_path / split)]
    assert len(set(names)) == len(names) == 3 * len(items)


def test_recordings_are_not_written_over(items, tmp_path):
    write_recordings(items[:1], tmp_path, "validation")
    with pytest.raises(TrainingError, match="holds recordings already"):
        write_recordings(items[:1], tmp_path, "validation")


def test_the_sealed_seed_is_drawn_once_and_is_no_other_splits(tmp_path):
    seed = split_seed(tmp_path, "sealed")
    assert split_seed(tmp_path, "sealed") == seed
    assert seed >= 1_000_000 > max(SPLIT_SEEDS.values()) + 3
    assert split_seed(tmp_path / "other", "sealed") != seed
    assert split_seed(tmp_path, "development") == SPLIT_SEEDS["development"]


def test_a_damaged_sealed_seed_is_one_sentence(tmp_path):
    split_seed(tmp_path, "sealed")
    (tmp_path / "banks" / "sealed" / "seed.json").write_text("{}")
    with pytest.raises(TrainingError, match="holds no seed"):
        split_seed(tmp_path, "sealed")
