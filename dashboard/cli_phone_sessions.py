"""``as2d phone sessions`` and ``cancel``: which runners are on a phone, and how is one ended?"""

import argparse
from typing import Any

from dashboard.cli_output import Answer, command, table
from dashboard.services.folders import incoming_folder, user_folders
from dashboard.services.phone_watch import IDENTITIES
from dashboard.services.phones import forget_left_jobs, phone_of
from device_bridge.adb import AdbPhone, KnownPhone, configured_servers, pick_phone
from device_bridge.errors import DeviceError
from device_bridge.sessions import FoundSession, end_session, find_sessions


def register(actions: Any) -> None:
    """Add the commands to the group ``phone``."""
    listing = command(actions, "sessions", "list the runners on a phone, of any program", "as2d phone sessions")
    _add_phone(listing)
    listing.set_defaults(command=phone_sessions)
    ending = command(
        actions,
        "cancel",
        "end a runner on a phone, with everything it has started",
        "as2d phone cancel s20260915-101500-3f2a9c01",
        "End one runner (or all, without a name) and remove its files. What a run of this computer has sent so far "
        "is kept as an incomplete run.",
    )
    _add_phone(ending)
    ending.add_argument("session", metavar="SESSION", nargs="?", help="as `as2d phone sessions` names it; default: all")
    ending.set_defaults(command=phone_cancel)


def phone_sessions(options: argparse.Namespace) -> Answer:
    """What lies there, and what of it is at work."""
    _, _, found = _found(options.phone)
    if not found:
        return Answer({"sessions": []}, "No runner is on the phone.")
    rows = [(s.id, _state(s), f"{s.size_bytes / 1e6:.1f} MB", s.about.get("host", "n/a")) for s in found]
    return Answer({"sessions": found}, table(["session", "state", "written", "started by"], rows))


def phone_cancel(options: argparse.Namespace) -> Answer:
    """End them."""
    entry, phone, found = _found(options.phone)
    ids = [session.id for session in found]
    if options.session and options.session not in ids:
        others = f"There are: {', '.join(ids)}." if ids else "No runner is there."
        raise DeviceError(f"There is no session {options.session!r} on the phone.", others)
    ended = [options.session] if options.session else ids
    for session_id in ended:
        end_session(phone, session_id)
    # Who ends what runs there does not want a later command to begin it anew.
    jobs = forget_left_jobs(incoming_folder(user_folders()), entry.id)
    lines = [f"Ended: {', '.join(ended)}." if ended else "No runner is on the phone."]
    lines += [f"The job {title!r}, left running there, is not gone on with." for title in jobs]
    return Answer({"ended": ended, "jobs": jobs}, "\n".join(lines))


def _add_phone(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--phone", metavar="PHONE", help="id, serial, model or name; not needed when there is only one")


def _found(wanted: str | None) -> tuple[KnownPhone, AdbPhone, list[FoundSession]]:
    entry = pick_phone(configured_servers(), wanted, IDENTITIES)
    phone = phone_of(entry)
    return entry, phone, find_sessions(phone)


def _state(session: FoundSession) -> str:
    if not session.alive:
        return "ended"
    return "at work" if session.busy else "waits"
