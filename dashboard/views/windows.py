"""On which windows does which budget lose? A map of windows by budgets, the largest gap on top."""

from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from as2d_core.errors import unknown_name
from as2d_core.replay.grid import Grid
from dashboard.views import numbers
from dashboard.views.text import label
from dashboard.views.theme import SMALL_PX, Theme, Trace, as_it_is, axis, base_layout, caption, empty_layout, keep_look

NAMED_WINDOWS = 40
"""With more windows than this, single names give way to a count."""
MAX_CROSSES = 2_000


@dataclass(frozen=True, eq=False, slots=True)
class WindowsInfo:
    """Loss of every (window, budget) of one drafter against the window's best pair."""

    drafter: str
    budgets: tuple[int, ...]
    windows: tuple[str, ...]
    """Sorted by loss under ``sorted_by``, the largest first; windows where it is n/a come last."""
    rows: NDArray[np.int64]
    """Row of each window in the grid."""
    loss: NDArray[np.float64]
    """[W, B] percent of TPS below the fastest feasible pair of the window; NaN: n/a."""
    tps: NDArray[np.float64]
    """[W, B]."""
    ratio: NDArray[np.float64]
    """[W, B] TPS against target-only."""
    sorted_by: int | None
    """The budget whose loss decides the order."""
    cannot_run: int
    """Cells that are n/a."""
    empty: str | None = None


