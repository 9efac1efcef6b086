"""What does the drafter say off the true path? Recorded continuations, or a channel of errors (Appendix D.1.3).

A prefix-conditioned drafter is a walk over states. State i below N is the true prefix y[0..i-1]; the
others are prefixes that hold a token which is not the target's. In every state the drafter has one
greedy next token and its probability, and feeding a token leads to another state. Serial methods
need nothing else: ``DrafterStates`` is that walk as arrays, whichever way it came about.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

RESYNCHRONISE_TOKENS = 16
"""How far ahead a channel looks for a token that was fed to it and that it did not say itself."""
NO_STATE = -1
NO_EOS = -1
"""Stands for EOS where none is known; no real token is negative."""


@dataclass(frozen=True, slots=True)
class Branches:
    """Greedy continuations of a real drafter behind prefixes that leave the true path.

    Branch b leaves an earlier state by one fed token; its words are what the drafter says then, each
    after the ones before. Word k of all branches, laid end to end, belongs to state N + k.
    """

    leaves: tuple[int, ...]
    """State that each branch leaves."""
    feeds: tuple[int, ...]
    """Token that is fed there."""
    lengths: tuple[int, ...]
    """Words of each branch."""
    tokens: tuple[int, ...]
    """Words of all branches; EOS only as the last one of a branch."""
    confidences: tuple[float, ...]
    """Probability of every word."""
    draft_cap: int
    """Drafts of up to this many tokens are covered ..."""
    threshold: float | None
    """... when they stop below this confidence (``None`` = never)."""


@dataclass(frozen=True, slots=True)
class ErrorChannel:
    """What a made-up drafter does where it errs: the statistical counterpart of ``Branches``.

    An error at position i writes ``wrong[i]`` tokens that equal no other token, leaves out
    ``skipped[i]`` target tokens, and goes on as after the true prefix that ends there. Without a
    wrong token it goes on with y[i + skipped[i]] at once. Values at positions without an error
    have no meaning. Both hold one value per target token.
    """

    wrong: tuple[int, ...]
    skipped: tuple[int, ...]


class DrafterStates(NamedTuple):
    """A prefix-conditioned drafter on one window as arrays over S states; compiled loops take it as it is."""

    words: Any
    """[S] greedy next token."""
    low: Any
    """[S] whether its probability is below the threshold."""
    follow: Any
    """[S] state after that token, ``NO_STATE`` where it was not recorded."""
    home: Any
    """[S] target position that a channel stands at."""
    edge_first: Any
    """[S] first other way out of a state, ``NO_STATE`` for none."""
    edge_token: Any
    """[E] token that is fed."""
    edge_state: Any
    """[E] state that it leads to."""
    edge_next: Any
    """[E] next way out of the same state."""
    after_wrong: Any
    """[X] state after the channel's wrong token number x, which is token ``first_wrong - x``."""
    first_wrong: int
    channel: bool
    """Whether tokens that are not recorded are answered by the channel's rule."""


def fed_state(target: Any, drafter: DrafterStates, state: int, token: int) -> int:
    """The state after one fed token, ``NO_STATE`` where it was not recorded.

    A channel answers for every token: after one of its wrong tokens it goes on behind it, after a
    target token that lies ahead it stands behind that, and any other token leaves it where it is.

    Args:
        target: y[0..N-1].
        drafter: the states; compiled code and plain Python run this very function.
        state: where the drafter stands.
        token: what it is given to read.
    """
    if token == drafter.words[state]:
        return drafter.follow[state]  # type: ignore[no-any-return]
    total = len(target)
    if state < total and token == target[state]:
        return state + 1 if state + 1 < total or drafter.channel else NO_STATE
    edge = drafter.edge_first[state]
    while edge >= 0:
        if drafter.edge_token[edge] == token:
            return drafter.edge_state[edge]  # type: ignore[no-any-return]
        edge = drafter.edge_next[edge]
    if not drafter.channel:
        return NO_STATE
    if token <= drafter.first_wrong:
        return drafter.after_wrong[drafter.first_wrong - token]  # type: ignore[no-any-return]
    position = drafter.home[state]
    last = position + RESYNCHRONISE_TOKENS
    if last > total:
        last = total
    for ahead in range(position, last):
        if target[ahead] == token:
            return ahead + 1
    return position  # type: ignore[no-any-return]


