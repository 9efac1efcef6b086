"""What holds for every figure and every piece of HTML that a view gives out."""

import base64
import json
import re
from html.parser import HTMLParser

import numpy as np
import plotly.graph_objects as go

ALLOWED_TAGS = {"div", "span", "b", "bdi", "br", "ol", "li", "del", "ins"}
HOSTILE = [
    b"<script>alert(1)</script>",
    b" a\nb\x07",
    " \u202eevil\u200f".encode(),
    " שלום".encode(),
    b"\xf0\x9f\x98",
    b"\x80",
    b' <img src=x onerror="x">',
    b" $\\alpha$ &amp; {braces} %{x}",
]


def strict_json(figure: go.Figure) -> dict:
    """The figure as a browser gets it; fails on NaN and Infinity outside of binary columns."""

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} in the figure's JSON")

    return json.loads(figure.to_json(), parse_constant=refuse)


def check_figure(figure: go.Figure, units: bool = True) -> dict:
    """Serialisable, speaks of no missing value by accident, and its axes say their unit."""
    body = strict_json(figure)
    for text in texts(body):
        assert not re.search(r"\b(nan|None|inf)\b", text), text
        assert "<script" not in text
        assert "<img" not in text
        assert not re.search(r"(?<![\w)\]-])-\d", text), text  # a negative number has the minus sign of the others
        assert not re.search("[\x00-\x1f\u200e\u200f\u202a-\u202e]", text)
    # A page gets a row of a binary column back as a mapping of positions, so clicks need plain lists.
    assert all(isinstance(trace.get("customdata", []), list) for trace in body["data"])
    if units:
        for name, axis in body["layout"].items():
            if re.fullmatch(r"[xy]axis\d*", name) and "title" in axis:
                assert re.search(r"\(.+\)|budget b", axis["title"]["text"]), axis["title"]
    return body


def texts(body: object) -> list[str]:
    """Every string that a figure shows."""
    if isinstance(body, dict):
        shown = ("text", "hovertext", "ticktext", "name")
        return [t for k, v in body.items() for t in (strings(v) if k in shown else texts(v))]
    if isinstance(body, list):
        return [t for item in body for t in texts(item)]
    return []


def strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [t for item in value for t in strings(item)]
    return texts(value)


def column(trace: dict, name: str) -> np.ndarray:
    """A trace's column, whether it was written as a list or as binary."""
    value = trace[name]
    if isinstance(value, dict):
        flat = np.frombuffer(base64.b64decode(value["bdata"]), value["dtype"])
        shape = value.get("shape")
        return flat.reshape([int(n) for n in shape.split(",")]) if shape else flat
    return np.array([np.nan if v is None else v for v in value])


def bar_count(body: dict) -> int:
    return sum(len(column(t, "x")) for t in body["data"] if t["type"] == "bar")


def names(figure: go.Figure) -> list[str]:
    return [trace.name for trace in figure.data]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.text = ""
        self.titles: list[str] = []

    def handle_starttag(self, tag, attrs):
        assert tag in ALLOWED_TAGS, tag
        assert {name for name, _ in attrs} <= {"style", "title", "dir", "aria-current"}
        self.titles += [value for name, value in attrs if name == "title"]
        self.tags.append(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def read_html(markup: str) -> _Reader:
    """Parse HTML; fails on any tag or attribute that a view does not write itself, and on open tags."""
    reader = _Reader()
    reader.feed(markup)
    reader.close()
    assert reader.open == []
    assert not re.search("[\x00-\x08\x0b-\x1f\u200e\u200f\u202a-\u202e\u2066-\u2069]", markup)
    return reader
