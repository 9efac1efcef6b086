"""What was chosen for a device, frozen: made on development and validation windows, kept as a file, judged once.

A deployment holds two choices beside each other: the drafter and budget that are fastest as they
are, and the ones that are fastest with a width rule. It says by hash which costs, tokens and
windows they were made from, so that a later evaluation knows whether it still speaks of the same.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from as2d_core.alignment import DEFAULT_SEARCH_WINDOW
from as2d_core.errors import SelectionError
from as2d_core.profiles.codec import profile_to_json
from as2d_core.profiles.profile import Profile
from as2d_core.replay.acceptance import Acceptance, learn_width_rules
from as2d_core.replay.grid import DEFAULT_THRESHOLD, replay_grid
from as2d_core.replay.hindsight import oracle
from as2d_core.replay.pooling import DEFAULT_RESAMPLES, DEFAULT_SEED
from as2d_core.replay.windows import TrajectorySet
from as2d_core.selection import DEFAULT_FINALISTS, Evaluation, Selection, evaluate, select_budget

SELECTION_SPLITS = ("development", "validation")
_DESCRIPTION = ("id", "name", "kind", "device", "models", "provenance", "spread", "stability", "created_at", "versions")
"""Fields of a profile that are no costs: a changed note does not make another device."""


@dataclass(frozen=True, slots=True)
class Deployment:
    """Two frozen choices for one device, and what they were made from."""

    fixed: Selection
    """The fastest drafter and budget."""
    ruled: Selection | None
    """The fastest drafter and largest budget with its width rule; ``None`` when no rule was learned."""
    acceptance: Acceptance | None
    """What the rule rests on."""
    profile_sha256: str
    """Of the costs."""
    corpus_sha256: str
    """Of the tokens of all windows, test windows too."""
    created_at: str = ""


@dataclass(frozen=True, slots=True)
class DeploymentResult:
    """Frozen choices on test windows."""

    fixed: Evaluation
    ruled: Evaluation | None


def choose(
    corpus: TrajectorySet,
    profile: Profile,
    budgets: Sequence[int] | None = None,
    drafters: Sequence[str] | None = None,
    finalists: int = DEFAULT_FINALISTS,
    threshold: float | None = DEFAULT_THRESHOLD,
    search_window: int = DEFAULT_SEARCH_WINDOW,
    with_rule: bool = True,
) -> Deployment:
    """Screen on development windows, choose on validation windows, freeze. Test windows are not even replayed.

    Args:
        corpus, profile, budgets, drafters, threshold, search_window: as for ``replay_grid``.
        finalists: how many pairs go on to the validation windows.
        with_rule: learn width rules, too, and choose one.

    Raises:
        SelectionError: a split is missing, or nothing can run.
        RequestError, UnknownNameError, TrajectoryError, ProfileError: as ``replay_grid``.
    """
    kept = tuple(w for w in corpus.windows if w.split in SELECTION_SPLITS)
    if not kept:
        raise SelectionError(f"The set {corpus.id!r} has no development and validation windows to choose on.")
    learning = replace(corpus, windows=kept)
    fixed = select_budget(replay_grid(learning, profile, budgets, drafters, threshold, search_window), finalists)
    ruled, acceptance = None, None
    if with_rule:
        rules, learned = learn_width_rules(learning, profile, drafters, threshold, search_window)
        grid = replay_grid(learning, profile, budgets, drafters, threshold, search_window, width_rules=rules)
        ruled = select_budget(grid, finalists)
        acceptance = learned[ruled.drafter]
    return Deployment(
        fixed=fixed,
        ruled=ruled,
        acceptance=acceptance,
        profile_sha256=profile_sha256(profile),
        corpus_sha256=corpus_sha256(corpus),
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def evaluate_deployment(
    deployment: Deployment,
    corpus: TrajectorySet,
    profile: Profile,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> DeploymentResult:
    """Time both frozen choices on the test windows of a set, and how far from the oracle they are.

    The set may be another one than the choice was made on, as long as none of its test windows took
    part in it. The oracle is over the pairs that were screened.

    Raises:
        SelectionError: test windows took part in the choice, there are none, the costs have changed,
            or the choice cannot run.
    """
    if profile_sha256(profile) != deployment.profile_sha256:
        raise SelectionError(
            f"The costs of {profile.id!r} have changed since {deployment.fixed.drafter!r} with budget "
            f"{deployment.fixed.budget} was chosen; choose again."
        )
    test = tuple(w for w in corpus.windows if w.split == "test")
    if not test:
        raise SelectionError(f"The set {corpus.id!r} has no test windows; there is nothing to evaluate on.")
    judged = replace(corpus, windows=test)
    fixed, ruled = deployment.fixed, deployment.ruled
    names = {pair.drafter for pair in fixed.screened}
    used = [name for name in judged.drafters if name in names]
    for chosen in (fixed, ruled):
        if chosen is not None and chosen.drafter not in used:
            raise SelectionError(f"No test window of {corpus.id!r} has the chosen drafter {chosen.drafter!r}.")
    budgets = sorted({pair.budget for pair in fixed.screened})
    grid = replay_grid(judged, profile, budgets, used, fixed.threshold, fixed.search_window)
    hindsight = oracle(grid)
    result = evaluate(fixed, grid, resamples, seed, hindsight)
    if ruled is None or ruled.width_rule is None:
        return DeploymentResult(result, None)
    # Where another drafter stands in, it stands in with the rule that is judged.
    rules = dict.fromkeys(used, ruled.width_rule)
    grid = replay_grid(judged, profile, budgets, used, ruled.threshold, ruled.search_window, width_rules=rules)
    return DeploymentResult(result, evaluate(ruled, grid, resamples, seed, hindsight))


def profile_sha256(profile: Profile) -> str:
    """Hash of the costs of a profile, whatever it is called and wherever they come from."""
    body = {name: value for name, value in profile_to_json(profile).items() if name not in _DESCRIPTION}
    return hashlib.sha256(json.dumps(body, sort_keys=True, allow_nan=True).encode()).hexdigest()


def corpus_sha256(corpus: TrajectorySet) -> str:
    """Hash of the windows of a set: ids, splits, target tokens and candidates."""
    digest = hashlib.sha256()
    for window in corpus.windows:
        digest.update(f"{window.window_id}\n{window.split}\n{window.target_tokens}\n".encode())
        for drafter in window.drafters:
            digest.update(f"{drafter.name}\n{drafter.candidates}\n{drafter.confidences}\n".encode())
    return digest.hexdigest()
