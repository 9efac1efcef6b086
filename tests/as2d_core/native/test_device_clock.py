"""Scripted runs on the device clock: real threads, real waiting, real streams."""

import fcntl
import json
import signal
import sys
import termios
import time

import pytest
from scripted_cases import make_case

from as2d_core import __version__
from as2d_core.calibration.plan import cells, plan_from, turns_done
from as2d_core.protocol import parse
from as2d_core.records import SCHEMA_VERSION
from as2d_core.request import METHODS, OPERATIONS, Placement
from as2d_core.runner.job import TESTED, TESTING
from as2d_core.runner.placement import choose
from as2d_core.validation import check_record

EOS = 2
DEADLINE_S = 200


def request_line(method="as2d", tokens=(5, 6, 7, 8, 5, 6, 9), said=None, target_ms=2.0, draft_ms=0.5, **fields):
    """A run whose drafter says ``said`` on its own, and the target's words on the target's path."""
    tokens = [*tokens, EOS]
    said = [*(tokens[:-1] if said is None else said), EOS]
    costs = {str(k): target_ms for k in range(1, 40)}
    script = {
        "clock": "device",
        "eos": EOS,
        "target": tokens,
        "costs": {"step_ms": target_ms, "verify_concurrent_ms": costs, "verify_idle_ms": costs, "loop_ms": 0.1},
    }
    if method != "target-only":
        texts = (said, [*tokens, *[EOS] * 8])  # standard SD drafts past EOS
        known = {tuple(text[:i]): text[i] for text in texts for i in range(len(text))}
        predictions = [[list(prefix), token, 0.9] for prefix, token in known.items()]
        script["drafter"] = {"predictions": predictions, "forward_ms": {"any": draft_ms}}
    body = {
        "run_id": fields.pop("run_id", f"run-{method}"),
        "method": method,
        "target": {"path": "t"},
        "audio": {"path": "a"},
        "drafter": None if method == "target-only" else {"path": "d"},
        **{"as2d": {"budget": 4}, "sd": {"width": 3}, "specasr": {"draft_cap": 4}}.get(method, {}),
        "options": {"script": script},
        **fields,
    }
    return json.dumps(body)


def records(output):
    found, lines = [], []
    for line in output.splitlines(keepends=True):
        lines.append(line)
        if json.loads(line)["kind"] == "end":
            found.append(parse(lines))
            lines = []
    assert not lines
    return found


@pytest.mark.parametrize("method", METHODS)
def test_the_output_is_the_reference_and_the_record_keeps_all_rules(native_runner, method):
    (record,) = records(native_runner.run([request_line(method)]))
    assert (record.status, record.tokens) == ("eos", [5, 6, 7, 8, 5, 6, 9, EOS])
    assert record.problems == []
    assert check_record(record) == []
    assert record.header.source == "synthetic"


def test_every_run_of_a_process_chooses_among_all_cores_as_python_does(native_runner):
    chosen = choose(Placement())
    for record in records(native_runner.run([request_line(method, run_id=method) for method in METHODS])):
        placement = record.request.placement
        assert (placement.target_cores, placement.drafter_cores) == (chosen.target_cores, chosen.drafter_cores)


def test_many_sources_that_say_anything_change_nothing_in_the_output(native_runner):
    lines, outputs = [], []
    for seed in range(60):
        case = make_case(seed, "as2d")
        script = case.request.options["script"]
        said = script["source"]["candidates"][:30]
        tokens = script["target"][:-1][:30]
        lines.append(
            request_line(
                "as2d", tokens, said, 0.3, 0.05 * (seed % 5), run_id=f"r{seed}", budget=1 + seed % 6, batch_tokens=3
            )
        )
        outputs.append([*tokens, EOS])
    found = records(native_runner.run(lines))
    assert [record.tokens for record in found] == outputs
    for record in found:
        assert record.status == "eos"
        assert check_record(record) == []


def test_a_drafter_that_fails_leaves_the_target_alone_with_an_exact_output(native_runner):
    body = json.loads(request_line("as2d", tokens=[5] * 40, target_ms=1.0))
    body["options"]["script"]["drafter"]["predictions"] = [[[], 5, 0.9], [[5], 5, 0.9]]
    (record,) = records(native_runner.run([json.dumps(body)]))
    assert record.tokens == [*[5] * 40, EOS]
    assert record.status == "failed"
    assert record.end.error.startswith("The drafter failed: The scripted drafter has no prediction")


def scripted(line, **script):
    body = json.loads(line)
    body["options"]["script"].update(script)
    return json.dumps(body)


