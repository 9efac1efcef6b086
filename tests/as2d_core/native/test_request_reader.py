"""The native runner takes the requests that the Python runner takes, understands them alike, and refuses all others."""

import json
import random
from copy import deepcopy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from as2d_core.errors import RecordError
from as2d_core.gates import Gates
from as2d_core.protocol import request_from_json, request_to_json
from as2d_core.reading import parse_json
from as2d_core.request import AudioRef, ModelRef, Placement, Request
from as2d_core.width_rule import WidthRule

MUTANTS = 3_000
SOAK_MUTANTS = 300_000
FULL = Request(
    "run-1",
    "as2d",
    ModelRef("/models/target", "target", "0" * 64, (2, 3, 4)),
    AudioRef("a.wav", "f" * 64, 1.25, "w", 0.5, 1.75),
    ModelRef("drafter", exact_widths=()),
    instruction="schreib’s auf, 日本語 \U0001f600\t“”",
    budget=7,
    threshold=None,
    drafter_pace_ms=1e-7,
    placement=Placement((0, 1), (2,), 2, 1, "opencl", "HighPerformance", "cpu"),
    group_id="g",
    options={"a": [1, 2.5, None, {"b": [True, "x"]}], "c": -0.0, "big": 1e22},
    width_rule=WidthRule((0, 1, 1), (0, 0, 2), "r"),
    gates=Gates(ceiling_mhz=1881.6),
)
SMALL = Request("r", "target-only", ModelRef("t"), AudioRef("a"))
_NESTED_6 = {"a": {"a": {"a": {"a": {"a": {"a": {}}}}}}}
ODD = [
    *(None, True, False, 0, 1, -1, 3.0, 0.1, 1e300, "", "x", "é", [], [1], ["1"], [None], [1.0], [True], {}),
    *(2**63 - 1, -(2**63) + 1, 2**63, -(2**63), 10**30, [2**63]),
    *({"path": "p"}, {"path": 1}, {"path": "p", "x": 1}),
    *({"concurrent": [0], "idle": [0]}, {"concurrent": [0], "idle": [1]}, {"concurrent": [], "idle": []}),
    *(_NESTED_6, {"a": _NESTED_6}, {"a": {"a": _NESTED_6}}),
]
TOKENS = [
    *('"', "\\", "{", "}", "[", "]", ",", ":", "0", "-", "1e9", "1e999", ".5", "NaN", "Infinity", "tru", "null"),
    *("\\u00e9", "\\ud83d\\ude00", "\\ud83d", "\\udc00", "\\x", "\x01", "\x7f", "é", "\u2028", "\ufeff"),
    *(" ", "\t", "01", "-0", "1.", "E+5", "[" * 40, "9" * 400),
]


def understood(line):
    """The request as Python writes it, or ``None`` when Python refuses it."""
    try:
        request = request_from_json(parse_json(line))
    except (ValueError, RecordError):
        return None
    return json.dumps(request_to_json(request), ensure_ascii=False, separators=(",", ":"))


def answers(native_runner, lines):
    out = native_runner.run(lines, "--check").split("\n")
    assert out.pop() == ""
    return out


def compare(native_runner, lines):
    accepted = 0
    for line, answer in zip(lines, answers(native_runner, lines), strict=True):
        wanted = understood(line)
        if wanted is None:
            assert set(json.loads(answer)) == {"error"}, line
        else:
            assert answer == wanted
            accepted += 1
    return accepted


def mutant(seed):
    """A request line that somebody damaged: a field replaced, a field lost, characters changed."""
    chance = random.Random(seed)
    body = request_to_json(chance.choice([FULL, FULL, SMALL]))
    if chance.random() < 0.7:
        for _ in range(chance.choice([1, 1, 2])):
            place = body
            while (inner := [v for v in place.values() if isinstance(v, dict) and v]) and chance.random() < 0.5:
                place = chance.choice(inner)
            name = chance.choice(list(place))
            if chance.random() < 0.2:
                del place[name]
            else:
                odd = deepcopy(chance.choice(ODD))  # the next damage may go into it
                place[chance.choice([name, name, name, name + "x"])] = odd
    line = json.dumps(body, ensure_ascii=chance.random() < 0.3)
    for _ in range(chance.choice([0, 0, 1, 3])):
        at = chance.randrange(len(line) + 1)
        line = line[:at] + chance.choice(TOKENS) + line[at + chance.choice([0, 0, 1, 5]) :]
    return line


@pytest.mark.parametrize("request_", [FULL, SMALL])
def test_a_request_is_understood_as_in_python(native_runner, request_):
    line = json.dumps(request_to_json(request_))
    assert answers(native_runner, [line]) == [understood(line)]


def test_damaged_requests_are_taken_and_refused_as_in_python(native_runner):
    lines = [mutant(seed) for seed in range(MUTANTS)]
    accepted = compare(native_runner, lines)
    assert MUTANTS // 20 < accepted < MUTANTS // 2


@pytest.mark.soak
def test_many_damaged_requests_are_taken_and_refused_as_in_python(native_runner):
    for first in range(MUTANTS, SOAK_MUTANTS, MUTANTS):
        compare(native_runner, [mutant(seed) for seed in range(first, first + MUTANTS)])


def test_a_name_that_comes_twice_counts_with_its_last_value(native_runner):
    line = '{"run_id": "a", "method": "m", "audio": {"path": "a"}, "target": {"path": "t"}, "run_id": "b"}'
    assert answers(native_runner, [line]) == [understood(line)]


def test_a_line_of_too_many_characters_is_refused(native_runner):
    body = request_to_json(SMALL)
    room = 100_000 - len(json.dumps({**body, "task": ""}, ensure_ascii=False))
    longest, longer = (json.dumps({**body, "task": "é" * n}, ensure_ascii=False) for n in (room, room + 1))
    taken, refused = answers(native_runner, [longest, longer])
    assert json.loads(taken)["task"] == "é" * room
    assert json.loads(refused)["error"].startswith("A request line has 100001 characters")


def test_bytes_that_are_no_text_are_refused_and_end_no_runner(native_runner):
    chance = random.Random(5)
    good = json.dumps(request_to_json(SMALL)).encode()
    lines = []
    for _ in range(500):
        at = chance.randrange(len(good))
        lines.append(good[:at] + bytes([chance.choice([0x80, 0xC3, 0xED, 0xFF, 0xF5, 0xC0])]) + good[at:])
    with native_runner.start("--check") as process:
        out, _ = process.communicate(b"".join(line + b"\n" for line in lines), timeout=120)
    assert [set(json.loads(line)) for line in out.splitlines()] == [{"error"}] * len(lines)
    assert process.returncode == 0


@settings(max_examples=25)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=40))
def test_numbers_are_written_with_the_digits_that_python_writes(native_runner, numbers):
    line = json.dumps({**request_to_json(SMALL), "options": {"numbers": numbers}})
    assert answers(native_runner, [line]) == [understood(line)]
