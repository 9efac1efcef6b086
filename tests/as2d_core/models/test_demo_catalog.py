"""The bundled recordings are there, short enough, and found by their names."""

import re
from collections import Counter

import pytest
import soundfile

from as2d_core.audio import MAX_SECONDS, SAMPLE_RATE
from as2d_core.errors import UnknownNameError
from as2d_core.models.demo_catalog import FOLDER, demo_window, demo_windows


def test_sixty_recordings_and_the_questions_about_them_are_bundled():
    tasks = Counter(item.task for item in demo_windows())
    assert tasks == {"transcribe": 60, "translate": 12, "question": 24}


def test_every_item_has_a_name_of_its_own():
    names = [item.window_id for item in demo_windows()]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("item", [i for i in demo_windows() if i.task == "transcribe"], ids=lambda i: i.window_id)
def test_a_recording_is_what_the_index_says(item):
    info = soundfile.info(item.path)
    assert (info.samplerate, info.channels) == (SAMPLE_RATE, 1)
    assert info.duration == pytest.approx(item.duration_s, abs=0.01)
    assert info.duration <= MAX_SECONDS


def test_every_item_says_what_is_asked_and_what_the_answer_is():
    assert all(item.instruction.strip() and item.reference.strip() for item in demo_windows())


def test_a_window_that_is_not_there_suggests_the_nearest():
    with pytest.raises(UnknownNameError, match="Did you mean 'clean_11'"):
        demo_window("claen_11")


def size_mb(folder):
    return round(sum(file.stat().st_size for file in folder.rglob("*") if file.suffix != ".json") / 1e6, 1)


def test_the_model_card_tells_the_sizes_of_what_is_bundled():
    card = (FOLDER / "MODEL_CARD.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (target|drafter|light) \| [\d.]+ M \| ([\d.]+) MB \|", card, re.MULTILINE)
    assert [(name, float(size)) for name, size in rows] == [
        (name, size_mb(FOLDER / name)) for name in ("target", "drafter", "light")
    ]
    said = re.search(r"Together they have ([\d.]+) MB, the (\d+) recordings beside them ([\d.]+) MB", card)
    models, count, sounds = said.groups()
    assert float(models) == pytest.approx(sum(size_mb(FOLDER / name) for name, _ in rows))
    assert (int(count), float(sounds)) == (len([*(FOLDER / "windows").glob("*.flac")]), size_mb(FOLDER / "windows"))
