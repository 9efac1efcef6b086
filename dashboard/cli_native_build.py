"""``as2d native``: build the C++ runner, and say what a program was built for."""

import argparse
import os
import shlex
import shutil
from pathlib import Path
from typing import Any

from as2d_core.native.built import Built, examine
from as2d_core.native.ndk import API_LEVEL
from as2d_core.native.recipe import Wish
from as2d_core.native.targets import HOST, targets
from dashboard.cli_output import Answer, Progress, command, command_group
from dashboard.services.folders import user_folders
from dashboard.services.native_builds import build_native

WITHOUT_MNN = "It holds no MNN, so that only scripted requests run on it; --mnn FOLDER links one."


def register(commands: Any) -> None:
    """Add the group."""
    actions = command_group(
        commands,
        "native",
        "the runner in C++: build, check",
        "as2d native build --preset android-arm64 --mnn ~/mnn-arm64",
        "The runner in C++, which needs no Python on a phone.",
    )
    presets = "; ".join(f"{target.name}: {target.title}" for target in targets())
    build = command(
        actions,
        "build",
        "compile it for this computer, for phones, or for arm64 Linux",
        "as2d native build --preset android-arm64-opencl --mnn ~/mnn-arm64 --ndk ~/Android/Sdk/ndk/27.2.12479018",
        "Check what is needed, compile the native runner, and keep it where the Devices page finds it. "
        f"Presets: {presets}.",
    )
    build.add_argument("--preset", metavar="NAME", default=HOST, help=f"what to build for (default: {HOST})")
    build.add_argument(
        "--mnn", metavar="FOLDER", type=Path, default=_folder("MNN_ROOT"),
        help="an MNN build with its LLM and audio parts (default: MNN_ROOT; without any, models cannot be run)",
    )  # fmt: skip
    build.add_argument(
        "--ndk", metavar="FOLDER", type=Path,
        help="Android's NDK (default: ANDROID_NDK_HOME, ANDROID_NDK_ROOT, or the newest in ANDROID_HOME/ndk)",
    )  # fmt: skip
    build.add_argument(
        "--api", metavar="LEVEL", type=int, help=f"lowest API level of the phones (default: {API_LEVEL}, Android 9)"
    )
    build.add_argument("--output", metavar="FILE", type=Path, help="also copy the program there")
    build.set_defaults(command=native_build)
    check = command(
        actions,
        "check",
        "say what a program was built for",
        "as2d native check ./as2d-runner",
        "Look at a program without running it: its processor and system, and whether MNN is in it.",
    )
    check.add_argument("program", metavar="FILE", type=Path)
    check.set_defaults(command=native_check)


def native_build(options: argparse.Namespace) -> Answer:
    """Build, keep, and copy it if asked to."""
    progress = Progress(quiet=options.json)
    try:
        wish = Wish(options.preset, options.mnn, options.ndk, options.api)
        built = build_native(user_folders(), wish, progress.say)
    finally:
        progress.done()
    program = built.program
    if options.output:
        program = options.output.expanduser()
        shutil.copy2(built.program, program)
    following = _next(built, program)
    lines = [
        f"{program} is built ({built.title}; {built.size_bytes / 1e6:.1f} MB).",
        f"SHA-256 {built.sha256}",
        *([WITHOUT_MNN] if built.mnn is None else []),
        f"Next: {following}",
    ]
    return Answer({"built": built, "program": program, "sha256": built.sha256, "next": following}, "\n".join(lines))


def native_check(options: argparse.Namespace) -> Answer:
    """Say what a file is; exit code 1 when it is no runner."""
    found = examine(options.program)
    size = f"{found.size_bytes / 1e6:.1f} MB, SHA-256 {found.sha256}"
    libraries = ", ".join(found.binary.needed)
    lines = [
        f"{found.program}: for {found.binary.sentence}; {size}.",
        f"It needs {libraries} where it runs." if libraries else "It needs no other library where it runs.",
    ]
    document = {"found": found, "binary": found.binary}
    if not found.is_runner:
        sentence = f"{found.program} is no native runner; give the file as2d-runner that was built."
        return Answer({**document, "error": sentence}, "\n".join(lines), 1)
    shared = any(name.startswith("libMNN") for name in found.binary.needed)
    if not found.with_mnn:
        lines.append(WITHOUT_MNN)
    elif shared:
        lines.append("MNN is in a library beside it, so that this file alone does not start on a phone.")
    else:
        lines.append(f"MNN is in it, {'with' if found.with_opencl else 'without'} OpenCL.")
    if found.binary.machine == "aarch64" and not shared:
        lines.append(f"Next: as2d phone setup --runner {shlex.quote(str(found.program))}")
    return Answer(document, "\n".join(lines))


def _next(built: Built, program: Path) -> str:
    """The command to type now."""
    path = shlex.quote(str(program))
    return f"{path} --describe" if built.preset == HOST else f"as2d phone setup --runner {path}"


def _folder(variable: str) -> Path | None:
    named = os.environ.get(variable, "").strip()
    return Path(named) if named else None
