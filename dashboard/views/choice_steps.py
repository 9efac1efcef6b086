"""How far is a choice? Screened, chosen, frozen, judged: four steps of which none can be left out (Appendix D.2.6)."""

from collections.abc import Sequence
from dataclasses import dataclass

from as2d_core.deployment import Deployment, DeploymentResult
from as2d_core.replay.pooling import Interval
from as2d_core.selection import Evaluation, Selection
from dashboard.views import numbers
from dashboard.views.text import element, escape, label
from dashboard.views.theme import FONT, SMALL_PX, Theme, faded

DONE, NOW, LOCKED = "done", "now", "locked"
_MARKS = {DONE: "✓", NOW: "→", LOCKED: "○"}
_SAID = {DONE: "done", NOW: "next", LOCKED: "not yet"}


@dataclass(frozen=True, slots=True)
class Step:
    """One step; all texts are plain."""

    title: str
    state: str
    """``done``, ``now`` or ``locked``."""
    lines: tuple[str, ...]


def choice_steps(
    deployment: Deployment,
    *,
    by_hand: bool = False,
    frozen_at: str = "",
    file_name: str = "",
    result: DeploymentResult | None = None,
    problem: str = "",
) -> tuple[Step, ...]:
    """The four steps of a choice.

    Args:
        deployment: what is chosen, or what was frozen.
        by_hand: a person has picked the pair.
        frozen_at, file_name: of the frozen choice; empty = it is not frozen.
        result: on test windows; ``None`` = they were not shown.
        problem: why there is no result although they were asked for.
    """
    fixed, chosen = deployment.fixed, deployment.deployed
    counts = {name: len(ids) for name, ids in fixed.window_ids.items()}
    other = ""
    if chosen.width_rule is not None:
        other = f"Fixed choice: {chosen_name(fixed)}, {numbers.tps(fixed.validation_tps)}"
    elif len(fixed.finalists) > 1:
        second_best = fixed.finalists[1]
        other = f"Next: {_pair(second_best.drafter, second_best.budget)}, {numbers.tps(second_best.tps)}"
    screened = "Picked by a person" if by_hand else f"{numbers.counted(len(fixed.screened), 'pair')} that can run"
    best = fixed.screened[0]
    aside = numbers.counted(len(deployment.test_windows), "window")
    first = Step(
        "Screened on development",
        DONE,
        (
            numbers.counted(counts.get("development", 0), "window"),
            screened,
            f"Fastest fixed pair: {_pair(best.drafter, best.budget)}, {numbers.tps(best.tps)}",
        ),
    )
    second = Step(
        "Chosen on validation",
        DONE,
        tuple(
            filter(
                None,
                (
                    numbers.counted(counts.get("validation", 0), "window"),
                    f"{chosen_name(chosen)}, {numbers.tps(chosen.validation_tps)}",
                    "" if by_hand else other,
                ),
            )
        ),
    )
    if not frozen_at:
        return (
            first,
            second,
            Step("Frozen", NOW, ("Freezing writes the choice down as a file, before anybody knows how it does.",)),
            Step("Test shown", LOCKED, (f"{aside} set aside; shown once the choice is frozen.",)),
        )
    third = Step("Frozen", DONE, (frozen_at.replace("T", " ").replace("+00:00", " UTC"), file_name))
    if result is None:
        said = problem or f"{aside}, unseen by this choice."
        return first, second, third, Step("Test shown", LOCKED if problem else NOW, (said,))
    judged = result.ruled if chosen.width_rule is not None and result.ruled is not None else result.fixed
    return first, second, third, Step("Test shown", DONE, _judged(judged))


