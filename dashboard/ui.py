"""What do all pages need from Streamlit? The theme, the workspace, boxes, figures: each in one line of a page."""

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import unescape
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from as2d_core.errors import As2dError
from dashboard import ui_app, ui_state
from dashboard.notebook.outputs import Grid, grid_html
from dashboard.services.repair import rebuild_store
from dashboard.services.workspace import Workspace, open_workspace
from dashboard.views.boxes import box_html, sentence_html
from dashboard.views.signature import signed
from dashboard.views.theme import CONFIG, Theme, picture_named, theme_named
from datastore.errors import StoreDamagedError, StoreError, StoreLockedError
from datastore.files import safe_name

_PAGES = ("start", "devices", "request", "sweep", "timeline", "budgets", "runs", "notebook", "reports")
START, DEVICES, REQUEST, SWEEP, TIMELINE, BUDGETS, RUNS, NOTEBOOK, REPORTS = (f"pages/{name}.py" for name in _PAGES)
PROFILES, PUBLISHED = "pages/profiles.py", "pages/published.py"
WINDOWS, COMPARE = "pages/windows.py", "pages/compare.py"

Point = Mapping[str, Any]
_READ, _REPAIRED = "notices-read", "store-repaired"
PRESS_KEPT_S = 10.0
"""A press that the script has not come to by then is forgotten: nothing starts out of the blue."""
MOST_ALT = 200
"""Letters of what is read out in place of a figure."""
_ADDRESS = re.compile(r"(?<=://)|(?<=\bwww)(?=\.)|(?<=@)(?=[\w-]+\.)")
"""Where what would be taken for an address of the web or of a person can be parted without being seen."""
_UNIT = re.compile(r"(?<=\d) (?=tok/s|ms\b|s\b|%)")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~:$&])")


def theme() -> Theme:
    """The theme that the reader's browser shows."""
    return theme_named(st.context.theme.type)


def open_page(name: str, title: str, question: str) -> Workspace:
    """Title of a page, and the store behind it; when the store cannot be opened, the page says so and ends."""
    ui_app.stay_inside()
    ui_state.open_page(name)
    st.title(title, anchor=False)
    sentence(question)
    place = st.empty()
    ui_state.begin_notices(lambda said: _notices(place, said))
    return workspace()


def _notices(place: DeltaGenerator, said: Sequence[str]) -> None:
    with place.container():
        for one in said:
            box("warning", one)


def workspace() -> Workspace:
    """The workspace of this process; when it cannot be opened, the page says so and ends."""
    try:
        with st.spinner("Opening the store"):
            found = open_workspace()
    except StoreError as error:
        _no_store(error)
        st.stop()
    found.phones.start()
    read = st.session_state.setdefault(_READ, set())
    with st.container():  # what comes below keeps its place when a notice goes
        for notice in filter(None, (st.session_state.pop(_REPAIRED, ""), *found.notices)):
            if notice not in read:
                box("note", notice)
                read.add(notice)
    return found


def _no_store(error: StoreError) -> None:
    """Why the store cannot be opened, with the button that helps."""
    box("error", str(error))
    if isinstance(error, StoreDamagedError) and st.button("Make a new database from the run logs", type="primary"):
        with guarded(), st.spinner("Reading the logs"):
            st.session_state[_REPAIRED] = rebuild_store()
            st.rerun()
    retry = "Try again" if isinstance(error, StoreLockedError) or error.retryable else "Open again"
    st.button(retry)


def box(kind: str, sentence_: str, detail: str = "") -> None:
    """A sentence that the reader should notice; see ``views.boxes`` for the kinds."""
    st.html(box_html(kind, sentence_, theme(), detail))


def sentence(text: str, *, muted: bool = True, beside: bool = False) -> None:
    """A line of text that is never read as markup; ``beside``: something else stands on the same line."""
    st.html(sentence_html(text, theme(), muted), width="content" if beside else "stretch")


def small_table(frame: pd.DataFrame) -> None:
    """A table of a few rows, whose texts are broken into lines where there is little room."""
    st.html(grid_html(Grid(tuple(map(str, frame.columns)), tuple(frame.itertuples(index=False, name=None)))))


@contextmanager
def guarded() -> Iterator[None]:
    """Show any error of ours as a box in the place where it came up; the rest of the page goes on."""
    try:
        yield
    except As2dError as error:
        box("error", str(error))


def plain(text: str) -> str:
    """Foreign text for a label that Streamlit would read as Markdown; an address in it is no link."""
    return _MARKDOWN.sub(r"\\\1", _ADDRESS.sub("\N{WORD JOINER}", text))


def pressed(label: str, key: str, **more: Any) -> bool:
    """A button whose press counts once, also when the page is drawn again before the script has come to it.

    ``st.button`` tells of a press in one run only; where parts of a page redraw themselves, that run may be cut short.
    """
    kept = f"{key}:pressed"
    st.button(label, key=key, on_click=_keep_press, args=(kept,), **more)
    at: float = st.session_state.pop(kept, float("-inf"))
    return time.monotonic() - at <= PRESS_KEPT_S


def _keep_press(name: str) -> None:
    st.session_state[name] = time.monotonic()


def link(page: str, label: str, *, icon: str | None = None, **state: object) -> None:
    """A link to a page in a certain state."""
    values = {name: str(value) for name, value in state.items() if value is not None}
    whole = _UNIT.sub("\N{NO-BREAK SPACE}", label)  # a number and its unit stay on one line
    st.page_link(page, label=plain(whole), icon=icon, query_params=values or None)


def go_to(page: str, **state: object) -> None:
    """Show another page in a certain state."""
    st.switch_page(page, query_params={name: str(value) for name, value in state.items() if value is not None})


def how_to_read(help_: str) -> None:
    """What a figure shows and where the paper speaks of it, on demand, for one that has no heading of its own."""
    st.markdown(":small[How to read it]", help=help_, width="content")  # a caption is too pale to be read by everybody


def chart(
    figure: go.Figure,
    key: str,
    *,
    said: str = "",
    config: Mapping[str, Any] = CONFIG,
    on_click: Callable[[Point], None] | None = None,
    on_range: Callable[[float, float], None] | None = None,
) -> None:
    """A figure in its own colours, which can be saved as a picture.

    Args:
        said: what it shows and what was chosen for it, printed into it for those who see the picture alone.
        on_click: gets the point that was clicked on; not together with a figure whose drag selects.
        on_range: gets both ends of the range that was dragged over the x axis.

    A figure in which nothing is drawn is the sentence that it would show.
    """
    if not figure.data and figure.layout.annotations:
        sentence(unescape(figure.layout.annotations[0].text))
        return
    words = said or " ".join(str(note.text) for note in figure.layout.annotations if note.text)
    alt = re.sub(r"<[^>]*>", " ", words).strip()[:MOST_ALT] or key
    if said:
        signed(figure, theme(), said)
    answers = picture_named(config, safe_name(key))
    if on_click is None and on_range is None:
        st.plotly_chart(figure, key=key, theme=None, config=answers, alt=alt)
        return

    def selected() -> None:
        chosen = st.session_state[key]["selection"]
        if on_range is not None and chosen["box"]:
            ends = [float(x) for x in chosen["box"][0]["x"]]
            on_range(min(ends), max(ends))
        elif on_click is not None and chosen["points"]:
            on_click(chosen["points"][0])

    mode = tuple(name for name, asked in (("points", on_click), ("box", on_range)) if asked is not None)
    st.plotly_chart(figure, key=key, theme=None, config=answers, on_select=selected, selection_mode=mode, alt=alt)
