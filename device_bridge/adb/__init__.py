"""How do we talk to a phone? Over an adb server, with a deadline on every wait and a type for every failure."""

from device_bridge.adb.commands import command, script
from device_bridge.adb.identity import Identities, KnownPhone, Route, pick_phone
from device_bridge.adb.phone import AdbPhone, Output
from device_bridge.adb.servers import AdbServer, PhoneEntry, configured_servers, list_phones
from device_bridge.adb.tracking import Seen, Tracker

__all__ = [
    "AdbPhone",
    "AdbServer",
    "Identities",
    "KnownPhone",
    "Output",
    "PhoneEntry",
    "Route",
    "Seen",
    "Tracker",
    "command",
    "configured_servers",
    "list_phones",
    "pick_phone",
    "script",
]
