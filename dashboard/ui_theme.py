"""Does the page still have the colours of the browser? Streamlit changes its own at once, and ours need a new run."""

from collections.abc import Callable
from typing import Any

import streamlit as st

KEY = "theme-watch"
_SCRIPT = """
export default function (component) {
  const { data, setTriggerValue } = component;
  clearInterval(window.as2dThemeWatch);
  window.as2dThemeWatch = setInterval(() => {
    const app = document.querySelector(".stApp");
    const shown = app && getComputedStyle(app).colorScheme;
    if ((shown === "dark" || shown === "light") && shown !== data.theme) {
      clearInterval(window.as2dThemeWatch);
      setTriggerValue("theme", shown);
    }
  }, data.every_ms);
}
"""
EVERY_MS = 400


@st.cache_resource(show_spinner=False)
def _component() -> Callable[..., Any]:
    return st.components.v2.component("as2d_theme_watch", js=_SCRIPT)


def follow() -> None:
    """Run the page once more whenever the reader, or the evening, has chosen the other theme."""
    data = {"theme": st.context.theme.type or "light", "every_ms": EVERY_MS}
    _component()(key=KEY, data=data, on_theme_change=_nothing, height=0)


def _nothing() -> None:
    """The run itself is what was wanted."""
