"""What would make a device faster? Every cost, and the errors of the source, made a little smaller on some windows."""

from dataclasses import replace

from as2d_core.alignment import DEFAULT_SEARCH_WINDOW
from as2d_core.errors import RequestError, SelectionError, unknown_name
from as2d_core.profiles.profile import Profile
from as2d_core.replay.acceptance import learn_acceptance, make_width_rule
from as2d_core.replay.grid import DEFAULT_THRESHOLD
from as2d_core.replay.headroom import Headroom, headroom
from as2d_core.replay.windows import SPLITS, TrajectorySet
from as2d_core.width_rule import WidthRule
from dashboard.services.budgets import ALL_WINDOWS


def find_headroom(
    profile: Profile,
    corpus: TrajectorySet,
    split: str = ALL_WINDOWS,
    drafter: str | None = None,
    budget: int | None = None,
    threshold: float | None = DEFAULT_THRESHOLD,
    search_window: int = DEFAULT_SEARCH_WINDOW,
    *,
    with_rule: bool = False,
) -> tuple[Headroom, WidthRule | None]:
    """What moves throughput on some windows, and the width rule that was applied, if any.

    Args:
        profile, corpus, drafter, budget, threshold, search_window: as for ``replay.headroom.headroom``.
        split: the windows that are looked at.
        with_rule: let a width rule, learned on development windows, shorten the chains.

    Raises:
        UnknownNameError: there is no such split or drafter.
        RequestError: no window is in the split, no budget is given or deployed, or the rule does not cover it.
        SelectionError: a rule is asked for, but there are no development windows.
        ProfileError: a width that came up has no cost.
    """
    if split not in (ALL_WINDOWS, *SPLITS):
        raise unknown_name("split", split, [ALL_WINDOWS, *SPLITS])
    windows = tuple(w for w in corpus.windows if split in (ALL_WINDOWS, w.split))
    if not windows:
        raise RequestError(f"The set {corpus.id!r} has no {split} windows.")
    part = corpus if len(windows) == len(corpus.windows) else replace(corpus, windows=windows)
    rule = None
    if with_rule:
        name = drafter if drafter is not None else next(iter(corpus.drafters), None)
        if name is None:
            raise SelectionError(f"The set {corpus.id!r} has no drafters; there is nothing to learn acceptance from.")
        learned = learn_acceptance(corpus, profile, name, threshold=threshold, search_window=search_window)
        rule = make_width_rule(learned, profile)
    return headroom(part, profile, drafter, budget, threshold, search_window, rule), rule
