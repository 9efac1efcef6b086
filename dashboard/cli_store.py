"""``as2d store``: where the runs are kept, and whether all is well there."""

import argparse
from typing import Any

from dashboard.cli_output import Answer, command, command_group, table
from dashboard.cli_work import opened
from dashboard.services.folders import user_folders
from dashboard.services.runs import delete_run, empty_bin, list_bin, restore_run
from dashboard.views.numbers import moment
from dashboard.views.run_labels import ended
from datastore.queries import row_as_json
from datastore.rebuild import rebuild as rebuild_store
from datastore.verify import verify as verify_store


def register(commands: Any) -> None:
    """Add the group."""
    actions = command_group(
        commands,
        "store",
        "where runs are kept: path, verify, rebuild, bin",
        "as2d store verify",
        "Where runs are kept: say where that is, hold every run against its log, make the database anew from the logs, "
        "and bring deleted runs back or remove them for good.",
    )
    command(actions, "path", "say where the data folder is", "as2d store path").set_defaults(command=path)
    parser = command(actions, "verify", "compare every run with its log", "as2d store verify")
    parser.set_defaults(command=verify)
    parser = command(actions, "rebuild", "make the database anew from the logs", "as2d store rebuild")
    parser.set_defaults(command=rebuild)
    parser = actions.add_parser("bin", help="deleted runs: list, put, restore, empty")
    bins = parser.add_subparsers(title="actions", required=True, metavar="ACTION")
    command(bins, "list", "list the runs in the bin", "as2d store bin list").set_defaults(command=bin_list)
    parser = command(bins, "put", "move a run into the bin", "as2d store bin put 20260915-1")
    parser.add_argument("run_id", metavar="RUN")
    parser.set_defaults(command=bin_put)
    parser = command(bins, "restore", "take a run out of the bin", "as2d store bin restore 20260915-1")
    parser.add_argument("run_id", metavar="RUN")
    parser.set_defaults(command=bin_restore)
    parser = command(bins, "empty", "remove runs in the bin for good", "as2d store bin empty")
    parser.add_argument("run_ids", metavar="RUN", nargs="*", help="only these; default: all in the bin")
    parser.set_defaults(command=bin_empty)


def path(options: argparse.Namespace) -> Answer:  # noqa: ARG001
    """Where it is."""
    folders = user_folders()
    return Answer(
        {"path": folders.root, "database": folders.database, "exists": folders.database.is_file()}, str(folders.root)
    )


def verify(options: argparse.Namespace) -> Answer:  # noqa: ARG001
    """Compare every run with its log."""
    report = verify_store(opened().store)
    document: dict[str, Any] = {"runs": report.runs, "problems": report.problems}
    if report.problems:
        document["error"] = f"{len(report.problems)} problems in {report.runs} runs: {report.problems[0]}"
        return Answer(document, "\n".join(report.problems), 1)
    return Answer(document, f"{report.runs} runs agree with their logs.")


def rebuild(options: argparse.Namespace) -> Answer:  # noqa: ARG001
    """Make the database anew."""
    report = rebuild_store(user_folders().root)
    kept = f" The old file is kept as {report.set_aside}." if report.set_aside else ""
    text = f"Rebuilt with {report.runs} runs, {report.in_bin} in the bin, {report.profiles} profiles.{kept}"
    return Answer({"report": report}, "\n".join([text, *report.notices]))


def bin_list(options: argparse.Namespace) -> Answer:  # noqa: ARG001
    """Runs in the bin."""
    rows = list_bin(opened())
    shown = [[row.run_id, row.method, row.window_id, ended(row.status), moment(row.binned_at, "")] for row in rows]
    text = table(["run", "method", "window", "status", "deleted (UTC)"], shown) if rows else "The bin is empty."
    return Answer({"runs": [row_as_json(row) for row in rows]}, text)


def bin_put(options: argparse.Namespace) -> Answer:
    """Delete, but not for good."""
    log = delete_run(opened(), options.run_id)
    return Answer({"log": log}, f"In the bin; its log is {log}.")


def bin_restore(options: argparse.Namespace) -> Answer:
    """Take it out again."""
    log = restore_run(opened(), options.run_id)
    return Answer({"log": log}, f"Restored; its log is {log}.")


def bin_empty(options: argparse.Namespace) -> Answer:
    """Delete for good."""
    removed = empty_bin(opened(), options.run_ids or None)
    return Answer({"removed": removed}, f"{removed} runs were removed for good.")
