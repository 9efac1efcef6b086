"""What does a comparison of budgets say? Curves, reference lines and sentences, before anything is drawn."""

from dataclasses import dataclass

from as2d_core.replay.budgets import BudgetRow, BudgetTable
from as2d_core.replay.pooling import Interval
from dashboard.views import numbers
from dashboard.views.text import label, lines


@dataclass(frozen=True, slots=True)
class Series:
    """One drafter under every budget that can run."""

    drafter: str
    rows: tuple[BudgetRow, ...]
    """Feasible budgets only, rising."""
    hover: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Level:
    """A horizontal reference line."""

    name: str
    kind: str
    """``oracle``, ``target-only`` or ``sd``."""
    tps: float


@dataclass(frozen=True, slots=True)
class BudgetsInfo:
    """A budget table, ready to be drawn."""

    corpus: str
    profile: str
    label: str
    windows: int
    series: tuple[Series, ...]
    levels: tuple[Level, ...]
    sd: tuple[tuple[str, tuple[tuple[int, float], ...]], ...]
    """For each drafter, standard SD as (K - 1, TPS): as many candidates as a budget of that size."""
    not_feasible: tuple[int, ...]
    """Budgets that cannot run on this profile with any drafter."""
    selected: BudgetRow | None
    sentence: str
    """What the selected pair achieves (plain text)."""
    notes: tuple[str, ...]
    empty: str | None = None
    base: tuple[Series, ...] = ()
    """The same as measured, where the figures are under assumed costs."""
    among: tuple[int, int] | None = None
    """Least and largest budget that a choice is made among; ``None`` = all."""

    @property
    def budgets(self) -> tuple[int, ...]:
        """All budgets on the x axis."""
        return tuple(sorted({row.budget for s in self.series for row in s.rows} | set(self.not_feasible)))


def budgets_info(
    table: BudgetTable,
    selected: tuple[str, int] | None = None,
    gap_interval: Interval | None = None,
    base: BudgetTable | None = None,
    among: tuple[int, int] | None = None,
    called: str = "selected",
) -> BudgetsInfo:
    """Prepare a budget table.

    Args:
        table: every fixed pair of one corpus on one profile.
        selected: (drafter, budget) to point out; ``None``: the fastest.
        gap_interval: 95 % interval of the selected pair's gap in percent, where it was computed.
        base: the same windows as measured, when ``table`` is under assumed costs.
        among: least and largest budget that a choice is made among.
        called: what the selected pair is.
    """
    names = tuple(dict.fromkeys(row.drafter for row in table.rows))
    series = tuple(_series(table, name) for name in names)
    series = tuple(s for s in series if s.rows)
    chosen = (
        table.best
        if selected is None
        else next((row for row in table.rows if (row.drafter, row.budget) == selected), None)
    )
    runnable = {row.budget for s in series for row in s.rows}
    levels = [Level(f"oracle {table.oracle_tps:.2f}", "oracle", table.oracle_tps)] if table.oracle_tps else []
    if table.target_only_tps:
        levels.append(Level(f"target-only {table.target_only_tps:.2f}", "target-only", table.target_only_tps))
    for mean in table.sd_means:
        if mean.tps is not None:
            name = f" {mean.drafter}" if len(names) > 1 else ""
            span = f"K = {min(mean.widths)} to {max(mean.widths)}"
            levels.append(Level(f"SD{name} {span}: {mean.tps:.2f}", "sd", mean.tps))
    return BudgetsInfo(
        corpus=table.corpus,
        profile=table.profile,
        label=table.label,
        windows=table.windows,
        series=series,
        levels=tuple(levels),
        sd=tuple((name, _sd(table, name)) for name in names),
        not_feasible=tuple(sorted({row.budget for row in table.rows} - runnable)),
        selected=chosen,
        sentence=_sentence(chosen, gap_interval, called),
        notes=_notes(table, runnable),
        base=() if base is None else tuple(s for name in names if (s := _series(base, name)).rows),
        among=among,
        empty=None if series else "No budget can run on this profile: it has no cost for the widths they need.",
    )


def _series(table: BudgetTable, drafter: str) -> Series:
    rows = tuple(row for row in table.rows if row.drafter == drafter and row.tps is not None)
    return Series(drafter, rows, tuple(_hover(row, table.windows) for row in rows))


def _hover(row: BudgetRow, windows: int) -> str:
    interval = ""
    if row.tps_low is not None and row.tps_high is not None:
        interval = f" [{row.tps_low:.2f}, {row.tps_high:.2f}]"
    slower = f"{numbers.count(row.slower_windows)} of {windows:,} windows slower ({numbers.share(row.slower_share)})"
    loss = "" if row.median_loss is None else f"median loss {numbers.percent(row.median_loss)}"
    return lines(
        [
            f"<b>{label(row.drafter)}, b = {row.budget}</b>",
            f"{numbers.tps(row.tps)}{interval}",
            numbers.against_target_only(row.gain),
            f"gap to the oracle {numbers.percent(row.gap)}",
            f"{slower}, {loss}" if loss else slower,
            f"accepted {numbers.part(row.accepted, row.proposed)}" if row.proposed else "",
            "uses a width whose cost is extrapolated" if row.extrapolated else "",
            f"the first drafter stands in on {numbers.counted(row.fallback_windows, 'window')}"
            if row.fallback_windows
            else "",
        ]
    )


def _sd(table: BudgetTable, drafter: str) -> tuple[tuple[int, float], ...]:
    found = [(row.width - 1, row.tps) for row in table.sd_rows if row.drafter == drafter and row.tps is not None]
    return tuple(sorted(found))


def _sentence(row: BudgetRow | None, gap: Interval | None, called: str) -> str:
    if row is None:
        return "Nothing is selected."
    name = f"{called} {row.drafter}, b = {row.budget}: "
    if row.tps is None:
        return f"{name}{numbers.NA}, this pair cannot run on every window of this profile."
    loss = "" if row.median_loss is None else f" (median loss {numbers.percent(row.median_loss)})"
    parts = [
        numbers.tps(row.tps),
        f"gap to the oracle {numbers.percent(row.gap, None if gap is None else (gap.low, gap.high))}",
        f"{numbers.share(row.slower_share)} of windows slower than target-only{loss}",
    ]
    return name + ", ".join(parts)


def _notes(table: BudgetTable, runnable: set[int]) -> tuple[str, ...]:
    notes = []
    if any(row.extrapolated for row in table.rows):
        notes.append("Hollow marks use a width whose cost was not measured on this device.")
    missing = sorted({row.budget for row in table.rows} - runnable)
    if missing:
        shown = ", ".join(str(b) for b in missing)
        notes.append(f"Not feasible on this profile: b = {shown} (a width without a cost is excluded, never guessed).")
    widths = sorted({width for mean in table.sd_means if mean.tps is not None for width in mean.widths})
    if widths:
        notes.append(f"SD, dotted: the mean of the pooled TPS at K = {widths[0]} to {widths[-1]}.")
    if table.windows < 2:
        notes.append("One window has no interval.")
    if table.label == "synthetic":
        notes.append("The tokens are synthetic; nobody said them.")
    return tuple(notes)
