"""Which part of a figure is seen after the wheel was turned? The browser tells, and the page draws it in detail."""

from collections.abc import Callable
from typing import Any

import streamlit as st

_SCRIPT = """
export default function (component) {
  const { data, setTriggerValue } = component;
  const send = (range) => setTriggerValue("range", range);
  const follow = () => {
    const figure = document.querySelector(`.st-key-${data.chart} .js-plotly-plot`);
    if (!figure || !figure.on) return;
    figure.as2dSend = send;
    if (figure.as2dFollowed) return;
    figure.as2dFollowed = true;
    let waiting = null;
    figure.on("plotly_relayout", (event) => {
      const range = event["xaxis.range"] ?? [event["xaxis.range[0]"], event["xaxis.range[1]"]];
      const whole = event["xaxis.autorange"] === true;
      if (!whole && (range[0] === undefined || range[1] === undefined)) return;
      clearTimeout(waiting);
      waiting = setTimeout(() => figure.as2dSend(whole ? [null, null] : range.map(Number)), data.pause_ms);
    });
  };
  // A page that is drawn anew makes its figures anew, without calling this again: whatever stands there is followed.
  window.as2dFollowWatch?.disconnect();
  const watch = new MutationObserver(follow);
  window.as2dFollowWatch = watch;
  watch.observe(document.body, { childList: true, subtree: true });
  follow();
  return () => watch.disconnect();
}
"""
PAUSE_MS = 350
"""So long after the last turn of the wheel."""


@st.cache_resource(show_spinner=False)
def _component() -> Callable[..., Any]:
    return st.components.v2.component("as2d_follow_zoom", js=_SCRIPT)


def follow(chart: str, on_range: Callable[[float | None, float | None], None]) -> None:
    """Call ``on_range`` with both ends of the x axis of the figure of that key, whenever a reader has changed them."""
    key = f"follow-{chart}"

    def changed() -> None:
        found = st.session_state[key].get("range")
        if isinstance(found, list | tuple) and len(found) == 2:
            on_range(*(float(end) if isinstance(end, int | float) else None for end in found))

    _component()(key=key, data={"chart": chart, "pause_ms": PAUSE_MS}, on_range_change=changed, height=0)
