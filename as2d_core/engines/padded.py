"""A target whose every forward runs at a width that is bit-equal to sequential decoding (Appendix C.4).

Rows are padded with a dummy token behind the chain; attention is causal, so the real rows do not
see it, and the cache drops it before the next forward.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from as2d_core.engines.base import Call
from as2d_core.errors import RequestError
from as2d_core.request import Request

if TYPE_CHECKING:  # who only asks which widths are exact does not load MNN
    from as2d_core.engines.mnn import MnnModel


@dataclass(frozen=True, slots=True)
class WidthPolicy:
    """Widths that may be used, ascending; the first one is the width of a single step."""

    widths: tuple[int, ...]

    @property
    def step(self) -> int:
        return self.widths[0]

    @property
    def most(self) -> int:
        """Largest number of rows one forward may need."""
        return self.widths[-1]

    def pad(self, width: int) -> int:
        """Smallest usable width that holds ``width`` rows.

        Raises:
            RequestError: there is none.
        """
        at = bisect_left(self.widths, width)
        if at == len(self.widths):
            raise RequestError(
                f"A verification of width {width} is not exact on this processor; "
                f"the widest exact width is {self.most}, so the largest budget is {self.most - 1}."
            )
        return self.widths[at]


def widest_asked(request: Request) -> int:
    """Rows of the widest verification that a request may lead to; 1 for a method that proposes nothing."""
    asked = {"as2d": request.budget, "specasr": request.draft_cap}.get(request.method)
    return (request.width or 1) if request.method == "sd" else (asked or 0) + 1


class PaddedTarget:
    """The target of a native run (``engines.base.Target``)."""

    def __init__(self, model: "MnnModel", policy: WidthPolicy, plain_step: bool = False) -> None:
        """``plain_step``: target-only steps as plain K = 1 forwards (a control, not bit-equal to widths)."""
        self._model, self._policy, self._plain = model, policy, plain_step

    @property
    def first_token(self) -> int:
        return self._model.first[0]

    @property
    def eos(self) -> int:
        return self._model.eos

    def step(self, root: int) -> Call:
        return self._call([root], 1 if self._plain else self._policy.step)

    def verify(self, root: int, candidates: Sequence[int], source_running: bool) -> Call:  # noqa: ARG002
        rows = [root, *candidates]
        return self._call(rows, self._policy.pad(len(rows)))

    def keep(self, generated: int) -> None:
        self._model.keep(generated)

    def _call(self, rows: list[int], width: int) -> Call:
        greedy, start_ns, end_ns = self._model.greedy(rows + [self._model.eos] * (width - len(rows)))
        return Call(tuple(greedy[: len(rows)]), start_ns, end_ns, width)
