"""What can be listened to? The bundled windows, and files of the user, kept under the hash of their content."""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from as2d_core.audio import MAX_FILE_BYTES, MAX_SECONDS, audio_trouble, opened_audio, read_audio, said_frames
from as2d_core.envelope import Envelope, envelope
from as2d_core.errors import AudioError, UnknownNameError, unknown_name
from as2d_core.models.demo_catalog import demo_window, demo_windows
from as2d_core.models.window_index import RecordedWindow
from as2d_core.reading import read_json
from datastore.files import remove_quietly, write_durably
from datastore.locations import Folders

_SUFFIXES = {"WAV": ".wav", "WAVEX": ".wav", "FLAC": ".flac", "OGG": ".ogg", "MP3": ".mp3", "MPEG": ".mp3"}
_NAME_CHARACTERS = 80
_BLOCK_FRAMES = 1 << 18
LONGEST_PICTURE_S = 3600.0
"""Reading an hour of MP3 takes some 15 s once."""

__all__ = ["KeptAudio", "demo_window", "demo_windows", "keep_audio", "kept_audio", "list_windows", "read_envelope"]


@dataclass(frozen=True, slots=True)
class KeptAudio:
    """A file of the user in the uploads folder."""

    file_name: str
    """Name in the uploads folder: hash and type of the content."""
    name: str
    """What the user called it; shown, never used as a path."""
    sha256: str
    """Of the file's bytes."""
    duration_s: float

    @property
    def window_id(self) -> str:
        """Name of this recording among windows."""
        return f"{self.name} ({self.sha256[:8]})"


def list_windows(task: str | None = None, group: str | None = None) -> list[RecordedWindow]:
    """Bundled windows, of one task or group if asked."""
    return [w for w in demo_windows() if task in (None, w.task) and group in (None, w.group)]


def keep_audio(folders: Folders, source: Path | bytes, name: str | None = None) -> KeptAudio:
    """Copy an audio file into the uploads folder, checked by its content. The same content is kept once.

    Args:
        source: the file, or its bytes.
        name: what the user calls it; default: its file name.

    Raises:
        AudioError: it is no audio that can be used; nothing is kept.
        StoreError: it cannot be written.
    """
    shown = _shown(name if name is not None else source.name if isinstance(source, Path) else "upload")
    data = source if isinstance(source, bytes) else _read(source, shown)
    if not data:
        raise AudioError(f"{shown} is empty (0 bytes); record or export it again.")
    if len(data) > MAX_FILE_BYTES:
        raise AudioError(f"{shown} has {len(data) / 1e6:.0f} MB; give a file of at most {MAX_FILE_BYTES / 1e6:.0f} MB.")
    sha256 = hashlib.sha256(data).hexdigest()
    if isinstance(source, Path) and source.parent == folders.uploads:
        for known in kept_audio(folders):
            if known.sha256 == sha256:
                return known  # under the name that the user gave it, not the one it is kept under
    suffix, duration_s = _inspect(data, shown)
    kept = KeptAudio(sha256 + suffix, shown, sha256, duration_s)
    path = folders.uploads / kept.file_name
    if not (path.is_file() and path.stat().st_size == len(data) and path.with_suffix(".json").is_file()):
        folders.create()
        write_durably(path, data)
        try:
            read_audio(path, 0.0, min(duration_s, MAX_SECONDS))
        except AudioError as error:
            remove_quietly(path)
            raise AudioError(str(error).replace(kept.file_name, shown)) from error
        write_durably(path.with_suffix(".json"), (json.dumps(asdict(kept)) + "\n").encode())
    return kept


def kept_audio(folders: Folders) -> list[KeptAudio]:
    """Files of the user that were kept, by name."""
    found = []
    for path in folders.uploads.glob("*.json"):
        try:
            kept = KeptAudio(**read_json(path))
        except (OSError, ValueError, TypeError):
            continue
        if (folders.uploads / kept.file_name).is_file():
            found.append(kept)
    return sorted(found, key=lambda kept: (kept.name, kept.sha256))


def recording_settings(folders: Folders, path: Path) -> dict[str, str] | None:
    """How a notebook names a recording: ``window`` a bundled one, ``audio`` one of the user's; ``None``: not at all."""
    if path.parent == folders.uploads:
        return {"audio": path.name}
    return next(({"window": window.window_id} for window in demo_windows() if window.path == path), None)


def named_recording(folders: Folders, window: str | None = None, audio: str | None = None) -> tuple[Path, str, str]:
    """File, name, and what is said in a bundled recording, by its ``recording_settings``.

    Raises:
        UnknownNameError: it is not here. Recordings of people do not travel with bundles.
    """
    if audio is not None:
        for kept in kept_audio(folders):
            if kept.file_name == audio:
                return folders.uploads / audio, kept.name, ""
        raise UnknownNameError(f"The recording {audio[:60]!r} is not on this computer; take it in on the Request page.")
    windows = {item.window_id: item for item in demo_windows()}
    if window not in windows:
        raise unknown_name("bundled window", window or "", list(windows))
    return windows[window].path, windows[window].window_id, windows[window].reference


def read_envelope(path: Path, columns: int) -> tuple[Envelope, int, int]:
    """Loudness of a whole recording, its samples a second and its channels.

    Raises:
        AudioError: it cannot be read, or is so long that a page would wait for it.
    """
    import soundfile

    try:
        with opened_audio(path) as file:
            rate, channels, frames = file.samplerate, file.channels, file.frames
            if frames > rate * LONGEST_PICTURE_S:
                raise AudioError(f"It lasts {frames / rate / 3600:.1f} h; up to an hour is drawn.")
            blocks = file.blocks(_BLOCK_FRAMES, dtype="float32", always_2d=True)
            return envelope(blocks, frames, columns), rate, channels
    except (soundfile.LibsndfileError, OSError, RuntimeError, ValueError, TypeError) as error:
        raise AudioError(f"{path.name} cannot be drawn ({audio_trouble(error)}); choose it again.") from error


def _read(path: Path, shown: str) -> bytes:
    try:
        if not path.is_file():
            raise AudioError(f"There is no audio file at {ascii(str(path))[1:-1]}.")
        if path.stat().st_size > MAX_FILE_BYTES:
            return b"\0" * (MAX_FILE_BYTES + 1)
        return path.read_bytes()
    except (OSError, ValueError) as error:
        raise AudioError(f"{shown} cannot be read ({getattr(error, 'strerror', None) or error}).") from error


def _inspect(data: bytes, shown: str) -> tuple[str, float]:
    import soundfile

    try:
        with opened_audio(data) as file:
            if not file.frames or not file.samplerate:
                raise AudioError(f"{shown} holds no samples; record or export it again.")
            return _SUFFIXES.get(file.format, ".audio"), said_frames(file, data) / file.samplerate
    except (soundfile.LibsndfileError, RuntimeError, ValueError, TypeError) as error:
        raise AudioError(
            f"{shown} is no audio file that can be read ({audio_trouble(error)}); give WAV, FLAC, OGG or MP3."
        ) from error


def _shown(name: str) -> str:
    """A file name as it can be shown and stored: one line of valid text, not too long, no folders."""
    base = name.replace("\\", "/").rsplit("/", 1)[-1].encode("utf-8", "replace").decode()
    clean = "".join(c if c.isprintable() else "�" for c in base).strip() or "unnamed"
    if len(clean) <= _NAME_CHARACTERS:
        return clean
    return f"{clean[: _NAME_CHARACTERS - 11]}…{clean[-10:]}"
