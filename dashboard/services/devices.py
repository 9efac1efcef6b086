"""What can a request run on, and what is it doing?"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from as2d_core.errors import UnknownNameError
from as2d_core.runner.device import VIRTUAL_SUFFIX, device_facts, unit_of
from dashboard.services.workspace import Workspace
from datastore.queries import RunFilter, RunRow, list_runs
from datastore.run_row import device_key
from device_bridge.facts import PhoneFacts
from device_bridge.jobs import Job
from device_bridge.local import THIS_COMPUTER

HISTORY_ROWS = 200
"""So many of the newest runs are looked through for those of one device."""


@dataclass(frozen=True, slots=True)
class DeviceStatus:
    """One device as a table shows it."""

    id: str
    name: str
    kind: str
    """``computer`` or ``phone``."""
    job: Job | None
    """What it runs now."""
    facts: Mapping[str, Any]
    """What is known about it: processor, cores, memory, system. Empty for a phone: its card asks for them."""
    key: str
    """Its name across runs, as the store keeps it."""


def list_devices(workspace: Workspace) -> list[DeviceStatus]:
    """All devices, in the order in which they became known; this computer is the first."""
    here = device_facts()
    found = []
    for device in workspace.jobs.devices():
        job = workspace.jobs.active(device.id)
        if device.outlives:
            found.append(DeviceStatus(device.id, device.name, "phone", job, {}, device.name))
        else:
            found.append(DeviceStatus(device.id, device.name, "computer", job, here, device_key(here)))
    return found


def device_history(workspace: Workspace, keys: Collection[str], limit: int = 4) -> list[RunRow]:
    """Newest runs that ran on a device, by its key or its name in them; calibrations among them, replays not."""
    try:
        rows = list_runs(workspace.store, RunFilter(labels=("measured",)), limit=HISTORY_ROWS)
    except UnknownNameError:
        return []  # nothing was ever measured here
    return [row for row in rows if row.device_key in keys or row.device_name in keys][:limit]


def phone_key(facts: PhoneFacts) -> str:
    """The name of a phone across its runs, from what it says of itself; see ``run_row.device_key``."""
    name = facts.value("name") or facts.value("model")
    named = f"{name}{VIRTUAL_SUFFIX}" if name and facts.value("virtual") else name
    serial = facts.value("serial")
    return device_key({"name": named, "unit": unit_of(None if serial is None else str(serial))})


def find_device(workspace: Workspace, device_id: str = THIS_COMPUTER) -> DeviceStatus:
    """One device.

    Raises:
        UnknownDeviceError: there is none of this id.
    """
    workspace.jobs.device(device_id)
    return next(device for device in list_devices(workspace) if device.id == device_id)
