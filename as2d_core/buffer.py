"""Ordered publication with immutable snapshots: what the target can see of a source (Appendix C.1)."""

from collections.abc import Sequence

from as2d_core.errors import RecordError
from as2d_core.records import Publication


class CandidateBuffer:
    """Published candidates of one source, in order, never changed once published.

    One producer publishes while readers take snapshots: ``publish`` appends to the lists first and
    moves the visible end last, and nothing is ever removed, so that a reader that looks at
    ``visible`` once may use every index below it.
    """

    def __init__(self, eos: int | None = None, threshold: float | None = None) -> None:
        self._eos = eos
        self._threshold = threshold
        self._visible = 0
        self.tokens: list[int] = []
        self.low_confidence: list[bool] = []
        """Whether the candidate's confidence is below the threshold; false where it is unknown."""

    @property
    def visible(self) -> int:
        """How many candidates are published."""
        return self._visible

    def publish(self, batch: Publication) -> None:
        """Append a batch.

        Raises:
            RecordError: the batch does not start where the last one ended, its confidences do not
                match its tokens, or it holds EOS (EOS is never a candidate).
        """
        if batch.offset != self._visible:
            raise RecordError(
                f"Publication at offset {batch.offset} does not follow the {self._visible} candidates before it."
            )
        if batch.confidences is not None and len(batch.confidences) != len(batch.tokens):
            raise RecordError(
                f"Publication at offset {batch.offset} has {len(batch.tokens)} tokens "
                f"but {len(batch.confidences)} confidences."
            )
        if self._eos is not None and self._eos in batch.tokens:
            raise RecordError(f"Publication at offset {batch.offset} holds EOS, which is never a candidate.")
        self.tokens.extend(batch.tokens)
        if batch.confidences is None or self._threshold is None:
            self.low_confidence.extend([False] * len(batch.tokens))
        else:
            threshold = self._threshold
            self.low_confidence.extend(c is not None and c < threshold for c in batch.confidences)
        self._visible += len(batch.tokens)

    def snapshot(self) -> Sequence[int]:
        """Copy of the candidates visible now; later publications do not change it."""
        return tuple(self.tokens[: self._visible])
