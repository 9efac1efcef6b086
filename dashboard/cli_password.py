"""``as2d password``: what the dashboard asks other computers for."""

import argparse
import sys
from typing import Any

from dashboard.cli_output import Answer, command
from dashboard.services.folders import user_folders
from dashboard.services.password import asked_for, remove_password, set_password

DESCRIPTION = """Set the password that a dashboard asks for when other computers can reach it.

By default nothing but this computer can, and no password is asked. With
  STREAMLIT_SERVER_ADDRESS=0.0.0.0 make dashboard
others can, once there is a password. Only its salted hash is kept, in the data folder."""


def register(commands: Any) -> None:
    """Add the command."""
    parser = command(commands, "password", "set the dashboard's password", "as2d password", DESCRIPTION)
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--stdin", action="store_true", help="read it from standard input, for scripts")
    how.add_argument("--remove", action="store_true", help="forget it")
    parser.set_defaults(command=password)


def password(options: argparse.Namespace) -> Answer:
    """Set or forget it."""
    folders = user_folders()
    if options.remove:
        there = remove_password(folders)
        return Answer({"removed": there}, "The password is forgotten." if there else "There was no password.")
    set_password(folders, sys.stdin.readline().rstrip("\r\n") if options.stdin else asked_for())
    return Answer({"set": True}, "The password is set; a dashboard that runs already asks for it after a restart.")
