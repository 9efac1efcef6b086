import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from dashboard.cli_output import plain, table

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=20,
)


@dataclass(frozen=True)
class Thing:
    path: Path
    when: datetime
    share: float


@given(value=VALUES)
def test_any_value_becomes_json(value):
    json.loads(json.dumps(plain(value), allow_nan=False))


def test_a_figure_that_is_none_is_null_and_not_0():
    thing = Thing(Path("x"), datetime(2026, 1, 2, tzinfo=UTC), float("nan"))
    assert plain(thing) == {"path": "x", "when": "2026-01-02T00:00:00+00:00", "share": None}


def test_numbers_stand_to_the_right_and_missing_ones_are_na():
    assert table(["name", "tok/s"], [["a", 1.5], ["long", None]]) == "name  tok/s\na      1.50\nlong    n/a"
