import re

import pytest
from view_samples import cut_off, decode

from dashboard.views.live_lanes import BINS, live_lanes_svg
from dashboard.views.theme import DARK, LIGHT
from dashboard.views.timeline import timeline_info

LARGEST_CHARACTERS = 60_000


def lanes(record, theme=LIGHT):
    return live_lanes_svg(timeline_info(record), theme)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
@pytest.mark.parametrize("method", ["as2d", "sd", "specasr", "target-only"])
def test_every_method_has_its_lanes(method, theme):
    html = lanes(decode(method), theme)
    names = {"Target", "Drafter", "Buffer"} if method == "as2d" else {"Target", "Drafter", "Draft"}
    shown = set(re.findall(r'font-weight="600"[^>]*>(\w+)<', html))
    assert shown == ({"Target"} if method == "target-only" else names)
    assert set(re.findall(r"<(\w+)", html)) == {"svg", "defs", "pattern", "path", "text"}
    assert "nan" not in html


def test_a_growing_run_is_drawn_as_far_as_it_is():
    whole, half = timeline_info(decode()), timeline_info(cut_off(0.5))
    assert half.end_ms < whole.end_ms
    assert live_lanes_svg(half, LIGHT).count("h-") < live_lanes_svg(whole, LIGHT).count("h-")


def test_before_decoding_begins_there_is_nothing_to_draw():
    assert lanes(cut_off(0.01)) == ""


def test_a_long_run_costs_no_more_than_a_short_one():
    words = " ".join(f"word{i}" for i in range(4 * BINS))
    html = lanes(decode("target-only", reference=words))
    assert len(html) < LARGEST_CHARACTERS
