import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from as2d_core.errors import UnknownNameError
from as2d_core.profiles import load_profile
from as2d_core.profiles.profile import ProfiledModel
from as2d_core.replay.trajectories import load_corpus
from dashboard.notebook.cells import Notebook, figure_cell, text_cell
from dashboard.notebook.errors import NotebookError
from dashboard.reports.html import MOST_BYTES
from dashboard.reports.templates import TEMPLATES, Words
from dashboard.services.reporting import make_report, notebook_html
from dashboard.views import numbers
from dashboard.views.replay_facts import replay_facts
from datastore.queries import get_run

HOSTILE_WORDS = "</script><img src=x onerror=alert(1)><b>bold</b>"


class Reader(HTMLParser):
    """What a browser would make of a report: tags, text, and every figure's data."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.text, self.figures, self.scripts = [], [], "", [], 0
        self._in = None
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        self._in = tag if tag in {"script", "style"} else self._in
        if tag == "script":
            self._json = dict(attrs).get("type") == "application/json"
            self.scripts += not self._json

    def handle_endtag(self, tag):
        self._in = None if tag in {"script", "style"} else self._in

    def handle_data(self, data):
        if self._in == "script" and self._json:
            self.figures.append(json.loads(data))
        elif self._in is None:
            self.text += data


@pytest.fixture(scope="module")
def page(shelf):
    words = Words(HOSTILE_WORDS, HOSTILE_WORDS, "Second line\nof the conclusion", ("first", HOSTILE_WORDS))
    return notebook_html(shelf, make_report(shelf, "run", ["hostile"], words)).decode()


@pytest.fixture(scope="module")
def comparison(shelf):
    return Reader(notebook_html(shelf, make_report(shelf, "comparison", ["alone", "ours", "failed", "cut"])).decode())


def test_words_of_the_author_and_of_runs_are_text_never_markup(page):
    read = Reader(page)
    assert "img" not in read.tags
    assert HOSTILE_WORDS in read.text
    assert "onerror=alert(1)" in read.text
    assert not any(name.startswith("on") for _, name, _ in read.attributes)


def test_the_only_scripts_are_the_plotting_library_once_and_ours(page):
    assert Reader(page).scripts == 2
    assert page.count("plotly.js v") == 1
    policy = next(v for t, n, v in Reader(page).attributes if t == "meta" and n == "content" and "script-src" in v)
    assert len(re.findall(r"'sha256-[^']{44}'", policy)) == 2
    assert "unsafe-eval" not in policy
    assert "'unsafe-inline'" not in policy.split("style-src")[0]


def test_nothing_is_fetched_when_it_is_opened(page):
    read = Reader(page)
    assert [a for a in read.attributes if a[1] in {"src", "href", "srcset"}] == []
    assert "@import" not in page.split("</style>")[0]


def test_a_usual_report_stays_below_its_limit(page):
    assert len(page.encode()) < MOST_BYTES


def test_no_text_of_a_run_can_end_the_element_that_holds_a_figure(page):
    inside = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)
    assert inside
    assert not any(re.search(r"[<>&]", text) for text in inside)


def test_figures_of_a_report_need_no_webgl(comparison):
    kinds = {trace["type"] for figure in comparison.figures for trace in figure["data"]}
    assert kinds
    assert not any(kind.endswith("gl") for kind in kinds)


def test_the_numbers_of_a_report_are_those_of_the_store(shelf, comparison):
    for run_id in ("alone", "ours"):
        assert numbers.tps(get_run(shelf, run_id).tps) in comparison.text


def test_a_report_states_devices_versions_models_settings_gates_and_kinds(comparison):
    for said in ("Device", "Versions", "Target", "Drafter", "Settings asked for", "Gates", "4 runs measured"):
        assert said in comparison.text, said


def test_what_is_left_out_is_said_with_its_reason(comparison):
    assert "Run failed is failed and is left out of pooled figures: The model <i>died</i>." in comparison.text
    assert "Run cut is incomplete and is left out" in comparison.text


def test_a_comparison_of_one_run_works(shelf):
    read = Reader(notebook_html(shelf, make_report(shelf, "comparison", ["ours"])).decode())
    assert numbers.tps(get_run(shelf, "ours").tps) in read.text
    assert "error" not in [v for _, n, v in read.attributes if n == "class"]


@pytest.mark.parametrize("run_id", ["failed", "cut"])
def test_a_run_without_an_end_makes_a_report_that_says_so(shelf, run_id):
    read = Reader(notebook_html(shelf, make_report(shelf, "run", [run_id])).decode())
    assert run_id in read.text
    assert "left out of pooled figures" in read.text
    assert "nan" not in read.text.lower().split()


@pytest.mark.parametrize(
    ("template", "chosen", "said"),
    [
        ("profile", {"profile": "k70"}, ["Redmi K70 Pro", "Target-only step"]),
        (
            "budget",
            {"profile": "k70", "corpus": "demo", "split": "validation", "budget": 5},
            ["b = 5", "replayed: tokens of real models, charged with published costs", "100 of 260: validation"]
            + [f"(sha256 {digest})" for digest in load_corpus("demo").models.values()]
            + ["mnn 3.6.1", "Gates", "Exclusions"],
        ),
    ],
)
def test_profiles_and_budgets_are_reported_without_a_single_run(shelf, template, chosen, said):
    read = Reader(notebook_html(shelf, make_report(shelf, template, [], None, **chosen)).decode())
    assert [part for part in said if part not in read.text] == []
    assert "published" in read.text


def test_costs_of_other_models_than_those_of_the_tokens_are_an_exception_that_is_told():
    corpus, profile = load_corpus("demo"), load_profile("k70")
    same = {role: ProfiledModel(role, digest) for role, digest in corpus.models.items()}
    for models, said in (
        (same, "none; every window counts"),
        (same | {"drafter": ProfiledModel("drafter", "0" * 64)}, "measured with another drafter than the one whose"),
        ({}, "none; every window counts"),
    ):
        assert said in replay_facts(corpus, replace(profile, models=models), ["test"])["Exclusions"]
    made = replay_facts(load_corpus("paper-688"), profile, ["test"])
    assert "drawn by a generator, not recorded" in made["What the numbers are"]
    assert "not public" in made["Note"]


def test_a_cell_that_fails_is_a_sentence_and_the_others_are_shown(shelf):
    notebook = Notebook("n", "T", (figure_cell("timeline", run="nobody"), text_cell("still *here*")))
    read = Reader(notebook_html(shelf, notebook).decode())
    assert "There is no run 'nobody'" in read.text
    assert "em" in read.tags


@pytest.mark.parametrize(
    ("template", "runs", "chosen", "said"),
    [
        ("run", [], {}, "filled in with 1 runs, not 0"),
        ("run", ["ours", "alone"], {}, "not 2"),
        ("comparison", [], {}, "1 to 500 runs"),
        ("profile", [], {}, "needs a profile"),
        ("budget", [], {"profile": "k70"}, "needs a trajectory set"),
    ],
)
def test_a_template_that_lacks_something_says_what(shelf, template, runs, chosen, said):
    with pytest.raises(NotebookError, match=said):
        make_report(shelf, template, runs, None, **chosen)


def test_unknown_templates_runs_and_profiles_suggest_the_nearest(shelf):
    with pytest.raises(UnknownNameError, match="Did you mean 'budget'"):
        make_report(shelf, "budgets", ["ours"])
    with pytest.raises(UnknownNameError, match="k70"):
        make_report(shelf, "profile", [], None, profile="k71")


def test_every_template_says_what_it_is_about():
    assert all(kind.title and kind.about.endswith(".") for kind in TEMPLATES.values())
