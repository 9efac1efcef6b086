"""From samples to a profile: means, ratios, verdicts and refusals."""

from dataclasses import replace

import numpy as np
import pytest

from as2d_core.calibration.fit import concurrent_ratios, fit_profile
from as2d_core.calibration.stability import judge_stability
from as2d_core.errors import ProfileError
from as2d_core.operation_records import Sample
from as2d_core.profiles.codec import profile_from_json, profile_to_json, profile_warnings
from as2d_core.records import End, Engine, RunHeader, RunRecord
from as2d_core.request import AudioRef, ModelRef, Request


def engine(role, **changes):
    whole = Engine(role, f"demo-{role}", role * 4, "3.6.1", "cpu", 1, "high", "high", (0,), (0,), (2, 3, 4, 8))
    return replace(whole, **changes)


def record(samples, status="eos", method="calibrate", **engine_changes):
    request = Request("r1", method, ModelRef("t"), AudioRef("a.flac"), ModelRef("d"))
    run = RunRecord(RunHeader(1, "r1", request, {"name": "A phone", "cpu": "X"}, {"as2d": "0"}, "virtual"))
    run.engines = {"target": engine("target", **engine_changes), "drafter": engine("drafter")}
    run.samples = list(samples)
    run.end = End(status, 1, {}, "0")
    return run


def ms(value):
    return round(value * 1e6)


def samples(widths=(1, 2, 3), repetitions=5, concurrent_factor=1.2, drift=0.0):
    out = []
    for repetition in range(-1, repetitions):
        shared = {"repetition": max(repetition, 0), "warm_up": repetition < 0}
        scale = 100.0 if repetition < 0 else 1.0 + drift * repetition
        for width in widths:
            cost = (10 + width) * scale
            cell = {"width": width, "offset_tokens": 0, **shared}
            out.append(Sample("verify", ms(cost), False, **cell))
            out.append(Sample("verify", ms(cost * concurrent_factor), True, **cell))
        out.append(Sample("step", ms(10 * scale), False, offset_tokens=0, **shared))
        episode = {"origin": "episode", **shared}
        out.append(Sample("draft", ms(2 * scale), False, extra={"operations": 3}, **episode))
        out.append(Sample("draft", ms(3 * scale), True, extra={"operations": 8}, **episode))
        out.append(Sample("publish", ms(0.1 * scale), True, **episode))
        out.append(Sample("loop", ms(0.2 * scale), True, **episode))
        out += [Sample("refresh", ms((1 + 0.5 * w) * scale), False, width=w, **shared) for w in (2, 4, 8)]
    return out


def test_a_profile_holds_the_means_of_the_formal_repetitions_and_no_warm_up():
    profile = fit_profile([record(samples())], "phone", "A phone")
    assert profile.target_step_ms == pytest.approx(10)
    assert profile.verify_idle_ms == pytest.approx({1: 11, 2: 12, 3: 13})
    assert profile.verify_concurrent_ms == pytest.approx({1: 13.2, 2: 14.4, 3: 15.6})
    assert (profile.draft_serial_ms, profile.draft_overlapped_ms) == pytest.approx((2, 3))
    assert (profile.publish_ms, profile.loop_ms) == pytest.approx((0.1, 0.2))
    assert (profile.refresh_base_ms, profile.refresh_token_ms) == pytest.approx((1, 0.5))
    assert profile.spread["verify_idle_ms.2"].n == 5
    assert profile.exact_widths == (2, 3, 4, 8)


def test_a_profile_says_where_the_models_ran_and_backends_are_not_mixed():
    there = record(samples(), backend="opencl")
    assert fit_profile([there], "phone", "A phone").device["target_placement"] == "GPU (OpenCL)"
    assert fit_profile([record(samples())], "phone", "A phone").device["drafter_placement"] == "CPU, 1 thread"
    with pytest.raises(ProfileError, match="settings"):
        fit_profile([record(samples()), there], "phone", "A phone")


def test_a_fitted_profile_survives_export_and_import():
    profile = fit_profile([record(samples())], "phone", "A phone")
    assert profile_from_json(profile_to_json(profile)) == profile


