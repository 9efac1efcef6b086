"""What is chosen on a page? The query string says it, so that a link, a reload and the back button all show the same.

A page begins with ``open_page``; every control that it offers is bound to one name in the query string, which holds
only what differs from the default. Coming back to a page by the navigation brings back what was chosen there.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import streamlit as st

T = TypeVar("T")

_KEPT = "kept-states"
_PAGE = "open-page"
_NEXT = "next-state"
_NOTICES, _NOT_HERE = "page-notices", "values-not-here"
_UNSEEN = object()
_LONGEST = 60


def open_page(page: str) -> None:
    """Begin a page: take over the query string, or what it was when the page was left."""
    states: dict[str, dict[str, str]] = st.session_state.setdefault(_KEPT, {})
    arrived = st.session_state.get(_PAGE) != page
    st.session_state[_PAGE] = page
    if arrived and not st.query_params.to_dict() and states.get(page):
        st.query_params.from_dict(states[page])
    put(**st.session_state.pop(_NEXT, {}))


def begin_notices(show: Callable[[Sequence[str]], None]) -> None:
    """What tells the reader which values of the address are not here; called anew while the page is drawn."""
    st.session_state[_NOTICES] = show
    st.session_state[_NOT_HERE] = {}


def later(**values: object) -> None:
    """Change values when the page is drawn next: what changes just before ``st.rerun`` would not reach the browser."""
    st.session_state[_NEXT] = values


def get(name: str, default: str = "") -> str:
    """One value of the query string."""
    return st.query_params.get(name, default)


def put(**values: object) -> None:
    """Change values of the query string; ``None`` and empty text take one out.

    All at once: each change that reaches the browser is one step of its back button.
    """
    before = st.query_params.to_dict()
    out = {name for name, value in values.items() if value is None or value == ""}
    after = {name: value for name, value in before.items() if name not in out}
    after |= {name: str(value) for name, value in values.items() if name not in out}
    if after != before:
        st.query_params.from_dict(after)
    st.session_state.setdefault(_KEPT, {})[st.session_state.get(_PAGE, "")] = after


def whole(name: str) -> int | None:
    """A whole number of the query string; ``None`` when there is none that can be read."""
    try:
        return int(get(name))
    except ValueError:
        return None


def within(name: str, label: str, low: int, high: int) -> int:
    """A whole number of the query string that no widget holds, ``low`` without any; one outside is told."""
    text, key = get(name), f"{st.session_state.get(_PAGE, '')}:{name}"
    asked = whole(name)
    shown = low if asked is None else min(max(asked, low), high)
    st.session_state[f"{key}:unknown"] = [text] if text and asked != shown else []
    _tell(name, key, label, f"; {shown} is shown", _none_of(low, high))
    return shown


def expect(name: str, label: str, here: bool, instead: str, text: str | None = None) -> None:
    """A value of the query string that no widget holds: where it names nothing that is here, that is told.

    Args:
        here: whether what it names is on the page.
        instead: what happens instead, as a clause.
        text: what the address says, where it takes more than this one value.
    """
    said, key = get(name) if text is None else text, f"{st.session_state.get(_PAGE, '')}:{name}"
    st.session_state[f"{key}:unknown"] = [said] if said and not here else []
    _tell(name, key, label, f"; {instead}")


def one_of(
    widget: Callable[..., Any],
    name: str,
    label: str,
    options: Sequence[T],
    default: T,
    *,
    write: Callable[[T], str] = str,
    always: bool = False,
    told: bool = False,
    **more: Any,
) -> T:
    """A choice among ``options`` (``st.selectbox``, ``st.segmented_control`` ...).

    An address that names none of them gets the default, and the page says so: a link to another profile or window than
    the one that is shown must not pass for it.

    Args:
        write: how an option is written in the query string.
        always: the query string names it even when it is the default (which may be another one tomorrow).
        told: the page says itself what it makes of a value that is none of them.
    """
    known = {write(option): option for option in options}

    def read(text: str) -> T:
        return known.get(text, default)

    key = _seed(name, read, default, list(options), lambda text: [] if text in known else [text])
    if not told:
        said = more.get("format_func", str)
        _tell(name, key, label, f"; {said(st.session_state[key])} is shown")
    arguments = (name, key, write, _UNSEEN if always else default)
    chosen = widget(label, options, key=key, on_change=_written, args=arguments, **more)
    return default if chosen is None else chosen


def several(name: str, label: str, options: Sequence[str], *, called: str = "", **more: Any) -> list[str]:
    """Any number of ``options`` (``st.multiselect``), kept as one value a line; what is none of them is told.

    Args:
        called: what is chosen here, where the label does not say it in a word.
    """

    def read(text: str) -> list[str]:
        return [part for part in text.split("\n") if part in options]

    def unknown(text: str) -> list[str]:
        return [part for part in text.split("\n") if part not in options]

    key = _seed(name, read, [], None, unknown)
    _tell(name, key, called or label, " and is left out")
    return list(st.multiselect(label, options, key=key, on_change=_written, args=(name, key, "\n".join, []), **more))


def number(widget: Callable[..., Any], name: str, label: str, default: T, low: Any, high: Any, **more: Any) -> T:
    """A number between ``low`` and ``high`` (``st.number_input``, ``st.slider``); what is none means the default.

    An address that names a number outside of the range, or none at all, gets another one, and the page says so. With
    ``None`` as the default nothing needs to stand there, and any number is meant.
    """
    kind = float if default is None else type(default)
    if default is None:
        more = {"value": None, **more}

    def read(text: str) -> Any:
        try:
            value = kind(text)  # type: ignore[call-arg]
        except (TypeError, ValueError, OverflowError):
            return default
        return default if math.isnan(value) else min(max(value, low), high)

    def outside(text: str) -> list[str]:
        try:
            return [] if low <= kind(text) <= high else [text]  # type: ignore[call-arg]
        except (TypeError, ValueError, OverflowError):
            return [text]

    key = _seed(name, read, default, None, outside)
    _tell(name, key, label, f"; {_plain(st.session_state[key])} is shown", _none_of(low, high))
    arguments = (name, key, _plain, default)
    chosen = widget(label, min_value=low, max_value=high, key=key, on_change=_written, args=arguments, **more)
    return default if chosen is None else chosen


def words(name: str, label: str, widget: Callable[..., Any] = st.text_input, **more: Any) -> str:
    """A line of text, or several (``st.text_area``)."""
    key = _seed(name, str, "", None)
    return str(widget(label, key=key, on_change=_written, args=(name, key, str, ""), **more)).strip()


def flag(name: str, label: str, **more: Any) -> bool:
    """A switch that is off by default (``st.toggle``)."""
    key = _seed(name, lambda text: text == "1", default=False, options=None)
    arguments = (name, key, lambda on: "1" if on else "", False)
    return bool(st.toggle(label, key=key, on_change=_written, args=arguments, **more))


def _seed(
    name: str,
    read: Callable[[str], Any],
    default: Any,
    options: Sequence[Any] | None,
    unknown: Callable[[str], list[str]] = lambda _: [],
) -> str:
    """Give a widget its value from the query string, where that was changed by anything but the widget."""
    key = f"{st.session_state.get(_PAGE, '')}:{name}"
    text = st.query_params.get(name)
    changed = st.session_state.get(f"{key}:seen", _UNSEEN) != text
    known = key in st.session_state and (options is None or st.session_state[key] in options)
    if changed or not known:
        st.session_state[key] = default if text is None else read(text)
        st.session_state[f"{key}:seen"] = text
    if changed:
        st.session_state[f"{key}:unknown"] = [] if not text else unknown(text)
    return key


def _tell(name: str, key: str, label: str, instead: str, why: str = "which is not here") -> None:
    """Say on top of the page which values of the address are none that can be chosen, until others are chosen."""
    unknown = st.session_state.get(f"{key}:unknown")
    if not unknown or st.session_state.get(_NOTICES) is None:
        return
    named = ", ".join(repr(part if len(part) <= _LONGEST else f"{part[: _LONGEST - 1]}…") for part in unknown[:3])
    notices: dict[str, str] = st.session_state[_NOT_HERE]
    notices[name] = f"{label}: the address names {named}, {why}{instead}."
    st.session_state[_NOTICES](list(notices.values()))


def _written(name: str, key: str, write: Callable[[Any], str], default: Any) -> None:
    """A widget was changed: say so in the query string."""
    value = st.session_state[key]
    # Whatever is asked for anew begins on its first page.
    put(**{"page": None, name: None if value is None or value == default else write(value)})
    st.session_state[f"{key}:seen"] = st.query_params.get(name)
    st.session_state[f"{key}:unknown"] = []


def _none_of(low: Any, high: Any) -> str:
    kind = "number" if isinstance(low, float) else "whole number"
    return f"which is no {kind} from {_plain(low)} to {_plain(high)}"


def _plain(value: Any) -> str:
    return "any" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
