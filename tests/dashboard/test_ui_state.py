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


@pytest.mark.parametrize(
    ("text", "default", "shown", "told"),
    [
        ("7", 3, 7, ""),
        ("-4", 3, 1, "Budget: the address names '-4', which is no whole number from 1 to 63; 1 is shown."),
        ("99", 3, 63, "Budget: the address names '99', which is no whole number from 1 to 63; 63 is shown."),
        ("many", 3, 3, "Budget: the address names 'many', which is no whole number from 1 to 63; 3 is shown."),
        ("0.5", 0.25, 0.5, ""),
        ("2", 0.25, 1.0, "Budget: the address names '2', which is no number from 0 to 1; 1 is shown."),
        ("nan", 0.25, 0.25, "Budget: the address names 'nan', which is no number from 0 to 1; 0.25 is shown."),
    ],
)
def test_a_number_of_the_address_outside_of_its_range_is_told(address, text, default, shown, told):
    said = []
    ui_state.begin_notices(said.append)
    address.from_dict({"b": text})
    low, high = (1, 63) if isinstance(default, int) else (0.0, 1.0)

    def widget(label, *, key, **more):
        return ui_state.st.session_state[key]

    assert ui_state.number(widget, "b", "Budget", default, low, high) == shown
    assert said == ([[told]] if told else [])


def test_a_page_that_is_not_there_is_told_and_the_nearest_one_is_shown(address):
    said = []
    ui_state.begin_notices(said.append)
    assert ui_state.within("page", "Page", 1, 5) == 2
    address.from_dict({"page": "9"})
    assert ui_state.within("page", "Page", 1, 5) == 5
    assert said == [["Page: the address names '9', which is no whole number from 1 to 5; 5 is shown."]]


@pytest.mark.parametrize(
    ("text", "here", "told"),
    [
        ("7", True, []),
        ("", False, []),
        ("99", False, [["Round: the address names '99', which is not here; no round is open."]]),
    ],
)
def test_a_value_of_the_address_that_no_widget_holds_is_told_where_it_names_nothing(address, text, here, told):
    said = []
    ui_state.begin_notices(said.append)
    address.from_dict({"round": text})
    ui_state.expect("round", "Round", here, "no round is open")
    assert said == told
