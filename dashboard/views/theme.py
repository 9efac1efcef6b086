"""Which colour, pattern and font means what: one place for every figure, chip and table.

Role colours follow Okabe and Ito, so that they stay apart for colour-blind readers. No role is told by colour alone:
``PATTERNS`` gives the hatching that goes with it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from as2d_core.errors import unknown_name

FONT = "Inter, system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
MONO = "'JetBrains Mono', ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
FONT_PX = 13
SMALL_PX = 11

ROLES = ("alone", "target", "drafter", "accepted", "rejected", "reused", "retired", "reference")

PATTERNS: Mapping[str, str] = {
    "alone": "",
    "target": "",
    "drafter": "",
    "accepted": "",
    "rejected": "x",
    "reused": "/",
    "retired": ".",
    "reference": "",
}
"""Plotly's name of the hatching of each role (empty: plain)."""

METHOD_NAMES: Mapping[str, str] = {"target-only": "Target-only", "sd": "SD", "specasr": "SpecASR", "as2d": "As²d"}

CONFIG: Mapping[str, Any] = {
    "scrollZoom": True,
    "displaylogo": False,
    "responsive": True,
    "doubleClick": "reset",
    "modeBarButtonsToRemove": ["lasso2d", "select2d", "autoScale2d", "zoomIn2d", "zoomOut2d"],
    "toImageButtonOptions": {"format": "png", "scale": 2, "filename": "as2d"},
}
"""How every figure answers to mouse and wheel; hand it to plotly beside the figure."""

STRIP_CONFIG: Mapping[str, Any] = {"scrollZoom": False, "displayModeBar": False, "responsive": True}
"""The same for overview strips, where a drag selects a window."""

PICTURE_CONFIG: Mapping[str, Any] = {
    **STRIP_CONFIG,
    "displayModeBar": "hover",
    "displaylogo": False,
    "modeBarButtons": [["toImage"]],
    "toImageButtonOptions": CONFIG["toImageButtonOptions"],
}
"""For figures that stand still; like every figure they can be taken out as PNG, and as SVG (``assets/pictures.js``)."""


