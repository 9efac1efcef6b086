"""``as2d phone virtual`` and ``fault``: a phone where none is attached, and what can go wrong with it."""

import argparse
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from dashboard.cli_output import Answer, command
from dashboard.services.folders import user_folders
from device_bridge.adb import configured_servers
from device_bridge.adb.servers import parse_server
from device_bridge.errors import DeviceError
from device_bridge.virtual_phone import PRESETS, VirtualPhone
from device_bridge.virtual_phone.faults import FAULTS
from device_bridge.virtual_phone.handle import fault_from_outside, usable_virtual_phone
from device_bridge.virtual_phone.presets import preset

NO_ARM64 = "arm64 programs run here only with qemu-user-static, namespaces, and Linux 6.7 or later."
_POLL_S = 0.2


def register(actions: Any) -> None:
    """Add the commands to the group ``phone``."""
    starting = command(
        actions,
        "virtual",
        "start a virtual phone, until Ctrl-C",
        "as2d phone virtual --preset note9",
        "Start a virtual phone that appears at the adb server like any other, with the published properties of a "
        "phone of the paper. It runs programs at the speed of this computer, so that its figures are marked virtual.",
    )
    starting.add_argument("--preset", choices=sorted(PRESETS), default="k70", help="which phone (default: k70)")
    starting.add_argument("--folder", type=Path, metavar="DIR", help="where its files lie (default: beside the runs)")
    starting.add_argument(
        "--server", metavar="HOST:PORT", help="adb server (default: the one that phones are asked of)"
    )
    starting.add_argument("--storage-mb", type=int, metavar="MB", help="size of its storage, kept in memory")
    starting.set_defaults(command=phone_virtual)
    known = "\n".join(f"  {name:20} {what}" for name, what in FAULTS.items())
    failing = command(
        actions,
        "fault",
        "let something go wrong with a virtual phone",
        f"as2d phone fault drop s=5\n\nfaults:\n{known}",
    )
    failing.add_argument("fault", metavar="FAULT", help="see below")
    failing.add_argument("values", nargs="*", metavar="NAME=VALUE", help="what the fault needs")
    failing.add_argument("--preset", choices=sorted(PRESETS), default="k70", help="which phone (default: k70)")
    failing.add_argument("--folder", type=Path, metavar="DIR", help="as given to `as2d phone virtual`")
    failing.set_defaults(command=phone_fault)


def phone_virtual(options: argparse.Namespace) -> Answer:
    """Start it and stay until somebody interrupts."""
    server = parse_server(options.server) if options.server else configured_servers()[0]
    server.ensure()
    folder = _folder(options)
    with usable_virtual_phone(folder, server, options.preset, options.storage_mb) as phone:
        phone.wait_ready()
        name = preset(options.preset).name
        jail = (
            "" if phone.reason is None else f" This computer forbids namespaces ({phone.reason}), so it is not jailed."
        )
        arm64 = "" if phone.runs_arm64 else f" It cannot be set up: {NO_ARM64}"
        print(
            f"The virtual {name} is {phone.serial} at {server}.{jail}{arm64} Ctrl-C ends it.",
            file=sys.stderr,
            flush=True,
        )
        if _until_told_to_end(phone):
            return Answer({"serial": phone.serial, "isolation": phone.isolation, "folder": folder}, "It has ended.")
    raise DeviceError("The virtual phone ended by itself.", f"What it said is in {folder / 'phone.log'}.")


def _until_told_to_end(phone: VirtualPhone) -> bool:
    """Wait; returns whether somebody told us to end, and not the phone itself did."""
    told = threading.Event()
    # Set even where an interrupt was ignored so far, as it is for what a shell has put into the background.
    before = {number: signal.signal(number, lambda *_: told.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        while phone.alive:
            if told.wait(_POLL_S):
                return True
        return False
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def phone_fault(options: argparse.Namespace) -> Answer:
    """Let the fault happen."""
    values: dict[str, Any] = {}
    for given in options.values:
        name, equals, value = given.partition("=")
        if not equals:
            raise DeviceError(f"{given!r} is no value of a fault.", "Write it as name=value, like s=5.")
        values[name] = value
    fault_from_outside(_folder(options), options.fault, **values)
    return Answer({"fault": options.fault, "values": values}, f"Done: {' '.join([options.fault, *options.values])}.")


def _folder(options: argparse.Namespace) -> Path:
    return (options.folder or user_folders().root / "virtual-phones" / options.preset / "command").absolute()
