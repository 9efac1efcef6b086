"""Profiles by name or by file: the packaged ones, and whatever was exported elsewhere."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from as2d_core.errors import ProfileError, unknown_name
from as2d_core.profiles.codec import profile_from_json, profile_to_json
from as2d_core.profiles.profile import Profile
from as2d_core.reading import is_file, read_json


def profile_ids() -> list[str]:
    """Ids of the packaged profiles, in order."""
    return sorted(
        item.name.removesuffix(".json") for item in files(__package__).iterdir() if item.name.endswith(".json")
    )


def load_profile(id_or_path: str | Path) -> Profile:
    """A packaged profile by its id, or any profile file by its path.

    Raises:
        UnknownNameError: no packaged profile has that id, and it names no file.
        ProfileError: the file cannot be read, or holds a malformed profile.
    """
    name = str(id_or_path)
    if name in profile_ids():
        return _profile(json.loads(files(__package__).joinpath(f"{name}.json").read_text(encoding="utf-8")), name)
    path = Path(id_or_path)
    if path.suffix == ".json" or is_file(path):
        return read_profile(path)
    raise unknown_name("profile", name, profile_ids())


def read_profile(path: Path) -> Profile:
    """Read a profile file.

    Raises:
        ProfileError: the file cannot be read, or holds a malformed profile.
    """
    try:
        body = read_json(path)
    except FileNotFoundError as error:
        raise ProfileError(f"There is no profile file at {path}.") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ProfileError(f"The profile file {path} cannot be read: {error}.") from error
    except ValueError as error:
        raise ProfileError(f"{path} is not JSON ({error}).") from error
    return _profile(body, str(path))


def write_profile(profile: Profile, path: Path) -> None:
    """Write a profile file.

    Raises:
        ProfileError: the profile has a fault; nothing is written.
        OSError: the file cannot be written.
    """
    body = profile_to_json(profile)
    profile_from_json(body)
    path.write_text(json.dumps(body, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")


def _profile(body: Any, where: str) -> Profile:
    try:
        return profile_from_json(body)
    except ProfileError as error:
        raise ProfileError(f"{where}: {error}") from error