def choice_sentence(
    deployment: Deployment, *, by_hand: bool = False, assumed: bool = False, among: tuple[int, int] | None = None
) -> str:
    """What is chosen, on what, and how fast it is there.

    Args:
        deployment: what would be frozen.
        by_hand: a person has picked the pair.
        assumed: the figure beside it shows costs that nobody measured; the choice does not.
        among: least and largest budget that were compared; ``None`` = all.
    """
    fixed, chosen = deployment.fixed, deployment.deployed
    if by_hand:
        return f"Picked by hand: {chosen_name(chosen)} ({numbers.tps(chosen.validation_tps)} on validation windows)."
    limits = "" if among is None else f" among b = {among[0]} to {among[1]}"
    said = (
        f"{'As measured, chosen' if assumed else 'Chosen'}{limits} on {len(fixed.window_ids['development'])} "
        f"development and {len(fixed.window_ids['validation'])} validation windows, test windows unseen: "
        f"{chosen_name(chosen)} ({numbers.tps(chosen.validation_tps)} on validation"
    )
    if chosen.width_rule is None:
        return f"{said})."
    return f"{said}; the fixed choice, {chosen_name(fixed)}, {numbers.tps(fixed.validation_tps)})."


def chosen_name(chosen: Selection) -> str:
    """A choice as people read it (``drafter, b = 7``; ``drafter, cheapest width with b ≤ 9``)."""
    if chosen.width_rule is None:
        return _pair(chosen.drafter, chosen.budget)
    return f"{chosen.drafter}, cheapest width with b ≤ {chosen.budget}"


def _pair(drafter: str, budget: int) -> str:
    return f"{drafter}, b = {budget}"


def _judged(found: Evaluation) -> tuple[str, ...]:
    slower = found.slowdown
    gap = "" if found.gap is None else f"Gap to the oracle {numbers.percent(found.gap, _ends(found.gap_interval))}"
    pooled = "" if found.tps_interval is None else f" [{found.tps_interval.low:.2f}, {found.tps_interval.high:.2f}]"
    return tuple(
        filter(
            None,
            (
                numbers.counted(found.windows, "window"),
                f"{numbers.tps(found.tps)}{pooled}",
                numbers.against_target_only(found.gain, _ends(found.gain_interval)),
                gap,
                ""
                if slower is None
                else f"{numbers.part(slower.slower, found.windows)} slower"
                + ("" if slower.median_loss is None else f", median loss {numbers.percent(slower.median_loss)}"),
            ),
        )
    )


def _ends(interval: Interval | None) -> tuple[float, float] | None:
    return None if interval is None else (interval.low, interval.high)


def steps_html(steps: Sequence[Step], theme: Theme) -> str:
    """The steps beside each other where there is room; marks and words say the state, not colour alone."""
    items = "".join(_item(number, step, theme) for number, step in enumerate(steps, 1))
    style = {
        "display": "grid",
        "grid-template-columns": "repeat(auto-fit, minmax(190px, 1fr))",
        "gap": "8px",
        "list-style": "none",
        "margin": "0",
        "padding": "0",
        "font-family": FONT,
        "font-size": "13px",
        "line-height": "1.45",
        "color": theme.text,
    }
    return element("ol", items, style)


def _item(number: int, step: Step, theme: Theme) -> str:
    colour = {DONE: theme.role("accepted"), NOW: theme.role("target"), LOCKED: theme.role("retired")}[step.state]
    mark = element("span", _MARKS[step.state], {"color": colour, "font-weight": "700", "margin-right": "6px"})
    state = element("span", f" · {_SAID[step.state]}", {"color": theme.muted, "font-size": f"{SMALL_PX}px"})
    title = element("div", f"{mark}{number} {escape(step.title)}{state}", {"font-weight": "600"})
    lines = "".join(element("div", label(line, 200), {"color": theme.muted}) for line in step.lines)
    style = {
        "margin": "0",
        "padding": "8px 12px",
        "border-radius": "6px",
        "border": f"1px solid {faded(colour, 0.45)}",
        "border-top": f"3px solid {colour}",
        "background": faded(colour, 0.06) if step.state != LOCKED else "transparent",
        "font-variant-numeric": "tabular-nums",
        "overflow-wrap": "anywhere",
    }
    now = {"aria-current": "step"} if step.state == NOW else {}
    return element("li", title + lines, style, **now)
