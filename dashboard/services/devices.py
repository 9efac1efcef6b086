"""What can a request run on, and what is it doing?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from as2d_core.runner.device import device_facts
from dashboard.services.workspace import Workspace
from datastore.run_row import device_key
from device_bridge.jobs import Job
from device_bridge.local import THIS_COMPUTER


@dataclass(frozen=True, slots=True)
class DeviceStatus:
    """One device as a table shows it."""

    id: str
    name: str
    kind: str
    """``computer``."""
    job: Job | None
    """What it runs now."""
    facts: Mapping[str, Any]
    """What is known about it: processor, cores, memory, system."""
    key: str
    """Its name across runs, as the store keeps it."""


def list_devices(workspace: Workspace) -> list[DeviceStatus]:
    """All devices."""
    facts = device_facts()
    return [
        DeviceStatus(device.id, device.name, "computer", workspace.jobs.active(device.id), facts, device_key(facts))
        for device in workspace.jobs.devices()
    ]


def find_device(workspace: Workspace, device_id: str = THIS_COMPUTER) -> DeviceStatus:
    """One device.

    Raises:
        UnknownDeviceError: there is none of this id.
    """
    workspace.jobs.device(device_id)
    return next(device for device in list_devices(workspace) if device.id == device_id)
