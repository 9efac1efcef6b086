"""``as2d profile``: what devices charge: show, compare, import, export, delete."""

import argparse
import json
from pathlib import Path
from typing import Any

from as2d_core.errors import ProfileError
from as2d_core.profiles.codec import profile_to_json
from as2d_core.profiles.comparison import BY_WIDTH, ComparedCost, CostRow, missing_widths
from as2d_core.profiles.profile import Profile
from dashboard.cli_output import Answer, add_csv, command, command_group, number, rows_as_text, table
from dashboard.cli_work import opened
from dashboard.services.folders import user_folders
from dashboard.services.profile_shelf import delete_profile, empty_bin, restore_profile
from dashboard.services.profile_shelf import list_bin as binned_profiles
from dashboard.services.profiles import (
    ProfileReport,
    export_profile,
    import_profile,
    load_profile,
    pair_profiles,
    profile_ids,
    show_profile,
)
from dashboard.views.numbers import counted, moment
from datastore.locations import Folders

_ID = "a profile id, or a profile file"
_COSTS = ["cost", "K", "ms", "origin", "n", "sd ms", "median ms", "extrapolated", "note"]
_RATIOS = ["cost", "K", "first ms", "second ms", "ratio", "ratio sd", "origins", "extrapolated"]


def register(commands: Any) -> None:
    """Add the group."""
    actions = command_group(
        commands,
        "profile",
        "cost profiles: list, show, compare, import, export, delete",
        "as2d profile show k70",
        "Cost profiles: what a draft step and a verification of every width take on a device, published or measured.",
    )
    parser = command(actions, "list", "list the profiles", "as2d profile list")
    add_csv(parser)
    parser.set_defaults(command=profile_list)
    parser = command(
        actions,
        "show",
        "show every cost of a device and where it comes from",
        "as2d profile show k70",
        "Show every cost of a device, where it comes from (published, solved, inferred, guessed, fitted or measured), "
        "its spread where it was measured, and what looks odd.",
    )
    parser.add_argument("profile", metavar="PROFILE", help=_ID)
    add_csv(parser)
    parser.set_defaults(command=profile_show)
    parser = command(
        actions,
        "compare",
        "compare two devices cost by cost",
        "as2d profile compare k70 mi14",
        "Compare two devices cost by cost and width by width: the ratio is second over first, with the standard "
        "deviation that the samples of both give it.",
    )
    parser.add_argument("first", metavar="FIRST", help=_ID)
    parser.add_argument("second", metavar="SECOND", help=_ID)
    add_csv(parser)
    parser.set_defaults(command=profile_compare)
    parser = command(actions, "import", "check a profile file and keep it", "as2d profile import my-phone.json")
    parser.add_argument("file", metavar="FILE", type=Path)
    parser.add_argument("--replace", action="store_true", help="replace a kept profile of the same id")
    add_csv(parser)
    parser.set_defaults(command=profile_import)
    parser = command(
        actions,
        "export",
        "write a profile as JSON, to a file or to standard output",
        "as2d profile export k70 --file k70.json",
    )
    parser.add_argument("profile", metavar="PROFILE", help=_ID)
    parser.add_argument("--file", metavar="FILE", type=Path, help="default: standard output")
    parser.add_argument("--replace", action="store_true", help="overwrite the file")
    parser.set_defaults(command=profile_export)
    parser = command(actions, "delete", "move a kept profile into the bin", "as2d profile delete my-phone")
    parser.add_argument("profile", metavar="PROFILE", help="id of a profile that was measured or imported here")
    parser.set_defaults(command=profile_delete)
    parser = actions.add_parser("bin", help="deleted profiles: list, restore, empty")
    bins = parser.add_subparsers(title="actions", required=True, metavar="ACTION")
    command(bins, "list", "list the profiles in the bin", "as2d profile bin list").set_defaults(command=bin_list)
    parser = command(bins, "restore", "take a profile out of the bin", "as2d profile bin restore my-phone.json")
    parser.add_argument("file", metavar="FILE", help="as `as2d profile bin list` names it")
    parser.set_defaults(command=bin_restore)
    parser = command(bins, "empty", "remove profiles in the bin for good", "as2d profile bin empty")
    parser.add_argument("files", metavar="FILE", nargs="*", help="only these; default: all in the bin")
    parser.set_defaults(command=bin_empty)


