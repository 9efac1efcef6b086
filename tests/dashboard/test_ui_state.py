"""The query string says what is chosen; the browser's back button undoes one act at a time."""

from types import SimpleNamespace

import pytest

from dashboard import ui_state


class Address:
    """Streamlit's query string: each ``from_dict`` is one step of the browser's back button."""

    def __init__(self, **values):
        self.steps = [values]

    def to_dict(self):
        return dict(self.steps[-1])

    def from_dict(self, values):
        self.steps.append(dict(values))

    def get(self, name, default=None):
        return self.steps[-1].get(name, default)


@pytest.fixture
def address(monkeypatch):
    found = Address(run="a", page="2")
    monkeypatch.setattr(ui_state, "st", SimpleNamespace(query_params=found, session_state={}))
    return found


def test_an_act_that_changes_several_values_is_one_step_back(address):
    ui_state.put(**{"from": 7, "to": 21, "page": None, "round": "", "run": "a"})
    assert address.steps == [{"run": "a", "page": "2"}, {"run": "a", "from": "7", "to": "21"}]


def test_an_act_that_changes_nothing_is_no_step_back(address):
    ui_state.put(run="a", round=None)
    assert len(address.steps) == 1


def test_a_widget_that_is_changed_begins_on_the_first_page_in_the_same_step(address):
    ui_state.st.session_state["runs:text"] = "x"
    ui_state._written("text", "runs:text", str, "")
    assert address.steps[1:] == [{"run": "a", "text": "x"}]
