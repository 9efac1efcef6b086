"""``as2d phone connect`` and ``pair``: a phone over the air, where no ``adb`` program is on the path."""

import argparse
from typing import Any

from dashboard.cli_output import Answer, command
from dashboard.services.phones import connect_phone, pair_phone


def register(actions: Any) -> None:
    """Add the commands to the group ``phone``."""
    connecting = command(
        actions,
        "connect",
        "connect a phone over the network",
        "as2d phone connect 10.0.0.7:5555",
        "Let the adb server connect a phone over the network, at the address that Wireless debugging shows, or at port "
        "5555 after `adb tcpip 5555`.",
    )
    connecting.add_argument("address", metavar="HOST:PORT")
    connecting.set_defaults(command=phone_connect)
    pairing = command(
        actions,
        "pair",
        "pair with a phone over the network, once, before it is connected (Android 11 and later)",
        "as2d phone pair 10.0.0.7:37213 123456",
        "Pair with a phone that shows an address and a code under 'Pair device with pairing code'; then connect it, at "
        "the other address that Wireless debugging shows.",
    )
    pairing.add_argument("address", metavar="HOST:PORT")
    pairing.add_argument("code", metavar="CODE", help="the six digits that the phone shows")
    pairing.set_defaults(command=phone_pair)


def phone_connect(options: argparse.Namespace) -> Answer:
    """Connect."""
    serial = connect_phone(options.address)
    return Answer({"serial": serial}, f"The phone at {serial} is connected; what it is: as2d devices")


def phone_pair(options: argparse.Namespace) -> Answer:
    """Pair."""
    pair_phone(options.address, options.code)
    return Answer({"paired": options.address}, "Paired. Now connect it: as2d phone connect HOST:PORT")
