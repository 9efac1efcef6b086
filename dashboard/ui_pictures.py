"""How is a figure saved? Every figure has a button for PNG from Plotly itself; the browser adds one for SVG."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

_SCRIPT = Path(__file__).parent / "assets" / "pictures.js"
KEY = "picture-buttons"


@st.cache_resource(show_spinner=False)
def _component() -> Callable[..., Any]:
    script = _SCRIPT.read_text(encoding="utf-8")
    return st.components.v2.component("as2d_pictures", js=f"{script}\nexport default as2dPictures;\n")


def offer() -> None:
    """Give the figures of the page their second button."""
    _component()(key=KEY, height=0)