def windows_info(grid: Grid, drafter: str, budget: int | None = None) -> WindowsInfo:
    """Compare every window's budgets with its best pair over all drafters.

    Args:
        grid: replayed times.
        drafter: which drafter's budgets to show.
        budget: whose loss sorts the windows; ``None`` or one that was not replayed: the fastest over all windows.

    Raises:
        UnknownNameError: the drafter is not in the grid.
    """
    if drafter not in grid.drafters:
        raise unknown_name("drafter", drafter, list(grid.drafters))
    times = grid.time_ms[grid.drafters.index(drafter)].T
    every = np.where(np.isnan(grid.time_ms), np.inf, grid.time_ms)
    best = every.reshape(-1, len(grid.windows)).min(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        loss = 100 * (1 - best[:, None] / times)
        tps = grid.tokens[:, None] / times * 1e3
        ratio = grid.target_only_ms[:, None] / times
    column = _sorting_column(times, grid.budgets, budget)
    order = np.arange(len(grid.windows))
    if column is not None:
        order = np.argsort(np.where(np.isnan(loss[:, column]), np.inf, -loss[:, column]), kind="stable")
    missing = int(np.isnan(times).sum())
    return WindowsInfo(
        drafter=drafter,
        budgets=grid.budgets,
        windows=tuple(grid.windows[i] for i in order),
        rows=order,
        loss=loss[order],
        tps=tps[order],
        ratio=ratio[order],
        sorted_by=None if column is None else grid.budgets[column],
        cannot_run=missing,
        empty=None if missing < times.size else f"{drafter} cannot run on any window of this profile.",
    )


def _sorting_column(times: NDArray[np.float64], budgets: tuple[int, ...], budget: int | None) -> int | None:
    if budget in budgets and not np.isnan(times[:, budgets.index(budget)]).all():
        return budgets.index(budget)
    runs = ~np.isnan(times).all(axis=0)
    if not runs.any():
        return None
    total = np.where(np.isnan(times), np.inf, times).sum(axis=0)
    return int(np.argmin(total)) if np.isfinite(total).any() else int(np.flatnonzero(runs)[0])


def windows_figure(info: WindowsInfo, theme: Theme, selected: int | None = None) -> go.Figure:
    """Map of losses; cells that cannot run are grey and crossed. A click gives ``customdata = (grid row, budget)``.

    Args:
        info: losses of one drafter.
        theme: colours.
        selected: budget whose column is outlined; ``None``: the one that sorts the windows.
    """
    if info.empty is not None:
        return go.Figure(layout=empty_layout(theme, label(info.empty, 160)))
    n, columns = len(info.windows), len(info.budgets)
    absent = np.isnan(info.loss)
    traces = _absent(info, absent, theme) if absent.any() else []
    traces.append(
        {
            "type": "heatmap",
            "name": "loss",
            "x": np.arange(columns),
            "y": np.arange(n),
            "z": info.loss.astype(np.float32),  # NaN: a gap
            "zmin": 0,
            "zmax": _top(info.loss),
            "colorscale": [[0, theme.surface if theme.name == "dark" else "#EEF4F8"], [1, theme.role("rejected")]],
            "xgap": 1 if columns <= 60 else 0,
            "ygap": 1 if n <= 120 else 0,
            "hoverinfo": "skip",
            "colorbar": {
                "title": {"text": "loss (%)", "font": {"size": SMALL_PX, "color": theme.muted}},
                "thickness": 10,
                "outlinewidth": 0,
                "tickfont": {"size": SMALL_PX, "color": theme.muted},
            },
        }
    )
    traces.append(_targets(info, absent))
    return go.Figure(traces, _layout(info, theme, selected if selected is not None else info.sorted_by))


def _targets(info: WindowsInfo, absent: NDArray[np.bool_]) -> Trace:
    """Invisible points to point at and click on: a heat map itself takes no selection."""
    y, x = np.nonzero(~absent)
    return {
        "type": "scattergl",
        "name": "cells",
        "x": x,
        "y": y,
        "mode": "markers",
        "marker": {"symbol": "square", "size": 12, "color": "rgba(0,0,0,0)"},
        "customdata": as_it_is(np.stack([info.rows[y], np.array(info.budgets)[x]], axis=1)),
        "hovertext": as_it_is(_hover(info, y, x)),
        "hoverinfo": "text",
        "selected": {"marker": {"opacity": 0}},
        "unselected": {"marker": {"opacity": 0}},
    }


def _top(loss: NDArray[np.float64]) -> float:
    """Upper end of the colours: nearly all cells below it, so that one bad window does not pale the rest."""
    return max(float(np.nanpercentile(loss, 98)), 1.0)


def _hover(info: WindowsInfo, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> list[str]:
    names = [label(name) for name in info.windows]
    cells = (rows, columns, info.loss[rows, columns], info.tps[rows, columns], info.ratio[rows, columns])
    return [
        f"<b>{names[row]}</b>, b = {info.budgets[column]}<br>{numbers.percent(loss)} below the window's best<br>"
        f"{numbers.tps(tps)}, {numbers.against_target_only((ratio - 1) * 100)}"
        for row, column, loss, tps, ratio in zip(*(cell.tolist() for cell in cells), strict=True)
    ]


def _absent(info: WindowsInfo, absent: NDArray[np.bool_], theme: Theme) -> list[Trace]:
    """Cells without a time: grey, and crossed while there are few enough to see."""
    n, columns = absent.shape
    grey = theme.role("retired")
    traces: list[Trace] = [
        {
            "type": "heatmap",
            "name": "not feasible",
            "x": np.arange(columns),
            "y": np.arange(n),
            "z": np.where(absent, np.float32(1), np.float32(np.nan)),
            "colorscale": [[0, grey], [1, grey]],
            "showscale": False,
            "hoverongaps": False,
            "text": as_it_is(_reasons(info, absent)),
            "hoverinfo": "text",
            "xgap": 1 if columns <= 60 else 0,
            "ygap": 1 if n <= 120 else 0,
        }
    ]
    if absent.sum() <= MAX_CROSSES:
        y, x = np.nonzero(absent)
        traces.append(
            {
                "type": "scatter",
                "name": "not feasible",
                "x": x,
                "y": y,
                "mode": "markers",
                "marker": {"symbol": "x-thin", "size": 6, "line": {"width": 1, "color": theme.muted}},
                "hoverinfo": "skip",
                **keep_look(),
            }
        )
    return traces


def _reasons(info: WindowsInfo, absent: NDArray[np.bool_]) -> list[list[str]]:
    column_out = absent.all(axis=0)
    return [
        [
            f"<b>{label(name)}</b>, b = {budget}<br>{numbers.NA}: "
            + ("a width of this budget has no cost" if out else f"{label(info.drafter)} does not take this window")
            for budget, out in zip(info.budgets, column_out.tolist(), strict=True)
        ]
        for name in info.windows
    ]


def _layout(info: WindowsInfo, theme: Theme, selected: int | None) -> dict[str, object]:
    n, columns = len(info.windows), len(info.budgets)
    named = n <= NAMED_WINDOWS
    shapes = []
    if selected in info.budgets:
        x = info.budgets.index(selected)
        box = {"x0": x - 0.5, "x1": x + 0.5, "y0": -0.5, "y1": n - 0.5}
        shapes.append({"type": "rect", **box, "line": {"width": 2, "color": theme.text}})
    order = f"sorted by loss at b = {info.sorted_by}" if info.sorted_by is not None else "in the grid's order"
    step = 10 if n < 100 else 100
    ticks = list(range(n)) if named else [0, *range(step - 1, n, step)]
    names = [label(w, 28) for w in info.windows] if named else [str(tick + 1) for tick in ticks]  # ranks begin at 1
    return {
        **base_layout(theme),
        "height": min(max(18 * n, 200), 620) + 86,
        "margin": {"l": 170 if named else 70, "r": 20, "t": 28, "b": 54},
        "xaxis": axis(
            theme,
            "budget b",
            tickvals=list(range(columns)),
            ticktext=[str(b) for b in info.budgets],
            range=[-0.5, columns - 0.5],
            showgrid=False,
            fixedrange=True,
        ),
        "yaxis": axis(
            theme,
            None if named else "windows (rank by loss)",
            range=[n - 0.5, -0.5],
            showgrid=False,
            automargin=False,
            tickvals=ticks,
            ticktext=names,
        ),
        "hoverdistance": -1,
        "shapes": shapes,
        "annotations": [
            caption(
                theme,
                f"{label(info.drafter)}: {numbers.counted(n, 'window')}, {order}; loss against each window's best pair"
                + (f"; grey: {numbers.NA}" if info.cannot_run else ""),
                xref="paper",
                yref="paper",
                x=0,
                xanchor="left",
                y=1,
                yanchor="bottom",
                yshift=6,
            )
        ],
    }
