"""Calibration and collection through the real runner on the bundled models."""

import pytest

from as2d_core.accounting import summarise
from as2d_core.calibration.fit import fit_profile
from as2d_core.collection.assemble import collection_request
from as2d_core.models.demo_catalog import DRAFTER, TARGET, demo_window
from as2d_core.replay.trajectories import load_corpus
from as2d_core.request import ModelRef

pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def calibration(runner, ask):
    """A short but whole calibration."""
    options = {"repetitions": 2, "episodes": 1, "max_width": 5, "offsets_tokens": [0, 24]}
    return runner.run(ask("calibrate", options=options))


def mean_ms(calibration, name, *, running):
    """Mean time of one operation inside the calibration's real requests."""
    chosen = [
        s for s in calibration.samples if (s.name, s.running, s.origin) == (name, running, "episode") and not s.warm_up
    ]
    forwards = sum(s.extra.get("operations", 1) for s in chosen)
    return sum(s.value_ns / 1e6 * s.extra.get("operations", 1) for s in chosen) / forwards


def test_every_cell_is_measured_idle_and_beside_the_drafter_and_warm_ups_are_marked(calibration):
    assert calibration.status == "eos"
    cells = {
        (s.width, s.offset_tokens, s.running, s.repetition, s.warm_up)
        for s in calibration.samples
        if s.name == "verify" and s.origin == "sweep"
    }
    assert cells == {
        (width, offset, running, repetition, warm_up)
        for width in range(1, 6)
        for offset in (0, 24)
        for running in (False, True)
        for repetition, warm_up in ((0, True), (0, False), (1, False))
    }
    assert {s.name for s in calibration.samples} == {
        "step",
        "verify",
        "draft",
        "refresh",
        "paired",
        "confidence",
        "publish",
        "loop",
    }
    assert all(s.value_ns >= 0 for s in calibration.samples)


def test_a_calibration_becomes_a_profile_of_this_machine(calibration):
    profile = fit_profile([calibration], "here", "Here")
    assert sorted(profile.verify_idle_ms) == [1, 2, 3, 4, 5]
    assert min(profile.verify_idle_ms.values()) > 0
    # Which model is the faster one is for the bench: a busy machine turns it round in a calibration this short.
    assert profile.target_step_ms == pytest.approx(mean_ms(calibration, "step", running=False))
    assert profile.draft_serial_ms == pytest.approx(mean_ms(calibration, "draft", running=False))
    assert profile.draft_overlapped_ms == pytest.approx(mean_ms(calibration, "draft", running=True))
    assert profile.argmax_widths
    assert min(profile.paired_forward_ms, profile.confidence_row_ms) > 0
    assert profile.failed_width is None
    assert profile.models["target"].sha256 == calibration.engines["target"].model_sha256


def test_an_operation_has_no_throughput(calibration):
    figures = summarise(calibration)
    assert (figures.tps, figures.elapsed_ms, figures.account) == (None, None, None)


@pytest.mark.parametrize(
    ("options", "word"),
    [({"repetitions": 0}, "repetitions"), ({"offsets_tokens": []}, "offsets_tokens"), ({"speed": 9}, "speed")],
)
def test_impossible_options_are_refused_with_a_sentence(runner, ask, options, word):
    record = runner.run(ask("calibrate", options=options))
    assert record.status == "failed"
    assert word in record.end.error


def test_collecting_a_bundled_window_gives_the_packaged_trajectory(runner, exact_widths):
    name = "clean_05"
    item = demo_window(name)
    request = collection_request(item, ModelRef(str(TARGET), exact_widths=exact_widths), ModelRef(str(DRAFTER)))
    record = runner.run(request)
    (item,) = record.trajectories
    packaged = load_corpus("demo").window(name)
    assert item.target_tokens == packaged.target_tokens
    assert item.candidates == packaged.drafters[0].candidates
    agrees = tuple(a == b for a, b in zip(item.forced, item.target_tokens, strict=True))
    assert agrees == packaged.drafters[0].agrees
    assert item.confidences == pytest.approx(packaged.drafters[0].confidences, abs=1e-3)