def picture_named(config: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The same answers to mouse and wheel, where a saved picture is called after the figure (plain letters only)."""
    if "toImageButtonOptions" not in config:
        return dict(config)
    return {**config, "toImageButtonOptions": {**config["toImageButtonOptions"], "filename": f"as2d-{name}"}}


Trace = dict[str, Any]
"""A trace as plain values: plotly checks them when the figure is made, and those of a trace object twice."""


@dataclass(frozen=True, slots=True)
class Theme:
    """Every colour of one theme, as CSS colours."""

    name: str
    background: str
    surface: str
    """A shade off the background, for lanes and cells that are not feasible."""
    grid: str
    text: str
    muted: str
    primary: str
    """Behind the white letters of a button."""
    roles: Mapping[str, str]
    methods: Mapping[str, str]

    def role(self, name: str) -> str:
        """Colour of a role.

        Raises:
            UnknownNameError: there is no such role.
        """
        if name not in self.roles:
            raise unknown_name("role", name, list(self.roles))
        return self.roles[name]

    def method(self, name: str) -> str:
        """Colour of a method; the retired grey for a method this version does not know."""
        return self.methods.get(name, self.roles["retired"])


def faded(colour: str, opacity: float) -> str:
    """``#RRGGBB`` as an ``rgba()`` colour of the given opacity."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity:g})"


def solid(colour: str, theme: Theme) -> str:
    """The colour that a translucent one has on the theme's background; others stay as they are."""
    if not colour.startswith("rgba("):
        return colour
    *parts, opacity = (float(part) for part in colour[5:-1].split(","))
    below = [int(theme.background[i : i + 2], 16) for i in (1, 3, 5)]
    mixed = [round(c * opacity + b * (1 - opacity)) for c, b in zip(parts, below, strict=True)]
    return "#{:02X}{:02X}{:02X}".format(*mixed)


LIGHT = Theme(
    name="light",
    background="#FFFFFF",
    surface="#F6F6F9",
    grid="#E8E8EC",
    text="#222222",
    muted="#5F6470",
    primary="#0072B2",
    roles={
        "alone": faded("#0072B2", 0.45),
        "target": "#0072B2",
        "drafter": "#E69F00",
        "accepted": "#009E73",
        "rejected": "#D55E00",
        "reused": "#009E73",
        "retired": "#BBBBBB",
        "reference": "#222222",
    },
    methods={"target-only": "#7A7F8A", "sd": "#CC79A7", "specasr": "#882255", "as2d": "#0072B2"},
)

DARK = Theme(
    name="dark",
    background="#0E1117",
    surface="#161A23",
    grid="#262A33",
    text="#E6E6E6",
    muted="#9AA1AE",
    primary="#1F7BB9",
    roles={
        "alone": faded("#56B4E9", 0.45),
        "target": "#56B4E9",
        "drafter": "#F0B429",
        "accepted": "#2BBF8A",
        "rejected": "#FF8A4C",
        "reused": "#2BBF8A",
        "retired": "#555555",
        "reference": "#E6E6E6",
    },
    methods={"target-only": "#8B919D", "sd": "#CC79A7", "specasr": "#A583E8", "as2d": "#56B4E9"},
)

THEMES: Mapping[str, Theme] = {theme.name: theme for theme in (LIGHT, DARK)}


def theme_named(name: str | None) -> Theme:
    """The theme called ``light`` or ``dark``; ``None`` is light.

    Raises:
        UnknownNameError: there is no such theme.
    """
    if name is None:
        return LIGHT
    if name not in THEMES:
        raise unknown_name("theme", name, list(THEMES))
    return THEMES[name]


def method_parameter(
    method: str | None, budget: int | None = None, width: int | None = None, draft_cap: int | None = None
) -> str | None:
    """The one parameter that decides how a method drafts: ``b=7``, ``K=5``, ``cap=7``; ``None`` without any."""
    known = {"as2d": ("b", budget), "sd": ("K", width), "specasr": ("cap", draft_cap)}
    letter, value = known.get(method or "", ("", None))
    return None if value is None else f"{letter}={value}"


def method_name(
    method: str | None, budget: int | None = None, width: int | None = None, draft_cap: int | None = None
) -> str:
    """A method with its parameter as people read it: ``As²d b=7``, ``SD K=5``, ``SpecASR cap=7``, ``Target-only``."""
    if method is None:
        return "n/a"
    parameter = method_parameter(method, budget, width, draft_cap)
    shown = METHOD_NAMES.get(method, method)
    return shown if parameter is None else f"{shown} {parameter}"


def method_of(run: Any) -> str:
    """``method_name`` of a request, a stored run or a row of one: whatever has a method and its parameters.

    Where a width rule takes the cheapest width up to the budget, that is told (``As²d b≤7``).
    """
    read = run.get if isinstance(run, Mapping) else lambda name: getattr(run, name)
    if read("method") == "as2d" and read("width_rule") is not None:
        return f"{METHOD_NAMES['as2d']} b≤{read('budget')}"
    return method_name(*(read(name) for name in ("method", "budget", "width", "draft_cap")))


def bar_marker(theme: Theme, role: str) -> dict[str, Any]:
    """Marker of bars of one role: colour, hatching and a hairline that keeps neighbours apart."""
    marker: dict[str, Any] = {"color": theme.role(role), "line": {"width": 0}}
    if PATTERNS[role]:
        marker["pattern"] = {
            "shape": PATTERNS[role],
            "fgcolor": faded(theme.background, 0.5),
            "size": 6,
            "solidity": 0.25,
            "fillmode": "overlay",
        }
    return marker


def keep_look(colour: str | None = None) -> dict[str, Any]:
    """Settings of a trace that does not pale when something else is selected; ``colour``: of the text on its bars."""
    if colour is None:
        return {name: {"marker": {"opacity": 1}} for name in ("selected", "unselected")}
    return {name: {"marker": {"opacity": 1}, "textfont": {"color": colour}} for name in ("selected", "unselected")}


def axis(theme: Theme, title: str | None = None, **more: Any) -> dict[str, Any]:
    """An axis in the theme's colours; ``title`` carries the unit in brackets."""
    settings: dict[str, Any] = {
        "gridcolor": theme.grid,
        "linecolor": theme.grid,
        "zeroline": False,
        "tickcolor": theme.grid,
        "ticks": "outside",
        "ticklen": 4,
        "tickfont": {"color": theme.muted, "size": SMALL_PX},
        "automargin": True,
        **more,
    }
    if title is not None:
        settings["title"] = {"text": title, "font": {"color": theme.muted, "size": FONT_PX}, "standoff": 8}
    return settings


def width_axis(theme: Theme, widest: float) -> dict[str, Any]:
    """An axis of widths K, from 1 to the widest: a tick at each or at each second one, none where no width can be."""
    every = 1 if widest <= 16 else 2 if widest < 40 else None
    return axis(theme, "width K (positions)", range=[0.4, widest + 0.6], dtick=every, showgrid=False)


def as_it_is(values: ArrayLike) -> NDArray[np.object_]:
    """Many texts, or rows of whole numbers that a click tells: plotly looks into lists, and leaves such an array alone.

    A page gets plain lists of it; an array of numbers would come as binary, whose rows a click tells as mappings.
    """
    return np.array(values, object)


def caption(theme: Theme, content: str, **position: Any) -> dict[str, Any]:
    """A small annotation without an arrow; ``content`` is safe text, ``position`` is plotly's x, y and anchors."""
    return {"text": content, "showarrow": False, "font": {"size": SMALL_PX, "color": theme.muted}, **position}


def lane_name(theme: Theme, left_px: float, name: str, detail: str, **position: Any) -> dict[str, Any]:
    """A lane's name and what it measures, in the margin to the left of the lane."""
    return {
        "xref": "paper",
        "x": 0,
        "xshift": 4 - left_px,
        "xanchor": "left",
        "yanchor": "middle",
        "align": "left",
        "showarrow": False,
        "text": f'<b>{name}</b><br><span style="font-size:{SMALL_PX}px;color:{theme.muted}">{detail}</span>',
        "font": {"size": FONT_PX, "color": theme.text},
        **position,
    }


def base_layout(theme: Theme) -> dict[str, Any]:
    """Layout that every figure starts from: colours, font, margins in px, hover label."""
    return {
        "template": "none",
        "paper_bgcolor": theme.background,
        "plot_bgcolor": theme.background,
        "font": {"family": FONT, "size": FONT_PX, "color": theme.text},
        "separators": ".,",
        "margin": {"l": 64, "r": 24, "t": 24, "b": 48},
        "showlegend": False,
        "hovermode": "closest",
        "hoverlabel": {
            "bgcolor": theme.surface,
            "bordercolor": theme.muted,
            "font": {"family": FONT, "size": FONT_PX, "color": theme.text},
            "align": "left",
        },
        "bargap": 0,
        "barmode": "overlay",
        "dragmode": "pan",
        "modebar": {
            "orientation": "v",
            "bgcolor": "rgba(0,0,0,0)",
            "color": theme.muted,
            "activecolor": theme.text,
        },
    }


def empty_layout(theme: Theme, sentence: str) -> dict[str, Any]:
    """Layout of a figure that has nothing to draw; ``sentence`` says why (already safe to show)."""
    return {
        **base_layout(theme),
        "height": 140,
        "xaxis": {"visible": False},
        "yaxis": {"visible": False},
        "annotations": [
            {
                "text": sentence,
                "x": 0.5,
                "y": 0.5,
                "xref": "paper",
                "yref": "paper",
                "showarrow": False,
                "font": {"color": theme.muted, "size": FONT_PX},
            }
        ],
    }
