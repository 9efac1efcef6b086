"""Which virtual phones did this program start? They live as long as it does, or until they are stopped."""

import threading
from dataclasses import dataclass
from pathlib import Path

from dashboard.services.workspace import Workspace
from datastore.locations import Folders
from device_bridge.adb import AdbServer, KnownPhone, configured_servers
from device_bridge.errors import VirtualPhoneError
from device_bridge.virtual_phone import VirtualPhone
from device_bridge.virtual_phone.handle import usable_virtual_phone
from device_bridge.virtual_phone.presets import PRESETS

MOST = 4
_started: dict[str, VirtualPhone] = {}
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class VirtualPreset:
    """A phone that can be imitated."""

    id: str
    name: str


def virtual_presets() -> tuple[VirtualPreset, ...]:
    """The published phones, by their names."""
    return tuple(VirtualPreset(preset.id, preset.name) for preset in PRESETS.values())


def start_virtual_phone(workspace: Workspace, preset_id: str, server: AdbServer | None = None) -> str:
    """Start one at an adb server, which is started too when it belongs on this computer; returns its connection's id.

    Raises:
        VirtualPhoneError: it cannot be started, or there are too many.
        DeviceError: there is no adb server.
    """
    chosen = server or configured_servers()[0]
    chosen.ensure()
    with _lock:
        for phone_id in [i for i, phone in _started.items() if not phone.alive]:
            del _started[phone_id]
        if len(_started) >= MOST:
            raise VirtualPhoneError(f"{MOST} virtual phones run already.", "Stop one of them first.")
        root = _root(workspace.folders, preset_id)
        phone = usable_virtual_phone(root, chosen, preset_id)
        _started[chosen.phone_id(phone.serial)] = phone
    phone.wait_ready()
    workspace.phones.look_again()
    return chosen.phone_id(phone.serial)


def is_ours(phone: KnownPhone) -> bool:
    """Whether this program started it and can stop it."""
    return any(found.alive for name in phone.names if (found := _started.get(name)) is not None)


def stop_virtual_phone(phone: KnownPhone) -> None:
    """Stop one that this program started; nothing happens to any other."""
    with _lock:
        found = [_started.pop(name) for name in phone.names if name in _started]
    for started in found:
        started.close()


def _root(folders: Folders, preset_id: str) -> Path:
    """A folder that no running virtual phone uses: what lies on a phone stays there when it is started again."""
    used = {phone.root for phone in _started.values()}
    base = folders.root / "virtual-phones" / preset_id
    return next(base / str(n) for n in range(1, MOST + 2) if base / str(n) not in used)
