import json
from argparse import Namespace
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.cli import main
from dashboard.cli_output import plain, rows_as_text, table, visible

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
    text = json.dumps(plain(value), allow_nan=False)
    assert json.dumps(json.loads(text)) == text


def test_a_figure_that_is_none_is_null_and_not_0():
    thing = Thing(Path("x"), datetime(2026, 1, 2, tzinfo=UTC), float("nan"))
    assert plain(thing) == {"path": "x", "when": "2026-01-02T00:00:00+00:00", "share": None}


def test_numbers_stand_to_the_right_and_missing_ones_are_na():
    assert table(["name", "tok/s"], [["a", 1.5], ["long", None]]) == "name  tok/s\na      1.50\nlong    n/a"


@pytest.mark.parametrize(
    "foreign", ["\x1b[2J", "a\rb", "a\0b", "\u202eevil", "\u2066x", "a\u2028b", "\x9b31m"], ids=ascii
)
def test_foreign_text_cannot_command_a_terminal(foreign):
    said = visible(f"run {foreign}\nnext")
    assert "\n" in said
    assert said.replace("\n", "").isprintable()


def test_a_cell_stays_in_its_row():
    assert table(["name"], [["a\nb"]]) == "name\na\\nb"


@pytest.mark.parametrize("text", ["=1+1", "+1", "-rf", "@SUM(A1)", "\t=1"])
def test_text_in_csv_is_no_formula(text):
    options = Namespace(csv=True, json=False)
    last = rows_as_text(options, "", ["name", "value"], [[text, -1.5]]).splitlines()[-1]
    assert last == f"'{text},-1.5"


@pytest.mark.parametrize("command", [("profile", "import"), ("import",), ("collect", "--import"), ("run", "--audio")])
def test_an_error_about_a_file_of_any_name_is_one_line(command, data_folder, tmp_path, capsys):
    assert main([*command, str(tmp_path / "first\nsecond\x1b[2J.json")]) != 0
    said = capsys.readouterr().err
    assert "first\\nsecond\\x1b[2J.json" in said
    assert len(said.splitlines()) == 1
