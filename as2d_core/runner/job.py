"""A checked request and everything the target process needs to run it."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from as2d_core.models.folder import ModelInfo
from as2d_core.request import Placement, Request

TESTING = "self-test of width "
"""Start of the mark that is sent before the self-test tries a width for the first time."""

TESTED = "every width of the self-test has run"
"""Mark that is sent when each of them has been tried once; what ends the process later is no width's doing."""


@dataclass(frozen=True, slots=True)
class Job:
    """One checked request and what it needs."""

    request: Request
    target: ModelInfo
    drafter: ModelInfo | None
    samples: npt.NDArray[np.float32]
    audio_sha256: str
    placement: Placement
    widest: int | None = None
    """Wider verifications are not tried in the self-test: one of them took the target process with it."""
