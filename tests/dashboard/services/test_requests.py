from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
import soundfile

from as2d_core.errors import AudioError, RequestError, UnknownNameError
from as2d_core.gates import Gates
from as2d_core.models.demo_catalog import TARGET, demo_window
from as2d_core.models.folder import describe_model
from as2d_core.operation_records import SelfTest
from as2d_core.request import Placement
from as2d_core.runner.device import cpu_name
from dashboard.services.models import mnn_version
from dashboard.services.requests import (
    RunForm,
    build_request,
    check_backends,
    check_widths,
    last_seconds,
    reference_form,
)
from dashboard.services.running import start_run
from datastore.library import put_self_test, self_test_key

FORM = RunForm(window_id="clean_00")


def test_a_window_alone_makes_a_whole_request(workspace):
    request = build_request(workspace, FORM)
    assert (request.method, request.budget, request.width, request.draft_cap) == ("as2d", 7, None, None)
    assert request.instruction == "transcribe the speech."
    assert request.audio.window_id == "clean_00"
    assert request.audio.view_end_s == request.audio.duration_s == pytest.approx(3.352, abs=0.01)
    assert len({request.target.sha256, request.drafter.sha256, request.audio.sha256}) == 3


@pytest.mark.parametrize(
    ("method", "own"), [("as2d", "budget"), ("sd", "width"), ("specasr", "draft_cap"), ("target-only", None)]
)
def test_a_method_gets_its_own_parameter_and_no_other(workspace, method, own):
    request = build_request(workspace, replace(FORM, method=method, budget=3, width=4, draft_cap=5))
    given = {name for name in ("budget", "width", "draft_cap") if getattr(request, name) is not None}
    assert given == ({own} if own else set())


def test_target_only_has_no_drafter(workspace):
    request = build_request(workspace, replace(FORM, method="target-only", drafter_pace_ms=3.0))
    assert request.drafter is None
    assert request.drafter_pace_ms is None


def test_the_reference_of_a_run_differs_in_method_only(workspace):
    form = replace(FORM, max_tokens=77, instruction="say it.", plain_step=True)
    run, reference = build_request(workspace, form), build_request(workspace, reference_form(form))
    assert (reference.method, reference.plain_step) == ("target-only", False)
    assert (reference.audio, reference.instruction, reference.max_tokens) == (run.audio, "say it.", 77)


def test_the_last_seconds_of_a_recording_are_a_view_of_it(workspace):
    request = build_request(workspace, last_seconds(workspace, FORM, 1.5))
    assert request.audio.view_end_s - request.audio.view_start_s == pytest.approx(1.5, abs=0.02)
    assert request.audio.view_end_s == pytest.approx(3.352, abs=0.01)
    assert last_seconds(workspace, FORM, 30.0).view_start_s == 0.0
    for seconds in (0.0, 31.0, float("nan")):
        with pytest.raises(RequestError, match=r"choose 0\.1 to 30"):
            last_seconds(workspace, FORM, seconds)
    with pytest.raises(RequestError, match="on the phone"):
        last_seconds(workspace, RunForm(phone_audio="/sdcard/a.wav"), 2.0)


def test_placement_and_conditions_are_those_of_the_form(workspace):
    form = replace(
        FORM,
        target_cores=(7,),
        drafter_cores=(4, 5),
        target_backend="opencl",
        drafter_threads=2,
        gates=Gates(rest_s=30),
    )
    run, reference = build_request(workspace, form), build_request(workspace, reference_form(form))
    assert run.placement == Placement((7,), (4, 5), 1, 2, "opencl", drafter_backend="cpu")
    assert reference.placement == replace(run.placement, drafter_backend=None)
    assert run.gates == reference.gates == Gates(rest_s=30)
    both = build_request(workspace, replace(form, drafter_backend="opencl"))
    assert both.placement == replace(run.placement, drafter_backend=None)


@pytest.mark.parametrize("asked", [{"target_backend": "opencl"}, {"drafter_backend": "opencl"}])
def test_a_backend_that_this_computer_has_not_is_refused_before_anything_runs(workspace, asked):
    check_backends(build_request(workspace, FORM))
    with pytest.raises(RequestError, match="has the backend cpu only, not opencl; choose cpu"):
        start_run(workspace, replace(FORM, **asked))


def test_widths_that_are_exact_on_the_cpu_are_not_taken_for_another_backend(workspace):
    facts = {"cpu": cpu_name(), "mnn_version": mnn_version(), "threads": 1, "precision": "high", "memory": "high"}
    test = SelfTest(describe_model(TARGET).sha256, (2, 4), "bit-equal", extra=facts)
    put_self_test(workspace.store, self_test_key(test), test)
    assert build_request(workspace, replace(FORM, target_backend="opencl")).target.exact_widths is None


