"""What lies on the shelf of profiles, which of them came when, what uses one, and how does one leave or come in?"""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from as2d_core.errors import As2dError, ProfileError
from as2d_core.profiles import catalogue
from as2d_core.profiles.codec import profile_from_json, profile_to_json
from as2d_core.profiles.profile import Profile
from as2d_core.reading import parse_json
from dashboard.notebook.cells import notebook_from_json
from dashboard.services.freezing import Frozen, frozen_for
from dashboard.services.profiles import keep_profile, load_profile, profile_ids
from dashboard.services.workspace import Workspace
from datastore import notebooks, profile_bin
from datastore.locations import Folders
from datastore.profile_bin import ProfileFile
from datastore.profile_uses import calibrations, replays_named, runs_of_device
from datastore.run_row import device_key

MOST_BYTES = 20_000_000
"""A profile with 16 widths and 45 calls of each has 60 kB."""


@dataclass(frozen=True, slots=True)
class ShelfItem:
    """A profile that can be named."""

    id: str
    profile: Profile | None
    problem: str
    """Why it cannot be read; empty when it can."""
    own: bool
    """Whether it was kept here, and can be deleted."""


def shelf(folders: Folders) -> list[ShelfItem]:
    """What was kept here first (the newest measurement at the top), then the published phones."""
    packaged = set(catalogue.profile_ids())
    items = []
    for name in profile_ids(folders):
        try:
            items.append(ShelfItem(name, load_profile(folders, name), "", name not in packaged))
        except As2dError as error:
            items.append(ShelfItem(name, None, str(error), name not in packaged))
    own = [item for item in items if item.own]
    own.sort(key=lambda item: "" if item.profile is None else item.profile.created_at, reverse=True)
    return own + [item for item in items if not item.own]


def shelf_stamp(folders: Folders) -> tuple[tuple[str, int, int], ...]:
    """What the shelf depends on: name, time and size of every file. The same stamp means the same profiles."""
    found = []
    for path in sorted(folders.profiles.glob("*.json")):
        with suppress(OSError):
            state = path.stat()
            found.append((path.name, state.st_mtime_ns, state.st_size))
    return tuple(found)


def history(folders: Folders, profile: Profile, items: Sequence[ShelfItem]) -> list[Profile]:
    """Everything that was measured on the device of a profile with the same models, oldest first; itself included.

    What was measured with a model on another backend is not among it. Published phones have no history.

    Args:
        folders: where earlier measurements lie.
        profile: which device and models.
        items: the shelf.
    """
    if profile.kind != "measured":
        return [profile]
    setting = _setting(profile)
    found = {(profile.id, profile.created_at): profile}
    for item in items:
        if item.profile is not None and item.own:
            found.setdefault((item.id, item.profile.created_at), item.profile)
    for kept in profile_bin.earlier_profiles(folders):
        with suppress(ProfileError, ValueError):
            earlier = profile_from_json(json.loads(kept.body))
            found.setdefault((kept.profile_id, earlier.created_at), earlier)
    same = [item for item in found.values() if item.kind == "measured" and _setting(item) == setting]
    return sorted(same, key=lambda item: item.created_at)


def behind_history(folders: Folders, profile: Profile) -> tuple[list[str], list[ProfileFile]]:
    """Of what is a history made: ids of profiles on the shelf, and files of what was kept before."""
    items = shelf(folders)
    found = {(item.id, item.created_at) for item in history(folders, profile, items)}
    kept = {(item.id, item.profile.created_at) for item in items if item.profile is not None} & found
    earlier = [
        file
        for file in profile_bin.earlier_profiles(folders)
        if (file.profile_id, json.loads(file.body).get("created_at")) in found - kept
    ]
    return sorted(name for name, _ in kept), earlier


def _setting(profile: Profile) -> tuple[object, ...]:
    """Device, models, and the backend of each."""
    models = {role: model.sha256 or model.name for role, model in profile.models.items()}
    # Profiles of earlier releases do not say it, and all were measured on the CPU.
    places = [str(profile.device.get(f"{role}_placement", "CPU")).partition(",")[0] for role in ("target", "drafter")]
    return device_key(profile.device), models, places


