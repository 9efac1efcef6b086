"""What should be deployed on a device? A choice on development and validation windows, frozen, then judged."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from as2d_core.deployment import (
    Deployment,
    DeploymentResult,
    check_test_windows,
    choose_among,
    evaluate_deployment,
)
from as2d_core.deployment_file import deployment_text, read_deployment
from as2d_core.errors import RequestError, SelectionError
from as2d_core.profiles.profile import Profile
from as2d_core.replay.splits import Deal
from as2d_core.replay.windows import TrajectorySet
from as2d_core.selection import DEFAULT_FINALISTS
from datastore.files import write_durably


@dataclass(frozen=True)
class Chosen:
    """A choice, and how it did on test windows once it was frozen."""

    deployment: Deployment
    frozen: Path | None
    """Its file; ``None`` = it was not frozen, and test windows stay unseen."""
    result: DeploymentResult | None
    result_problem: str | None = None
    """Why there is no result although it is frozen."""


def choose_deployment(
    profile: Profile,
    corpus: TrajectorySet,
    thresholds: Sequence[float | None],
    search_windows: Sequence[int],
    budgets: Sequence[int] | None = None,
    drafters: Sequence[str] | None = None,
    finalists: int = DEFAULT_FINALISTS,
    *,
    with_rule: bool = True,
    deal: Deal | None = None,
    freeze: Path | None = None,
    replace_file: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> Chosen:
    """Choose; with ``freeze`` also write the choice down, and only then look at test windows.

    Args:
        profile, corpus, thresholds, search_windows, budgets, drafters, finalists, with_rule, deal, say: as for
            ``deployment.choose_among``.
        freeze: file to write.
        replace_file: whether an earlier choice may be replaced there.

    Raises:
        RequestError: the file is there already.
        StoreError: it cannot be written.
        SelectionError: nothing can be chosen, or windows would take part that the earlier choice in the file
            has set aside for its test.
        UnknownNameError, TrajectoryError, ProfileError: a sentence about what is wrong.
    """
    earlier = None
    if freeze is not None and freeze.exists():
        if not replace_file:
            raise RequestError(f"{freeze} is there already; a frozen choice is not overwritten without --replace.")
        earlier = read_deployment(freeze)
    found = choose_among(
        corpus, profile, thresholds, search_windows, budgets, drafters, finalists, with_rule, deal, say
    )
    if earlier is not None:
        check_test_windows(earlier, found)
    if freeze is None:
        return Chosen(found, None, None)
    write_durably(freeze, deployment_text(found).encode())
    say("Judging the frozen choice on test windows")
    return judge(profile, corpus, freeze)


def judge(profile: Profile, corpus: TrajectorySet, frozen: Path) -> Chosen:
    """How a choice that was frozen does on the test windows of a set.

    Raises:
        SelectionError: the file holds no deployment.
    """
    deployment = read_deployment(frozen)
    try:
        result = evaluate_deployment(deployment, corpus, profile)
    except SelectionError as error:
        return Chosen(deployment, frozen, None, str(error))
    return Chosen(deployment, frozen, result)
