"""What every page does when the store cannot be opened."""

import subprocess
import sys

import pytest

from dashboard.services.folders import user_folders
from dashboard.services.workspace import close_workspace

PAGES = ("start", "request", "timeline", "budgets", "profiles", "published", "runs", "windows", "compare")
HOLDER = (
    "import sys; from datastore.opening import open_store; s = open_store(sys.argv[1]); "
    "print('open', flush=True); input()"
)


@pytest.fixture
def held(data_folder):
    """A data folder that another process holds."""
    command = [sys.executable, "-c", HOLDER, str(data_folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "open\n"
        yield other
        other.stdin.close()


@pytest.mark.parametrize("name", PAGES)
def test_a_store_held_by_another_process_is_a_sentence_that_names_it(held, open_page, name):
    app = open_page(name)
    assert f"is held by process {held.pid}" in app.text
    assert [button.label for button in app.test.button] == ["Try again"]


def test_the_page_comes_back_when_the_other_process_is_gone(held, open_page):
    app = open_page("runs")
    held.stdin.close()
    held.wait(120)
    app.press("Try again")
    assert "There is no run yet." in app.text


def test_a_damaged_store_can_be_made_anew_from_its_logs(data_folder, keep, open_page):
    keep("a")
    close_workspace()
    user_folders().database.write_bytes(b"no database at all " * 1000)
    app = open_page("runs")
    assert "is damaged" in app.text
    app.press("Make a new database from the run logs")
    assert list(app.test.dataframe[0].value["Run"]) == ["a"]
    assert "Rebuilt with 1 runs" in app.text


@pytest.mark.parametrize(
    ("page", "names", "said"),
    [
        ("budgets", {"profile": "gone"}, "Costs of: the address names 'gone', which is not here; Redmi K70 Pro"),
        (
            "budgets",
            {"corpus": "gone"},
            "Recorded windows: the address names 'gone', which is not here; demo is shown.",
        ),
        ("runs", {"method": "as2d\nas3d"}, "Method: the address names 'as3d', which is not here and is left out."),
        ("compare", {"runs": "gone"}, "Runs: the address names 'gone', which is not here and is left out."),
        ("request", {"window": "gone"}, "Window: the address names 'gone', which is not here"),
    ],
)
def test_a_page_says_when_its_address_names_what_is_not_here(keep, open_page, page, names, said):
    keep("a")
    app = open_page(page, **names)
    assert said in app.text
    assert "which is not here" not in open_page(page).text
