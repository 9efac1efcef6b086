"""How a prefix-conditioned drafter drafts: cache catch-up, fixed and adaptive branches (D.1.3, D.6.1).

It drives any model with a hand-kept cache, so the MNN drafter process and the scripted engine
take the same decisions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from as2d_core.engines.base import Draft
from as2d_core.records import Span


@dataclass(frozen=True, slots=True)
class Rows:
    """One forward: the greedy token and its softmax probability after each fed token."""

    greedy: tuple[int, ...]
    confidences: tuple[float, ...]
    start_ns: int
    end_ns: int


def probability(row: npt.NDArray[np.float32], token: int) -> float:
    """Softmax probability of the greedy ``token`` of one row of logits."""
    return float(1.0 / np.exp(row - row[token]).sum())


class CacheModel(Protocol):
    """One autoregressive model whose cache holds the prompt and some generated tokens."""

    @property
    def eos(self) -> int: ...

    @property
    def first(self) -> tuple[int, float]:
        """The token that prefill selected, and its probability."""
        ...

    def forward(self, tokens: Sequence[int]) -> Rows:
        """Append tokens to the cache."""
        ...

    def keep(self, generated: int) -> None:
        """Keep the prompt and the first ``generated`` tokens after it."""
        ...


class BranchDrafter:
    """Serial drafting over one cache; old and new branches run one after the other."""

    def __init__(self, model: CacheModel) -> None:
        self._model = model
        self._cached: list[int] = []

    def restart(self) -> None:
        """Forget the generated tokens; the model has just been prefilled."""
        self._cached = []

    def draft_fixed(self, committed: Sequence[int], count: int) -> Draft:
        """Exactly ``count`` tokens after ``committed``, past EOS if need be."""
        work = _Work(self._model, self._cached)
        if count < 1:
            return work.done((), (), "", "budget")
        token, confidence = work.catch_up(committed)
        tokens, confidences = [token], [confidence]
        while len(tokens) < count:
            token, confidence = work.forward([tokens[-1]])
            tokens.append(token)
            confidences.append(confidence)
        return work.done(tokens, confidences, "d" * len(tokens), "fixed width")

    def draft_adaptive(
        self,
        committed: Sequence[int],
        cap: int,
        threshold: float | None,
        old_branch: Sequence[int] = (),
        old_confidences: Sequence[float] = (),
    ) -> Draft:
        """Draft until low confidence (included), ``cap`` or EOS; take over the old branch where it fits.

        ``old_branch`` is what followed the rejected token, so that its first token stands where the
        first new token will stand. It is not extended before it is taken over: with one cache that
        would cost a forward a token and be thrown away whenever no position matches.
        """
        work = _Work(self._model, self._cached)
        tokens: list[int] = []
        confidences: list[float] = []
        origins = ""

        def done(reason: str) -> Draft:
            return work.done(tokens, confidences, origins, reason)

        if cap < 1:
            return done("budget")
        token, confidence = work.catch_up(committed)
        old = list(old_branch)
        while True:
            if token == self._model.eos:
                return done("drafter end")
            tokens.append(token)
            confidences.append(confidence)
            origins += "d"
            if threshold is not None and confidence < threshold:
                return done("confidence")
            if len(tokens) == cap:
                return done("budget")
            feed = [token]
            start = _meeting_point(old, token, len(tokens) - 1)
            if start is not None:
                suffix = old[start : start + cap - len(tokens)]
                old_values = list(old_confidences[start : start + len(suffix)])
                stop = next((i for i, c in enumerate(old_values) if threshold is not None and c < threshold), None)
                if stop is not None:
                    suffix, old_values = suffix[: stop + 1], old_values[: stop + 1]
                tokens += suffix
                confidences += old_values
                origins += "r" * len(suffix)
                feed = [token, *suffix]
                old = []
                if stop is not None or len(tokens) == cap:
                    work.forward(feed)
                    return done("confidence" if stop is not None else "budget")
            token, confidence = work.forward(feed)


def _meeting_point(old: Sequence[int], token: int, position: int) -> int | None:
    """Where the old branch goes on behind ``token``: same position first, then the neighbours."""
    for j in (position, position - 1, position + 1):
        if 0 <= j < len(old) - 1 and old[j] == token:
            return j + 1
    return None


class _Work:
    """The forwards of one draft, timed as one span."""

    def __init__(self, model: CacheModel, cached: list[int]) -> None:
        self._model, self._cached = model, cached
        self._start_ns: int | None = None
        self._end_ns = 0
        self._forwards = 0
        self._widths: list[int] = []

    def forward(self, tokens: Sequence[int]) -> tuple[int, float]:
        rows = self._model.forward(tokens)
        if self._start_ns is None:
            self._start_ns = rows.start_ns
        self._end_ns = rows.end_ns
        self._forwards += 1
        self._widths.append(len(tokens))
        self._cached.extend(tokens)
        return rows.greedy[-1], rows.confidences[-1]

    def catch_up(self, committed: Sequence[int]) -> tuple[int, float]:
        """Roll the cache back to the committed prefix, feed what is missing token by token."""
        shared = 0
        limit = min(len(self._cached), len(committed) - 1)
        while shared < limit and self._cached[shared] == committed[shared]:
            shared += 1
        if shared < len(self._cached):
            self._model.keep(shared)
            del self._cached[shared:]
        result = (0, 0.0)
        for token in committed[shared:]:
            result = self.forward([token])
        return result

    def done(self, tokens: Sequence[int], confidences: Sequence[float], origins: str, reason: str) -> Draft:
        spans: tuple[Span, ...] = ()
        if self._start_ns is not None:
            refreshed = [w for w in self._widths if w > 1]
            spans = (
                Span(
                    "drafter",
                    "draft",
                    self._start_ns,
                    self._end_ns,
                    operations=self._forwards,
                    extra={"refresh_widths": refreshed} if refreshed else {},
                ),
            )
        return Draft(tuple(tokens), tuple(confidences), origins, reason, spans, self._forwards)
