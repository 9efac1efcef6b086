"""What was chosen for a device, frozen: made on development and validation windows, kept as a file, judged once.

A deployment holds two choices beside each other: the drafter and budget that are fastest as they
are, and the ones that are fastest with a width rule. It says by hash which costs, tokens and
windows they were made from, so that a later evaluation knows whether it still speaks of the same.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from as2d_core.alignment import DEFAULT_SEARCH_WINDOW
from as2d_core.errors import RequestError, SelectionError
from as2d_core.profiles.codec import profile_to_json
from as2d_core.profiles.profile import Profile
from as2d_core.replay.acceptance import Acceptance, learn_width_rules
from as2d_core.replay.grid import DEFAULT_THRESHOLD, replay_grid
from as2d_core.replay.hindsight import oracle
from as2d_core.replay.pooling import DEFAULT_RESAMPLES, DEFAULT_SEED
from as2d_core.replay.splits import Deal, deal_splits
from as2d_core.replay.windows import TrajectorySet
from as2d_core.selection import DEFAULT_FINALISTS, Evaluation, Selection, evaluate, select_budget, windows_sha256

SELECTION_SPLITS = ("development", "validation")
_DESCRIPTION = ("id", "name", "kind", "device", "models", "provenance", "spread", "stability", "created_at", "versions")
"""Fields of a profile that are no costs: a changed note does not make another device."""


@dataclass(frozen=True, slots=True)
class Considered:
    """The best drafter and budget under one setting."""

    threshold: float | None
    search_window: int
    width_rule: bool
    drafter: str
    budget: int
    development_tps: float
    validation_tps: float


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
    test_windows: tuple[str, ...] = ()
    """Windows that were set aside and must never take part in a choice that is judged on them."""
    models: Mapping[str, str | None] = field(default_factory=dict)
    """sha256 by model name: the target's and the drafters' whose tokens were chosen on."""
    considered: tuple["Considered", ...] = ()
    """The best of every setting of threshold and search window, without and with a width rule."""
    deal: Deal | None = None
    """How the windows were dealt; ``None`` = the set's own splits."""

    @property
    def deployed(self) -> Selection:
        """What a request runs: the width rule where it was faster on validation windows, else the fixed budget."""
        ruled = self.ruled
        return ruled if ruled is not None and ruled.validation_tps > self.fixed.validation_tps else self.fixed

    @property
    def test_sha256(self) -> str:
        """Hash of the ids of the test windows."""
        return windows_sha256(self.test_windows)


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
        test_windows=tuple(w.window_id for w in corpus.windows if w.split == "test"),
        models=dict(corpus.models),
        considered=tuple(_considered(found) for found in (fixed, ruled) if found is not None),
    )


def choose_among(
    corpus: TrajectorySet,
    profile: Profile,
    thresholds: Sequence[float | None] = (DEFAULT_THRESHOLD,),
    search_windows: Sequence[int] = (DEFAULT_SEARCH_WINDOW,),
    budgets: Sequence[int] | None = None,
    drafters: Sequence[str] | None = None,
    finalists: int = DEFAULT_FINALISTS,
    with_rule: bool = True,
    deal: Deal | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Deployment:
    """Choose as ``choose`` does under every threshold and search window, and keep the fastest on validation windows.

    Args:
        corpus, profile, budgets, drafters, finalists, with_rule: as for ``choose``.
        thresholds, search_windows: settings; ties go to the one that comes first.
        deal: deal the windows anew before; ``None`` = the set's own splits.
        say: is told what is going on.

    Raises:
        RequestError: no threshold or search window is given, or one that cannot be.
        SelectionError, UnknownNameError, TrajectoryError, ProfileError: as ``choose``.
    """
    if not thresholds or not search_windows:
        raise RequestError("There is no setting to choose among; give at least one threshold and one search window.")
    dealt = corpus if deal is None else deal_splits(corpus, deal)
    found = []
    for threshold in thresholds:
        for window in search_windows:
            said = "no threshold" if threshold is None else f"threshold {threshold:g}"
            say(f"Choosing with {said} and search window {window}")
            found.append(choose(dealt, profile, budgets, drafters, finalists, threshold, window, with_rule))
    best = max(found, key=lambda item: item.fixed.validation_tps)
    ruled = [item for item in found if item.ruled is not None]
    rule = max(ruled, key=lambda item: item.ruled.validation_tps if item.ruled is not None else 0.0, default=best)
    return replace(
        best,
        ruled=rule.ruled,
        acceptance=rule.acceptance,
        considered=tuple(line for item in found for line in item.considered),
        deal=deal,
    )


def check_test_windows(earlier: Deployment, deployment: Deployment) -> None:
    """Raise ``SelectionError`` when a choice was made on windows that an earlier one has set aside for its test."""
    aside = set(earlier.test_windows)
    used = sorted(aside & {window for ids in deployment.fixed.window_ids.values() for window in ids})
    if used:
        raise SelectionError(
            f"{len(used)} windows ({used[0]!r} among them) are test windows of a choice that is already frozen; "
            "a new one must not be made on them."
        )


def dealt_as_frozen(deployment: Deployment, corpus: TrajectorySet) -> TrajectorySet:
    """The set with the splits that a choice was made with, when it is the same set; else as it is."""
    if deployment.deal is None:
        return corpus
    try:
        dealt = deal_splits(corpus, deployment.deal)
    except SelectionError:
        return corpus
    return dealt if corpus_sha256(dealt) == deployment.corpus_sha256 else corpus


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
    whole = dealt_as_frozen(deployment, corpus)
    test = tuple(w for w in whole.windows if w.split == "test")
    if not test:
        raise SelectionError(f"The set {corpus.id!r} has no test windows; there is nothing to evaluate on.")
    judged = replace(whole, windows=test)
    fixed, ruled = deployment.fixed, deployment.ruled
    names = {pair.drafter for pair in fixed.screened}
    used = [name for name in judged.drafters if name in names]
    for chosen in (fixed, ruled):
        if chosen is not None and chosen.drafter not in judged.drafters:
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


def _considered(found: Selection) -> Considered:
    development = next(p.tps for p in found.screened if (p.drafter, p.budget) == (found.drafter, found.budget))
    return Considered(
        found.threshold,
        found.search_window,
        found.width_rule is not None,
        found.drafter,
        found.budget,
        development,
        found.validation_tps,
    )


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
