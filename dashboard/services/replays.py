"""How would a recorded window run on a device? One window of a trajectory set as a whole run, with its words."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from as2d_core.errors import ModelError
from as2d_core.models.demo_catalog import demo_windows
from as2d_core.models.vocabulary import token_pieces
from as2d_core.profiles.profile import Profile
from as2d_core.records import RunRecord
from as2d_core.replay.runs import replay_window
from as2d_core.replay.windows import TrajectorySet
from dashboard.services.budgets import open_corpus
from dashboard.services.models import list_models
from dashboard.services.profiles import load_profile
from datastore.locations import Folders

SAMPLE_CORPUS, SAMPLE_WINDOW, SAMPLE_PROFILE, SAMPLE_BUDGET = "demo", "long_02", "k70", 7
"""What a newcomer sees before anything ran: a packaged window with the costs of a published phone."""


@dataclass(frozen=True, slots=True)
class Replay:
    """A replayed window."""

    record: RunRecord
    lines: tuple[str, ...]
    """The same as a run file, newlines included."""
    target_only_tps: float | None
    """TPS of target-only with the same costs."""


def replay(
    folders: Folders,
    profile: Profile,
    corpus: TrajectorySet,
    window_id: str,
    method: str = "as2d",
    budget: int | None = None,
    width: int | None = None,
    drafter: str | None = None,
) -> Replay:
    """One window with the costs of a profile. The words of its tokens are added where a model here can say them.

    Raises:
        UnknownNameError, RequestError, ProfileError: a sentence about what cannot be replayed.
    """
    run = replay_window(corpus, window_id, profile, method, drafter, budget, width)
    window = corpus.window(window_id)
    run.record.pieces.update(_pieces(folders, corpus))
    steps_ms = (len(window.target_tokens) - 1) * profile.target_step_ms
    alone = len(window.target_tokens) / steps_ms * 1e3 if steps_ms > 0 else None
    return Replay(run.record, run.lines, alone)


def sample_replay(folders: Folders) -> Replay:
    """The run that stands for all others while the store is empty."""
    profile, corpus = load_profile(folders, SAMPLE_PROFILE), open_corpus(folders, SAMPLE_CORPUS)
    return replay(folders, profile, corpus, SAMPLE_WINDOW, budget=SAMPLE_BUDGET)


def window_audio(corpus: TrajectorySet, window_id: str) -> Path | None:
    """The recording of a window, when it is one of the bundled ones; known by its name and its length."""
    window = corpus.window(window_id)
    for item in demo_windows():
        if item.window_id == window_id and abs(item.duration_s - window.duration_s) < 0.01:
            return item.path
    return None


def _pieces(folders: Folders, corpus: TrajectorySet) -> Mapping[int, bytes]:
    """Bytes of every token of a set; empty when none of its models is here or can say them."""
    known = {sha for sha in corpus.models.values() if sha}
    entries = [m for m in list_models(folders) if m.info is not None and m.info.sha256 in known]
    for entry in sorted(entries, key=lambda m: 0 if m.info is None else m.info.size_bytes):
        try:
            return _asked(entry.path, frozenset(_tokens(corpus)))
        except ModelError:
            continue
    return {}


def _tokens(corpus: TrajectorySet) -> Iterable[int]:
    for window in corpus.windows:
        yield from window.target_tokens
        for drafter in window.drafters:
            yield from drafter.candidates


@lru_cache(maxsize=16)
def _asked(folder: Path, tokens: frozenset[int]) -> Mapping[int, bytes]:
    return token_pieces(folder, tokens)
