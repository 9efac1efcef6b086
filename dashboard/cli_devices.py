"""``as2d devices``: what can run requests, what is it, and is it ready?"""

import argparse
from typing import Any

from as2d_core.runner.device import device_facts
from dashboard.cli_output import Answer, command
from dashboard.services.folders import user_folders
from dashboard.services.phone_looks import PhoneLook, connected_phones, look_at, runner_sentence
from dashboard.views.device_cards import computer_rows, phone_gauges, phone_rows
from device_bridge.adb import KnownPhone
from device_bridge.local import THIS_COMPUTER


def register(commands: Any) -> None:
    """Add the command."""
    parser = command(
        commands,
        "devices",
        "this computer and the connected phones, with their facts and whether they are ready",
        "as2d devices",
        "List this computer and the phones of every adb server (AS2D_ADB_SERVERS=host:port,host:port; default: the "
        "usual server on this computer). Looking changes nothing on a phone and starts no server.",
    )
    parser.set_defaults(command=devices)


def devices(options: argparse.Namespace) -> Answer:  # noqa: ARG001
    """All of them."""
    found = connected_phones()
    folders = user_folders()
    looks = [(phone, look_at(folders, phone)) for phone in found.phones]
    computer = device_facts()
    document = {
        "devices": [
            {"id": THIS_COMPUTER, "kind": "computer", "facts": computer},
            *(_document(phone, look) for phone, look in looks),
        ],
        "problems": found.problems,
    }
    blocks = [_block("This computer", [(row.name, row.value) for row in computer_rows(computer)], "")]
    for phone, look in looks:
        rows = [] if look.facts is None else [(row.name, row.value) for row in phone_rows(look.facts)]
        rows += [] if look.facts is None else [(now.name, now.value) for now in phone_gauges(look.facts)]
        title = f"{_name(phone, look)} ({phone.id}{', virtual' if look.virtual else ''})"
        runners = [f"{runner_sentence(session)} End it: as2d phone cancel {session.id}" for session in look.runners]
        blocks.append(_block(title, rows, "\n  ".join([look.problem or look.readiness.sentence, *runners])))
    if not looks:
        blocks.append("No phone is connected.")
    return Answer(document, "\n\n".join([*blocks, *found.problems]))


def _name(phone: KnownPhone, look: PhoneLook) -> str:
    return str((look.facts and (look.facts.value("name") or look.facts.value("model"))) or phone.name)


def _document(phone: KnownPhone, look: PhoneLook) -> dict[str, Any]:
    return {
        "id": phone.id,
        "kind": "phone",
        "virtual": look.virtual,
        "state": phone.entry.state,
        "connections": [
            {"id": entry.id, "serial": entry.serial, "way": entry.way, "state": entry.state}
            for entry in phone.connections
        ],
        "name": _name(phone, look),
        "facts": None if look.facts is None else look.facts.as_json(),
        "ready": look.readiness.ready,
        "checks": look.readiness.checks,
        "runners": look.runners,
        "problem": look.problem,
    }


def _block(title: str, rows: list[tuple[str, str]], sentence: str) -> str:
    width = max((len(name) for name, _ in rows), default=0)
    lines = [title, *(f"  {name:<{width}}  {value}" for name, value in rows)]
    return "\n".join([*lines, f"  {sentence}"] if sentence else lines)
