"""What page tests need: run files of the packaged windows, and the app as a visitor sees it without a browser."""

import json
import re
from dataclasses import replace
from functools import cache
from html import unescape
from pathlib import Path

from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from as2d_core.event import Event
from as2d_core.profiles import load_profile
from as2d_core.protocol import Writer, decode
from as2d_core.records import End, Pieces, RunHeader
from as2d_core.replay.runs import replay_window
from as2d_core.replay.trajectories import load_corpus
from datastore.ingest import ingest_run
from datastore.store import Store

APP = Path(__file__).parents[3] / "dashboard" / "ui_script.py"
PATIENCE_S = 120
HOSTILE = " <img src=x onerror=alert(1)>[x](http://evil.example)"
PARAMETERS = {"as2d": {"budget": 7}, "sd": {"width": 5}, "target-only": {}}


@cache
def events(method: str, window: str) -> tuple[Event, ...]:
    """All lines of a replayed window but the last one."""
    run = replay_window(load_corpus("demo"), window, load_profile("k70"), method, **PARAMETERS[method])
    return tuple(decode(line) for line in run.lines[:-1])


def lines(
    run_id: str,
    method: str = "as2d",
    window: str = "clean_00",
    status: str = "eos",
    error: str | None = None,
    keep: int | None = None,
    words: str | None = None,
    **header: object,
) -> list[str]:
    """A run file, labelled measured. ``keep`` lines are left of one that broke off."""
    out: list[str] = []
    writer = Writer(out.append)
    tokens: set[int] = set()
    for event in events(method, window) if status != "failed" else events(method, window)[:1]:
        if isinstance(event, RunHeader):
            asked = replace(event.request, run_id=run_id, group_id="g1", options={})
            own = {"source": "measured", "created_at": "2026-03-01T10:00:00+00:00", **header}
            writer.add(replace(event, run_id=run_id, request=asked, clock="CLOCK_BOOTTIME", **own))
            continue
        tokens |= set(getattr(event, "committed", ())) | set(getattr(event, "tokens", ()))
        writer.add(event)
    writer.add(Pieces({str(token): words or f" w{token}" for token in sorted(tokens)}))
    end: End = writer.end(status, len(tokens), "some words", error)
    assert end.status == status
    return out if keep is None else out[:keep]


def put(store: Store, folder: Path, run_id: str, **how: object) -> None:
    """Take a run into a store."""
    path = folder / f"{run_id}.in"
    path.write_text("".join(lines(run_id, **how)), encoding="utf-8")
    ingest_run(store, path)


class PageApp:
    """One visitor of the app; after every step, nothing may have been raised."""

    def __init__(self, page: str, state: dict[str, object]) -> None:
        self.test = AppTest.from_file(str(APP), default_timeout=PATIENCE_S)
        for key, value in state.items():
            self.test.query_params[key] = str(value)
        # How Streamlit knows a page: by a hash of its path in the address.
        self.test._page_hash = "" if page == "start" else calc_hash(page)

    def run(self) -> "PageApp":
        self.test.run()
        assert [exception.value for exception in self.test.exception] == []
        return self

    @property
    def state(self) -> dict[str, str]:
        """The query string."""
        return {k: v if isinstance(v, str) else v[0] for k, v in self.test.query_params.items()}

    @property
    def html(self) -> str:
        """All HTML that the page has sent, in order, style sheets left out."""
        bodies = (str(element.proto.body) for element in self.test.get("html"))
        return "\n".join(body for body in bodies if not body.startswith("<style>"))

    @property
    def text(self) -> str:
        """What a reader reads of it."""
        return unescape(re.sub(r"<[^>]*>", " ", self.html))

    @property
    def charts(self) -> dict[str, dict]:
        """Every figure by its key."""
        found = {}
        for element in self.test.get("plotly_chart"):
            key = element.proto.id.rsplit("-", 1)[-1] if not element.key else element.key
            found[key] = json.loads(element.proto.spec or element.proto.figure.spec)
        return found

    @property
    def links(self) -> dict[str, str]:
        """Page links: label and query string."""
        return {e.proto.label.replace("\\", ""): e.proto.query_string for e in self.test.get("page_link")}

    def button(self, label: str):
        """A button by its label."""
        return next(button for button in self.test.button if button.label == label)

    def press(self, label: str) -> "PageApp":
        self.button(label).click()
        return self.run()

    def widget(self, kind: str, label: str):
        """A widget by its kind and label."""
        return next(w for w in self.test.get(kind) if w.label == label)

    def choose(self, kind: str, label: str, value: object) -> "PageApp":
        self.widget(kind, label).set_value(value)
        return self.run()
