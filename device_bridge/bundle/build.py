"""Where is the bundle for phones? In the cache under the hash of what it holds; it is made when it is not there."""

import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import as2d_core
from as2d_core.reading import read_json
from device_bridge.bundle.archive import LIST, content_id, list_files, pack
from device_bridge.bundle.assemble import assemble, find_python
from device_bridge.bundle.debian import debian_python
from device_bridge.bundle.errors import BundleError
from device_bridge.bundle.trial import try_bundle
from device_bridge.bundle.wheels import download_wheels, given_wheels, unpack_wheels, wanted_wheels

RECIPE = 1
"""Raised when the same ingredients would make another bundle."""
ARCHIVE, ABOUT, CURRENT = "files.tar.gz", "about.json", "current.json"
_NOT_FOR_PHONES = ("demo", "data", "__pycache__")
"""Folders of as2d_core that stay here: demo models and windows, recorded trajectories."""
_SCRATCH = ("build", "core", "pack", "export")
"""Beginnings of the names of folders in which something is put together."""
_LONGEST_BUILD_S = 86_400.0


@dataclass(frozen=True, slots=True)
class Package:
    """An archive for phones: a runtime, or the package as2d_core."""

    id: str
    """Hash of what it holds; the name of its folder on a phone."""
    archive: Path
    """A tar file, compressed with gzip, which every phone can unpack."""
    archive_bytes: int
    archive_sha256: str
    unpacked_bytes: int
    files: int
    versions: dict[str, str]
    """Names and versions of the parts."""
    tried: bool
    """Whether it was started once on an arm64 processor, real or emulated, before it was packed."""

    @property
    def listing(self) -> Path:
        """``sha256sum``'s list of the files in the archive."""
        return self.archive.with_name(LIST)


def ensure_runtime(cache: Path, say: Callable[[str], None] = lambda _: None) -> Package:
    """The runtime that was built last, if it fits this program; else a new one from the registries.

    Raises:
        BundleError: it cannot be built.
    """
    return current_runtime(cache) or build_runtime(cache, say=say)


