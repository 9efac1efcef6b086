"""What stands in for a phone where none is attached? A process that speaks the protocol of adb to its server."""

from device_bridge.virtual_phone.handle import VirtualPhone
from device_bridge.virtual_phone.presets import PRESETS, Preset

__all__ = ["PRESETS", "Preset", "VirtualPhone"]
