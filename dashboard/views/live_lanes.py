"""What do both models do right now? The lanes of a growing run as one small SVG, cheap enough to redraw all the time.

A watched run shares the processor with the page that watches it: an interactive figure, redrawn in a browser on the
same two cores, costs it a large part of its throughput. That figure comes when the run has ended.
"""

from collections.abc import Iterable

import numpy as np

from dashboard.views import numbers
from dashboard.views.text import escape
from dashboard.views.theme import FONT, PATTERNS, Theme
from dashboard.views.thinning import mean_heights, thinned
from dashboard.views.timeline_columns import Floats
from dashboard.views.timeline_detail import PIECES, piece_heights
from dashboard.views.timeline_info import TimelineInfo

WIDTH, LEFT, RIGHT = 720, 84, 34
LARGE, SMALL = 14, 12
TARGET, BUFFER, DRAFTER = (6, 44), (66, 32), (112, 20)
"""Top and height of each lane, in px."""
HEIGHT_ALONE, HEIGHT = 78, 160
MOST_ROUNDS, BINS, MOST_DRAFTS, MOST_POINTS = 300, 300, 200, 200


def live_lanes_svg(info: TimelineInfo, theme: Theme) -> str:
    """Target, buffer and drafter from decode start until now; empty before decoding begins."""
    if info.empty is not None or info.end_ms <= 0:
        return ""
    scale = (WIDTH - LEFT - RIGHT) / info.end_ms
    height = HEIGHT if info.drafts else HEIGHT_ALONE
    parts = [*_target(info, scale, theme), _name(TARGET, "Target", theme)]
    if info.drafts:
        parts += [*_drafter(info, scale, theme), _name(DRAFTER, "Drafter", theme)]
        parts += [*_buffer(info, scale, theme), _name(BUFFER, "Buffer" if not info.serial else "Draft", theme)]
    parts += _axis(info, height, theme)
    size = f'width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
    drawn = _patterns(theme) + "".join(parts)
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="{escape(FONT)}">{drawn}</svg>'


def _target(info: TimelineInfo, scale: float, theme: Theme) -> Iterable[str]:
    """One column a round, or as many columns as there is room for."""
    rounds = info.rounds
    every = np.arange(len(rounds))
    if not len(every):
        return
    pieces = piece_heights(rounds, every, every)
    start, end = rounds.start_ms, rounds.end_ms
    if len(rounds) > MOST_ROUNDS:
        edges = np.linspace(0.0, info.end_ms, BINS + 1)
        pieces, start, end = mean_heights(start, end, pieces, edges), edges[:-1], edges[1:]
    top, height = TARGET
    above = np.cumsum(pieces, axis=1)
    left, width = LEFT + start * scale, np.maximum((end - start) * scale - 0.8, 0.6)
    for k, role in enumerate(PIECES):
        shown = pieces[:, k] > 1e-3
        y, tall = top + (1 - above[:, k]) * height, pieces[:, k] * height
        yield _rectangles(left[shown], y[shown], width[shown], tall[shown], _fill(role, theme))


def _drafter(info: TimelineInfo, scale: float, theme: Theme) -> Iterable[str]:
    drafting = info.drafting
    live = np.flatnonzero(drafting.end_ms > 0)[-MOST_DRAFTS * 10 :]
    start, end = np.maximum(drafting.start_ms[live], 0.0), drafting.end_ms[live]
    if len(live) > MOST_DRAFTS:
        group = np.arange(0, len(live), -(-len(live) // MOST_DRAFTS))
        start, end = start[group], np.append(end[group[1:] - 1], end[-1])
    top, height = DRAFTER
    width = np.maximum((end - start) * scale - 0.8, 0.6)
    y = np.full(len(start), float(top))
    yield _rectangles(LEFT + start * scale, y, width, np.full(len(start), float(height)), theme.role("drafter"))


def _buffer(info: TimelineInfo, scale: float, theme: Theme) -> Iterable[str]:
    """Candidates ready at every boundary, as steps, and how many there are now."""
    time, ready = info.rounds.boundary_ms, info.rounds.ready.astype(np.float64)
    if not len(time):
        return
    keep = thinned(time, ready, MOST_POINTS)
    time, ready = time[keep], ready[keep]
    top, height = BUFFER
    peak = max(float(ready.max()), float(info.cap or 1))
    x, y = LEFT + time * scale, top + height * (1 - ready / peak)
    steps = "".join(f"H{a:.1f}V{b:.1f}" for a, b in zip(x[1:], y[1:], strict=True))
    colour = theme.role("drafter")
    yield f'<path d="M{x[0]:.1f} {y[0]:.1f}{steps}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
    yield _text(WIDTH - RIGHT + 6, float(y[-1]) + 4, numbers.count(float(ready[-1])), theme.muted, SMALL)


def _rectangles(x: Floats, y: Floats, width: Floats, height: Floats, colour: str) -> str:
    """Many rectangles as one path, which a browser draws at once."""
    boxes = zip(x.tolist(), y.tolist(), width.tolist(), height.tolist(), strict=True)
    path = "".join(f"M{a:.1f} {b:.1f}h{w:.1f}v{h:.1f}h-{w:.1f}z" for a, b, w, h in boxes)
    return f'<path d="{path}" fill="{colour}"/>' if path else ""


def _fill(role: str, theme: Theme) -> str:
    """Colour of a role, or its hatching where it has one."""
    return f"url(#{role})" if PATTERNS[role] else theme.role(role)


def _patterns(theme: Theme) -> str:
    """Hatchings, so that what was refused or reused is told apart without colour."""
    lines = {"/": "M0 6L6 0", "x": "M0 6L6 0M0 0L6 6"}
    stroke = f'stroke="{theme.background}" stroke-opacity="0.5"'
    made = (
        f'<pattern id="{role}" width="6" height="6" patternUnits="userSpaceOnUse">'
        f'<path d="M0 0h6v6h-6z" fill="{theme.role(role)}"/><path d="{lines[shape]}" {stroke}/></pattern>'
        for role in PIECES
        if (shape := PATTERNS[role])
    )
    return f"<defs>{''.join(made)}</defs>"


def _axis(info: TimelineInfo, height: int, theme: Theme) -> list[str]:
    y = height - 20
    line = f'<path d="M{LEFT} {y}H{WIDTH - RIGHT}" stroke="{theme.grid}"/>'
    now = _text(WIDTH - RIGHT, y + 15, numbers.duration(info.end_ms), theme.muted, SMALL, "end")
    return [line, _text(LEFT, y + 15, "0 ms", theme.muted, SMALL), now]


def _name(lane: tuple[int, int], name: str, theme: Theme) -> str:
    return _text(6, lane[0] + lane[1] / 2 + 4, name, theme.text, LARGE, weight="600")


def _text(x: float, y: float, shown: str, colour: str, size: int, anchor: str = "start", weight: str = "400") -> str:
    style = f'fill="{colour}" font-size="{size}" font-weight="{weight}" text-anchor="{anchor}"'
    return f'<text x="{x:.0f}" y="{y:.0f}" {style}>{escape(shown)}</text>'
