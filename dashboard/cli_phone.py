"""``as2d phone``: make a phone ready, find out why it is not, and leave it as it was."""

import argparse
from pathlib import Path
from typing import Any

from as2d_core.errors import ModelError
from dashboard import cli_phone_connect, cli_phone_profile, cli_phone_run, cli_phone_sessions, cli_phone_virtual
from dashboard.cli_output import Answer, Progress, command, command_group
from dashboard.services.folders import user_folders
from dashboard.services.phones import (
    clean_phone,
    meant_phone,
    phone_of,
    phone_readiness,
    set_native_up,
    set_phone_up,
    wanted_on_phone,
)
from dashboard.services.set_up_times import expected_set_up
from dashboard.views.device_cards import set_up_text
from device_bridge.adb import configured_servers
from device_bridge.errors import DeviceError
from device_bridge.setup.checks import Check, State
from device_bridge.setup.doctor import doctor
from device_bridge.setup.readiness import from_error, not_tried, server_check
from device_bridge.setup.setup import PlacedModel

MARKS = {State.OK: "✓", State.WRONG: "✗", State.NOT_TRIED: "·"}


def register(commands: Any) -> None:
    """Add the group."""
    actions = command_group(
        commands,
        "phone",
        "a phone over adb: connect, setup, doctor, profile, run, sessions, virtual",
        "as2d phone doctor",
        "A phone that is connected over adb: set it up, examine it, profile it, run on it.",
    )
    setup = command(actions, "setup", "bring everything that is missing to a phone and try it", "as2d phone setup")
    _add_phone(setup)
    _add_models(setup)
    setup.add_argument("--no-probe", action="store_true", help="do not try the models there")
    setup.add_argument(
        "--runner", metavar="FILE", type=Path,
        help="a native runner (as2d native build), which the phone then uses; without this option it is Python's",
    )  # fmt: skip
    setup.set_defaults(command=phone_setup)
    examine = command(actions, "doctor", "try every link from the cable to a forward pass", "as2d phone doctor")
    _add_phone(examine)
    _add_models(examine)
    examine.set_defaults(command=phone_doctor)
    clean = command(
        actions,
        "clean",
        "remove from a phone what earlier versions have left",
        "as2d phone clean --all",
        "Remove earlier versions of what runs there, and models other than the chosen pair.",
    )
    _add_phone(clean)
    clean.add_argument("--all", action="store_true", help="remove everything of ours, the streams of runs included")
    clean.set_defaults(command=phone_clean)
    cli_phone_connect.register(actions)
    cli_phone_profile.register(actions)
    cli_phone_run.register(actions)
    cli_phone_sessions.register(actions)
    cli_phone_virtual.register(actions)


def phone_setup(options: argparse.Namespace) -> Answer:
    """Place what is missing, try it."""
    progress = Progress(quiet=options.json)
    try:
        entry = meant_phone(options.phone)
        readiness = phone_readiness(user_folders(), entry, options.model)
        expected = expected_set_up(
            user_folders(), entry.id, readiness, native=options.runner is not None, program=options.runner
        )
        progress.keep(f"Setting up {entry.name}: {set_up_text(expected)}.")
        if options.runner:
            done = set_native_up(
                user_folders(), entry, options.runner, options.model, probe=not options.no_probe, say=progress.say
            )
        else:
            done = set_phone_up(user_folders(), entry, options.model, probe=not options.no_probe, say=progress.say)
    finally:
        progress.done()
    said = done.description
    held = ", ".join([*(f"{name} {version}" for name, version in said.versions.items()), *said.backends])
    lines = [f"{entry.name} is ready: the {said.runner} runner answers ({held})."]
    if not said.backends:
        lines = [f"{entry.name} has a runner that answers ({held}) and runs scripted requests only: no MNN is in it."]
    for model in done.models:
        lines.append(f"{model.name} {_tried(model)}.")
    lines.append(f"{done.sent_bytes / 1e6:.1f} MB were sent." if done.sent_bytes else "Everything was there already.")
    return Answer({"phone": entry.id, "setup": done}, "\n".join(lines))


def phone_doctor(options: argparse.Namespace) -> Answer:
    """Try everything, say each as soon as it is known."""
    checks: list[Check] = []
    serial = options.phone or "no phone"

    def say(check: Check) -> None:
        checks.append(check)
        if not options.json:
            print(_line(check), flush=True)

    try:
        wanted = wanted_on_phone(user_folders(), options.model)
        entry = meant_phone(options.phone)
        serial = entry.id
        for check in doctor(phone_of(entry), wanted, entry.name):
            say(check)
    except ModelError as error:
        say(from_error("model", error, "Model"))
    except DeviceError as error:
        servers = [server_check(server) for server in configured_servers()]
        for check in servers:
            say(check)
        say(from_error("phone", error) if any(check.ok for check in servers) else not_tried("phone"))
    wrong = [check for check in checks if not check.ok]
    document: dict[str, Any] = {"phone": serial, "checks": checks}
    if wrong:
        document["error"] = f"{wrong[0].found} {wrong[0].fix}".strip()
    verdict = "Not everything works." if wrong else "Everything works."
    return Answer(document, verdict, 1 if wrong else 0)


def phone_clean(options: argparse.Namespace) -> Answer:
    """Remove."""
    entry = meant_phone(options.phone)
    removed = clean_phone(user_folders(), entry, everything=options.all)
    count = len(removed.folders)
    megabytes = f"{removed.freed_bytes / 1e6:.1f} MB"
    text = (
        f"Removed {count} {'folder' if count == 1 else 'folders'} from {entry.name}, {megabytes}."
        if count
        else f"There was nothing to remove on {entry.name}."
    )
    return Answer({"phone": entry.id, "removed": removed}, text)


def _add_phone(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--phone", metavar="PHONE", help="id, serial, model or name; not needed when there is only one")


def _add_models(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model", metavar="MODEL", action="append", default=[],
        help="id or folder; once for a target, twice for a target and a drafter (default: the pair of the settings)",
    )  # fmt: skip


def _tried(model: PlacedModel) -> str:
    if model.probe is not None:
        return f"loads in {model.probe.load_ms:.0f} ms there"
    return "is there, and was not tried" if model.rows is None else f"runs forwards of 1 to {model.rows} rows there"


def _line(check: Check) -> str:
    fix = f" {check.fix}" if check.fix else ""
    return f"{MARKS[check.state]} {check.title}: {check.found}{fix}"
