"""Which reports are filled in by choosing runs? A run, a comparison, a phone's profile, the choice of a budget.

A template only writes cells: what it makes is a notebook like any other, and can be changed as one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from as2d_core.errors import unknown_name
from as2d_core.request import METHODS
from dashboard.notebook.cells import Cell, Notebook, figure_cell, new_id, query_cell, text_cell
from dashboard.notebook.errors import NotebookError
from dashboard.notebook.source import Source
from dashboard.services.power import traces_beside
from dashboard.views import numbers
from dashboard.views.run_labels import profile_label
from dashboard.views.theme import method_of
from datastore.queries import RunFilter, RunRow

MOST_DETAILED = 6
"""Runs that a comparison shows one by one."""
MOST_RUNS = 500


@dataclass(frozen=True, slots=True)
class Words:
    """What the author says; all of it plain text."""

    title: str = ""
    hypothesis: str = ""
    conclusion: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Template:
    """A kind of report."""

    title: str
    about: str
    runs: tuple[int, int]
    """Fewest and most runs it is filled in with."""
    needs: tuple[str, ...] = ()
    """What else has to be chosen: ``profile``, ``corpus``."""


TEMPLATES: Mapping[str, Template] = {
    "run": Template("Run report", "One run: its timeline, where the time went, what was said.", (1, 1)),
    "comparison": Template("Comparison", "Several runs: pooled throughput, timelines, outputs.", (1, MOST_RUNS)),
    "profile": Template("Phone profile", "What every operation costs on a device.", (0, MOST_RUNS), ("profile",)),
    "budget": Template(
        "Budget choice", "Every budget on every window, and the chosen one.", (0, MOST_RUNS), ("profile", "corpus")
    ),
}


def fill(
    source: Source,
    template: str,
    run_ids: Sequence[str] = (),
    words: Words | None = None,
    profile: str | None = None,
    corpus: str | None = None,
    split: str = "all",
    drafter: str | None = None,
    budget: int | None = None,
) -> Notebook:
    """Fill in a template.

    Raises:
        UnknownNameError, RunNotFoundError: the template, a run, the profile or the set is not there.
        NotebookError: too few or too many runs, or something else is not chosen.
    """
    if template not in TEMPLATES:
        raise unknown_name("template", template, list(TEMPLATES))
    kind = TEMPLATES[template]
    rows = source.rows(run_ids)
    fewest, most = kind.runs
    if not fewest <= len(rows) <= most:
        wanted = f"{fewest}" if fewest == most else f"{fewest} to {most}"
        raise NotebookError(f"A {kind.title.lower()} is filled in with {wanted} runs, not {len(rows)}.")
    chosen = {"profile": profile, "corpus": corpus}
    for name in kind.needs:
        if not chosen[name]:
            raise NotebookError(f"A {kind.title.lower()} needs a {'trajectory set' if name == 'corpus' else name}.")
    words = words or Words()
    pair = {"profile": profile, "corpus": corpus, "split": split, "drafter": drafter, "budget": budget}
    match template:
        case "run":
            title, cells = _run(source, rows[0])
        case "comparison":
            title, cells = _comparison(rows)
        case "profile":
            title, cells = _profile(source, str(profile))
        case _:
            title, cells = _budget(source, pair)
    ids = tuple(row.run_id for row in rows)
    if ids and template in ("profile", "budget"):
        cells += [text_cell("## Runs on which it rests"), figure_cell("runs", runs=list(ids))]
    if ids:
        cells += [text_cell("## How it was measured"), figure_cell("facts", runs=list(ids))]
    return Notebook(
        new_id(), words.title or title, tuple(cells), words.hypothesis, words.conclusion, words.tags, template, ids
    )


def _run(source: Source, row: RunRow) -> tuple[str, list[Cell]]:
    window = f" on {row.window_id}" if row.window_id else ""
    title = f"{method_of(row)}{window}"
    cells = [
        text_cell("## Timeline"),
        figure_cell("timeline", run=row.run_id),
        text_cell("## Where the time went\n\nT = D + V − O + H: drafting and verification, minus the time in which "
                  "both worked, plus the time in which neither did (paper, D.2.7)."),
        figure_cell("account", run=row.run_id),
        *([text_cell("## Power"), figure_cell("power", run=row.run_id)] if traces_beside(source.store, [row]) else []),
        text_cell("## What was said"),
        figure_cell("said", run=row.run_id),
        text_cell("## In numbers"),
        figure_cell("runs", runs=[row.run_id]),
    ]  # fmt: skip
    return title, cells


def _comparison(rows: Sequence[RunRow]) -> tuple[str, list[Cell]]:
    ids = [row.run_id for row in rows]
    methods = dict.fromkeys(method_of(row) for row in rows)
    named = ", ".join(methods) if len(methods) <= 4 else f"{len(methods)} settings"
    title = f"{named}: {numbers.counted(len(rows), 'run')}"
    cells = [
        text_cell("## Pooled throughput\n\nCommitted tokens over time after prefill, the producer's drain included. "
                  "Every run is a dot."),
        figure_cell("comparison", runs=ids),
    ]  # fmt: skip
    decoding = [row for row in rows if row.method in METHODS]
    windows = {(row.audio_sha256, row.view_start_s, row.view_end_s) for row in decoding}
    if 1 < len(decoding) <= MOST_DETAILED and len(windows) == 1:
        cells += [
            text_cell("## Timelines from the same zero"),
            figure_cell("methods", runs=[row.run_id for row in decoding]),
        ]
    cells += [text_cell("## Every run"), figure_cell("runs", runs=ids)]
    return title, cells


def _profile(source: Source, name: str) -> tuple[str, list[Cell]]:
    profile = source.profile(name)
    return f"Cost profile of {profile_label(profile)}", [
        text_cell("## Costs\n\nOne row an operation; widths are physical widths K (paper, Figure 8 and D.2.4)."),
        figure_cell("profile", profile=name),
    ]


def _budget(source: Source, pair: Mapping[str, str | int | None]) -> tuple[str, list[Cell]]:
    profile, corpus = source.profile(str(pair["profile"])), source.corpus(str(pair["corpus"]))
    return f"Budget for {profile_label(profile)} on {corpus.id}", [
        text_cell(
            "## Throughput by budget\n\nThe decisions are recorded tokens, the times are this profile's costs: every "
            "number of this part is **replayed**. The oracle knows the best budget of each window in hindsight "
            "(paper, Section 5)."
        ),
        figure_cell("budgets", **pair),
        text_cell("## Where it loses\n\nWindows by budgets; the colour is the loss against the window's best."),
        figure_cell("budget map", **pair),
        text_cell("## All numbers"),
        figure_cell("budget table", **pair),
        text_cell("## What was replayed"),
        figure_cell("replay facts", **{name: pair[name] for name in ("profile", "corpus", "split")}),
        text_cell("## The costs that were charged"),
        figure_cell("profile", profile=pair["profile"]),
    ]


def overview(source: Source) -> Notebook:
    """A notebook for somebody who has none yet: what is in the store, in three cells."""
    recent = [row.run_id for row in source.matching(RunFilter(methods=METHODS), limit=1)]
    cells = [
        text_cell(
            "# First look\n\nText is Markdown. Cells below are a query over the store and a figure; change them."
        ),
        query_cell(
            "SELECT method, count(*) AS runs, sum(committed_tokens) / sum(elapsed_ms) * 1000 AS pooled_tps\n"
            "FROM runs WHERE status IN ('eos', 'capped') AND binned_at IS NULL AND elapsed_ms > 0\n"
            "GROUP BY method ORDER BY pooled_tps DESC"
        ),
        *(figure_cell("timeline", run=run_id) for run_id in recent),
    ]
    return Notebook(new_id(), "First look", tuple(cells))
