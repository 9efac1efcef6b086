"""Which models can be chosen? The bundled models, and folders of the user, described and tried before use."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from as2d_core.errors import ModelError, UnknownNameError, unknown_name
from as2d_core.models.demo_catalog import DRAFTER, LIGHT, TARGET
from as2d_core.models.folder import ModelInfo, check_pair, describe_model
from as2d_core.models.probe import Probe, probe_model
from as2d_core.reading import read_json
from dashboard.services.settings import Settings, change_settings, read_settings
from datastore.files import move_durably, write_durably
from datastore.locations import Folders
from datastore.lock import turn

REGISTRY_FILE = "registry.json"
BUNDLED_SOURCE = "as2d_core/models/demo"
"""Where the bundled models lie in the repository."""
BUNDLED = {"demo-target": TARGET, "demo-drafter": DRAFTER, "demo-light": LIGHT}


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """One model that can be chosen."""

    id: str
    path: Path
    bundled: bool
    info: ModelInfo | None
    """``None`` when the folder is no usable model any more."""
    probe: Probe | None
    """How it did when it was last tried, with exactly these files and this MNN; ``None`` = not tried."""
    problem: str | None
    """A sentence when it cannot be used."""


@dataclass(frozen=True, slots=True)
class _Registry:
    folders: dict[str, str]
    """Path by model id."""
    probes: dict[str, dict[str, Any]]
    """By model hash and MNN version."""


def list_models(folders: Folders) -> list[ModelEntry]:
    """The bundled models, then the user's folders in the order they were added."""
    registry = _read(folders)
    bundled = [_entry(name, path, registry) for name, path in BUNDLED.items()]
    return bundled + [_entry(name, Path(path), registry) for name, path in registry.folders.items()]


def selectable_models(folders: Folders, settings: Settings) -> list[ModelEntry]:
    """The same, and behind them the models that the settings name although they are on no list (a folder by its path).

    One that is not there any more is among them, too, with its sentence: nobody gets another model in its place.
    """
    found = list_models(folders)
    known = {entry.id for entry in found}
    return found + [
        _named(folders, name) for name in dict.fromkeys((settings.target, settings.drafter)) if name not in known
    ]


@dataclass(frozen=True, slots=True)
class ModelProblem:
    """Why a request cannot run with the models that are chosen for it."""

    sentence: str
    advice: str
    """What to do."""
    demo_usable: bool
    """Whether the demo models could take their place."""


def model_problem(folders: Folders, target: str, drafter: str | None) -> ModelProblem | None:
    """What is wrong with a pair of models, as far as their files tell; ``None``: nothing is.

    Args:
        target, drafter: ids or paths; without a drafter, none is needed.
    """
    for role, name in (("target", target), *([] if drafter is None else [("drafter", drafter)])):
        entry = _named(folders, name)
        if entry.problem is None:
            continue
        others = "choose others: for one request on the Request page, for all with `as2d models default`."
        advice = f"Put its folder back, or {others}"
        if entry.bundled:
            advice = (
                "The demo models come with this program: install it again (from a copy of the repository: "
                f"git restore {BUNDLED_SOURCE}), or {others}"
            )
        demo = all(_named(folders, bundled).problem is None for bundled in asdict(Settings()).values())
        return ModelProblem(f"The {role} {name} cannot be used: {entry.problem}", advice, demo)
    return None


def add_model(folders: Folders, folder: Path) -> ModelEntry:
    """Describe a folder, try it in a child process, and keep it among the models. Twice is once.

    Raises:
        ModelError: it is no model that runs here; it is not kept.
        StoreError: the list of models cannot be written.
    """
    path = folder.expanduser().absolute()
    check_model(folders, path)
    with _changing(folders) as registry:
        known = next((name for name, at in registry.folders.items() if Path(at) == path), None)
        if known is None:
            known = _free_id(path.name, {*BUNDLED, *registry.folders})
            registry.folders[known] = str(path)
    return _entry(known, path, registry)


def remove_model(folders: Folders, name: str) -> Path:
    """Take a model off the list; its files stay where they are. Returns where that is.

    Raises:
        ModelError: it is one of the bundled models.
        UnknownNameError: there is none of this id or path.
    """
    if name in BUNDLED:
        raise ModelError(f"{name} comes with the program and cannot be removed.")
    wanted = Path(name).expanduser().absolute()
    with _changing(folders) as registry:
        for known, path in registry.folders.items():
            if known == name or Path(path) == wanted:
                del registry.folders[known]
                return Path(path)
        raise unknown_name("model", name, list(registry.folders))


def check_model(folders: Folders, folder: Path) -> Probe:
    """Try a model in a child process, whatever is known about it, and remember the outcome.

    Raises:
        ModelError: a sentence about what is wrong with it.
    """
    probe = probe_model(folder)
    with _changing(folders) as registry:
        registry.probes[_probe_key(probe.sha256, probe.mnn_version)] = asdict(probe)
    return probe