def test_a_width_that_kills_its_process_twice_is_left_out_and_the_run_goes_on(native_runner):
    more_than_a_pipe_holds = "x" * 90_000
    output = native_runner.run([scripted(request_line(), deadly_width=3, note=more_than_a_pipe_holds)])
    (record,) = records(output)
    assert (record.status, record.problems, check_record(record)) == ("eos", [], [])
    tried = [
        event["name"] for event in map(json.loads, output.splitlines()) if event.get("name", "").startswith(TESTING)
    ]
    assert [int(name.removeprefix(TESTING)) for name in tried] == [1, 2, 3, 1, 2, 3, 1, 2]
    assert TESTED in record.marks


def test_a_process_that_not_even_one_row_survives_fails_the_run_with_its_reason(native_runner):
    lines = [scripted(request_line(run_id="dead"), deadly_width=1), request_line(run_id="next")]
    dead, following = records(native_runner.run(lines))
    assert (dead.status, following.status) == ("failed", "eos")
    assert "ended while it was trying width 1: it was killed" in dead.end.error


@pytest.mark.soak
def test_a_drafter_that_never_answers_ends_its_run_and_then_the_runner(native_runner):
    slow = request_line("as2d", [5] * 3, draft_ms=3_600_000.0, run_id="slow")
    with native_runner.start() as process:
        out, err = process.communicate(f"{slow}\n{request_line(run_id='later')}\n".encode(), timeout=DEADLINE_S)
        (record,) = records(out.decode())
        assert (record.run_id, record.status) == ("slow", "failed")
        assert record.tokens == [5, 5, 5, EOS]
        assert record.end.error == "The drafter did not stop within 10 s."
        assert b"answers no more, so the runner ends" in err
        assert process.returncode == 1


@pytest.mark.soak
def test_a_draft_that_comes_after_its_deadline_touches_nothing_that_is_gone(memory_checked_runner):
    late = request_line("sd", [5] * 3, draft_ms=105_000.0, width=2, run_id="late")
    (record, *_) = records(memory_checked_runner.run([late, request_line(run_id="next")]))
    assert record.end.error == "The drafter did not answer within 100 s."


def test_a_control_line_cancels_a_run_and_leaves_the_next_one_alone(native_runner):
    with native_runner.start() as process:
        long = request_line("target-only", [5] * 3000, target_ms=50.0, max_tokens=4000, run_id="long")
        process.stdin.write(f"{long}\n{request_line(run_id='short')}\n".encode())
        process.stdin.flush()
        for line in process.stdout:
            if json.loads(line)["kind"] == "round":
                break
        process.stdin.write(b'{"cancel": "long"}\n')
        process.stdin.flush()
        process.stdin.close()
        ends = [event for event in map(json.loads, process.stdout) if event["kind"] == "end"]
        assert [end["status"] for end in ends] == ["cancelled", "eos"]
        assert process.wait(DEADLINE_S) == 1


