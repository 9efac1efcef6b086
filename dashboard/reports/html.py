"""How does a notebook become one file that opens anywhere? HTML with figures, styles and the plotting library inside.

Nothing is fetched: the file's own policy forbids it, and allows exactly the scripts that were written into it, so that
no text of a run could become one even if it were not escaped. Names, transcripts and words of the author are text.
"""

import base64
import hashlib
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from as2d_core import __version__
from dashboard.notebook.cells import Notebook
from dashboard.notebook.outputs import Block, Drawing, Grid, Markup, Sentence, grid_html
from dashboard.notebook.running import Result
from dashboard.views import numbers
from dashboard.views.text import element, escape, visible
from dashboard.views.theme import CONFIG, PICTURE_CONFIG

ASSETS = Path(__file__).parents[1] / "assets"
MOST_BYTES = 8_000_000
"""What a usual report stays below."""


def report_html(notebook: Notebook, results: Sequence[Result], now: datetime | None = None) -> str:
    """A notebook and what came out of its cells (drawn in the light theme) as one HTML document."""
    when = numbers.moment(now or datetime.now(UTC))
    drawn: list[str] = []
    cells = "".join(_cell(result, drawn) for result in results)
    scripts = [get_plotlyjs(), _asset("report.js") + _asset("pictures.js")] if drawn else []
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src {' '.join(map(_hash, scripts)) or repr('none')}",
            "style-src 'unsafe-inline'",
            "img-src data: blob:",
            "font-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    head = (
        '<meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="generator" content="as2d {escape(__version__)}">'
        f"<title>{_text(notebook.title)}</title><style>{_asset('report.css')}</style>"
    )
    body = "".join([_front(notebook, when), cells, _footer(notebook, when)])
    code = "".join(f"<script>{script}</script>" for script in scripts)
    return (
        f'<!DOCTYPE html><html lang="en"><head>{head}</head><body><main>{body}</main>'
        f"{''.join(drawn)}{code}</body></html>\n"
    )


def figure_json(figure: go.Figure, strip: bool) -> str:
    """A figure for a ``<script type="application/json">``: strict JSON in which nothing can end the element.

    WebGL would be drawn empty on paper, and some viewers have none: lines and marks are drawn as SVG.
    """
    body = json.loads(figure.to_json())
    for trace in body["data"]:
        trace["type"] = {"scattergl": "scatter"}.get(trace.get("type"), trace.get("type"))
    body["layout"].pop("template", None)
    config = {**(PICTURE_CONFIG if strip else CONFIG), "scrollZoom": False}
    written = json.dumps({"data": body["data"], "layout": body["layout"], "config": config}, separators=(",", ":"))
    return written.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _front(notebook: Notebook, when: str) -> str:
    tags = "".join(element("span", _text(tag), class_="tag") for tag in notebook.tags)
    parts = [element("h1", _text(notebook.title)), element("p", f"{tags}{_text(when)}", class_="byline")]
    for name, said in (("Hypothesis", notebook.hypothesis), ("Conclusion", notebook.conclusion)):
        if said.strip():
            parts.append(element("div", element("b", name) + _lines(said), class_="said"))
    return "".join(parts)


def _cell(result: Result, drawn: list[str]) -> str:
    """One cell; the data of its figures goes to ``drawn``, behind everything that is read."""
    shown = "".join(_block(block, drawn) for block in result.blocks)
    if result.cell.kind == "query":
        shown = element("pre", _lines(result.cell.body["sql"]), class_="sql") + shown
    return element("section", shown, class_="cell")


def _block(block: Block, drawn: list[str]) -> str:
    match block:
        case Markup(html):
            return html
        case Sentence(said, kind):
            return element("p", _text(said), class_="error" if kind == "error" else "note")
        case Grid():
            return grid_html(block) + _note(block.note)
        case Drawing():
            name = f"figure-{len(drawn) + 1}"
            data = figure_json(block.figure, block.strip)
            drawn.append(f'<script type="application/json" id="{name}-data">{data}</script>')
            height = block.figure.layout.height
            style = {"height": f"{height:g}px"} if height else None
            return element("div", "", style, id=name, class_="figure") + _note(block.note)


def _note(said: str) -> str:
    return element("p", _text(said), class_="note") if said else ""


def _footer(notebook: Notebook, when: str) -> str:
    runs = ", ".join(notebook.runs[:40]) + (f" and {len(notebook.runs) - 40:,} more" if len(notebook.runs) > 40 else "")
    parts = [f"Made by as2d {__version__} on {when}."]
    if notebook.runs:
        parts.append(f"{numbers.counted(len(notebook.runs), 'run')}: {runs}.")
    parts.append("TPS is committed tokens per second after prefill, producer drain included; n/a is missing, never 0.")
    return element("footer", _text(" ".join(parts)))


def _text(said: str) -> str:
    return escape(visible(said, spaces=False))


def _lines(said: str) -> str:
    """Text with its line breaks."""
    return "\n".join(_text(line) for line in said.splitlines())


def _hash(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


@cache
def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")