def test_widths_with_fewer_than_five_concurrent_observations_take_the_median_ratio_and_are_flagged():
    few = [s for s in samples() if not (s.name == "verify" and s.running and s.width == 3 and s.repetition > 1)]
    profile = fit_profile([record(few)], "phone", "A phone")
    assert profile.verify_concurrent_ms[3] == pytest.approx(13 * 1.2)
    assert profile.extrapolated_concurrent == (3,)
    assert profile.provenance["verify_concurrent_ms.3"].kind == "fitted"


def test_the_extremes_of_the_concurrent_ratio_are_kept_for_sensitivity():
    uneven = [
        replace(s, value_ns=round(s.value_ns * 0.75)) if s.name == "verify" and s.running and s.width == 2 else s
        for s in samples()
    ]
    profile = fit_profile([record(uneven)], "phone", "A phone")
    assert profile.concurrent_ratio_extremes == pytest.approx((0.9, 1.2))


def test_without_enough_observations_no_extremes_are_known():
    alone = [s for s in samples() if not (s.name == "verify" and s.running)]
    assert fit_profile([record(alone)], "phone", "A phone").concurrent_ratio_extremes is None


def test_without_any_ratio_the_idle_cost_is_a_guess_and_says_so():
    alone = [s for s in samples() if not (s.name == "verify" and s.running)]
    profile = fit_profile([record(alone)], "phone", "A phone")
    assert profile.verify_concurrent_ms == profile.verify_idle_ms
    assert profile.extrapolated_concurrent == (1, 2, 3)
    assert {profile.provenance[f"verify_concurrent_ms.{k}"].kind for k in (1, 2, 3)} == {"guessed"}


def test_a_median_ratio_below_one_is_not_clipped():
    cheap = samples(concurrent_factor=0.9)
    few = [s for s in cheap if not (s.name == "verify" and s.running and s.width == 3 and s.repetition > 1)]
    profile = fit_profile([record(few)], "phone", "A phone")
    assert profile.verify_concurrent_ms[3] == pytest.approx(13 * 0.9)
    assert profile.concurrent_ratio_extremes == pytest.approx((0.9, 0.9))


def test_the_ratio_of_a_width_with_fewer_than_five_observations_counts_for_nothing():
    odd = [
        replace(s, value_ns=s.value_ns * 9) if s.name == "verify" and s.running and s.width == 3 else s
        for s in samples()
        if not (s.name == "verify" and s.running and s.width == 3 and s.repetition > 3)
    ]
    profile = fit_profile([record(odd)], "phone", "A phone")
    assert profile.concurrent_ratio_extremes == pytest.approx((1.2, 1.2))
    assert profile.verify_concurrent_ms[3] == pytest.approx(13 * 1.2)


def test_the_repetitions_of_several_windows_are_pooled():
    dear = [replace(s, value_ns=s.value_ns * 3) for s in samples()]
    profile = fit_profile([record(samples()), record(dear)], "phone", "A phone")
    assert profile.verify_idle_ms[2] == pytest.approx(12 * 2)
    assert profile.spread["verify_idle_ms.2"].n == 10


def test_observations_of_several_windows_count_together_for_a_concurrent_cost():
    few = [s for s in samples() if not (s.name == "verify" and s.running and s.width == 3 and s.repetition > 2)]
    assert fit_profile([record(few)], "phone", "A phone").extrapolated_concurrent == (3,)
    assert fit_profile([record(few), record(few)], "phone", "A phone").extrapolated_concurrent == ()


def test_a_width_that_failed_or_was_never_run_is_not_feasible():
    lost = [s for s in samples(widths=(1, 2, 3, 4)) if not (s.name == "verify" and s.width == 3 and not s.running)]
    profile = fit_profile([record(lost)], "phone", "A phone")
    assert 3 not in profile.verify_idle_ms
    assert 3 not in profile.verify_concurrent_ms
    assert [profile.feasible(b) for b in (1, 2, 3)] == [True, False, False]
    assert any("has no cost at K = 3" in sentence for sentence in profile_warnings(profile))