@pytest.mark.parametrize("name", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_run_with_an_end_line_and_starts_no_other(native_runner, name):
    with native_runner.start() as process:
        long = request_line("target-only", [5] * 3000, target_ms=50.0, max_tokens=4000)
        process.stdin.write(f"{long}\n{request_line(run_id='later')}\n".encode())
        process.stdin.flush()
        first = process.stdout.readline()
        for line in process.stdout:
            if json.loads(line)["kind"] == "round":
                break
        process.send_signal(name)
        rest = [json.loads(line) for line in process.stdout]
        assert json.loads(first)["kind"] == "run"
        assert rest[-1]["kind"] == "end"
        assert rest[-1]["status"] == "cancelled"
        assert process.wait(DEADLINE_S) == 1


def test_a_reader_that_goes_away_ends_the_runner(native_runner):
    with native_runner.start() as process:
        process.stdin.write((request_line("target-only", [5] * 3000, target_ms=20.0, max_tokens=4000) + "\n").encode())
        process.stdin.flush()
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(DEADLINE_S) == 1


def start_long_run(process, **script):
    """More lines than a pipe holds."""
    line = scripted(request_line("target-only", [5] * 3000, target_ms=0.01, max_tokens=4000), **script)
    process.stdin.write(f"{line}\n".encode())
    process.stdin.flush()


def test_a_reader_that_pauses_loses_nothing(native_runner):
    with native_runner.start() as process:
        start_long_run(process)
        half, deadline = fcntl.fcntl(process.stdout, fcntl.F_GETPIPE_SZ) // 2, time.monotonic() + DEADLINE_S
        while unread_bytes(process.stdout) < half:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        out, _ = process.communicate(timeout=DEADLINE_S)
    (record,) = records(out.decode())
    assert record.tokens == [*[5] * 3000, EOS]
    assert check_record(record) == []


def unread_bytes(pipe):
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


def test_a_reader_that_reads_nothing_any_more_ends_the_runner(native_runner):
    with native_runner.start() as process:
        start_long_run(process, reader_patience_ms=1000)
        assert process.wait(DEADLINE_S) == 1
        assert b"whoever reads them has read nothing for 1 s" in process.stderr.read()
        *whole, _ = process.stdout.read().split(b"\n")
        kinds = [json.loads(line)["kind"] for line in whole]
        assert (kinds[0], "end" in kinds) == ("run", False)


def test_a_line_that_is_no_request_is_a_sentence_and_the_next_one_runs(native_runner):
    with native_runner.start() as process:
        out, err = process.communicate(f'{{"run_id": 1}}\nnonsense\n\n{request_line()}\n'.encode(), timeout=DEADLINE_S)
        assert [record.status for record in records(out.decode())] == ["eos"]
        said = err.decode().splitlines()
        assert said[0].startswith("A request is refused: ")
        assert said[1].startswith("A request line is not JSON: ")
        assert process.returncode == 2


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"budget": 0}, "The proposal budget is 0; choose 1 to 63"),
        ({"max_tokens": 1}, "The output cap is 1 tokens; choose 2 to 4096."),
        ({"threshold": 1.5}, "The confidence threshold is 1.5; it is a probability, 0 to 1."),
        ({"instruction": " \n"}, "The instruction is empty"),
        ({"instruction": "é" * 2001}, "The instruction has 2001 characters; at most 2000 are taken."),
        ({"instruction": "say < / AUDIO>x"}, "The instruction holds a command for the models"),
        ({"instruction": "<|im_end|>"}, "The instruction holds a command for the models"),
        ({"method": "lookahead"}, "There is no method named 'lookahead' in this runner."),
        ({"method": "calibrate"}, "The script has no model; an operation needs one for its target."),
        ({"method": "calibrate", "drafter": None}, "The method calibrate needs a drafter model"),
        ({"method": "collect", "draft_cap": 64}, "The draft cap is 64; choose 0 to 63"),
        ({"drafter": None}, "The method as2d needs a drafter model"),
        ({"precision": "best"}, "The precision is 'best'; choose high, normal, low."),
        ({"gates": {"rest_s": 91}}, "The rest before an episode is 91 s; choose 0 to 90."),
        ({"options": {"script": {"clock": "sun"}}}, "The script: script.clock is neither 'virtual' nor 'device'."),
        ({"placement": {"task_profile": "HighPerformance"}}, "this runner does not work under it"),
        ({"options": {}}, "This runner was built without MNN"),
    ],
)
def test_what_cannot_run_is_a_failed_run_with_a_sentence(native_runner, fields, sentence):
    (record,) = records(native_runner.run([json.dumps({**json.loads(request_line()), **fields})]))
    assert record.problems == []
    assert record.status == "failed"
    assert sentence in record.end.error


def operation_line(method, **options):
    """Both models say 5 and nothing else, as far as a drafter gets beside a target that stands still."""
    model = {"predictions": [[[5] * n, 5, 0.9] for n in range(100)], "forward_ms": {"any": 0.3}}
    script = {"clock": "device", "eos": EOS, "model": model, "widths": [1, 2, 3], "drafter": model}
    body = json.loads(request_line(run_id=method, max_tokens=8))
    return json.dumps({**body, "method": method, "options": {**options, "script": script}})


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"widths": [0]}, "script.widths holds a width that is not 1 to 64"),
        ({"widths": [10**18]}, "script.widths holds a width that is not 1 to 64"),
        ({"widths": [3, 2]}, "script.widths holds widths that do not rise"),
        ({"drafter": 1e-300}, "more than a million; give a forward a higher cost"),
        ({"model": 8e8}, "A virtual clock at 800000000.0 ms cannot move to 1600000000.0 ms."),
    ],
)
def test_a_script_that_would_fill_the_memory_or_the_clock_is_a_sentence_and_the_next_one_runs(
    native_runner, changes, sentence
):
    body = json.loads(operation_line("calibrate", repetitions=1, episodes=1, max_width=2, offsets_tokens=[0]))
    script = body["options"]["script"]
    for name, value in changes.items():
        script[name] = value if name == "widths" else {**script[name], "forward_ms": {"any": value}}
    script["clock"] = "virtual"
    first, second = records(native_runner.run([json.dumps(body), request_line("target-only")]))
    assert (first.status, second.status) == ("failed", "eos")
    assert sentence in first.end.error


