"""The native runner measures and collects what the Python code does: the same lines, to the last byte."""

import pytest
from operation_cases import make_operation
from test_scripted_agreement import as_line, streams

from as2d_core.protocol import parse
from as2d_core.validation import check_record

CASES = 10
SOAK_CASES = 1500


def differing(native_runner, cases):
    """The first line that differs, for a person to read; ``None`` when there is none."""
    answers = streams(native_runner.run([as_line(case.request) for case in cases]))
    assert len(answers) == len(cases)
    for case, native in zip(cases, answers, strict=True):
        for number, (ours, theirs) in enumerate(zip(case.lines, native, strict=False), start=1):
            if ours != theirs:
                return case.seed, number, ours, theirs
        if len(case.lines) != len(native):
            return case.seed, len(case.lines), len(native), native[-1]
        assert check_record(parse(native)) == []
    return None


@pytest.mark.parametrize("name", ["calibrate", "collect"])
def test_random_operations_have_the_same_lines_as_in_python(native_runner, name):
    assert differing(native_runner, [make_operation(seed, name) for seed in range(CASES)]) is None


@pytest.mark.soak
@pytest.mark.parametrize("name", ["calibrate", "collect"])
def test_many_random_operations_have_the_same_lines_as_in_python(native_runner, name):
    for first in range(CASES, SOAK_CASES, 100):
        assert differing(native_runner, [make_operation(seed, name) for seed in range(first, first + 100)]) is None
