"""No test fails because the machine is busy or was frozen for a while: three rules, read off the tests themselves."""

import ast
from functools import cache
from pathlib import Path

import pytest
from patience import PATIENCE_S

ROOT = Path(__file__).parent
LEAST_S = 60.0
DEADLINES = {"timeout", "timeout_s", "deadline_s", "within_s"}
CLOCKS = {"monotonic", "perf_counter", "process_time", "thread_time"}


@cache
def sources():
    """Path, text and tree of every file, without the bench, which measures."""
    paths = [path for path in sorted(ROOT.rglob("*.py")) if path.parent.name != "bench"]
    return [(path, text := path.read_text("utf-8"), ast.parse(text)) for path in paths]


def within(tree, allowed):
    """Every node that does not lie in one that ``allowed`` is true of."""
    for node in ast.iter_child_nodes(tree):
        if not allowed(node):
            yield node
            yield from within(node, allowed)


def expects_an_end(node):
    """A block in which a deadline is to pass, or may."""
    heads = [ast.unparse(item.context_expr) for item in node.items] if isinstance(node, ast.With) else []
    return any("raises(" in head or "suppress(" in head for head in heads)


def seconds(node):
    return node.value if isinstance(node, ast.Constant) and type(node.value) in {int, float} else None


def short_deadlines(text, tree):
    for call in within(tree, expects_an_end):
        if isinstance(call, ast.Call):
            given = [seconds(word.value) for word in call.keywords if word.arg in DEADLINES]
            if isinstance(call.func, ast.Attribute) and call.func.attr == "join":
                given += map(seconds, call.args)
            if any(value is not None and value < LEAST_S for value in given):
                yield call.lineno


def demands_for_speed(text, tree):
    for node in ast.walk(tree):
        if not isinstance(node, ast.Compare) or not any(name in ast.unparse(node) for name in CLOCKS):
            continue
        for operator, bound in zip(node.ops, node.comparators, strict=True):
            value = seconds(bound)
            if isinstance(operator, ast.Lt | ast.LtE) and value is not None and value < LEAST_S:
                yield node.lineno


def unexplained_pauses(text, tree):
    """Pauses that are no part of a loop and shorter than everything else, without a reason beside them."""
    for call in within(tree, lambda node: isinstance(node, ast.While | ast.For)):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "time.sleep":
            value = seconds(call.args[0])
            if (value is None or value < LEAST_S) and "#" not in text.splitlines()[call.lineno - 1]:
                yield call.lineno


@pytest.mark.parametrize("broken", [short_deadlines, demands_for_speed, unexplained_pauses])
def test_no_test_depends_on_how_busy_the_machine_is(broken):
    found = [f"{path.relative_to(ROOT)}:{line}" for path, *source in sources() for line in broken(*source)]
    assert found == []
    assert PATIENCE_S >= LEAST_S


BUSY = """
assert thread.join(5) is None
assert time.monotonic() - began < 30
time.sleep(0.3)
"""
PATIENT = """
thread.join(PATIENCE_S)
assert 0.4 < time.monotonic() - began < 60
with pytest.raises(CommandTimeoutError):
    phone.run(["true"], timeout_s=0.4)
while not there():
    time.sleep(0.01)
time.sleep(0.3)  # a signal would have come by now
"""


@pytest.mark.parametrize("broken", [short_deadlines, demands_for_speed, unexplained_pauses])
def test_each_rule_finds_what_it_is_for_and_nothing_else(broken):
    assert len(list(broken(BUSY, ast.parse(BUSY)))) == 1
    assert list(broken(PATIENT, ast.parse(PATIENT))) == []