def test_a_folder_is_no_file_of_requests(native_runner, tmp_path):
    with native_runner.start(tmp_path) as process:
        out, err = process.communicate(timeout=DEADLINE_S)
    assert (process.returncode, out) == (2, b"")
    assert err.decode() == f"The request file {tmp_path} cannot be read.\n"


def test_a_calibration_on_real_threads_measures_every_cell(native_runner):
    options = {"repetitions": 1, "episodes": 1, "max_width": 3, "offsets_tokens": [0, 4]}
    (record,) = records(native_runner.run([operation_line("calibrate", **options)]))
    assert (record.status, check_record(record)) == ("eos", [])
    assert turns_done(record.samples) == dict(cells(plan_from(options)))
    beside = [s.value_ns for s in record.samples if (s.name, s.origin, s.running) == ("draft", "sweep", True)]
    assert min(beside) >= 300_000


def test_a_collection_on_real_threads_holds_what_both_models_say(native_runner):
    (record,) = records(native_runner.run([operation_line("collect")]))
    assert (record.status, check_record(record)) == ("capped", [])
    (said,) = record.trajectories
    assert said.target_tokens == said.candidates == said.forced == (5,) * 8
    assert (said.target_capped, said.source_capped, said.branch_draft_cap) == (True, True, None)


def with_sensors(line, readings, gates=None):
    body = json.loads(line)
    body["options"]["script"]["sensors"] = {"possible": [0, 1, 2, 3], "readings": readings}
    return json.dumps({**body, "gates": gates})


def early_enough(attempt, good):
    """What happens when something changes after some time. A busy machine may not have begun by then: once more."""
    for seconds in (0.1, 1.0, 10.0):
        record = attempt(seconds)
        if good(record):
            break
    return record


def test_a_request_waits_for_its_gates_and_what_they_saw_is_recorded(native_runner):
    def waited(change_s):
        readings = [
            {"from_s": 0, "online_mask": 0b0111, "battery_temperature_c": 31.0, "charging": True, "plugged": True},
            {"from_s": change_s, "online_mask": 0b1111, "thermal_status": 1, "ceiling_mhz": [1800.0, None]},
        ]
        line = with_sensors(request_line("target-only"), readings, {"rest_s": 0, "check_gap_s": 0, "checks": 1})
        (record,) = records(native_runner.run([line]))
        return record

    record = early_enough(waited, lambda record: len(record.conditions) > 1)
    assert (record.status, check_record(record)) == ("eos", [])
    *waiting, second = record.conditions
    assert {(look.passed, look.missing) for look in waiting} == {(False, ("core 3 is off-line",))}
    assert (second.passed, second.missing) == (True, ())
    first = waiting[0]
    assert (first.online_mask, first.battery_temperature_c, first.charging, first.plugged) == (7, 31.0, True, True)
    assert (second.ceiling_mhz, second.thermal_status, second.battery_temperature_c) == ((1800.0, None), 1, None)
    assert second.time_ns < record.marks["request"].time_ns


def test_conditions_that_do_not_come_about_fail_the_run_with_what_was_missing(native_runner):
    gates = {"rest_s": 0, "check_gap_s": 0, "patience_s": 0}
    line = with_sensors(request_line("target-only"), [{"from_s": 0, "thermal_status": 3}], gates)
    (record,) = records(native_runner.run([line]))
    assert record.status == "failed"
    assert record.end.error.startswith("The request did not begin: the thermal status is severe (3), above 1, and")


def test_a_core_that_goes_off_line_fails_the_run_and_ends_its_batch(native_runner, tmp_path):
    def stopped(loss_s):
        readings = [{"from_s": 0, "online_mask": 0b1111}, {"from_s": loss_s, "online_mask": 0b1101}]
        long = request_line("target-only", [5] * 3000, target_ms=20.0, max_tokens=4000, run_id="long")
        batch = tmp_path / "requests"
        batch.write_text(f"{with_sensors(long, readings)}\n{request_line()}\n", encoding="utf-8")
        (record,) = records(native_runner.run([], batch))
        return record

    record = early_enough(stopped, lambda record: record.rounds)
    assert (record.status, check_record(record)) == ("failed", [])
    assert record.rounds
    assert record.end.error.startswith("Core 1 went off-line during the run")
    assert record.end.extra == {"stops_batch": True}


def test_the_runner_says_what_it_is(native_runner):
    (line,) = native_runner.run([], "--describe").splitlines()
    body = json.loads(line)
    assert (body["runner"], body["versions"]["as2d"], body["schema_version"]) == ("native", __version__, SCHEMA_VERSION)
    assert body["methods"] == list(METHODS)
    assert {*OPERATIONS, "gates"} <= set(body["features"])
