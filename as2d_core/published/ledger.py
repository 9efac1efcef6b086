"""Do the paper's figures follow from each other? Each one recomputed from the others that it is made of.

A printed input stands for an interval of half a unit of its last digit. A figure that does not
come out exactly may still come out somewhere in that interval.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from as2d_core.errors import PublishedError
from as2d_core.published.formula import corners, evaluate
from as2d_core.published.recompute import recompute

VERDICTS = ("exact", "within rounding", "differs")
"""Within the printed rounding; so once the rounding of its inputs is carried through; not even then."""

_SLACK = 1e-9
_KEYS = {"name", "where", "published", "formula", "inputs", "within", "function", "note"}


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure that the paper prints, and how it follows from others."""

    name: str
    where: str
    """Section or table of the paper."""
    published: str
    """As printed."""
    within: float
    """Half a unit of its last digit, or half of a printed range."""
    formula: str
    inputs: Mapping[str, str]
    """As printed; whole numbers are counts and exact."""
    function: str | None
    """Our own accounting function that computes it; ``None`` where only the formula does."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Recomputed:
    """A figure beside what it comes out as."""

    figure: Figure
    value: float
    low: float
    """Least value within the rounding of the inputs."""
    high: float
    verdict: str
    """One of ``VERDICTS``."""

    @property
    def deviation(self) -> float:
        """Recomputed minus published."""
        return self.value - float(self.figure.published)

    @property
    def why(self) -> str:
        """Why it does not agree to the last digit; empty where it does."""
        if self.verdict == "exact":
            return ""
        spread = f"the inputs as printed allow {self.low:.6g} to {self.high:.6g}"
        if self.verdict == "within rounding":
            return f"the inputs are rounded: {spread}"
        return f"it does not follow from its inputs: {spread}"


@cache
def ledger() -> tuple[Figure, ...]:
    """All figures of the packaged ledger, in the order of the paper's arguments.

    Raises:
        PublishedError: the ledger is malformed.
    """
    text = files(__package__).joinpath("ledger.json").read_text(encoding="utf-8")
    return tuple(figure_from_json(item) for item in json.loads(text))


def figure_from_json(item: Any) -> Figure:
    """One figure.

    Raises:
        PublishedError: a field is missing, unknown or no number.
    """
    if not isinstance(item, Mapping) or not {"name", "where", "published", "formula", "inputs", "within"} <= set(item):
        raise PublishedError("A published figure needs name, where, published, formula, inputs and within.")
    if set(item) - _KEYS:
        raise PublishedError(f"{item['name']}: {', '.join(sorted(set(item) - _KEYS))} is no field of a figure.")
    try:
        for value in (item["published"], item["within"], *item["inputs"].values()):
            float(value)
    except (TypeError, ValueError, AttributeError) as error:
        raise PublishedError(f"{item['name']}: {error}.") from error
    return Figure(
        item["name"],
        item["where"],
        item["published"],
        float(item["within"]),
        item["formula"],
        item["inputs"],
        item.get("function"),
        item.get("note", ""),
    )


def check_figure(figure: Figure) -> Recomputed:
    """Recompute one figure.

    Raises:
        PublishedError: it has no value.
    """
    inputs = {name: float(value) for name, value in figure.inputs.items()}
    half_widths = {name: half_unit(value) for name, value in figure.inputs.items()}
    value = _value(figure, inputs)
    spread = [_value(figure, corner) for corner in corners(inputs, half_widths)]
    low, high = min(spread), max(spread)
    published, slack = float(figure.published), _SLACK * max(1.0, abs(value))
    if abs(value - published) <= figure.within + slack:
        verdict = "exact"
    elif low - slack <= published + figure.within and published - figure.within <= high + slack:
        verdict = "within rounding"
    else:
        verdict = "differs"
    return Recomputed(figure, value, low, high, verdict)


def check_ledger(figures: Sequence[Figure] | None = None) -> tuple[Recomputed, ...]:
    """Recompute all figures.

    Raises:
        PublishedError: one has no value.
    """
    return tuple(map(check_figure, ledger() if figures is None else figures))


def half_unit(printed: str) -> float:
    """Half a unit of the last digit of a printed number; 0 for a whole one, which is a count."""
    digits = printed.partition(".")[2]
    return 0.5 * 10 ** -len(digits) if digits else 0.0


def _value(figure: Figure, inputs: Mapping[str, float]) -> float:
    if figure.function is not None:
        return recompute(figure.function, inputs)
    return evaluate(figure.formula, inputs)
