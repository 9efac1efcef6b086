"""Which choices are frozen for a device and a set of windows? Written once, never overwritten, then judged.

The order is kept here, whoever asks: a choice is made on development and validation windows, a frozen one is a file,
and only a file is judged on test windows. A pair that a person picked is frozen only while test windows are unseen.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from itertools import count
from pathlib import Path

from as2d_core.alignment import DEFAULT_SEARCH_WINDOW
from as2d_core.deployment import Deployment, check_test_windows, corpus_sha256, profile_sha256
from as2d_core.deployment_file import deployment_text, read_deployment
from as2d_core.errors import SelectionError
from as2d_core.profiles.profile import Profile
from as2d_core.replay.grid import DEFAULT_THRESHOLD
from as2d_core.replay.windows import TrajectorySet
from dashboard.services.choosing import Chosen, choose_deployment, judge
from datastore.files import safe_name, write_durably
from datastore.locations import Folders

SUFFIX = ".as2d.json"
JUDGED = ".judged.txt"


@dataclass(frozen=True, slots=True)
class Frozen:
    """A choice that is written down."""

    path: Path
    deployment: Deployment
    stale: str
    """Why it cannot be judged any more with these costs and windows; empty = it can."""
    judged_at: str
    """When its test windows were shown first; empty = never."""


@dataclass(frozen=True, slots=True, eq=False)
class _Held:
    """A set of windows as one object: two are the same when they are one, whatever they say of themselves."""

    corpus: TrajectorySet

    def __hash__(self) -> int:
        return id(self.corpus)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Held) and other.corpus is self.corpus


@lru_cache(maxsize=8)
def _tokens_of(held: _Held) -> str:
    """The hash of a set's windows, worked out once for each set that was read: 700 windows take 40 ms."""
    return corpus_sha256(held.corpus)


def deployments_folder(folders: Folders) -> Path:
    """Where the pages freeze choices."""
    return folders.root / "deployments"


def choose_pairs(
    profile: Profile,
    corpus: TrajectorySet,
    budgets: Sequence[int] | None = None,
    drafter: str | None = None,
    *,
    by_hand: bool = False,
) -> Deployment:
    """What would be deployed, test windows unseen.

    Args:
        budgets: to choose among; ``None`` = all that the profile can price.
        drafter: the only one; ``None`` = all.
        by_hand: a person has picked the one pair; no width rule then.

    Raises:
        SelectionError, ProfileError, TrajectoryError, RequestError: a sentence about what is wrong.
    """
    drafters = None if drafter is None else [drafter]
    found = choose_deployment(
        profile, corpus, [DEFAULT_THRESHOLD], [DEFAULT_SEARCH_WINDOW], budgets, drafters, with_rule=not by_hand
    )
    return found.deployment


def freeze(folders: Folders, deployment: Deployment, *, by_hand: bool = False, test_shown: bool = False) -> Path:
    """Write a choice down under a name of its own.

    Args:
        by_hand: a person has picked the pair.
        test_shown: test windows of the set were shown to that person.

    Raises:
        SelectionError: the pair was picked with test windows in sight, or on test windows of an earlier choice.
        StoreError: the file cannot be written.
    """
    if by_hand and test_shown:
        raise SelectionError(
            "Test windows were shown before the pair was picked; freeze what validation chose, or deal windows anew "
            "with `as2d select --seed N --deal`."
        )
    folder = deployments_folder(folders)
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        earlier = _read(path)
        if earlier is not None and earlier.corpus_sha256 == deployment.corpus_sha256:
            check_test_windows(earlier, deployment)
    folder.mkdir(parents=True, exist_ok=True)
    fixed = deployment.fixed
    stem = f"{safe_name(fixed.profile)}-{safe_name(fixed.corpus)}"
    path = next(path for n in count(1) if not (path := folder / f"{stem}-{n}{SUFFIX}").exists())
    frozen = replace(deployment, created_at=datetime.now(UTC).isoformat(timespec="seconds"))
    write_durably(path, deployment_text(frozen).encode())
    return path


def frozen_choices(folders: Folders, profile: Profile, corpus: TrajectorySet) -> list[Frozen]:
    """The frozen choices for these costs and windows, by their names, the newest first; damaged files are left out."""
    costs, tokens = profile_sha256(profile), _tokens_of(_Held(corpus))
    found = []
    for path in deployments_folder(folders).glob(f"*{SUFFIX}"):
        deployment = _read(path)
        if deployment is None or (deployment.fixed.profile, deployment.fixed.corpus) != (profile.id, corpus.id):
            continue
        stale = ""
        if deployment.profile_sha256 != costs:
            stale = "The costs were measured anew since."
        elif deployment.corpus_sha256 != tokens:
            stale = "The windows were collected anew since."
        found.append(Frozen(path, deployment, stale, _judged_at(path)))
    return sorted(found, key=lambda item: (item.deployment.created_at, item.path.name), reverse=True)


def frozen_for(folders: Folders, profile: Profile) -> list[Frozen]:
    """Every frozen choice that was made with a profile's id, on any windows; whether those changed is not told."""
    costs, found = profile_sha256(profile), []
    for path in deployments_folder(folders).glob(f"*{SUFFIX}"):
        deployment = _read(path)
        if deployment is not None and deployment.fixed.profile == profile.id:
            stale = "" if deployment.profile_sha256 == costs else "The costs were measured anew since."
            found.append(Frozen(path, deployment, stale, _judged_at(path)))
    return sorted(found, key=lambda item: (item.deployment.created_at, item.path.name), reverse=True)


def judge_frozen(frozen: Frozen, profile: Profile, corpus: TrajectorySet) -> Chosen:
    """How a frozen choice does on test windows; from now on it is written down that they were shown.

    Raises:
        SelectionError: the file holds no deployment any more.
        StoreError: it cannot be written down.
    """
    if not frozen.judged_at:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        write_durably(_note(frozen.path), f"{now}\n".encode())
    return judge(profile, corpus, frozen.path)


def _read(path: Path) -> Deployment | None:
    try:
        return read_deployment(path)
    except SelectionError:
        return None


def _note(path: Path) -> Path:
    return path.with_name(path.name.removesuffix(SUFFIX) + JUDGED)


def _judged_at(path: Path) -> str:
    try:
        return _note(path).read_text(encoding="utf-8").strip()[:40]
    except (OSError, UnicodeDecodeError):
        return ""
