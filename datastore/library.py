"""What outlives a run: which widths of a model are exact on which processor, and measured cost profiles."""

import json
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path
from typing import Any

from as2d_core.errors import unknown_name
from as2d_core.operation_records import SelfTest
from as2d_core.protocol import decode
from as2d_core.reading import read_json
from as2d_core.records import RunRecord
from datastore.engine import Cursor, transaction
from datastore.errors import StoreError
from datastore.files import safe_name, translated_os, write_durably
from datastore.locations import Folders
from datastore.rows import ascii_json, event_json, unpack
from datastore.run_row import clean, instant
from datastore.store import Store

PROFILE_SUFFIX = ".profile.json"


@dataclass(frozen=True, slots=True)
class SelfTestKey:
    """What a self-test holds for: another model, processor, setting or MNN version needs another test."""

    model_sha256: str
    cpu: str
    settings: str
    """Threads, precision and memory as one text, see ``settings_text``."""
    mnn_version: str


def settings_text(threads: int, precision: str, memory: str) -> str:
    """The engine settings that decide which kernels run, as the text a key holds."""
    return f"threads={threads} precision={precision} memory={memory}"


def self_test_key(test: SelfTest) -> SelfTestKey | None:
    """Key of a self-test as a runner wrote it; ``None`` when the event does not say what it holds for."""
    extra = test.extra
    names = ("cpu", "mnn_version", "precision", "memory")
    threads = extra.get("threads")
    if not isinstance(threads, int) or not all(isinstance(extra.get(n), str) for n in names):
        return None
    settings = settings_text(threads, extra["precision"], extra["memory"])
    key = SelfTestKey(test.model_sha256, extra["cpu"], settings, extra["mnn_version"])
    # A key with bytes that are no text could not be asked for either.
    return key if all(clean(part) == part for part in astuple(key)) else None


def put_self_test(store: Store, key: SelfTestKey, test: SelfTest, tested_at: datetime | None = None) -> None:
    """Keep a self-test; a newer one for the same key replaces it. Runs that are ingested bring theirs along."""

    def job(cursor: Cursor) -> None:
        with transaction(cursor):
            _put_self_test(cursor, key, test, _naive(tested_at))

    store.write(job)


def get_self_test(store: Store, key: SelfTestKey) -> SelfTest | None:
    """The self-test for exactly this key, ``None`` when there is none yet."""
    rows = store.read(
        "SELECT raw_json FROM self_tests WHERE model_sha256 = ? AND cpu = ? AND settings = ? AND mnn_version = ?",
        [key.model_sha256, key.cpu, key.settings, key.mnn_version],
    )
    if not rows:
        return None
    event = decode(unpack(rows[0][0]))
    return event if isinstance(event, SelfTest) else None


def keep_self_tests(cursor: Cursor, record: RunRecord) -> None:
    """Keep the self-tests of a measured run; inside the transaction that takes the run in."""
    if record.header.source != "measured":
        return
    when = instant(record.header.created_at) or _naive(None)
    for test in record.self_tests:
        key = self_test_key(test)
        if key is not None:
            _put_self_test(cursor, key, test, when)


def _put_self_test(cursor: Cursor, key: SelfTestKey, test: SelfTest, tested_at: datetime) -> None:
    cursor.execute(
        "INSERT INTO self_tests VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
        "tested_at = excluded.tested_at, raw_json = excluded.raw_json WHERE excluded.tested_at >= self_tests.tested_at",
        [key.model_sha256, key.cpu, key.settings, key.mnn_version, tested_at, event_json(test)],
    )


@dataclass(frozen=True, slots=True)
class StoredProfile:
    """A cost profile as it was kept. What ``body`` means is for the profile loader to say."""

    profile_id: str
    created_at: datetime
    """With time zone, UTC."""
    device_key: str | None
    body: dict[str, Any]