@pytest.mark.parametrize("changed", [{}, {"cpu": "other"}, {"threads": 2}, {"precision": "low"}, {"mnn_version": "1"}])
def test_exact_widths_come_from_the_self_test_of_exactly_this_setting(workspace, changed):
    facts = {"cpu": cpu_name(), "mnn_version": mnn_version(), "threads": 1, "precision": "high", "memory": "high"}
    test = SelfTest(describe_model(TARGET).sha256, (2, 4), "bit-equal", extra={**facts, **changed})
    put_self_test(workspace.store, self_test_key(test), test)
    assert build_request(workspace, FORM).target.exact_widths == (None if changed else (2, 4))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"budget": 3}, ""),
        ({"budget": 4}, "width 5 is not exact"),
        ({"method": "sd", "width": 5}, "the widest exact width is 4"),
        ({"method": "specasr", "draft_cap": 4}, "width 5 is not exact"),
        ({"method": "target-only"}, ""),
    ],
)
def test_where_exact_widths_are_known_a_wider_request_is_refused_before_anything_runs(workspace, change, said):
    request = build_request(workspace, replace(FORM, **change))
    check_widths(request)  # nothing is known yet: the runner finds out
    known = replace(request, target=replace(request.target, exact_widths=(4, 2)))
    with pytest.raises(RequestError, match=said) if said else nullcontext():
        check_widths(known)


@pytest.mark.parametrize(
    "change", [{"budget": 0}, {"budget": 64}, {"method": "sd", "width": 1}, {"max_tokens": 1}, {"threshold": 2.0}]
)
def test_what_every_runner_would_refuse_is_refused_before_anything_runs(workspace, change):
    with pytest.raises(RequestError, match=r"choose|0 to 1"):
        build_request(workspace, replace(FORM, **change))


@pytest.mark.parametrize("form", [RunForm(), replace(FORM, audio=TARGET)])
def test_a_form_names_one_thing_to_listen_to(workspace, form):
    with pytest.raises(RequestError, match="one of the two"):
        build_request(workspace, form)


@pytest.mark.parametrize(
    ("field", "value", "hint"),
    [("method", "as2", "as2d"), ("window_id", "clean_9", "clean_09"), ("target", "demo-targt", "demo-target")],
)
def test_an_unknown_name_suggests_a_known_one(workspace, field, value, hint):
    with pytest.raises(UnknownNameError, match=f"Did you mean '{hint}"):
        build_request(workspace, replace(FORM, **{field: value}))


def test_a_view_outside_the_recording_is_refused(workspace):
    with pytest.raises(Exception, match="does not lie inside"):
        build_request(workspace, replace(FORM, view_start_s=1.0, view_end_s=99.0))


def test_a_view_outside_an_upload_names_the_file_as_the_user_does(workspace, tmp_path):
    mine = tmp_path / "my talk.flac"
    mine.write_bytes(demo_window("clean_00").path.read_bytes())
    with pytest.raises(AudioError, match=r"does not lie inside my talk\.flac"):
        build_request(workspace, replace(FORM, window_id=None, audio=mine, view_start_s=1.0, view_end_s=99.0))


def test_a_recording_at_another_rate_is_asked_for_up_to_its_end_and_not_beyond(workspace, tmp_path):
    mine = tmp_path / "mine.wav"
    soundfile.write(mine, np.zeros(22_051, np.float32), 22_050)
    audio = build_request(workspace, replace(FORM, window_id=None, audio=mine)).audio
    assert audio.view_end_s == 22_051 / 22_050 < audio.duration_s


def test_names_that_differ_in_their_number_are_listed_as_one(workspace):
    with pytest.raises(UnknownNameError, match=r"clean_00 to clean_11 \(12\)") as raised:
        build_request(workspace, replace(FORM, window_id="?"))
    assert "clean_05," not in str(raised.value)


def test_audio_on_the_phone_is_named_as_it_lies_there(workspace):
    request = build_request(workspace, RunForm(phone_audio="/sdcard/Music/a b.wav", view_start_s=2.0))
    audio = request.audio
    assert (audio.path, audio.window_id, audio.view_start_s) == ("/sdcard/Music/a b.wav", "a b.wav", 2.0)
    assert (audio.sha256, audio.duration_s) == (None, None)


@pytest.mark.parametrize("form", [RunForm(phone_audio="music/a.wav"), RunForm(phone_audio="/sdcard/a", window_id="x")])
def test_what_is_no_path_of_a_phone_or_one_choice_too_many_is_refused(workspace, form):
    with pytest.raises(RequestError):
        build_request(workspace, form)
