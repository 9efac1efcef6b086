"""Help of figures: each says where the paper speaks of it, and each stands on a page."""

import re
from pathlib import Path

import pytest

import dashboard
from dashboard.notebook.figures import VIEWS
from dashboard.views.figure_help import HELP, view_help

SOURCES = "\n".join(path.read_text(encoding="utf-8") for path in Path(dashboard.__file__).parent.rglob("*.py"))
PLACE = r"Sections? \d|Appendi(x|ces) [A-D]|Figures? \d|Tables? \d|Paper: the table"
SAY_IT_THEMSELVES = {"round", "said", "runs", "facts", "replay facts", "budget table", "foreign"}


@pytest.mark.parametrize("name", sorted(HELP))
def test_every_figure_s_help_names_a_place_in_the_paper_and_is_shown(name):
    assert re.search(PLACE, HELP[name], re.IGNORECASE)
    assert f'HELP["{name}"]' in SOURCES


def test_every_figure_of_a_notebook_has_help():
    assert {name for name in VIEWS if not view_help(name)} == SAY_IT_THEMSELVES
