import pytest
from page_samples import HOSTILE

from dashboard import ui_notebook
from dashboard.notebook import edits
from dashboard.notebook.cells import Notebook, figure_cell, parameter_cell, query_cell, text_cell
from dashboard.services import notebooks
from datastore.notebooks import notebook_versions


@pytest.fixture
def kept(workspace):
    """Keeps a notebook of some cells under the id "n"."""

    def keep(*cells, title="Mine", name="n"):
        notebook = Notebook(name, title, cells)
        notebooks.save(workspace.store, notebook, "begun")
        return notebook

    return keep


def cells(workspace, name="n"):
    return [cell.kind for cell in notebooks.open_notebook(workspace.store, name).cells]


def said(workspace, version=None):
    """The words of its text cells."""
    kept = notebooks.open_notebook(workspace.store, "n", version)
    return [cell.body["text"] for cell in kept.cells if cell.kind == "text"]


def test_without_a_notebook_one_is_begun_that_shows_the_store(keep, open_page):
    keep("a-run")
    app = open_page("notebook")
    assert "There is no notebook yet." in app.text
    app.press("Begin a notebook")
    assert "First look" in app.text
    assert [name for name in app.charts if name.startswith("cell-")]
    assert app.test.dataframe[0].value["method"].tolist() == ["as2d"]


def test_the_first_notebook_of_an_empty_store_runs_too(workspace, open_page):
    app = open_page("notebook").press("Begin a notebook")
    assert "The query found nothing." in app.text
    assert cells(workspace, app.state["notebook"]) == ["text", "query"]


def test_cells_are_shown_in_order_and_a_fault_stays_in_its_cell(keep, kept, open_page):
    keep("a-run")
    kept(text_cell("**bold** <i>x</i>"), figure_cell("timeline", run="nobody"), figure_cell("account", run="a-run"))
    app = open_page("notebook", notebook="n")
    assert "<strong>bold</strong> &lt;i&gt;" in app.html
    assert "There is no run 'nobody'" in app.text
    assert len(app.charts) == 1


def test_a_notebook_that_no_page_could_hold_is_drawn_in_parts(kept, open_page, monkeypatch):
    wide = [query_cell(f"SELECT '{letter * 50}' AS x") for letter in "abc"]
    kept(*wide, parameter_cell("n", "whole", 3))
    kept(text_cell("another"), title="Other", name="m")
    monkeypatch.setattr(ui_notebook, "MOST_SENT", 120)
    app = open_page("notebook", notebook="n")
    assert [table.value["x"][0][0] for table in app.test.dataframe] == ["a"]
    assert app.text.count("Not drawn: the cells above fill") == 2
    next(button for button in app.test.button if button.key == f"at-{wide[1].id}").click()
    app.run()
    assert [table.value["x"][0][0] for table in app.test.dataframe] == ["b"]
    assert app.text.count("Not drawn: the page begins with a cell further down.") == 1
    next(button for button in app.test.button if button.key == f"edit-{wide[2].id}").click()
    app.run()  # what is edited is drawn
    assert [table.value["x"][0][0] for table in app.test.dataframe] == ["b", "c"]
    app.choose("selectbox", "Notebook", "m")
    assert app.state == {"notebook": "m"}
    assert "the address names" not in app.text


def test_titles_in_the_list_are_plain_text(kept, open_page):
    kept(text_cell("a"), title="K70_b=7 *vs* K24")
    app = open_page("notebook", notebook="n")
    assert app.widget("selectbox", "Notebook").options == ["K70_b=7 *vs* K24"]


def test_a_parameter_changes_what_other_cells_show_and_is_kept(workspace, kept, open_page):
    kept(parameter_cell("n", "whole", 3), query_cell("SELECT $n * 2 AS twice"))
    app = open_page("notebook", notebook="n")
    assert app.test.dataframe[0].value["twice"].tolist() == [6]
    app.choose("number_input", "n ($n)".replace("$", "\\$").replace("(", "\\(").replace(")", "\\)"), 5)
    assert app.test.dataframe[0].value["twice"].tolist() == [10]
    assert notebooks.open_notebook(workspace.store, "n").parameters == {"n": 5}


def test_text_is_saved_when_its_field_is_left_and_undo_brings_the_old_one_back(workspace, kept, open_page):
    cell = text_cell("old")
    kept(cell)
    app = open_page("notebook", notebook="n", edit=cell.id)
    app.choose("text_area", "Text", "new *words*")
    assert "<em>words</em>" in app.html
    app.press("Undo")
    assert notebooks.open_notebook(workspace.store, "n").cells[0].body["text"] == "old"
    assert app.widget("text_area", "Text").value == "old"


def test_what_another_tab_did_meanwhile_stays(workspace, kept, open_page):
    first, second, third = text_cell("first"), text_cell("second"), parameter_cell("n", "whole", 1)
    kept(first, second, third)
    app = open_page("notebook", notebook="n", edit=first.id)  # from here on, this tab has seen no change

    def elsewhere(edit):
        notebooks.change(workspace.store, "n", edit, "elsewhere")

    elsewhere(lambda kept: edits.with_body(edits.moved(kept, second.id, -1), second.id, {"text": "theirs"}))
    app.choose("text_area", "Text", "mine")
    assert said(workspace) == ["theirs", "mine"]
    elsewhere(lambda kept: edits.with_cell(kept, text_cell("new")))
    app.choose("text_input", "Title", "Ours")
    assert said(workspace) == ["theirs", "mine", "new"]
    elsewhere(lambda kept: edits.without_cell(kept, second.id))
    next(button for button in app.test.button if button.key == f"Down-{second.id}").click()
    app.run()
    assert "it may have been removed" in app.text
    assert (said(workspace), notebooks.list_notebooks(workspace.store)[0].title) == (["mine", "new"], "Ours")