def put_profile(
    store: Store,
    profile_id: str,
    body: Mapping[str, Any],
    device_key: str | None = None,
    created_at: datetime | None = None,
) -> None:
    """Keep a profile, replacing the one with the same id; it is also written to ``profiles/`` as a file.

    The one that it replaces stays in ``earlier-profiles/``.

    Raises:
        StoreError: ``body`` is not JSON.
    """
    when = _naive(created_at)
    try:
        text = ascii_json(dict(body))
    except (TypeError, ValueError) as error:
        raise StoreError(f"Profile {profile_id!r} is not JSON ({error}) and was not kept.") from error
    kept = {
        "profile_id": profile_id,
        "created_at": when.isoformat(),
        "device_key": device_key,
        "body": json.loads(text),
    }
    path = store.folders.profiles / (safe_name(profile_id) + PROFILE_SUFFIX)

    def job(cursor: Cursor) -> None:
        _set_earlier_aside(store.folders, path, profile_id, text)
        write_durably(path, ascii_json(kept).encode())
        with transaction(cursor):
            insert_profile(cursor, profile_id, when, device_key, text)

    store.write(job)


def _set_earlier_aside(folders: Folders, path: Path, profile_id: str, text: str) -> None:
    before = read_profile_file(path)
    if before is None or before[0] != profile_id or before[3] == text:
        return
    put_earlier(folders, profile_id, before[1], path.read_bytes())


def put_earlier(folders: Folders, profile_id: str, kept_at: datetime, data: bytes) -> None:
    """Write what was kept before under an id to a file of its own. Raises StoreError."""
    folder = folders.earlier_profiles
    with translated_os(folder):
        folder.mkdir(parents=True, exist_ok=True)
    stem = f"{safe_name(profile_id)}.{kept_at:%Y%m%dT%H%M%S%f}"
    numbered = (f"{stem}{number}{PROFILE_SUFFIX}" for number in chain([""], (f".{n}" for n in count(2))))
    write_durably(folder / next(name for name in numbered if not (folder / name).exists()), data)


def insert_profile(cursor: Cursor, profile_id: str, created_at: datetime, device_key: str | None, body: str) -> None:
    """Put a profile's row in place; inside a transaction of the caller."""
    cursor.execute(
        "INSERT OR REPLACE INTO profiles VALUES (?, ?, ?, ?)",
        [profile_id, created_at, device_key, body],
    )


def get_profile(store: Store, profile_id: str) -> StoredProfile:
    """One profile.

    Raises:
        UnknownNameError: there is none with this id; suggests the nearest.
    """
    rows = store.read("SELECT * FROM profiles WHERE profile_id = ?", [profile_id])
    if not rows:
        raise unknown_name("profile", profile_id, [p.profile_id for p in list_profiles(store)])
    return _profile(rows[0])


def list_profiles(store: Store, device_key: str | None = None) -> list[StoredProfile]:
    """Profiles, newest first; of one device when ``device_key`` is given."""
    where, values = ("", []) if device_key is None else ("WHERE device_key = ? ", [device_key])
    rows = store.read(f"SELECT * FROM profiles {where}ORDER BY created_at DESC, profile_id", values)  # noqa: S608
    return [_profile(row) for row in rows]


def read_profile_file(path: Path) -> tuple[str, datetime, str | None, str] | None:
    """A profile as ``put_profile`` wrote it to a file: id, time, device key, body; ``None`` when it is none."""
    try:
        kept = read_json(path)
        return (
            str(kept["profile_id"]),
            datetime.fromisoformat(kept["created_at"]),
            None if kept["device_key"] is None else str(kept["device_key"]),
            ascii_json(kept["body"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _profile(row: tuple[Any, ...]) -> StoredProfile:
    profile_id, created_at, device_key, body = row
    return StoredProfile(profile_id, created_at.replace(tzinfo=UTC), device_key, json.loads(body))


def _naive(when: datetime | None) -> datetime:
    """UTC without a time zone, as the database keeps it; a time without one is taken as UTC."""
    if when is None:
        when = datetime.now(UTC)
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).astimezone(UTC).replace(tzinfo=None)
