"""Which native runners have been built here, and what is in them?"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from as2d_core import __version__
from as2d_core.errors import As2dError
from as2d_core.native.binaries import Binary, holds, read_binary
from as2d_core.native.builder import PROGRAM, build, forget_old_builds
from as2d_core.native.errors import NativeBuildError
from as2d_core.native.recipe import Recipe
from as2d_core.native.targets import find_target, targets
from as2d_core.reading import open_regular, read_json

ABOUT = "about.json"
"""Beside the program."""


@dataclass(frozen=True, slots=True)
class Built:
    """A native runner that was built here."""

    program: Path
    sha256: str
    size_bytes: int
    preset: str
    machine: str
    system: str
    api_level: int | None
    ndk: str | None
    mnn: str | None
    """Version of MNN; ``None``: without, so that only scripted requests run."""
    parts: tuple[str, ...]
    """Of MNN: ``llm``, ``audio``, ``opencl``."""
    as2d: str

    @property
    def backends(self) -> tuple[str, ...]:
        """Backends that a model may ask for."""
        if self.mnn is None:
            return ()
        return ("cpu", "opencl") if "opencl" in self.parts else ("cpu",)

    @property
    def title(self) -> str:
        """In a few words."""
        held = "without MNN" if self.mnn is None else f"MNN {self.mnn}, {' and '.join(self.backends)}"
        level = "" if self.api_level is None else f", API {self.api_level}"
        return f"{self.preset}: {held}{level}"


def build_runner(recipe: Recipe, kept: Path, scratch: Path, say: Callable[[str], None] = lambda _: None) -> Built:
    """Compile, and keep the program with what is known about it.

    Args:
        kept: folder of the programs; one for each preset.
        scratch: folder of the build folders.

    Raises:
        NativeBuildError: the compiler refuses, or the program cannot be kept.
    """
    target, mnn = recipe.target, recipe.mnn
    compiled = build(scratch / recipe.key, recipe.configuration, say)
    folder = kept / target.name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ABOUT).unlink(missing_ok=True)
        program = folder / PROGRAM
        part = folder / f"{PROGRAM}.{os.getpid()}.part"
        shutil.copy2(compiled, part)
        part.replace(program)
        built = Built(
            program=program,
            sha256=_sha256(program),
            size_bytes=program.stat().st_size,
            preset=target.name,
            machine=target.machine,
            system=target.system,
            api_level=recipe.api_level,
            ndk=None if recipe.ndk is None else recipe.ndk.version,
            mnn=None if mnn is None else mnn.version,
            parts=()
            if mnn is None
            else mnn.parts
            if target.opencl or not target.android
            else _without_opencl(mnn.parts),
            as2d=__version__,
        )
        about = {**asdict(built), "program": program.name}
        (folder / ABOUT).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise NativeBuildError(f"The program cannot be kept in {folder} ({error.strerror or error}).") from error
    forget_old_builds(scratch)
    return built


def built_runners(kept: Path) -> tuple[Built, ...]:
    """Those that are there and are what was built; in the order of the presets."""
    found = (read_built(kept / target.name) for target in targets())
    return tuple(built for built in found if built is not None)


def read_built(folder: Path) -> Built | None:
    """The runner in a folder; ``None`` when there is none, or it was exchanged since."""
    try:
        body: dict[str, Any] = read_json(folder / ABOUT)
        find_target(str(body["preset"]))
        program = folder / str(body["program"])
        built = Built(**{**body, "program": program, "parts": tuple(body["parts"])})
        return built if program.stat().st_size == built.size_bytes else None
    except (OSError, ValueError, KeyError, TypeError, As2dError):
        return None


@dataclass(frozen=True, slots=True)
class Examined:
    """What can be said about a program without running it."""

    program: Path
    sha256: str
    size_bytes: int
    binary: Binary
    is_runner: bool
    """Whether it holds the words of the runner protocol."""
    with_mnn: bool
    with_opencl: bool


def examine(program: Path) -> Examined:
    """Look at a program.

    Raises:
        NativeBuildError: it is none, or cannot be read.
    """
    program = program.expanduser()
    binary = read_binary(program)
    return Examined(
        program=program,
        sha256=_sha256(program),
        size_bytes=program.stat().st_size,
        binary=binary,
        is_runner=holds(program, b"as2d-runner [FILE"),
        with_mnn=holds(program, b"N3MNN11Transformer3Llm"),
        with_opencl=holds(program, b"clGetPlatformIDs"),
    )


def _without_opencl(parts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(part for part in parts if part != "opencl")


def _sha256(program: Path) -> str:
    with open_regular(program) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