def profile_list(options: argparse.Namespace) -> Answer:
    """All that can be named."""
    headings = ["id", "name", "kind", "widest K", "deployed budget", "stability", "problem"]
    rows = [_listed(name, user_folders()) for name in profile_ids(user_folders())]
    document = {"profiles": [dict(zip((h.replace(" ", "_") for h in headings), row, strict=True)) for row in rows]}
    return Answer(document, rows_as_text(options, table(headings, rows), headings, rows))


def _listed(name: str, folders: Folders) -> list[object]:
    try:
        found = load_profile(folders, name)
    except ProfileError as error:
        return [name, "", "", None, None, "", str(error)]
    return [name, found.name, found.kind, found.max_width, found.deployed_budget, found.stability.verdict, ""]


def profile_show(options: argparse.Namespace) -> Answer:
    """One."""
    report = show_profile(user_folders(), options.profile)
    return Answer(as_document(report), rows_as_text(options, _shown(report), _COSTS, _cost_rows(report.rows)))


def profile_compare(options: argparse.Namespace) -> Answer:
    """Two."""
    pair = pair_profiles(user_folders(), options.first, options.second)
    rows = [_ratio_row(row) for row in pair.rows]
    text = "\n".join(
        [
            f"first   {_title(pair.first)}",
            f"second  {_title(pair.second)}",
            "",
            table(_RATIOS, rows),
        ]
    )
    document = {
        "first": pair.first.id,
        "second": pair.second.id,
        "costs": [
            {
                "cost": row.first.name,
                "width": row.first.width,
                "first_ms": row.first.value_ms,
                "second_ms": row.second.value_ms,
                "ratio": row.ratio,
                "ratio_sd": row.ratio_sd,
                "first_origin": _origin(row.first),
                "second_origin": _origin(row.second),
                "first_extrapolated": row.first.extrapolated,
                "second_extrapolated": row.second.extrapolated,
            }
            for row in pair.rows
        ],
    }
    return Answer(document, rows_as_text(options, text, _RATIOS, rows))


def profile_import(options: argparse.Namespace) -> Answer:
    """Check it, keep it."""
    report = import_profile(opened(), options.file, replace=options.replace)
    text = "\n".join([f"Kept: {_title(report.profile)}", *_warnings(report)])
    return Answer(as_document(report), rows_as_text(options, text, _COSTS, _cost_rows(report.rows)))


def profile_export(options: argparse.Namespace) -> Answer:
    """Write it."""
    folders = user_folders()
    if options.file is None:
        body = profile_to_json(load_profile(folders, options.profile))
        return Answer({"profile": body}, json.dumps(body, indent=1, ensure_ascii=False, allow_nan=False))
    profile = export_profile(folders, options.profile, options.file, replace=options.replace)
    return Answer({"id": profile.id, "file": options.file}, f"Written: {options.file}")


def profile_delete(options: argparse.Namespace) -> Answer:
    """Delete, but not for good."""
    file = delete_profile(opened(), options.profile)
    return Answer({"file": file}, f"In the bin as {file}.")


def bin_list(options: argparse.Namespace) -> Answer:  # noqa: ARG001
    """Profiles in the bin."""
    found = binned_profiles(user_folders())
    rows = [[item.file, item.profile_id, moment(item.kept_at, "")] for item in found]
    document = {"profiles": [{"file": f.file, "profile": f.profile_id, "kept_at": f.kept_at} for f in found]}
    return Answer(document, table(["file", "profile", "kept (UTC)"], rows) if rows else "The bin holds no profile.")


def bin_restore(options: argparse.Namespace) -> Answer:
    """Take it out again."""
    restored = restore_profile(opened(), options.file)
    return Answer({"profile": restored}, f"Restored: {restored}.")


