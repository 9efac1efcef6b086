"""Which cost profiles are there? The published phones, and what was measured and kept, read from its files.

No store is opened, so that profiles can be used while another program holds it.
"""

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from as2d_core.errors import As2dError, ProfileError, UnknownNameError, unknown_name
from as2d_core.profiles import catalogue
from as2d_core.profiles.codec import profile_from_json, profile_to_json, profile_warnings
from as2d_core.profiles.comparison import ComparedCost, CostRow, compare_profiles, cost_rows
from as2d_core.profiles.profile import Profile
from as2d_core.reading import is_file
from dashboard.services.workspace import Workspace
from datastore.files import safe_name
from datastore.library import PROFILE_SUFFIX, list_profiles, put_profile, read_profile_file
from datastore.locations import Folders
from datastore.run_row import device_key
from device_bridge.local import THIS_COMPUTER


@dataclass(frozen=True, slots=True)
class ProfileReport:
    """A profile, cost by cost."""

    profile: Profile
    rows: tuple[CostRow, ...]
    warnings: tuple[str, ...]
    """What looks odd, or is missing."""


@dataclass(frozen=True, slots=True)
class ProfilePair:
    """Two profiles, cost by cost."""

    first: Profile
    second: Profile
    rows: tuple[ComparedCost, ...]


def profile_ids(folders: Folders) -> list[str]:
    """Ids of the published profiles, then of the kept ones."""
    kept = [found[0] for path in _files(folders) if (found := read_profile_file(path)) is not None]
    packaged = catalogue.profile_ids()
    return packaged + [name for name in sorted(kept) if name not in packaged]


def readable_profiles(folders: Folders) -> tuple[dict[str, Profile], tuple[str, ...]]:
    """Profiles by id, those measured here before the published ones; and a sentence for each that cannot be read."""
    found: dict[str, Profile] = {}
    problems: list[str] = []
    for name in profile_ids(folders):
        try:
            found[name] = load_profile(folders, name)
        except As2dError as error:
            problems.append(str(error))
    return dict(sorted(found.items(), key=lambda item: item[1].kind != "measured")), tuple(problems)


def load_profile(folders: Folders, name: str) -> Profile:
    """A profile by its id, or by the path of a profile file.

    Raises:
        UnknownNameError: there is none; suggests the nearest id.
        ProfileError: it is malformed.
    """
    if name in catalogue.profile_ids():
        return catalogue.load_profile(name)
    kept = folders.profiles / (safe_name(name) + PROFILE_SUFFIX)
    found = read_profile_file(kept)
    if found is not None and found[0] == name:
        try:
            return profile_from_json(json.loads(found[3]))
        except ProfileError as error:
            raise ProfileError(f"The kept profile {name!r} ({kept}): {error}") from error
    path = Path(name)
    if path.suffix == ".json" or is_file(path):
        return catalogue.read_profile(path)
    if name == THIS_COMPUTER:
        raise UnknownNameError("This computer was not measured yet; run `as2d calibrate`, or choose a phone's profile.")
    raise unknown_name("profile", name, profile_ids(folders))


def show_profile(folders: Folders, name: str) -> ProfileReport:
    """A profile by its id or file, with the origin of every value and what looks odd.

    Raises:
        UnknownNameError: there is none; suggests the nearest id.
        ProfileError: it is malformed.
    """
    profile = load_profile(folders, name)
    return ProfileReport(profile, cost_rows(profile), tuple(profile_warnings(profile)))


def pair_profiles(folders: Folders, first: str, second: str) -> ProfilePair:
    """Two profiles by their ids or files.

    Raises:
        UnknownNameError: one is not there; suggests the nearest id.
        ProfileError: one is malformed.
    """
    a, b = load_profile(folders, first), load_profile(folders, second)
    return ProfilePair(a, b, compare_profiles(a, b))


def import_profile(workspace: Workspace, path: Path, *, replace: bool = False) -> ProfileReport:
    """Check a profile file and keep it under its id.

    Raises:
        ProfileError: the file has a fault (all are listed), or its id is taken and not to be replaced.
        StoreError: it cannot be written.
    """
    profile = catalogue.read_profile(path)
    if not replace and profile.id in profile_ids(workspace.folders) and profile.id not in catalogue.profile_ids():
        raise ProfileError(f"A profile {profile.id!r} is kept already; replace it, or give the new one another id.")
    keep_profile(workspace, profile)
    return ProfileReport(profile, cost_rows(profile), tuple(profile_warnings(profile)))


def export_profile(folders: Folders, name: str, path: Path, *, replace: bool = False) -> Profile:
    """Write a profile to a file that ``import_profile`` reads.

    Raises:
        UnknownNameError: there is none; suggests the nearest id.
        ProfileError: it is malformed, or the file is there already or cannot be written.
    """
    profile = load_profile(folders, name)
    if path.exists() and not replace:
        raise ProfileError(f"{path} is there already; replace it, or give another name.")
    try:
        catalogue.write_profile(profile, path)
    except OSError as error:
        raise ProfileError(f"{path} cannot be written: {error.strerror or error}.") from error
    return profile


def keep_profile(workspace: Workspace, profile: Profile) -> None:
    """Keep a measured profile under its id, replacing the one before it.

    Raises:
        ProfileError: its id is that of a published profile, or it has a fault.
        StoreError: it cannot be written.
    """
    check_own_id(profile.id)
    body = profile_to_json(profile)
    profile_from_json(body)
    put_profile(workspace.store, profile.id, body, device_key(profile.device))


def check_own_id(profile_id: str) -> None:
    """Raise ``ProfileError`` unless a measured profile may have this id: asked before minutes are spent measuring."""
    if profile_id in catalogue.profile_ids():
        raise ProfileError(f"{profile_id!r} is the id of a published profile; give the measured one another.")
    if not profile_id.strip():
        raise ProfileError("The id of a profile is empty; give it a name.")


def measured_profile(workspace: Workspace, device: str) -> Profile | None:
    """The newest measured profile of a device (its key in the store); ``None`` when there is none that can be read."""
    for kept in list_profiles(workspace.store, device):
        with suppress(ProfileError):
            return profile_from_json(kept.body)
    return None


def _files(folders: Folders) -> list[Path]:
    return sorted(folders.profiles.glob("*" + PROFILE_SUFFIX))
