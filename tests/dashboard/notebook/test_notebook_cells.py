import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.notebook.cells import (
    Cell,
    Notebook,
    figure_cell,
    notebook_from_json,
    notebook_to_json,
    parameter_cell,
    query_cell,
    text_cell,
)
from dashboard.notebook.edits import duplicated, with_changes
from dashboard.notebook.errors import NotebookError
from dashboard.notebook.markdown import markdown_html

WORDS = st.text(max_size=60)
CELLS = st.one_of(
    st.builds(text_cell, WORDS),
    st.builds(query_cell, WORDS),
    st.builds(lambda run, b: figure_cell("timeline", run=run, round=b), WORDS, st.integers() | st.none()),
    st.builds(lambda value: parameter_cell("b", "whole", value), st.integers(-(10**9), 10**9)),
)


def body(**changes):
    return notebook_to_json(Notebook("n", "T", (text_cell("x"),))) | changes


@given(WORDS, st.lists(CELLS, max_size=6), st.lists(WORDS, max_size=3))
def test_a_notebook_read_back_is_the_same(title, cells, tags):
    notebook = Notebook("n-1", title, tuple(cells), "why", "so", tuple(tags), "run", ("a", "b"))
    assert notebook_from_json(notebook_to_json(notebook)) == notebook


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"format": 99}, "no notebook of format 1"),
        ({"id": "../x"}, "id is 1 to 64"),
        ({"cells": "x"}, "list of at most"),
        ({"cells": [{"id": "a", "kind": "code", "body": {}}]}, "Cell 1 is of kind 'code'"),
        ({"cells": [{"id": "a", "kind": "text", "body": {"text": 5}}]}, "lacks the text 'text'"),
        ({"cells": [{"id": "a", "kind": "text", "body": {"text": "x"}}] * 2}, "same id"),
        ({"cells": [{"id": "a", "kind": "text", "body": {"text": "x" * 300_000}}]}, "300,0"),
        ({"cells": [{"kind": "parameter", "id": "a", "body": {"name": "B 1", "type": "text", "value": ""}}]}, "B 1"),
        ({"cells": [{"kind": "parameter", "id": "a", "body": {"name": "b", "type": "whole", "value": 1.5}}]}, "1.5"),
        ({"cells": [{"kind": "figure", "id": "a", "body": {"view": "x", "settings": []}}]}, "no JSON object"),
        ({"title": 4}, "title"),
        ({"tags": ["x"] * 99}, "tags"),
    ],
)
def test_a_malformed_notebook_is_refused_with_its_place(changes, said):
    with pytest.raises(NotebookError, match=said):
        notebook_from_json(body(**changes))


@pytest.mark.parametrize(
    ("body", "now", "made", "over"),
    [
        ({"b": 2}, {}, {"a": 1, "b": 2, "c": {"x": 1, "y": 1}}, False),
        ({"c": {"x": 2, "y": 1}}, {"c": {"x": 1, "y": 3}}, {"a": 1, "b": 1, "c": {"x": 2, "y": 3}}, False),
        ({"c": {"y": 1}}, {"c": {"x": 1, "y": 3}}, {"a": 1, "b": 1, "c": {"y": 3}}, False),
        ({"c": {"y": 1}}, {"c": {"x": 9, "y": 1}}, {"a": 1, "b": 1, "c": {"y": 1}}, True),
        ({"a": 5}, {"a": 5}, {"a": 5, "b": 1, "c": {"x": 1, "y": 1}}, False),
        ({"a": 5}, {"a": 6}, {"a": 5, "b": 1, "c": {"x": 1, "y": 1}}, True),
    ],
)
def test_a_change_takes_along_what_another_changed_meanwhile(body, now, made, over):
    seen = {"a": 1, "b": 1, "c": {"x": 1, "y": 1}}
    cell = Cell("k", "text", {"text": "", **seen, **now})
    found, lost = with_changes(Notebook("n", "T", (cell,)), "k", {"text": "", **seen}, {"text": "", **seen, **body})
    assert (found.cell("k").body, lost) == ({"text": "", **made}, over)


def test_a_copy_of_a_parameter_is_another_parameter():
    first = parameter_cell("b", "whole", 3)
    twice = duplicated(duplicated(Notebook("n", "T", (first, query_cell("SELECT 1"))), first.id), first.id)
    assert twice.parameters == {"b": 3, "b_2": 3, "b_3": 3}
    assert [cell.body["label"] for cell in twice.cells if cell.kind == "parameter"] == ["b", "b_3", "b_2"]
    long = parameter_cell("p" * 40, "text", "x")
    notebook_from_json(notebook_to_json(duplicated(Notebook("n", "T", (long,)), long.id)))


def test_of_two_parameters_with_one_name_the_first_counts():
    cells = (parameter_cell("b", "whole", 3), parameter_cell("b", "whole", 9))
    assert Notebook("n", "T", cells).parameters == {"b": 3}


@pytest.mark.parametrize(
    "text", ["<script>x</script>", "![a](http://x.example/a.png)", "[a](javascript:alert(1))", "<b onclick=x>a</b>",
             "[a](data:text/html,x)", "<http://user@x>\n\n<img src=x>"]
)  # fmt: skip
def test_markdown_brings_no_markup_images_or_scripts_of_its_own(text):
    shown = markdown_html(text)
    assert "<script" not in shown
    assert "<img" not in shown
    assert "<b " not in shown
    assert 'href="javascript' not in shown
    assert 'href="data' not in shown


@given(st.text(max_size=200))
def test_markdown_never_opens_a_tag_that_it_does_not_know(text):
    known = re.compile("p|h[1-6]|em|strong|code|pre|ul|ol|li|blockquote|hr|br|a|table|thead|tbody|tr|th|td|s")
    assert all(known.fullmatch(tag) for tag in re.findall(r"</?([a-z0-9]+)", markdown_html(text)))
