"""A checked request and everything the target process needs to run it."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from as2d_core.models.folder import ModelInfo
from as2d_core.records import Placement, Request


@dataclass(frozen=True, slots=True)
class Job:
    """One checked request and what it needs."""

    request: Request
    target: ModelInfo
    drafter: ModelInfo | None
    samples: npt.NDArray[np.float32]
    audio_sha256: str
    placement: Placement
