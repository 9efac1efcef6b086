"""How is a measured profile deleted? Into the bin as a file, from which it comes back until it is removed for good.

The database forgets it before its file moves: what a crash leaves in ``profiles/`` is taken in again at the next start.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from as2d_core.errors import unknown_name
from datastore.engine import Cursor, transaction
from datastore.errors import StoreError
from datastore.files import move_durably, safe_name, sync_folder, translated_os
from datastore.library import PROFILE_SUFFIX, insert_profile, put_earlier, read_profile_file
from datastore.locations import Folders
from datastore.rows import ascii_json
from datastore.store import Store

_STAMP = "%Y%m%dT%H%M%S%f"


@dataclass(frozen=True, slots=True)
class ProfileFile:
    """A profile that lies in a file beside the kept ones."""

    file: str
    """Name of the file, which tells apart what was kept under the same id."""
    profile_id: str
    kept_at: datetime
    """When it was kept, UTC."""
    device_key: str | None
    body: str
    """JSON; what it means is for the profile loader to say."""


def bin_profile(store: Store, profile_id: str) -> str:
    """Move a kept profile into the bin; returns the name of its file there.

    Raises:
        UnknownNameError: none is kept under this id.
        StoreError: it cannot be moved; it is kept as before.
    """
    path = store.folders.profiles / (safe_name(profile_id) + PROFILE_SUFFIX)
    target = store.folders.bin / f"{safe_name(profile_id)}.{datetime.now(UTC):{_STAMP}}{PROFILE_SUFFIX}"

    def job(cursor: Cursor) -> str:
        found = read_profile_file(path)
        if found is None or found[0] != profile_id:
            raise unknown_name("kept profile", profile_id, [item.profile_id for item in _in(store.folders.profiles)])
        with transaction(cursor):
            cursor.execute("DELETE FROM profiles WHERE profile_id = ?", [profile_id])
        try:
            move_durably(path, target)
        except StoreError:
            with transaction(cursor):
                insert_profile(cursor, *found)
            raise
        return target.name

    return store.write(job)


def restore_profile(store: Store, file: str) -> str:
    """Take a profile out of the bin; returns its id.

    Raises:
        UnknownNameError: there is no such file in the bin.
        StoreError: another profile has taken its id.
    """

    def job(cursor: Cursor) -> str:
        item = _named(store.folders, file)
        path = store.folders.profiles / (safe_name(item.profile_id) + PROFILE_SUFFIX)
        if path.exists():
            raise StoreError(
                f"A profile {item.profile_id!r} is kept again; delete that one first, or export it under another id."
            )
        move_durably(store.folders.bin / item.file, path)
        with transaction(cursor):
            insert_profile(cursor, item.profile_id, item.kept_at, item.device_key, item.body)
        return item.profile_id

    return store.write(job)


def list_binned_profiles(folders: Folders) -> list[ProfileFile]:
    """Profiles in the bin, by id, the newest of each first."""
    return sorted(_in(folders.bin), key=lambda item: (item.profile_id, item.file), reverse=True)


def empty_profile_bin(store: Store, files: Sequence[str]) -> int:
    """Remove profiles in the bin for good, with what was measured earlier under an id that nobody keeps any more.

    Raises:
        UnknownNameError: one of them is not in the bin; nothing was removed.
        StoreError: a file cannot be removed.
    """

    def job(cursor: Cursor) -> int:  # noqa: ARG001 - nothing of them is in the database
        folders = store.folders
        found = [_named(folders, file) for file in dict.fromkeys(files)]
        for item in found:
            path = folders.bin / item.file
            with translated_os(path):
                path.unlink(missing_ok=True)
        left = {item.profile_id for place in (folders.profiles, folders.bin) for item in _in(place)}
        for item in earlier_profiles(folders):
            if item.profile_id in {one.profile_id for one in found} - left:
                with translated_os(folders.earlier_profiles):
                    (folders.earlier_profiles / item.file).unlink(missing_ok=True)
        with translated_os(folders.bin):
            sync_folder(folders.bin)
        return len(found)

    return store.write(job)


def earlier_profiles(folders: Folders, profile_id: str | None = None) -> list[ProfileFile]:
    """What was kept before under the same ids (or one of them), oldest first."""
    found = [item for item in _in(folders.earlier_profiles) if profile_id in (None, item.profile_id)]
    return sorted(found, key=lambda item: item.kept_at)


def earlier_body(item: ProfileFile) -> dict[str, Any]:
    """What was kept before as one JSON object, for another data folder (``keep_earlier``)."""
    return {
        "profile_id": item.profile_id,
        "created_at": item.kept_at.isoformat(),
        "device_key": item.device_key,
        "body": json.loads(item.body),
    }


def keep_earlier(store: Store, kept: Mapping[str, Any]) -> bool:
    """Take what another data folder kept before (``earlier_body``) among what was kept before here.

    Returns:
        Whether it is new here.

    Raises:
        StoreError: it is not what ``earlier_body`` gives, or cannot be written.
    """
    try:
        when = datetime.fromisoformat(kept["created_at"])
        when = (when if when.tzinfo else when.replace(tzinfo=UTC)).astimezone(UTC).replace(tzinfo=None)
        profile_id, key, body = str(kept["profile_id"]), kept["device_key"], dict(kept["body"])
        written = {"profile_id": profile_id, "created_at": when.isoformat(), "device_key": key, "body": body}
        text = ascii_json(written)
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(f"This is no earlier profile ({error!r} is wrong or missing); export it again.") from error

    def job(cursor: Cursor) -> bool:  # noqa: ARG001 - nothing of them is in the database
        folders = store.folders
        same = [*_in(folders.profiles), *earlier_profiles(folders, profile_id)]
        if any(item.profile_id == profile_id and json.loads(item.body) == body for item in same):
            return False
        put_earlier(folders, profile_id, when, text.encode())
        return True

    return store.write(job)


def _named(folders: Folders, file: str) -> ProfileFile:
    files = {item.file: item for item in _in(folders.bin)}
    if file not in files:
        raise unknown_name("profile in the bin", file, list(files))
    return files[file]


def _in(folder: Path) -> list[ProfileFile]:
    found = [(path, read_profile_file(path)) for path in sorted(folder.glob("*" + PROFILE_SUFFIX))]
    return [ProfileFile(path.name, kept[0], *kept[1:]) for path, kept in found if kept is not None]
