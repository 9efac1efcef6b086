"""What do the commands that replay share? Which costs, tokens and windows, and the settings of a chain."""

import argparse

from as2d_core.alignment import DEFAULT_SEARCH_WINDOW
from as2d_core.errors import RequestError
from as2d_core.replay.grid import DEFAULT_THRESHOLD
from dashboard.services.budgets import ALL_WINDOWS

NEVER = "none"
"""No confidence ends a chain."""


def add_sources(parser: argparse.ArgumentParser, *, with_split: bool = True) -> None:
    """Add ``--profile``, ``--corpus``, ``--split`` and ``--quiet``."""
    parser.add_argument("--profile", metavar="ID", required=True, help="a profile id, or a profile file")
    parser.add_argument("--corpus", metavar="ID", required=True, help="a trajectory set id, or a Parquet file")
    if with_split:
        parser.add_argument("--split", default=ALL_WINDOWS, help="all (default), development, validation or test")
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")


def add_chain(parser: argparse.ArgumentParser) -> None:
    """Add ``--threshold`` and ``--search-window``."""
    parser.add_argument(
        "--threshold", metavar="P", default=str(DEFAULT_THRESHOLD), help=f"confidence that ends a chain, or {NEVER}"
    )
    parser.add_argument(
        "--search-window",
        metavar="W",
        type=int,
        default=DEFAULT_SEARCH_WINDOW,
        help=f"how far alignment looks past the cursor (default: {DEFAULT_SEARCH_WINDOW})",
    )


def threshold(text: str, option: str = "--threshold") -> float | None:
    """A confidence, or ``None`` for never.

    Raises:
        RequestError: it is neither a number from 0 to 1 nor ``none``.
    """
    if text.strip().lower() == NEVER:
        return None
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise RequestError(f"{option} is {text!r}; give a confidence from 0 to 1, or {NEVER}.")
    return value


def whole_numbers(text: str, option: str) -> list[int]:
    """Whole numbers with commas between them.

    Raises:
        RequestError: one is none.
    """
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise RequestError(f"{option} is {text!r}; give whole numbers with commas, such as 1,2,4,8.") from None


def pair(text: str, option: str) -> tuple[str | None, int]:
    """A budget, or a drafter and a budget: ``7`` or ``drafter:7``.

    Raises:
        RequestError: it is neither.
    """
    drafter, _, budget = text.rpartition(":")
    try:
        return drafter or None, int(budget)
    except ValueError:
        raise RequestError(f"{option} is {text!r}; give a budget, or DRAFTER:BUDGET.") from None
