"""What must be asked of a drafter so that SpecASR can be replayed from the answers? (Appendix D.1.3)

Target-path ranks alone do not give the drafter's behaviour off the path. Two kinds of facts do: where
the drafter leaves the true path, its continuation as far as a draft and its extension can reach; and
the few prefixes that mix a regenerated branch with a reused suffix. Which of these come up depends
on the cap, so that the replay itself is run at every cap and says what it misses.
"""

from collections.abc import Callable, Sequence

import numpy as np

from as2d_core.replay.branches import Branches, DrafterStates, recorded_states
from as2d_core.replay.specasr import explore_specasr

DRAFT_CAP = 24
"""Largest cap that collected branches cover: the paper's largest (Appendix D.1.3)."""
THRESHOLD = 0.4

Ask = Callable[[Sequence[int], int], tuple[Sequence[int], Sequence[float]]]
"""``(generated tokens, count) -> (tokens, confidences)``: the drafter's greedy continuation, up to
``count`` tokens, EOS included where it comes and nothing behind it."""


def collect_branches(
    target: Sequence[int],
    prefix_tokens: Sequence[int],
    prefix_confidences: Sequence[float],
    eos: int,
    output_cap: int,
    ask: Ask,
    draft_cap: int = DRAFT_CAP,
    threshold: float | None = THRESHOLD,
) -> Branches:
    """Ask a drafter for everything that SpecASR needs on one window, with any cap up to ``draft_cap``.

    Args:
        target: y[0..N-1].
        prefix_tokens, prefix_confidences: the drafter after every true prefix.
        eos: the target's EOS.
        output_cap: largest number of committed tokens.
        ask: the drafter.
        threshold: confidence below which drafts stop.
    """
    found = _Found(target, prefix_tokens, prefix_confidences, draft_cap, threshold, ask)
    for i, token in enumerate(prefix_tokens):
        if token not in (target[i], eos):
            found.leave(i, (token,))
    tokens = np.array(target, np.int64)
    for paired in (True, False):
        for cap in range(1, draft_cap + 1):
            while True:
                missing, _, _ = explore_specasr(tokens, found.states(), eos, cap, output_cap, paired, compiled=False)
                if missing is None:
                    break
                found.leave(*missing)
    return found.branches()


class _Found:
    """The branches so far."""

    def __init__(
        self,
        target: Sequence[int],
        prefix_tokens: Sequence[int],
        prefix_confidences: Sequence[float],
        draft_cap: int,
        threshold: float | None,
        ask: Ask,
    ) -> None:
        self._target, self._ask = list(target), ask
        self._prefix_tokens, self._prefix_confidences = prefix_tokens, prefix_confidences
        self._draft_cap, self._threshold = draft_cap, threshold
        self._leaves: list[int] = []
        self._feeds: list[int] = []
        self._lengths: list[int] = []
        self._words: list[int] = []
        self._confidences: list[float] = []
        self._read: list[tuple[int, ...]] = []
        """What the drafter has read in every state off the true path."""

    def leave(self, state: int, fed: Sequence[int]) -> None:
        """Feed tokens one by one in a state; the drafter's words after each, and its continuation after the last."""
        read = self._read[state - len(self._target)] if state >= len(self._target) else tuple(self._target[:state])
        for k, token in enumerate(fed):
            read = (*read, token)
            # One more than a cap: the old branch is extended until a draft at an adjacent position could end in it.
            words, confidences = self._ask(read, self._draft_cap + 1 if k == len(fed) - 1 else 1)
            self._leaves.append(state)
            self._feeds.append(token)
            self._lengths.append(len(words))
            state = len(self._target) + len(self._words)
            self._words += words
            self._confidences += confidences
            self._read += [(*read, *words[:n]) for n in range(len(words))]

    def states(self) -> DrafterStates:
        return recorded_states(
            self._target, self._prefix_tokens, self._prefix_confidences, self.branches(), self._threshold
        )

    def branches(self) -> Branches:
        return Branches(
            tuple(self._leaves),
            tuple(self._feeds),
            tuple(self._lengths),
            tuple(self._words),
            tuple(self._confidences),
            self._draft_cap,
            self._threshold,
        )