def current_runtime(cache: Path) -> Package | None:
    """The runtime that was built last; ``None`` if there is none, or it is damaged, or made for another MNN."""
    try:
        current = read_json(cache / CURRENT)
        if current["recipe"] != _recipe():
            return None
        return _kept(cache / str(current["id"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def build_runtime(
    cache: Path,
    python_folders: Sequence[Path] = (),
    wheels_folder: Path | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Package:
    """Build the runtime: arm64 CPython, MNN, numpy and what else the runner imports.

    Args:
        cache: where it is kept, under the hash of its content.
        python_folders: unpacked folders that hold an arm64 Python and glibc; default: from apt.
        wheels_folder: wheels; default: from pip.
        say: told what is being done.

    Raises:
        BundleError: a sentence on what is missing or failed.
    """
    given = given_wheels(wheels_folder) if wheels_folder else None  # before anything is downloaded
    _create(cache)
    with tempfile.TemporaryDirectory(prefix="build-", dir=cache) as scratch_name:
        scratch = Path(scratch_name)
        roots = [folder.expanduser() for folder in python_folders] or [debian_python(scratch / "apt", say)]
        python = find_python(roots)
        wheels = given or download_wheels(scratch / "wheels", python.version, python.glibc, say)
        unpack_wheels(wheels, scratch / "site")
        folder = scratch / "bundle"
        assemble(python, scratch / "site", folder, say)
        versions = {
            "python": ".".join(map(str, python.version)),
            "glibc": ".".join(map(str, python.glibc)),
            **{wheel.name.split("-")[0].casefold(): wheel.name.split("-")[1] for wheel in wheels},
        }
        (folder / ABOUT).write_text(json.dumps(versions, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        say("Trying whether the bundle starts.")
        tried = try_bundle(folder)
        package = _keep(folder, cache, versions, bool(tried), say)
    _write(cache / CURRENT, {"id": package.id, "recipe": _recipe()})
    return package


def pack_core(cache: Path, source: Path | None = None) -> Package:
    """The package as2d_core of this program, without demo models and recorded data.

    Raises:
        BundleError: the cache cannot be written.
    """
    source = source or Path(as2d_core.__file__).resolve().parent
    _create(cache)
    with tempfile.TemporaryDirectory(prefix="core-", dir=cache) as scratch_name:
        folder = Path(scratch_name) / "core"
        shutil.copytree(source, folder / source.name, ignore=shutil.ignore_patterns(*_NOT_FOR_PHONES))
        return _keep(folder, cache, {"as2d": as2d_core.__version__}, tried=False, say=lambda _: None)


def export(runtime: Package, core: Package, target: Path, say: Callable[[str], None] = lambda _: None) -> None:
    """Write runtime and core together into one file that can be carried to a phone by hand.

    Args:
        target: its suffix says how it is compressed: ``.tar.xz`` (smallest), ``.tar.gz`` or ``.tar``.

    Raises:
        BundleError: it cannot be written, or the suffix is none of these.
    """
    check_export(target)
    with tempfile.TemporaryDirectory(prefix="export-", dir=runtime.archive.parent.parent) as scratch_name:
        folder = Path(scratch_name)
        for package, part in ((runtime, "."), (core, "core")):
            shutil.unpack_archive(package.archive, folder / part, "gztar", filter="data")
        pack(folder, target.absolute(), say)


def check_export(target: Path) -> None:
    """Whether ``export`` could write there; asked before a bundle is built, which takes minutes.

    Raises:
        BundleError: it could not.
    """
    if not target.name.endswith((".tar.xz", ".tar.gz", ".tar")):
        raise BundleError(f"{target} has none of the endings .tar.xz, .tar.gz and .tar.", "Choose one of them.")
    if target.is_dir():
        raise BundleError(f"{target} is a folder.", "Give the name of a file.")
    above = next(folder for folder in target.absolute().parents if folder.exists())
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise BundleError(f"{target} cannot be written: nothing can be made in {above}.", "Choose another place.")


def _recipe() -> str:
    return f"{RECIPE} {' '.join(wanted_wheels())}"


def _keep(folder: Path, cache: Path, versions: dict[str, str], tried: bool, say: Callable[[str], None]) -> Package:
    """Pack a folder under the hash of its content, unless that is there already."""
    listing = list_files(folder)
    place = cache / content_id(listing)
    known = _kept(place)
    if known is not None:
        return known
    sizes = [file.stat().st_size for file in folder.rglob("*") if file.is_file()]
    with tempfile.TemporaryDirectory(prefix="pack-", dir=cache) as scratch_name:
        fresh = Path(scratch_name) / "fresh"
        pack(folder, fresh / ARCHIVE, say)
        (fresh / LIST).write_text(listing, encoding="utf-8", newline="\n")
        with (fresh / ARCHIVE).open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        package = Package(
            place.name,
            place / ARCHIVE,
            (fresh / ARCHIVE).stat().st_size,
            digest,
            sum(sizes),
            len(sizes),
            versions,
            tried,
        )
        _write(fresh / ABOUT, {**asdict(package), "archive": ARCHIVE})
        shutil.rmtree(place, ignore_errors=True)  # a damaged one
        try:
            fresh.rename(place)
        except OSError as error:
            if _kept(place) is None:  # somebody else may have made the same at the same time
                raise BundleError(f"The bundle cannot be kept in {place} ({error}).", "Free some space.") from error
    return package


def _kept(place: Path) -> Package | None:
    """What lies in the cache, if it is whole."""
    try:
        about = read_json(place / ABOUT)
        package = Package(**{**about, "archive": place / ARCHIVE})
        with package.archive.open("rb") as stream:
            whole = hashlib.file_digest(stream, "sha256").hexdigest() == package.archive_sha256
        return package if whole and package.listing.is_file() else None
    except (OSError, ValueError, TypeError):
        return None


def _create(cache: Path) -> None:
    try:
        cache.mkdir(parents=True, exist_ok=True)
        long_ago_s = time.time() - _LONGEST_BUILD_S
        for left in (folder for name in _SCRATCH for folder in cache.glob(f"{name}-*")):
            if left.stat().st_mtime < long_ago_s:  # of a program that was killed while it built
                shutil.rmtree(left, ignore_errors=True)
    except OSError as error:
        raise BundleError(f"The folder {cache} cannot be made ({error}).", "Choose another data folder.") from error


def _write(path: Path, body: dict[str, object]) -> None:
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_text(json.dumps(body, indent=1) + "\n", encoding="utf-8")
        part.replace(path)
    except OSError as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise BundleError(f"{path} cannot be written ({error}).", "Free some space.") from error