def bin_empty(options: argparse.Namespace) -> Answer:
    """Delete for good."""
    workspace = opened()
    files = options.files or [item.file for item in binned_profiles(workspace.folders)]
    removed = empty_bin(workspace, files)
    return Answer({"removed": removed}, f"{counted(removed, 'profile')} removed for good.")


def as_document(report: ProfileReport) -> dict[str, Any]:
    """A profile under the names that scripts use."""
    profile = report.profile
    return {
        "id": profile.id,
        "name": profile.name,
        "kind": profile.kind,
        "device": profile.device,
        "models": profile.models,
        "stability": profile.stability,
        "max_width": profile.max_width,
        "deployed_budget": profile.deployed_budget,
        "asp_cap": profile.asp_cap,
        "search_max_budget": profile.search_max_budget,
        "concurrent_ratio_extremes": profile.concurrent_ratio_extremes,
        "costs": [
            {
                "cost": row.name,
                "width": row.width,
                "ms": row.value_ms,
                "origin": _origin(row),
                "note": None if row.provenance is None else row.provenance.note,
                "n": None if row.spread is None else row.spread.n,
                "sd_ms": None if row.spread is None else row.spread.sd_ms,
                "median_ms": None if row.spread is None else row.spread.median_ms,
                "extrapolated": row.extrapolated,
            }
            for row in report.rows
        ],
        "missing_widths": {name: missing_widths(getattr(profile, name)) for name in BY_WIDTH},
        "warnings": report.warnings,
    }


def _shown(report: ProfileReport) -> str:
    profile = report.profile
    models = ", ".join(f"{role} {model.name}" for role, model in sorted(profile.models.items()))
    extremes = profile.concurrent_ratio_extremes
    ratios = "n/a" if extremes is None else f"{extremes[0]:g} to {extremes[1]:g}"
    reason = f" ({profile.stability.reason})" if profile.stability.reason else ""
    return "\n".join(
        [
            _title(profile),
            f"models {models or 'n/a'}",
            f"deployed budget {number(profile.deployed_budget, digits=0)}, widest K {profile.max_width}, "
            f"SpecASR cap {number(profile.asp_cap, digits=0)}",
            f"concurrent over idle verification {ratios}",
            f"widths without a cost: {_missing(profile)}",
            f"stability {profile.stability.verdict}{reason}",
            "",
            table(_COSTS, _cost_rows(report.rows)),
            *_warnings(report),
        ]
    )


def _missing(profile: Profile) -> str:
    found = {name: missing_widths(getattr(profile, name)) for name in BY_WIDTH}
    said = [f"K = {', '.join(map(str, widths))} ({name})" for name, widths in found.items() if widths]
    return "; ".join([*said, f"every K above {profile.max_width}"])


def _warnings(report: ProfileReport) -> list[str]:
    return ["", *(f"warning: {sentence}" for sentence in report.warnings)] if report.warnings else []


def _cost_rows(rows: tuple[CostRow, ...]) -> list[list[object]]:
    return [
        [
            row.name,
            _width(row),
            row.value_ms,
            _origin(row),
            None if row.spread is None else row.spread.n,
            None if row.spread is None else row.spread.sd_ms,
            None if row.spread is None else row.spread.median_ms,
            "yes" if row.extrapolated else "",
            _note(row),
        ]
        for row in rows
    ]


def _ratio_row(row: ComparedCost) -> list[object]:
    origins = f"{_origin(row.first) or 'n/a'}, {_origin(row.second) or 'n/a'}"
    return [
        row.first.name,
        _width(row.first),
        row.first.value_ms,
        row.second.value_ms,
        row.ratio,
        row.ratio_sd,
        origins,
        " and ".join(name for name, cost in (("first", row.first), ("second", row.second)) if cost.extrapolated),
    ]


def _width(row: CostRow) -> int | str:
    return "" if row.width is None else row.width


def _origin(row: CostRow) -> str | None:
    return None if row.provenance is None else row.provenance.kind


def _note(row: CostRow) -> str:
    note = "" if row.provenance is None else row.provenance.note
    return f"{note} [width not measured]" if row.extrapolated and "not measured" not in note else note


def _title(profile: Profile) -> str:
    return f"{profile.id}: {profile.name} [{profile.kind}]"
