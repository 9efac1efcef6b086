"""What should be on a phone? The runtime, the core and the models that this program would use now."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from as2d_core.errors import ModelError
from as2d_core.models.folder import ModelInfo, check_pair, describe_model
from device_bridge.bundle.build import Package, current_runtime, pack_core
from device_bridge.setup.layout import core_folder, model_folder, runtime_folder
from device_bridge.setup.memory import memory_need

SPARE_BYTES = 64 << 20
"""Room on the phone for the streams of runs."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What this program would run on a phone."""

    runtime: Package | None
    """``None``: none has been built on this computer yet."""
    core: Package
    models: tuple[ModelInfo, ...]
    """Target, then drafter; both are loaded at the same time."""

    @property
    def runtime_folder(self) -> str | None:
        return None if self.runtime is None else runtime_folder(self.runtime.id)

    @property
    def core_folder(self) -> str:
        return core_folder(self.core.id)

    @property
    def model_folders(self) -> tuple[str, ...]:
        return tuple(model_folder(info.sha256) for info in self.models)

    @property
    def memory_bytes(self) -> int:
        """What the models need while they run, an upper estimate."""
        return memory_need(list(self.models)).total


def wanted_now(cache: Path, models: Sequence[Path]) -> Wanted:
    """What a phone needs to run these models.

    Args:
        cache: folder of the bundles on this computer.
        models: folders on this computer: a target, or a target and a drafter.

    Raises:
        ModelError: a folder holds no audio language model, or the two are no pair.
        BundleError: the cache cannot be written.
    """
    infos = tuple(describe_model(folder) for folder in models)
    if len(infos) == 2:
        check_pair(*infos)
    return Wanted(current_runtime(cache), pack_core(cache), infos)


def check_fits(wanted: Wanted, available_bytes: int | None, phone_name: str) -> None:
    """Refuse models that would not fit into the memory of the phone together with their caches.

    Args:
        available_bytes: what the phone could give now; ``None`` = unknown, and nothing is refused.

    Raises:
        ModelError: they would not.
    """
    if available_bytes is None or wanted.memory_bytes <= available_bytes:
        return
    names = " and ".join(info.name for info in wanted.models)
    raise ModelError(
        f"{names} need about {wanted.memory_bytes / 1e9:.1f} GB of memory with their caches, and {phone_name} has "
        f"{available_bytes / 1e9:.1f} GB available; close apps on the phone, or choose smaller models."
    )
