import pytest

from dashboard.notebook.cells import Notebook, figure_cell, parameter_cell, query_cell, text_cell
from dashboard.notebook.errors import CellError
from dashboard.notebook.figures import VIEWS, checked
from dashboard.notebook.outputs import Drawing, Grid, Markup, Sentence
from dashboard.notebook.running import filled, run_notebook
from dashboard.notebook.source import Source
from dashboard.views.theme import DARK, LIGHT

PAIR = {"profile": "k70", "corpus": "demo", "split": "validation", "budget": 5}
RUNS = {"runs": ["ours", "alone"]}
SETTINGS = {
    "timeline": {"run": "ours", "from": 0, "to": 200},
    "account": {"run": "ours"},
    "round": {"run": "ours", "round": 2},
    "said": {"run": "ours"},
    "runs": RUNS,
    "comparison": RUNS,
    "methods": RUNS,
    "facts": RUNS,
    "budgets": PAIR,
    "budget map": PAIR,
    "budget table": PAIR,
    "replay facts": {"profile": "mi14", "corpus": "paper-688", "split": "all"},
    "profile": {"profile": "mi14"},
    "devices": {"profile": "mi14", "corpus": "demo", "split": "choice"},
    "profile widths": {"profile": "mi14"},
    "profile pair": {"profile": "mi14", "against": "k70"},
    "power": {"run": "ours"},
    "published overview": {},
    "published table": {"table": "8"},
    "ledger": {},
    "sweep": {"group": "g1"},
    "foreign": {},
    "paired": {**RUNS, "by": "setting"},
    "cost parts": RUNS,
    "differences": RUNS,
    "over time": RUNS,
    "aligned": {"run": "ours", "against": "theirs", "by": "token"},
    "replay": {"profile": "k70", "corpus": "demo", "window": "clean_00", "budget": 5},
    "recording": {"window": "clean_00"},
    "profile savings": {"profile": "mi14"},
    "profile drift": {"profile": "mi14"},
    "windows": {"profile": "k70", "corpus": "demo", "budget": 5, "part": "gain", "subset": "clean, fast"},
    "stored windows": {"device": "Redmi K70 Pro | Kryo (X4 prime)"},
}


@pytest.fixture(scope="module")
def source(shelf):
    return Source(shelf)


def run(source, *cells, theme=LIGHT):
    return [result.blocks for result in run_notebook(Notebook("n", "T", cells), source, theme)]


def errors(blocks):
    return [block.text for block in blocks if isinstance(block, Sentence) and block.kind == "error"]


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_every_view_shows_something_in_both_themes(source, name, theme):
    (blocks,) = run(source, figure_cell(name, **SETTINGS[name]), theme=theme)
    assert errors(blocks) == []
    assert any(isinstance(block, Drawing | Grid | Markup | Sentence) for block in blocks)


def test_a_parameter_is_known_to_queries_and_figures(source):
    cells = (
        query_cell("SELECT run_id FROM runs WHERE method = $m AND status = 'eos' -- $nothing"),
        figure_cell("timeline", run="{which}"),
        parameter_cell("m", "text", "sd"),
        parameter_cell("which", "text", "ours"),
    )
    table, figure, *_ = run(source, *cells)
    assert table[0].rows == (("theirs",),)
    assert errors(figure) == []


def test_a_parameter_that_is_not_there_is_named(source):
    query, figure = run(source, query_cell("SELECT $x"), figure_cell("timeline", run="{y}"))
    assert errors(query) == ["There is no parameter 'x'; add a parameter cell with that name."]
    assert errors(figure) == ["There is no parameter 'y'; add a parameter cell with that name."]


def test_a_whole_slot_keeps_its_type_and_a_part_becomes_text():
    assert filled("{b}", {"b": 7}) == 7
    assert filled(["b = {b}"], {"b": 7}) == ["b = 7"]


def test_names_in_texts_comments_and_quotes_of_a_query_are_no_parameters(source):
    sql = (
        "SELECT '$a', $b, $$ $c $$, $t$ $d $t$, e'it\\'s $e', \"x$f\" /* /* $g */ $h */ "
        'FROM (SELECT 1 AS "x$f") -- $i'
    )
    ((grid,),) = run(source, query_cell(sql), parameter_cell("b", "whole", 7))[:1]
    assert grid.rows == (("$a", 7, " $c ", " $d ", "it's $e", 1),)