def test_a_change_of_the_same_text_by_two_is_told_and_none_is_lost(workspace, kept, open_page):
    cell = text_cell("old")
    kept(cell)
    app = open_page("notebook", notebook="n", edit=cell.id)
    theirs = {"text": "theirs"}
    assert notebooks.change_cell(workspace.store, "n", cell, theirs, "text of cell 1") is None
    app.choose("text_area", "Text", "mine")
    assert [toast.value for toast in app.test.toast] == [
        "This cell had been changed elsewhere meanwhile; that is kept as version 2."
    ]
    assert said(workspace) == ["mine"]
    assert said(workspace, 2) == ["theirs"]


def test_cells_are_added_moved_duplicated_and_removed(workspace, kept, open_page):
    first = text_cell("a")
    kept(first)
    app = open_page("notebook", notebook="n").press("Add query")
    assert cells(workspace) == ["text", "query"]
    for key in (f"Down-{first.id}", f"Duplicate-{first.id}", f"Remove-{first.id}"):
        next(button for button in app.test.button if button.key == key).click()
        app.run()
    assert cells(workspace) == ["query", "text"]
    assert notebooks.open_notebook(workspace.store, "n").cells[1].id != first.id
    assert len(notebook_versions(workspace.store, "n")) == 5


@pytest.mark.parametrize("label", ["text", "figure", "parameter"])
def test_every_kind_of_cell_can_be_added_and_runs_as_it_is(workspace, kept, open_page, label):
    kept()
    app = open_page("notebook", notebook="n")
    assert "This notebook has no cells yet." in app.text
    app.press(f"Add {label}")
    assert cells(workspace) == [label]
    assert app.state["edit"]


def test_a_figure_s_settings_are_fields(workspace, keep, kept, open_page):
    keep("a-run")
    cell = figure_cell("account", run="wrong")
    kept(cell)
    app = open_page("notebook", notebook="n", edit=cell.id)
    app.choose("text_input", "run (needed)", "a-run")
    assert len(app.charts) == 1
    app.choose("selectbox", "View", "timeline")
    assert notebooks.open_notebook(workspace.store, "n").cells[0].body["settings"] == {"run": "a-run"}


def test_a_parameter_can_be_chosen_where_a_profile_can(workspace, kept, open_page):
    cell = figure_cell("profile savings", profile="k70")
    kept(parameter_cell("device", "choice", "mi14", "", ["mi14", "k70"]), cell)
    app = open_page("notebook", notebook="n", edit=cell.id)
    app.choose("selectbox", "profile (needed)", "{device}")
    assert notebooks.open_notebook(workspace.store, "n").cells[1].body["settings"] == {"profile": "{device}"}
    assert "Xiaomi 14" in app.text
    app.choose("selectbox", "device ($device)".replace("$", "\\$").replace("(", "\\(").replace(")", "\\)"), "k70")
    assert "Redmi K70 Pro" in app.text


def test_a_version_can_be_brought_back(workspace, kept, open_page):
    notebook = kept(text_cell("one"))
    notebooks.save(workspace.store, Notebook("n", "Mine", ()), "emptied")
    app = open_page("notebook", notebook="n")
    next(button for button in app.test.button if button.key == "version-1").click()
    app.run()
    assert notebooks.open_notebook(workspace.store, "n") == notebook


def test_a_notebook_that_is_gone_is_a_sentence_and_another_is_shown(kept, open_page):
    kept(title="Still here")
    app = open_page("notebook", notebook="gone", edit="cell")
    assert "There is no notebook 'gone' any more" in app.text
    assert "Cell: the address names 'cell', which is not here; no editor is open." in app.text


def test_hostile_titles_and_cells_are_text(kept, open_page):
    kept(text_cell(HOSTILE), query_cell(f"SELECT '{HOSTILE}' AS x"), title=HOSTILE)
    app = open_page("notebook", notebook="n")
    assert "<img" not in app.html


def test_a_deleted_notebook_is_gone(workspace, kept, open_page):
    kept()
    app = open_page("notebook", notebook="n").press("Delete it")
    assert "There is no notebook yet." in app.text
    assert notebooks.list_notebooks(workspace.store) == []


def test_figures_of_other_pages_are_sent_to_the_notebook_saved_last(workspace, keep, kept, open_page):
    keep("a-run")
    kept()
    app = open_page("timeline", run="a-run", **{"from": 10, "to": 90})
    app.press("Send to notebook")
    app = open_page("notebook", notebook="n")
    (cell,) = notebooks.open_notebook(workspace.store, "n").cells
    assert (cell.body["view"], cell.body["settings"]) == ("timeline", {"run": "a-run", "from": 10, "to": 90})
    assert next(iter(app.charts.values()))["layout"]["xaxis"]["range"] == [10, 90]


def test_a_replayed_picture_is_sent_with_its_window_and_costs(workspace, open_page):
    open_page("start").press("Send to notebook")
    (kept,) = notebooks.list_notebooks(workspace.store)
    cell = notebooks.open_notebook(workspace.store, kept.notebook_id).cells[-1]
    settings = {"corpus": "demo", "window": "long_02", "profile": "k70", "budget": 7}
    assert (cell.body["view"], dict(cell.body["settings"])) == ("replay", settings)


def test_a_first_figure_begins_a_notebook(workspace, open_page):
    open_page("budgets", profile="k70", corpus="demo").press("Send to notebook")
    (kept,) = notebooks.list_notebooks(workspace.store)
    (cell,) = notebooks.open_notebook(workspace.store, kept.notebook_id).cells
    assert cell.body["settings"]["profile"] == "k70"
