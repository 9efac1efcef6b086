"""Which windows are for learning, for choosing and for judging? Dealt by a seed, never sharing audio (D.2.6)."""

import hashlib
from collections import defaultdict
from dataclasses import dataclass, replace

from as2d_core.errors import SelectionError, unknown_name
from as2d_core.replay.windows import SPLITS, TrajectorySet, WindowTrajectory

SCOPES = ("selection", "all")
"""Development and validation windows among each other, test windows staying as they are; or all windows."""


@dataclass(frozen=True, slots=True)
class Deal:
    """How a set's windows were dealt anew."""

    scope: str
    """One of ``SCOPES``."""
    seed: int


def deal_splits(corpus: TrajectorySet, deal: Deal) -> TrajectorySet:
    """The set with its windows dealt anew, dataset by dataset, the same recording always to one split.

    Windows of a dataset are shuffled by SHA-256 of seed and audio hash, so that the result is the same
    everywhere. ``selection`` keeps every dataset's number of development recordings; ``all`` deals
    recordings in turn to development, validation and test.

    Raises:
        UnknownNameError: there is no such scope.
        SelectionError: the set has no development and validation windows that could change places.
    """
    if deal.scope not in SCOPES:
        raise unknown_name("scope of a deal", deal.scope, list(SCOPES))
    dealt = [w for w in corpus.windows if deal.scope == "all" or w.split != "test"]
    if not dealt:
        raise SelectionError(
            f"All windows of {corpus.id!r} are test windows; deal all windows anew, or take a set that has others."
        )
    groups: dict[str, dict[str, list[WindowTrajectory]]] = defaultdict(lambda: defaultdict(list))
    home: dict[str, str] = {}
    for window in dealt:
        audio = _audio(window)
        groups[home.setdefault(audio, window.group)][audio].append(window)
    split_of: dict[str, str] = {}
    for by_audio in groups.values():
        order = sorted(by_audio, key=lambda audio: hashlib.sha256(f"{deal.seed}:{audio}".encode()).hexdigest())
        developing = sum(by_audio[audio][0].split == "development" for audio in order)
        for position, audio in enumerate(order):
            if deal.scope == "all":
                split_of[audio] = SPLITS[position % len(SPLITS)]
            else:
                split_of[audio] = "development" if position < developing else "validation"
    kept = {window.window_id for window in dealt}
    return replace(
        corpus,
        windows=tuple(
            replace(window, split=split_of[_audio(window)]) if window.window_id in kept else window
            for window in corpus.windows
        ),
    )


def _audio(window: WindowTrajectory) -> str:
    """What must stay together; a synthetic window without audio is on its own."""
    return window.audio_sha256 or f"window {window.window_id}"
