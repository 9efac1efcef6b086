"""Sanitizers watch the native runner while it decodes, reads damaged requests and runs its threads."""

import json
import subprocess

from operation_cases import make_operation
from scripted_cases import make_case
from test_device_clock import operation_line, records, request_line
from test_operation_agreement import differing
from test_request_reader import mutant
from test_scripted_agreement import as_line, compare

from as2d_core.native.builder import FUZZER
from as2d_core.request import OPERATIONS

FUZZ_S = 4


def test_no_access_and_no_operation_is_undefined_while_it_decodes_and_reads(memory_checked_runner):
    compare(memory_checked_runner, range(1_000_000, 1_000_150))
    operations = [make_operation(seed, name) for name in OPERATIONS for seed in range(5)]
    assert differing(memory_checked_runner, operations) is None
    memory_checked_runner.run([mutant(seed) for seed in range(500)], "--check")


def test_damaged_lines_do_nothing_undefined(memory_checked_runner, tmp_path):
    seeds = tmp_path / "lines"
    cases = [*map(make_case, range(60)), *(make_operation(seed, name) for name in OPERATIONS for seed in range(10))]
    seeds.write_text("".join(f"{as_line(case.request)}\n" for case in cases), encoding="utf-8")
    fuzzer = memory_checked_runner.program.with_name(FUZZER)
    done = subprocess.run(
        [fuzzer, seeds, str(FUZZ_S), "7"], capture_output=True, text=True, errors="replace", timeout=200, check=False
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[0]) >= 300


def test_no_two_threads_race_while_a_source_drafts_beside_the_target(thread_checked_runner):
    lines = [
        request_line("as2d", [5, 6, 7, 8] * 6, [5, 6, 9, 8] * 6, 0.4, 0.1 * (n % 4), run_id=f"r{n}", batch_tokens=1 + n)
        for n in range(8)
    ]
    lines += [request_line(method, [5, 6, 7] * 4, run_id=method) for method in ("sd", "specasr", "target-only")]
    lines += [operation_line("calibrate", repetitions=1, episodes=1, max_width=2, offsets_tokens=[2])]
    lines.append(operation_line("collect"))
    found = records(thread_checked_runner.run(lines))
    assert [record.status for record in found] == ["eos"] * (len(lines) - 1) + ["capped"]
    assert {json.dumps(record.problems) for record in found} == {"[]"}


def test_the_decisions_are_the_same_with_threads_watched(thread_checked_runner):
    assert compare(thread_checked_runner, range(1_000_000, 1_000_150))[0] == 150
