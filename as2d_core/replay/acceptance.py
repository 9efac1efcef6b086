"""How often is the i-th candidate of a chain accepted, and which width is then the cheapest? (Section 4.3)

Acceptance is learned by replaying development windows with the largest budget that can be priced: a
candidate counts where the ones before it were accepted, so that shorter chains do not make later
positions look worse. Together with the cost of every width it gives the expected price of a
committed token, and the rule takes the width where that price is lowest.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from as2d_core.alignment import DEFAULT_SEARCH_WINDOW
from as2d_core.errors import RequestError, SelectionError, unknown_name
from as2d_core.profiles.profile import Profile
from as2d_core.replay.grid import DEFAULT_THRESHOLD
from as2d_core.replay.kernel import replay_as2d
from as2d_core.replay.packing import pack
from as2d_core.replay.windows import TrajectorySet
from as2d_core.width_rule import WidthRule

LEARNED_ON = "development"
"""The split that acceptance may be learned on."""
PRIOR_CHAINS = 8
"""A position is pulled towards the mean of all positions as if so many more chains had come that far."""


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What became of one drafter's candidates by position in their chain, on development windows."""

    drafter: str
    tried: tuple[int, ...]
    """``tried[i]``: chains whose first i candidates were accepted and that had one more."""
    accepted: tuple[int, ...]
    """``accepted[i]``: chains of ``tried[i]`` whose next candidate was accepted, too."""
    corpus: str
    windows: int
    """Development windows it was learned on."""
    profile: str
    """Whose publication times the chains were built with."""

    def rate(self, position: int) -> float:
        """Probability that the candidate at a position (0, 1, ...) is accepted when all before it were."""
        mean = (sum(self.accepted) + 1) / (sum(self.tried) + 2)
        seen = position < len(self.tried)
        tried, accepted = (self.tried[position], self.accepted[position]) if seen else (0, 0)
        return (accepted + PRIOR_CHAINS * mean) / (tried + PRIOR_CHAINS)

    def expected_tokens(self, length: int) -> float:
        """Tokens that a chain of ``length`` candidates is expected to commit, correction or bonus included."""
        expected = reached = 1.0
        for position in range(length):
            reached *= self.rate(position)
            expected += reached
        return expected


def learn_acceptance(
    corpus: TrajectorySet,
    profile: Profile,
    drafter: str,
    budget: int | None = None,
    threshold: float | None = DEFAULT_THRESHOLD,
    search_window: int = DEFAULT_SEARCH_WINDOW,
) -> Acceptance:
    """Count accepted candidates by position on the development windows of a set.

    Args:
        corpus: other splits than development are not looked at.
        profile: its costs decide how many candidates are ready.
        drafter: whose candidates.
        budget: longest chain; ``None`` = the largest budget that the profile can price.
        threshold, search_window: as for ``replay_grid``.

    Raises:
        UnknownNameError: there is no such drafter.
        SelectionError: there is no development window it takes.
        ProfileError: a cost that cannot be charged.
    """
    if drafter not in corpus.drafters:
        raise unknown_name("drafter", drafter, list(corpus.drafters))
    packed = pack(corpus)
    source = next(d for d in packed.drafters if d.name == drafter)
    chosen = [w for w, window in enumerate(corpus.windows) if window.split == LEARNED_ON and source.present[w]]
    if not chosen:
        raise SelectionError(
            f"The set {corpus.id!r} has no {LEARNED_ON} windows that {drafter!r} takes; acceptance is learned on those."
        )
    longest = largest_budget(profile) if budget is None else budget
    concurrent, idle = profile.round_costs()
    published, low = source.publications(profile), source.low_confidence(threshold)
    tried, accepted = [0] * longest, [0] * longest
    for w in chosen:
        batches = slice(source.batch_ends.offsets[w], source.batch_ends.offsets[w + 1])
        target = packed.target.window(w)
        replayed = replay_as2d(
            target,
            source.candidates.window(w),
            low[source.candidates.offsets[w] : source.candidates.offsets[w + 1]],
            source.batch_ends.window(w),
            published.times_ms[batches],
            float(published.producer_end_ms[w]),
            published.operation_ms,
            longest,
            concurrent,
            idle,
            search_window,
            int(packed.caps[w]),
            with_rounds=True,
        )
        committed = 1
        for item in replayed.round_list or ():
            for position in range(item.accepted):
                tried[position] += 1
                accepted[position] += 1
            committed += item.accepted
            # Where the output cap ended the chain, the next candidate was not judged.
            if item.accepted < item.width - 1 and committed < len(target):
                tried[item.accepted] += 1
            committed += 1
    return Acceptance(drafter, tuple(tried), tuple(accepted), corpus.id, len(chosen), profile.id)


def make_width_rule(acceptance: Acceptance, profile: Profile, max_budget: int | None = None) -> WidthRule:
    """The width that a profile makes cheapest per expected token, for every number of ready candidates.

    Ties go to the narrower width; a width without a cost is passed over.

    Args:
        acceptance: of the drafter that will run.
        profile: whose costs.
        max_budget: largest budget the rule covers; ``None`` = the largest that the profile can price.

    Raises:
        RequestError: the profile cannot price the largest budget.
    """
    largest = largest_budget(profile)
    covered = largest if max_budget is None else max_budget
    if not 0 <= covered <= largest:
        raise RequestError(
            f"A width rule for budgets up to {covered} is not possible: {profile.id!r} ends at {largest}."
        )
    tokens = [acceptance.expected_tokens(length) for length in range(covered + 1)]
    concurrent, idle = profile.round_costs()
    name = f"{profile.id}, {acceptance.windows} {LEARNED_ON} windows of {acceptance.corpus} with {acceptance.drafter}"
    return WidthRule(_cheapest(concurrent.tolist(), tokens), _cheapest(idle.tolist(), tokens), name)


def learn_width_rules(
    corpus: TrajectorySet,
    profile: Profile,
    drafters: Sequence[str] | None = None,
    threshold: float | None = DEFAULT_THRESHOLD,
    search_window: int = DEFAULT_SEARCH_WINDOW,
) -> tuple[dict[str, WidthRule], dict[str, Acceptance]]:
    """One rule for each drafter, and the acceptance it rests on.

    Raises:
        UnknownNameError, SelectionError, ProfileError: as ``learn_acceptance``.
    """
    names = corpus.drafters if drafters is None else tuple(drafters)
    learned = {
        name: learn_acceptance(corpus, profile, name, threshold=threshold, search_window=search_window)
        for name in names
    }
    return {name: make_width_rule(found, profile) for name, found in learned.items()}, learned


def largest_budget(profile: Profile) -> int:
    """Largest proposal budget that was searched on a device, or that its costs can price."""
    priced = max(profile.max_width - 1, 0)
    return priced if profile.search_max_budget is None else min(priced, profile.search_max_budget)


def _cheapest(round_ms: Sequence[float], tokens: Sequence[float]) -> tuple[int, ...]:
    """Chain length with the lowest cost per expected token among 0 to m, for every m."""
    table = []
    best, taken = math.inf, 0
    for length, expected in enumerate(tokens):
        price = round_ms[length + 1] / expected if length + 1 < len(round_ms) else math.nan
        if price < best:
            best, taken = price, length
        table.append(taken)
    return tuple(table)
