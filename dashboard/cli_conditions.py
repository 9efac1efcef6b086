"""What a measured run waits for, as arguments of commands (Appendix D.2.3)."""

import argparse
from math import isfinite

from as2d_core.errors import RequestError
from as2d_core.gates import Gates

_USUAL = Gates()


def add_limits(parser: argparse.ArgumentParser) -> None:
    """The limits of ``limits``."""
    parser.add_argument(
        "--rest", metavar="S", type=float, help=f"rest before an episode (default: {_USUAL.rest_s:g} s)"
    )
    parser.add_argument("--ceiling-mhz", metavar="MHZ", type=float, help="least frequency ceiling that is waited for")
    parser.add_argument("--ceiling-core", metavar="N", type=int, help="core of --ceiling-mhz (default: the fastest)")
    parser.add_argument(
        "--max-battery", metavar="C", type=float, help=f"warmest battery (default: {_USUAL.max_battery_c:g} °C)"
    )


def limits(options: argparse.Namespace) -> Gates:
    """What they ask for.

    Raises:
        RequestError: a limit is none.
    """
    core, mhz, celsius = options.ceiling_core, options.ceiling_mhz, options.max_battery
    if core is not None and (mhz is None or core < 0):
        raise RequestError(f"--ceiling-core {core} says where --ceiling-mhz MHZ must hold; give both, cores from 0 on.")
    for name, value in (("--ceiling-mhz", mhz), ("--max-battery", celsius)):
        if value is not None and not isfinite(value):
            raise RequestError(f"{name} is {value:g}; give a number.")
    return Gates(
        rest_s=_USUAL.rest_s if options.rest is None else options.rest,
        ceiling_mhz=mhz,
        ceiling_core=core,
        max_battery_c=_USUAL.max_battery_c if celsius is None else celsius,
    )


def add_gates(parser: argparse.ArgumentParser) -> None:
    """The same for runs that begin at once unless conditions are asked for."""
    parser.add_argument(
        "--gates",
        action="store_true",
        help="wait for the conditions of a measured episode before each run: rest, all cores on-line, a cool battery",
    )
    add_limits(parser)


def gates(options: argparse.Namespace) -> Gates | None:
    """What each run waits for; ``None`` = it begins at once. A limit alone asks for the rest, too."""
    given = (options.rest, options.ceiling_mhz, options.ceiling_core, options.max_battery)
    return limits(options) if options.gates or any(value is not None for value in given) else None