def test_an_answer_that_no_page_could_hold_is_cut_and_says_so(source):
    (long,), (many,) = run(
        source,
        query_cell("SELECT repeat('x', 4_000_000) AS x, range(9_000) AS y FROM range(3)"),
        query_cell("SELECT repeat('x', 1_500) FROM range(900)"),
    )
    assert [value.endswith(" characters)") and len(value) < 2_100 for row in long.rows for value in row] == [True, True]
    assert long.note.startswith("Only the first row is shown")
    assert (len(many.rows), many.note.split(":")[0]) == (666, "Only the first 666 rows are shown")


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM runs",
        "SELECT 1; SELECT 2",
        "COPY runs TO 'x.csv'",
        "ATTACH 'x.db'",
        "INSTALL httpfs",
        "SET enable_external_access = true",
        "SELECT * FROM read_csv('pyproject.toml')",
        "SELECT * FROM 'pyproject.toml'",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM read_parquet('http://127.0.0.1:9/x.parquet')",
        "PRAGMA database_list",
        "EXPLAIN ANALYZE CHECKPOINT",
        "EXPLAIN ANALYZE SET VARIABLE a = 1",
        "/**/ EXPLAIN ANALYZE CREATE TEMP TABLE t AS SELECT 1",
        "SELECT nonsense FROM runs",
    ],
)
def test_a_query_changes_nothing_and_reaches_no_file_network_or_extension(source, sql):
    (blocks,) = run(source, query_cell(sql))
    assert len(errors(blocks)) == 1
    assert "The query was not answered" in errors(blocks)[0]


def test_rows_beyond_the_limit_are_left_out_and_that_is_said(source):
    ((grid,),) = run(source, query_cell("SELECT range FROM range(1001)"))
    assert len(grid.rows) == 1000
    assert "first 1,000" in grid.note


def test_a_query_that_takes_too_long_is_stopped(source, monkeypatch):
    monkeypatch.setattr("dashboard.notebook.source.QUERY_S", 0.3)
    (blocks,) = run(source, query_cell("SELECT sum(a.range * b.range) FROM range(1000000) a, range(1000000) b"))
    assert "no answer after 0.3 s" in errors(blocks)[0]


def test_any_value_of_the_database_can_be_shown(source):
    sql = (
        "SELECT NULL, true, 1, 1.5, 'x', [1, 2], {'a': 1}, '\\x01'::BLOB, DATE '2026-01-01', 1::HUGEINT, 'nan'::DOUBLE"
    )
    ((grid,),) = run(source, query_cell(sql))
    assert all(value is None or isinstance(value, bool | int | float | str) for value in grid.rows[0])


@pytest.mark.parametrize(
    ("view", "settings", "said"),
    [
        ("timeline", {}, "needs the setting 'run'"),
        ("timeline", {"run": "a", "colour": "x"}, "no setting 'colour'"),
        ("round", {"run": "a", "round": "many"}, "no whole number"),
        ("round", {"run": "a", "round": True}, "no whole number"),
        ("timeline", {"run": "a", "to": "nan"}, "no number"),
        ("runs", {"runs": 5}, "no list of run ids"),
    ],
)
def test_settings_are_checked_before_anything_is_read(view, settings, said):
    with pytest.raises(CellError, match=said):
        checked(view, settings)


def test_one_cell_s_fault_keeps_no_other_from_running(source):
    broken, fine = run(source, figure_cell("nothing"), text_cell("**here**"))
    assert "There is no view named 'nothing'" in errors(broken)[0]
    assert "<strong>here</strong>" in fine[0].html


def test_the_budgets_in_a_table_are_those_of_the_service(source):
    ((grid,),) = run(source, figure_cell("budget table", **PAIR))
    report = source.budgets("k70", "demo", "validation")
    row = next(row for row in grid.rows if row[0] == "As²d" and row[2] == "5")
    wanted = next(item for item in report.table.rows if item.budget == 5)
    assert float(row[grid.columns.index("TPS (tok/s)")]) == pytest.approx(wanted.tps, abs=0.005)