def resolve_model(folders: Folders, name: str) -> Path:
    """Folder of a model, by its id or its path.

    Raises:
        UnknownNameError: there is none of this id, and no such folder.
        ModelError: the name cannot be written down as text.
    """
    if name in BUNDLED:
        return BUNDLED[name]
    registered = _read(folders).folders
    if name in registered:
        return Path(registered[name])
    path = Path(name).expanduser().absolute()
    try:
        name.encode()
        found = path.is_dir()
    except (UnicodeEncodeError, ValueError, OSError):
        raise ModelError(f"The folder {name!a} has a name that cannot be kept; rename it.") from None
    if found or "/" in name or "\\" in name:
        return path
    raise unknown_name("model", name, [*BUNDLED, *registered])


def usable_model(folders: Folders, name: str) -> ModelInfo:
    """A model that is known to run here: one that was not tried yet, with exactly these files, is tried now.

    Raises:
        ModelError, UnknownNameError: a sentence about what is wrong with it.
    """
    path = resolve_model(folders, name)
    info = describe_model(path)
    if path not in BUNDLED.values() and _probe_key(info.sha256, mnn_version()) not in _read(folders).probes:
        check_model(folders, path)
    return info


def choose_default_models(folders: Folders, **chosen: str) -> Settings:
    """The models that are used when none is named, by role (``target``, ``drafter``); kept when they run as a pair.

    Raises:
        ModelError, UnknownNameError: a sentence about what is wrong with them; nothing is changed.
        StoreError: the choice cannot be written.
    """
    paths = {role: name if name in BUNDLED else str(_kept_name(folders, name)) for role, name in chosen.items()}
    wanted = asdict(read_settings(folders)) | paths
    check_pair(usable_model(folders, wanted["target"]), usable_model(folders, wanted["drafter"]))
    return change_settings(folders, **paths)


def mnn_version() -> str:
    """Version of the MNN that is installed here, found without loading it."""
    try:
        return version("MNN")
    except PackageNotFoundError:
        return ""


def created_now() -> str:
    """Time of day for what is written beside the store, UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _named(folders: Folders, name: str) -> ModelEntry:
    """A model by its id or its path, also one that is not there."""
    try:
        return _entry(name, resolve_model(folders, name), _read(folders))
    except (ModelError, UnknownNameError) as error:
        return ModelEntry(name, Path(name), False, None, None, str(error))


def _entry(name: str, path: Path, registry: _Registry) -> ModelEntry:
    bundled = name in BUNDLED
    try:
        info = describe_model(path)
    except ModelError as error:
        return ModelEntry(name, path, bundled, None, None, str(error))
    kept = registry.probes.get(_probe_key(info.sha256, mnn_version()))
    try:
        probe = None if kept is None else Probe(**kept)
    except TypeError:
        probe = None  # written by another version of this program
    return ModelEntry(name, path, bundled, info, probe, None)


def _kept_name(folders: Folders, name: str) -> str | Path:
    """An id stays an id; a path becomes one that means the same from every folder."""
    return name if name in _read(folders).folders else resolve_model(folders, name)


def _probe_key(sha256: str, mnn: str) -> str:
    return f"{sha256} {mnn}"


def _free_id(name: str, taken: set[str]) -> str:
    name = "".join(c for c in name if c.isprintable()) or "model"
    number = 1
    while (candidate := name if number == 1 else f"{name}-{number}") in taken:
        number += 1
    return candidate


def _read(folders: Folders) -> _Registry:
    try:
        return _parsed(folders)
    except (OSError, ValueError):
        return _Registry({}, {})


def _parsed(folders: Folders) -> _Registry:
    """The list as it is kept; ``OSError`` or ``ValueError`` when it cannot be read."""
    kept = read_json(folders.models / REGISTRY_FILE)
    if not isinstance(kept, dict):
        raise ValueError("it is no list of models")
    paths, probes = kept.get("folders"), kept.get("probes")
    if not (isinstance(paths, dict) and all(isinstance(path, str) for path in paths.values())):
        raise ValueError("it is no list of models")
    if not (isinstance(probes, dict) and all(isinstance(probe, dict) for probe in probes.values())):
        raise ValueError("it is no list of models")
    return _Registry(paths, probes)


@contextmanager
def _changing(folders: Folders) -> Iterator[_Registry]:
    """The list, written when the block ends well; nobody else changes it meanwhile. A damaged one is set aside."""
    folders.create()
    path = folders.models / REGISTRY_FILE
    with turn(path):
        try:
            registry = _parsed(folders)
        except FileNotFoundError:
            registry = _Registry({}, {})
        except (OSError, ValueError):
            registry = _Registry({}, {})
            move_durably(path, path.with_name(f"{path.stem}.damaged-{time.time_ns()}{path.suffix}"))
        before = json.dumps(asdict(registry), indent=1)
        yield registry
        after = json.dumps(asdict(registry), indent=1)
        if after != before:
            write_durably(path, f"{after}\n".encode())