@dataclass(frozen=True, slots=True)
class Uses:
    """What in the store leans on a profile."""

    device_key: str | None
    """Device whose rounds are held against it on the Timeline page; ``None`` for a published phone."""
    runs: int
    """Runs measured on that device."""
    replayed: tuple[str, ...]
    """Ids of kept runs that were replayed with its costs."""
    calibration_group: str | None
    """Group of the runs that it was fitted to, where they are still there."""
    frozen: tuple[Frozen, ...]
    """Choices that were frozen with its costs."""
    notebooks: tuple[tuple[str, str, int], ...]
    """Id, title and number of cells that name it."""


def uses(workspace: Workspace, profile: Profile) -> Uses:
    """Runs and notebooks that a profile stands behind."""
    store, key, measured, group = workspace.store, None, 0, None
    if profile.kind == "measured":
        key = device_key(profile.device)
        measured = runs_of_device(store, key)
        group = next((name for name, when in calibrations(store, key) if _begins(when, profile)), None)
    replayed = replays_named(store, f"-{profile.id}-")
    frozen = tuple(frozen_for(workspace.folders, profile))
    return Uses(key, measured, tuple(replayed), group, frozen, tuple(_notebooks(workspace, profile.id)))


def _begins(created_at: datetime, profile: Profile) -> bool:
    """Whether a run began when the profile says that its first one did (both to the millisecond)."""
    return created_at.isoformat(timespec="milliseconds")[:23] == profile.created_at[:23]


def _notebooks(workspace: Workspace, profile_id: str) -> list[tuple[str, str, int]]:
    found = []
    for item in notebooks.list_notebooks(workspace.store):
        with suppress(As2dError):
            body = notebook_from_json(notebooks.load_notebook(workspace.store, item.notebook_id))
            cells = sum((cell.body.get("settings") or {}).get("profile") == profile_id for cell in body.cells)
            if cells:
                found.append((item.notebook_id, item.title, cells))
    return found


def profile_json(profile: Profile) -> bytes:
    """A profile as a file that ``import_bytes`` and ``as2d profile import`` read."""
    text = json.dumps(profile_to_json(profile), indent=1, ensure_ascii=False, allow_nan=False)
    return (text + "\n").encode("utf-8", "replace")


def import_bytes(workspace: Workspace, data: bytes, name: str, *, replace: bool = False) -> Profile:
    """Check what a page was handed, and keep it under its id.

    Raises:
        ProfileError: it is no profile, has a fault (all are listed), or its id is taken and not to be replaced.
        StoreError: it cannot be written.
    """
    if len(data) > MOST_BYTES:
        raise ProfileError(f"{name} has {len(data) / 1e6:.0f} MB; a profile has at most {MOST_BYTES // 1_000_000}.")
    try:
        body = parse_json(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ProfileError(f"{name} is no text; export the profile again as JSON.") from error
    except ValueError as error:
        raise ProfileError(f"{name} is not JSON ({error}); export the profile again.") from error
    if isinstance(body, dict) and isinstance(body.get("body"), dict):  # as a data folder keeps it
        body = body["body"]
    try:
        profile = profile_from_json(body)
    except ProfileError as error:
        raise ProfileError(f"{name}: {error}") from error
    if not replace and profile.id not in catalogue.profile_ids() and profile.id in profile_ids(workspace.folders):
        raise ProfileError(f"A profile {profile.id!r} is kept already; tick the box to replace it.")
    keep_profile(workspace, profile)
    return profile


def delete_profile(workspace: Workspace, profile_id: str) -> str:
    """Move a kept profile into the bin; returns the name of its file there.

    Raises:
        ProfileError: it is a published one, which belongs to the program.
        UnknownNameError: none is kept under this id.
        StoreError: it cannot be moved.
    """
    if profile_id in catalogue.profile_ids():
        raise ProfileError(f"{profile_id!r} is a published profile and belongs to the program; it cannot be deleted.")
    return profile_bin.bin_profile(workspace.store, profile_id)


def restore_profile(workspace: Workspace, file: str) -> str:
    """Take a profile out of the bin; returns its id. Raises UnknownNameError, StoreError."""
    return profile_bin.restore_profile(workspace.store, file)


def list_bin(folders: Folders) -> list[ProfileFile]:
    """Profiles in the bin."""
    return profile_bin.list_binned_profiles(folders)


def empty_bin(workspace: Workspace, files: Sequence[str]) -> int:
    """Remove profiles in the bin for good; returns how many. Raises UnknownNameError, StoreError."""
    return profile_bin.empty_profile_bin(workspace.store, files)
