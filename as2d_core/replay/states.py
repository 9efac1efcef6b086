"""A recorded drafter, asked like a model: for replay from trajectories, and for the methods on the virtual clock."""

from collections.abc import Callable, Sequence

from as2d_core.engines.base import Draft
from as2d_core.engines.drafting import BranchDrafter, CacheModel, Rows
from as2d_core.engines.scripted import Prediction, VirtualClock
from as2d_core.errors import EngineError
from as2d_core.replay.branches import (
    NO_STATE,
    DrafterStates,
    channel_states,
    fed_state,
    plain_states,
    recorded_states,
)
from as2d_core.replay.windows import DrafterTrajectory

UNRECORDED_TOKEN = -(2**40)
"""What a recorded drafter answers where nothing was recorded. It may be computed, but never proposed."""


def drafter_states(
    target_tokens: Sequence[int], drafter: DrafterTrajectory, eos: int, threshold: float | None
) -> DrafterStates | None:
    """What a drafter says on and off the true path; ``None`` when it was not recorded.

    Args:
        target_tokens: y[0..N-1].
        drafter: with ``branches`` or ``error_channel``.
        eos: the target's EOS.
        threshold: confidence below which a draft stops; ``None`` = never.
    """
    if drafter.branches is not None and drafter.prefix_tokens is not None and drafter.prefix_confidences is not None:
        return recorded_states(
            target_tokens, drafter.prefix_tokens, drafter.prefix_confidences, drafter.branches, threshold
        )
    if drafter.error_channel is not None and drafter.agrees is not None:
        return channel_states(
            target_tokens, drafter.agrees, drafter.prefix_confidences, drafter.error_channel, eos, threshold
        )
    return None


class StateModel:
    """A drafter with a hand-kept cache (``engines.drafting.CacheModel``) that walks over recorded states.

    Confidences are 0 where a token is low and 1 elsewhere.
    """

    def __init__(
        self,
        clock: VirtualClock,
        target_tokens: Sequence[int],
        states: DrafterStates,
        eos: int,
        forward_ms: Callable[[int], float],
    ) -> None:
        """``forward_ms`` is the cost of a forward by the number of fed tokens."""
        self._clock, self._target, self._eos, self._forward_ms = clock, list(target_tokens), eos, forward_ms
        self._states = plain_states(states)
        self._walk = [0]

    @property
    def eos(self) -> int:
        return self._eos

    @property
    def first(self) -> Prediction:
        return self._says(0)

    def forward(self, tokens: Sequence[int]) -> Rows:
        """Append tokens to the cache; what the drafter says after each of them."""
        if not tokens:
            raise EngineError("A forward needs at least one token.")
        start_ns = self._clock.now_ns()
        self._clock.advance_to(self._clock.now_ms + self._forward_ms(len(tokens)))
        rows = []
        for token in tokens:
            state = self._walk[-1]
            self._walk.append(NO_STATE if state < 0 else fed_state(self._target, self._states, state, token))
            rows.append(self._says(self._walk[-1]))
        greedy, confidences = zip(*rows, strict=True)
        return Rows(greedy, confidences, start_ns, self._clock.now_ns())

    def keep(self, generated: int) -> None:
        """Keep the first ``generated`` tokens."""
        if not 0 <= generated < len(self._walk):
            raise EngineError(f"The cache holds {len(self._walk) - 1} tokens; {generated} cannot be kept.")
        del self._walk[generated + 1 :]

    def _says(self, state: int) -> Prediction:
        if state < 0:
            return UNRECORDED_TOKEN, 0.0
        return self._states.words[state], 0.0 if self._states.low[state] else 1.0


class RecordedDrafter:
    """``engines.base.SerialDrafter`` over recorded answers; refuses to propose what was not recorded."""

    def __init__(self, model: CacheModel) -> None:
        self._branch = BranchDrafter(model)

    def draft_fixed(self, committed: Sequence[int], count: int) -> Draft:
        return _checked(self._branch.draft_fixed(committed, count), committed)

    def draft_adaptive(
        self,
        committed: Sequence[int],
        cap: int,
        threshold: float | None,
        old_branch: Sequence[int],
        old_confidences: Sequence[float],
    ) -> Draft:
        draft = self._branch.draft_adaptive(committed, cap, threshold, old_branch, old_confidences)
        return _checked(draft, committed)


def _checked(draft: Draft, committed: Sequence[int]) -> Draft:
    if UNRECORDED_TOKEN in draft.tokens:
        at = draft.tokens.index(UNRECORDED_TOKEN)
        raise EngineError(
            f"What the drafter says after {len(committed)} committed and {at} drafted tokens was not recorded; "
            "collect the window again for longer drafts, or at this threshold."
        )
    return draft
