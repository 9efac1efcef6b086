"""How does a report show what it states of its runs? As rows of names and values, all of them escaped."""

from collections.abc import Mapping

from dashboard.views import numbers
from dashboard.views.facts import Fact, FactsInfo
from dashboard.views.text import element, escape, visible

MOST_NAMED = 6
"""Runs that are named beside a value that is theirs only."""


def facts_html(info: FactsInfo) -> str:
    """Facts and exclusions as HTML."""
    rows = [_row("What the numbers are", "; ".join(_kind(kind, count) for kind, count in info.kinds))]
    rows += [element("tr", element("th", _text(name)) + element("td", _values(values))) for name, values in info.facts]
    left_out = "".join(element("li", _text(sentence)) for sentence in info.exclusions)
    none = "none; every run counts" if not info.exclusions else ""
    rows.append(element("tr", element("th", "Exclusions") + element("td", none or element("ul", left_out))))
    return element("div", element("table", element("tbody", "".join(rows)), class_="facts"), class_="wide")


def pairs_html(pairs: Mapping[str, str]) -> str:
    """Names and values."""
    rows = "".join(_row(name, value) for name, value in pairs.items())
    return element("div", element("table", element("tbody", rows), class_="facts"), class_="wide")


def _kind(kind: str, count: int) -> str:
    return f"{numbers.counted(count, 'run')} {kind}: {numbers.badge(kind).meaning}"


def _row(name: str, value: str) -> str:
    return element("tr", element("th", _text(name)) + element("td", _text(value)))


def _values(values: tuple[Fact, ...]) -> str:
    return "".join(element("div", _text(fact.value) + _whose(fact)) for fact in values)


def _whose(fact: Fact) -> str:
    if not fact.runs:
        return ""
    shown = ", ".join(fact.runs[:MOST_NAMED])
    more = f" and {len(fact.runs) - MOST_NAMED:,} more" if len(fact.runs) > MOST_NAMED else ""
    return element(
        "span", escape(" (") + _text(f"{numbers.counted(len(fact.runs), 'run')}: {shown}{more}") + ")", class_="whose"
    )


def _text(value: str) -> str:
    return escape(visible(value, spaces=False))
