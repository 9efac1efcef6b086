"""The native runner takes the decisions of the Python methods: the same lines, to the last byte."""

import json
from functools import lru_cache
from itertools import islice

import pytest
from scripted_cases import make_case

from as2d_core.protocol import parse, request_to_json
from as2d_core.validation import check_record

CASES = 800
SOAK_CASES = 40_000
BATCH = 400
case_of = lru_cache(CASES)(make_case)  # two tests ask for the same ones


def streams(output):
    """Splits a runner's output into one list of lines for each request."""
    out = [[]]
    for line in output.splitlines(keepends=True):
        out[-1].append(line)
        if json.loads(line)["kind"] == "end":
            out.append([])
    assert out.pop() == []
    return out


def as_line(request):
    return json.dumps(request_to_json(request), ensure_ascii=False)


def differing(case, native):
    """The first difference, for a person to read; ``None`` when there is none."""
    if case.lines is None:
        end = json.loads(native[-1])
        same = len(native) == 2 and (end["status"], end["error"]) == ("failed", case.error)
        return None if same else (case.seed, case.error, end)
    for number, (ours, theirs) in enumerate(zip(case.lines, native, strict=False), start=1):
        if ours != theirs:
            return case.seed, number, ours, theirs
    return None if len(case.lines) == len(native) else (case.seed, len(case.lines), len(native))


def compare(native_runner, seeds):
    seeds = iter(seeds)
    compared = refused = 0
    while batch := [case_of(seed) for seed in islice(seeds, BATCH)]:
        answers = streams(native_runner.run([as_line(case.request) for case in batch]))
        assert len(answers) == len(batch)
        for case, native in zip(batch, answers, strict=True):
            assert differing(case, native) is None
        compared += len(batch)
        refused += sum(case.lines is None for case in batch)
    return compared, refused


def test_random_runs_have_the_same_lines_as_in_python(native_runner):
    compared, refused = compare(native_runner, range(CASES))
    assert compared == CASES
    assert 0 < refused < CASES // 4


@pytest.mark.soak
def test_many_random_runs_have_the_same_lines_as_in_python(native_runner):
    assert compare(native_runner, range(CASES, SOAK_CASES))[0] == SOAK_CASES - CASES


@pytest.mark.parametrize("method", ["target-only", "sd", "specasr", "as2d"])
def test_native_records_keep_the_rules_of_the_validator(native_runner, method):
    cases = [make_case(seed, method) for seed in range(40)]
    for native in streams(native_runner.run([as_line(case.request) for case in cases if case.lines is not None])):
        assert check_record(parse(native)) == []


def test_the_cases_reach_every_reason_for_a_width_and_every_alignment_rule():
    reasons, moves, statuses = set(), set(), set()
    for case in map(case_of, range(CASES)):
        for line in case.lines or ():
            event = json.loads(line)
            if event["kind"] == "round":
                reasons.add(event["width_reason"])
                moves |= {rule for rule, _, _ in event["moves"]}
            if event["kind"] == "end":
                statuses.add(event["status"])
    assert statuses == {"eos", "capped", "cancelled", "failed"}
    assert len(moves) == 6
    assert reasons == {
        "budget", "ready", "confidence", "cheapest", "output cap", "awaiting target token", "no candidates",
        "target-only", "drafter end", "fixed width",
    }  # fmt: skip
