"""Does a press reach its button when the page moves it away beneath the pointer? Browsers alone say no.

A click is a press and a release on the same element. Where parts of a page redraw themselves, what stands above a
button may come, go or grow between the two, and the click is lost: here it is given to the button all the same.
"""

from collections.abc import Callable
from typing import Any

import streamlit as st

KEY = "press-watch"
_SCRIPT = """
export default function (component) {
  window.as2dPress = component.data;
  if (window.as2dPressFollowed) return;
  window.as2dPressFollowed = true;
  const buttons = '[data-testid="stMain"] [data-testid^="stBaseButton"]';
  const buttonAt = (event) => event.target instanceof Element ? event.target.closest(buttons) : null;
  const keyOf = (button) => {
    const holder = button.closest('[class*="st-key-"]');
    const key = holder && [...holder.classList].find((name) => name.startsWith("st-key-"));
    return `${key} ${button.innerText.trim()}`;
  };
  let begun = null;
  document.addEventListener("pointerdown", (event) => {
    const button = event.button === 0 ? buttonAt(event) : null;
    begun = button && { button, key: keyOf(button), x: event.clientX, y: event.clientY };
  }, true);
  document.addEventListener("pointerup", (event) => {
    const press = begun;
    begun = null;
    if (!press || buttonAt(event) === press.button) return;
    if (Math.hypot(event.clientX - press.x, event.clientY - press.y) > window.as2dPress.reach_px) return;
    const same = (button) => !button.disabled && keyOf(button) === press.key;
    const button = press.button.isConnected ? press.button : [...document.querySelectorAll(buttons)].find(same);
    if (button && !button.disabled) button.click();
  }, true);
}
"""
REACH_PX = 6
"""A pointer that has moved further has left the button on purpose. How long it is held says nothing: a computer at
its limit draws late, and whoever waits for that keeps pressing."""


@st.cache_resource(show_spinner=False)
def _component() -> Callable[..., Any]:
    return st.components.v2.component("as2d_press_watch", js=_SCRIPT)


def follow() -> None:
    """Let every press on the page count."""
    _component()(key=KEY, data={"reach_px": REACH_PX}, height=0)
