"""Is there an MNN that the runner can be linked with? Its folder is looked at before a compiler is started."""

import re
from dataclasses import dataclass
from pathlib import Path

from as2d_core.native.binaries import Binary, holds, read_binary
from as2d_core.native.errors import NativeBuildError
from as2d_core.native.targets import Target
from as2d_core.reading import read_words

PLACES = ("lib", "lib64", "build", "")
"""Where below its folder the libraries of an MNN build lie; cmake/mnn.cmake looks there, too."""
PARTS = ("llm", "MNN_Express", "MNNAudio", "MNNOpenCV", "MNN_CL")
"""Libraries beside MNN itself when it was built in separate ones."""
BUILD_FLAGS = "-DMNN_BUILD_LLM=ON -DMNN_BUILD_LLM_OMNI=ON"
_LLM_HEADERS = ("include/llm/llm.hpp", "transformers/llm/engine/include/llm/llm.hpp")
_MARKS = {"llm": (b"N3MNN11Transformer3Llm",), "audio": (b"N3MNN5AUDIO",), "opencl": (b"clGetPlatformIDs",)}
"""What the names of functions, or the texts, of a library hold that has this part."""
_VERSION = re.compile(r"#define\s+MNN_VERSION_(MAJOR|MINOR|PATCH)\s+(\d+)")


@dataclass(frozen=True, slots=True)
class MnnBuild:
    """An MNN that fits."""

    root: Path
    version: str
    libraries: tuple[Path, ...]
    parts: tuple[str, ...]
    """Of ``llm``, ``audio`` and ``opencl`` those that it has."""


def inspect_mnn(root: Path, target: Target) -> MnnBuild:
    """Look at an MNN build.

    Args:
        root: what MNN's installation writes (``include/``, ``lib/``), or its source folder with ``build/``.

    Raises:
        NativeBuildError: a part is missing, or it was built for something else.
    """
    root = root.expanduser().absolute()
    version = _version(root)
    libraries = _libraries(root, target)
    if not any((root / header).is_file() for header in _LLM_HEADERS):
        raise _without(root, "LLM part (include/llm/llm.hpp is missing)", BUILD_FLAGS)
    for library in libraries if target.system in {"android", "linux"} else ():
        _check_fits(read_binary(library), library, target)
    parts = tuple(name for name, marks in _MARKS.items() if any(holds(library, *marks) for library in libraries))
    if "llm" not in parts:
        raise _without(root, "LLM part, though its headers are there", BUILD_FLAGS)
    if "audio" not in parts:
        raise _without(root, "audio part", BUILD_FLAGS)
    if target.opencl and "opencl" not in parts:
        raise NativeBuildError(
            f"The MNN at {root} has no OpenCL; build it with -DMNN_OPENCL=ON, or choose the preset "
            f"{target.name.removesuffix('-opencl')}."
        )
    return MnnBuild(root, version, libraries, parts)


def _version(root: Path) -> str:
    if not root.is_dir():
        raise NativeBuildError(f"There is no folder {root}; give the one that MNN was installed to.")
    header = root / "include/MNN/MNNDefine.h"
    try:
        found = dict(_VERSION.findall(read_words(header)))
    except OSError:
        raise NativeBuildError(
            f"{root} holds no MNN: {header.relative_to(root)} is missing; give the folder that MNN was installed to."
        ) from None
    return ".".join(found.get(part, "?") for part in ("MAJOR", "MINOR", "PATCH"))


def _libraries(root: Path, target: Target) -> tuple[Path, ...]:
    """MNN itself first, then its separate parts."""
    suffixes = (".a",) if target.one_file else (".so", ".a", ".dylib")

    def find(name: str, endings: tuple[str, ...]) -> Path | None:
        candidates = (root / place / f"lib{name}{ending}" for ending in endings for place in PLACES)
        return next((path for path in candidates if path.is_file()), None)

    library = find("MNN", suffixes)
    if library is None and target.one_file and find("MNN", (".so",)):
        raise NativeBuildError(
            f"The MNN at {root} is a shared library (libMNN.so), and only one file is brought to a phone; build MNN "
            "with -DMNN_BUILD_SHARED_LIBS=OFF -DMNN_SEP_BUILD=OFF."
        )
    if library is None:
        looked = ", ".join(place or "." for place in PLACES)
        raise NativeBuildError(
            f"The MNN at {root} has no library: libMNN{suffixes[0]} is in none of {looked}; build and install MNN "
            "first."
        )
    return (library, *filter(None, (find(part, (library.suffix,)) for part in PARTS)))


def _check_fits(binary: Binary, library: Path, target: Target) -> None:
    if binary.machine != target.machine:
        raise NativeBuildError(
            f"{library} was built for {binary.machine}, and the preset {target.name} is for {target.machine}; give an "
            f"MNN that was built for {target.machine}."
        )
    if binary.system is not None and binary.system != target.system:
        how = " with the NDK's toolchain file" if target.android else ""
        raise NativeBuildError(
            f"{library} was built for {binary.system.title()}, and the preset {target.name} is for "
            f"{target.system.title()}; build MNN{how} again."
        )


def _without(root: Path, part: str, flags: str) -> NativeBuildError:
    return NativeBuildError(f"The MNN at {root} was built without its {part}; build it with {flags}.")