def recorded_states(
    target: Sequence[int],
    prefix_tokens: Sequence[int],
    prefix_confidences: Sequence[float],
    branches: Branches | None,
    threshold: float | None,
) -> DrafterStates:
    """States of a real drafter.

    Args:
        target: y[0..N-1].
        prefix_tokens: its greedy token after every true prefix, N of them.
        prefix_confidences: their probabilities.
        branches: what was recorded off the true path; ``None`` = nothing.
        threshold: confidence below which a token is low; ``None`` = no token is.
    """
    total = len(target)
    words = [*prefix_tokens, *(branches.tokens if branches else ())]
    confidences = [*prefix_confidences, *(branches.confidences if branches else ())]
    ways: dict[tuple[int, int], int] = {(i, target[i]): i + 1 for i in range(total - 1)}
    if branches is not None:
        starts = _starts(branches.lengths)
        for first, length in zip(starts, branches.lengths, strict=True):
            for k in range(first, first + length - 1):
                ways[total + k, words[total + k]] = total + k + 1
        for leaf, fed, first in zip(branches.leaves, branches.feeds, starts, strict=True):
            ways[leaf, fed] = total + first
    follow = [ways.get((state, word), NO_STATE) for state, word in enumerate(words)]
    others = [
        (state, fed, to)
        for (state, fed), to in ways.items()
        if fed != words[state] and not (state < total and fed == target[state])
    ]
    return _arrays(words, _low(confidences, threshold), follow, list(range(len(words))), others, (), 0, channel=False)


def channel_states(
    target: Sequence[int],
    agrees: Sequence[bool],
    prefix_confidences: Sequence[float] | None,
    channel: ErrorChannel,
    eos: int,
    threshold: float | None,
) -> DrafterStates:
    """States of a made-up drafter.

    The t-th wrong token of an error at position i stands beside y[i + t] and has its confidence.

    Args:
        target: y[0..N-1].
        agrees: whether it is right after every true prefix.
        prefix_confidences: of its token after every true prefix; ``None`` = no token is low.
        channel: what it does where it errs.
        eos: the target's EOS, which it says when it has run past the last target token.
        threshold: confidence below which a token is low; ``None`` = no token is.
    """
    total = len(target)
    flags = [False] * total if prefix_confidences is None else _low(prefix_confidences, threshold)
    words, low, follow, home = [0] * (total + 1), [*flags, False], [NO_STATE] * (total + 1), [*range(total + 1)]
    words[total] = eos
    after_wrong: list[int] = []
    first_wrong = min(eos, -1) - 1
    for i, right in enumerate(agrees):
        resumed = min(i + channel.skipped[i], total)
        wrong = channel.wrong[i]
        if right:
            words[i], follow[i] = target[i], i + 1
            continue
        said = target[resumed] if resumed < total else eos
        if wrong == 0 and said != target[i]:
            words[i], follow[i] = said, min(resumed + 1, total)
            continue
        state = i
        for t in range(max(wrong, 1)):
            if t:
                words.append(0)
                low.append(flags[min(i + t, total - 1)])
                follow.append(NO_STATE)
                home.append(i)
                state = len(words) - 1
            words[state] = first_wrong - len(after_wrong)
            follow[state] = len(words) if t + 1 < wrong else resumed
            after_wrong.append(follow[state])
    return _arrays(words, low, follow, home, (), after_wrong, first_wrong, channel=True)


def plain_states(drafter: DrafterStates) -> DrafterStates:
    """The same states as lists, which plain Python reads faster."""
    lists = {name: value.tolist() for name, value in drafter._asdict().items() if isinstance(value, np.ndarray)}
    return drafter._replace(**lists)


