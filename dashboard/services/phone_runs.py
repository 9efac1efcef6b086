"""How is a phone found that a request should run on, and what happens there before the request does?"""

import threading
from collections.abc import Callable
from dataclasses import replace

from as2d_core.request import Request
from dashboard.services.phone_watch import IDENTITIES
from dashboard.services.phones import greet, phone_of
from datastore.locations import Folders
from device_bridge.adb import KnownPhone, configured_servers, pick_phone
from device_bridge.devices import Limits
from device_bridge.phones import PhoneDevice
from device_bridge.sessions import RunnerCommand
from device_bridge.setup.provision import Provision

LIMITS = Limits(silence_s=600.0)
"""A phone reads models from its storage, and tests at their first use which widths are exact."""


def find_phone(folders: Folders, device_id: str) -> PhoneDevice:
    """The phone of this id, serial or model, as something that runs requests.

    Raises:
        PhoneNotFoundError, AmbiguousPhoneError, UnauthorizedError, OfflineError, AdbServerDownError: as it says.
    """
    entry = pick_phone(configured_servers(), device_id, IDENTITIES)
    greet(entry)
    return phone_device(folders, entry)


def phone_device(folders: Folders, entry: KnownPhone, runner: Callable[[], RunnerCommand] | None = None) -> PhoneDevice:
    """A connected phone as something that runs requests; what they need is brought there first.

    Args:
        runner: starts another runner than the one that setting up places.
    """
    phone = phone_of(entry)
    provision = Provision(phone, folders.phone_bundles)

    def prepare(request: Request, cancel: threading.Event) -> Request:
        there = provision.prepare(request, cancel)
        # Which widths are exact was found on this computer's processor, if it is known at all.
        return replace(there, target=replace(there.target, exact_widths=None))

    return PhoneDevice(phone, entry.name, runner or provision.runner, prepare, LIMITS, entry.id)