def test_a_refresh_that_does_not_grow_with_its_width_is_left_out():
    falling = [replace(s, value_ns=s.value_ns // (s.width or 1) ** 2) if s.name == "refresh" else s for s in samples()]
    profile = fit_profile([record(falling)], "phone", "A phone")
    assert (profile.refresh_base_ms, profile.refresh_token_ms) == (None, None)


def test_ratios_below_one_are_kept():
    ratios = concurrent_ratios({1: [10.0], 2: [10.0]}, {1: [9.0], 2: [11.0]})
    assert [r.ratio for r in ratios] == pytest.approx([0.9, 1.1])


def test_steady_costs_are_stable():
    assert judge_stability([s for s in samples() if not s.warm_up]).verdict == "stable"


def test_costs_that_drift_are_unstable_and_the_reason_says_so():
    verdict = judge_stability([s for s in samples(drift=0.1) if not s.warm_up])
    assert verdict.verdict == "unstable"
    assert "drifted" in verdict.reason


def test_costs_that_scatter_are_unstable_and_the_reason_says_so():
    rng = np.random.default_rng(1)
    steady = [s for s in samples() if not s.warm_up]
    verdict = judge_stability([replace(s, value_ns=round(s.value_ns * rng.uniform(0.5, 1.5))) for s in steady])
    assert verdict.verdict == "unstable"
    assert "spread" in verdict.reason


def test_too_few_repetitions_give_no_verdict():
    assert judge_stability([s for s in samples(repetitions=2) if not s.warm_up]).verdict == "unknown"


@pytest.mark.parametrize(
    ("records", "word"),
    [
        ([], "no calibration run"),
        ([record(samples(), status="cancelled")], "no complete calibration"),
        ([record(samples(), method="as2d")], "no complete calibration"),
        ([record(samples()), record(samples(), threads=2)], "differ"),
        ([record(samples(widths=(2, 3)))], "width 1"),
        ([record([s for s in samples() if s.name != "publish"])], "publish_ms"),
    ],
)
def test_what_cannot_be_fitted_is_refused_with_a_sentence(records, word):
    with pytest.raises(ProfileError, match=word):
        fit_profile(records, "phone", "A phone")


def physical(width, running=False, differing=0, **fields):
    cost = ms((10 + width) * (1.2 if running else 1.0))
    extra = {"physical": width, "differing_rows": differing}
    return [Sample("verify", cost, running, width, 0, n, extra=extra, **fields) for n in range(5)]


def swept(widths=(1, 2, 3, 4, 5, 6), differing=None):
    """A sweep by physical rows beside the other costs."""
    others = [s for s in samples() if s.name != "verify"]
    for width in widths:
        for running in (False, True):
            others += physical(width, running, (differing or {}).get(width, 0))
    return others


def test_a_width_costs_what_the_next_exact_width_costs_and_the_figure_shows_what_was_computed():
    profile = fit_profile([record(swept(), widths=(2, 3, 5))], "phone", "A phone")
    assert profile.verify_idle_ms == pytest.approx({1: 12, 2: 12, 3: 13, 4: 15, 5: 15})
    assert profile.spread["width_ms.4"].mean_ms == pytest.approx(14)
    assert profile.spread["width_ms.6"].n == 5


def test_widths_are_argmax_equal_when_no_row_differed():
    profile = fit_profile([record(swept(differing={4: 1}))], "phone", "A phone")
    assert profile.argmax_widths == (1, 2, 3, 5, 6)


def test_the_width_that_failed_is_part_of_the_profile_and_of_no_cost():
    broken = Sample("verify", ms(1), False, 7, 0, warm_up=True, extra={"failed": "wrong shape"})
    profile = fit_profile([record([*swept(), broken], widths=())], "phone", "A phone")
    assert (profile.failed_width, profile.failed_reason) == (7, "wrong shape")
    assert max(profile.verify_idle_ms) == 6
    assert profile_from_json(profile_to_json(profile)) == profile


def test_what_only_specasr_pays_is_in_the_profile():
    extra = [Sample("paired", ms(3.5), False), Sample("confidence", ms(0.9), False)]
    profile = fit_profile([record([*samples(), *extra])], "phone", "A phone")
    assert (profile.paired_forward_ms, profile.confidence_row_ms) == pytest.approx((3.5, 0.9))
    assert "mask" in profile.provenance["paired_forward_ms"].note
    assert profile.spread["refresh_ms.4"].mean_ms == pytest.approx(3.0)


def test_a_run_that_was_broken_off_adds_its_samples_when_its_window_was_finished_later():
    whole = samples()
    first, rest = whole[: len(whole) // 2], whole[len(whole) // 2 :]
    profile = fit_profile([record(first, status="failed"), record(rest)], "phone", "A phone")
    assert profile.verify_idle_ms == fit_profile([record(whole)], "phone", "A phone").verify_idle_ms