def branch_faults(branches: Branches, target: Sequence[int], prefix: Sequence[int], eos: int) -> Iterator[str]:
    """What is wrong with recorded branches, each with its branch or position.

    Args:
        branches: what was recorded.
        target: y[0..N-1].
        prefix: the drafter's greedy token after every true prefix.
        eos: the target's EOS token.
    """
    counts = {len(branches.leaves), len(branches.feeds), len(branches.lengths)}
    if len(counts) > 1:
        yield (
            f"there are {len(branches.leaves)} left states, {len(branches.feeds)} fed tokens and "
            f"{len(branches.lengths)} lengths of branches."
        )
        return
    if min(branches.lengths, default=1) < 1:
        yield f"branch {branches.lengths.index(min(branches.lengths))} has no words."
        return
    if not sum(branches.lengths) == len(branches.tokens) == len(branches.confidences):
        yield (
            f"the branches have {sum(branches.lengths)} words by their lengths, {len(branches.tokens)} tokens "
            f"and {len(branches.confidences)} confidences."
        )
        return
    if branches.draft_cap < 1:
        yield f"the branches cover drafts of {branches.draft_cap} tokens; the least is 1."
    total = len(target)
    words = [*prefix, *branches.tokens]
    lasts = {total + end - 1 for end in _starts((*branches.lengths, 0))[1:]}
    seen: set[tuple[int, int]] = set()
    for b, (leaf, fed, first) in enumerate(
        zip(branches.leaves, branches.feeds, _starts(branches.lengths), strict=True)
    ):
        if not 0 <= leaf < total + first:
            yield f"branch {b} leaves state {leaf}, which does not lie before it."
        elif fed < 0 or fed == eos:
            yield f"branch {b} feeds token {fed}, which nobody could propose."
        elif (leaf < total - 1 and fed == target[leaf]) or (leaf >= total and fed == words[leaf] and leaf not in lasts):
            yield f"branch {b} leaves state {leaf} by token {fed}, which leads elsewhere already."
        elif (leaf, fed) in seen:
            yield f"branch {b} leaves state {leaf} by token {fed}, as a branch before it does."
        seen.add((leaf, fed))
    for k, (token, confidence) in enumerate(zip(branches.tokens, branches.confidences, strict=True)):
        if token < 0 and token != eos:
            yield f"token {token} at position {k} of the branches is negative."
            return
        if token == eos and total + k not in lasts:
            yield f"EOS at position {k} of the branches; EOS may only be the last word of a branch."
            return
        if not 0.0 <= confidence <= 1.0:
            yield f"the confidence at position {k} of the branches is {confidence}; it must be between 0 and 1."
            return


def channel_faults(channel: ErrorChannel, tokens: int) -> Iterator[str]:
    """What is wrong with an error channel of a window of ``tokens`` target tokens."""
    for what, values in (("wrong", channel.wrong), ("skipped", channel.skipped)):
        if len(values) != tokens:
            yield f"there are {len(values)} counts of {what} tokens, but {tokens} are needed."
            continue
        worst = min(values, default=0)
        if worst < 0:
            yield f"the count of {what} tokens at position {values.index(worst)} is {worst}."


def _starts(lengths: Sequence[int]) -> list[int]:
    starts = [0]
    for length in lengths[:-1]:
        starts.append(starts[-1] + length)
    return starts[: len(lengths)]


def _low(confidences: Sequence[float], threshold: float | None) -> list[bool]:
    return [threshold is not None and confidence < threshold for confidence in confidences]


def _arrays(
    words: Sequence[int],
    low: Sequence[bool],
    follow: Sequence[int],
    home: Sequence[int],
    others: Sequence[tuple[int, int, int]],
    after_wrong: Sequence[int],
    first_wrong: int,
    *,
    channel: bool,
) -> DrafterStates:
    first = np.full(len(words), NO_STATE, np.int64)
    behind = np.full(len(others), NO_STATE, np.int64)
    for edge, (state, _, _) in enumerate(others):
        behind[edge] = first[state]
        first[state] = edge
    return DrafterStates(
        words=_ints(words),
        low=np.array(low, np.bool_),
        follow=_ints(follow),
        home=_ints(home),
        edge_first=first,
        edge_token=_ints([fed for _, fed, _ in others]),
        edge_state=_ints([to for _, _, to in others]),
        edge_next=behind,
        after_wrong=_ints(after_wrong),
        first_wrong=first_wrong,
        channel=channel,
    )


def _ints(values: Sequence[int]) -> NDArray[np.int64]:
    return np.array(values, np.int64)


NO_STATES = _arrays((), (), (), (), (), (), 0, channel=False)
"""Stands where nothing is known off the true path."""
