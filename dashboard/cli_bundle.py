"""``as2d bundle``: the self-contained Python for phones, made here and kept."""

import argparse
from pathlib import Path
from typing import Any

from dashboard.cli_output import Answer, Progress, command, command_group
from dashboard.services.folders import user_folders
from device_bridge.bundle.build import build_runtime, check_export, current_runtime, export, pack_core


def register(commands: Any) -> None:
    """Add the group."""
    actions = command_group(
        commands,
        "bundle",
        "the self-contained Python that runs on phones: build",
        "as2d bundle build",
        "The self-contained Python that runs on phones.",
    )
    build = command(
        actions,
        "build",
        "make the bundle, unless it is there already",
        "as2d bundle build --output as2d-phone.tar.xz",
        "Put together an arm64 Python with MNN and numpy that needs no root, no app and no compiler on a phone. "
        "Python comes from the package sources of this computer (apt), the wheels from pip's index.",
    )
    build.add_argument(
        "--python",
        metavar="FOLDER",
        type=Path,
        nargs="+",
        default=[],
        help="take Python and glibc from these unpacked arm64 folders, not from apt",
    )
    build.add_argument("--wheels", metavar="FOLDER", type=Path, help="take the arm64 wheels from here, not from pip")
    build.add_argument("--refresh", action="store_true", help="build again, with the newest packages")
    build.add_argument("--output", metavar="FILE", type=Path, help="also write all in one .tar.xz, .tar.gz or .tar")
    build.set_defaults(command=bundle_build)


def bundle_build(options: argparse.Namespace) -> Answer:
    """Build, keep, and write it to a file if asked for."""
    cache = user_folders().phone_bundles
    if options.output:
        check_export(options.output)
    progress = Progress(quiet=options.json)
    try:
        anew = options.refresh or options.python or options.wheels
        known = None if anew else current_runtime(cache)
        runtime = known or build_runtime(cache, options.python, options.wheels, progress.say)
        core = pack_core(cache)
        if options.output:
            export(runtime, core, options.output, progress.say)
    finally:
        progress.done()
    versions = runtime.versions
    lines = [
        f"Bundle {runtime.id} {'was built before' if known else 'is built'}: Python {versions['python']}, "
        f"MNN {versions['mnn']}, numpy {versions['numpy']}, glibc {versions['glibc']}.",
        f"{runtime.archive_bytes / 1e6:.1f} MB compressed, {runtime.unpacked_bytes / 1e6:.0f} MB on the phone; "
        f"as2d_core {core.versions['as2d']} ({core.id}) adds {core.archive_bytes / 1e6:.1f} MB.",
        "It was started once on an emulated or real arm64 processor."
        if runtime.tried
        else "It was not started: this computer has no qemu-aarch64 to try it with (Debian: qemu-user-static).",
    ]
    document = {"runtime": runtime, "core": core, "built": known is None}
    if options.output:
        size = options.output.stat().st_size
        lines.append(f"Written to {options.output}, {size / 1e6:.1f} MB.")
        document |= {"output": options.output, "output_bytes": size}
    return Answer(document, "\n".join(lines))
