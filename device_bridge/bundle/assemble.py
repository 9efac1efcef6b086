"""How do an unpacked Python and some wheels become one folder that starts anywhere on an arm64 phone?

::

    bin/python            a shell script that starts the loader below with the interpreter beside it
    bin/python3.X         the interpreter
    lib/                  the loader, and every library that something here needs
    lib/python3.X/        the standard library
    site/                 MNN, numpy and what else the runner imports
    licences/             what the parts are licensed under
"""

import re
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from device_bridge.bundle.elf import is_arm64, needed_libraries, without_ballast
from device_bridge.bundle.errors import OWN_PYTHON_HINT, BundleError

LOADER = "ld-linux-aarch64.so.1"
LAUNCHER = "bin/python"
_INTERPRETER = re.compile(r"python3\.(\d+)")
_GLIBC = re.compile(rb"GNU C Library [^\n]*version (\d+)\.(\d+)")
_UNUSED_STDLIB = (
    "test", "tests", "idlelib", "tkinter", "turtledemo", "turtle.py", "lib2to3", "pydoc_data", "ensurepip",
    "distutils", "site-packages", "dist-packages", "sqlite3", "curses", "dbm", "wsgiref", "xmlrpc", "venv", "config-*",
)  # fmt: skip
_UNUSED_SITE = (
    "_tools.*", "MNN/tools", "**/tests", "**/*.pyi", "**/*.pyx", "**/*.pxd", "**/*.a", "**/include", "numpy/f2py",
    "numpy/random/lib", "numpy/_core/lib", "numpy/_core/_multiarray_tests*", "numpy/_core/_simd*",
    "numpy/random/_examples", "pycparser",
)  # fmt: skip
"""What is in the wheels for people who build or test: the model converter, tests, headers."""
_UNUSED_EXTENSIONS = ("_ssl", "_test", "_ctypes_test", "_xxtestfuzz", "xxlimited", "_crypt", "nis", "_dbm", "_sqlite3")
_LAUNCHER_TEXT = """#!/system/bin/sh
# Starts the Python of this folder with the loader and the libraries of this folder, wherever it lies.
case "$0" in
*/*) here="${{0%/*}}/..";;
*) echo "Start it with its path." >&2; exit 126;;
esac
unset LD_PRELOAD LD_LIBRARY_PATH
export PYTHONHOME="$here" PYTHONPATH="${{AS2D_CORE:-$here/core}}:$here/site" PYTHONUTF8=1 PYTHONNOUSERSITE=1
exec "$here/lib/{loader}" --argv0 "$0" --library-path "$here/lib" "$here/bin/{interpreter}" "$@"
"""


@dataclass(frozen=True, slots=True)
class ForeignPython:
    """An arm64 Python and its C library, unpacked somewhere on this computer."""

    interpreter: Path
    stdlib: Path
    version: tuple[int, int]
    glibc: tuple[int, int]
    libraries: dict[str, Path]
    """Every library by its name."""
    licences: tuple[Path, ...]


def find_python(roots: Sequence[Path]) -> ForeignPython:
    """Find the interpreter, its standard library and a glibc in unpacked folders.

    Raises:
        BundleError: one of them is not there, or is not for arm64.
    """
    missing = [str(root) for root in roots if not root.is_dir()]
    if missing:
        raise BundleError(f"There is no folder {missing[0]}.", "Give an unpacked arm64 Python.")
    where = " and ".join(str(root) for root in roots)
    interpreter = _newest_interpreter(roots)
    if interpreter is None:
        raise BundleError(f"{where} holds no arm64 Python (bin/python3.X).", OWN_PYTHON_HINT)
    name = interpreter.name
    stdlib = interpreter.parent.parent / "lib" / name
    if not (stdlib / "os.py").is_file():
        raise BundleError(f"{where} holds {name} but not its standard library (lib/{name}).", OWN_PYTHON_HINT)
    libraries = _libraries(roots)
    absent = [library for library in (LOADER, "libc.so.6", "libstdc++.so.6") if library not in libraries]
    if absent:
        raise BundleError(f"{where} holds no {absent[0]} for arm64.", OWN_PYTHON_HINT)
    version = _GLIBC.search(libraries["libc.so.6"].read_bytes())
    if version is None:
        raise BundleError(f"The C library in {where} is not glibc, for which the wheels are built.", OWN_PYTHON_HINT)
    licences = sorted(file for root in roots for file in root.glob("usr/share/doc/*/copyright") if file.is_file())
    return ForeignPython(
        interpreter,
        stdlib,
        (3, int(name.removeprefix("python3."))),
        (int(version[1]), int(version[2])),
        libraries,
        tuple(licences),
    )


def assemble(python: ForeignPython, site: Path, folder: Path, say: Callable[[str], None]) -> None:
    """Build the folder; ``site`` holds unpacked wheels and is moved into it.

    Raises:
        BundleError: a library that Python or MNN needs is missing.
    """
    say("Putting the bundle together.")
    library = folder / "lib"
    (folder / "bin").mkdir(parents=True)
    stdlib = library / python.stdlib.name
    shutil.copytree(python.stdlib, stdlib, ignore=shutil.ignore_patterns("__pycache__", *_UNUSED_STDLIB))
    _remove(site, _UNUSED_SITE)
    _remove(site, ["**/__pycache__"])
    site.rename(folder / "site")
    _copy(python.interpreter, folder / "bin" / python.interpreter.name)
    own = {file.name for file in (folder / "site").rglob("*.so*")}
    for extension in sorted((stdlib / "lib-dynload").glob("*.so")):
        if extension.name.startswith(_UNUSED_EXTENSIONS) or _lacking([extension], python.libraries, own):
            extension.unlink()  # readline, curses and the like: nothing that a runner imports
    programs = [folder / "bin" / python.interpreter.name, *stdlib.rglob("*.so"), *(folder / "site").rglob("*.so*")]
    needed = _closure([p for p in programs if is_arm64(p)], python.libraries, own)
    for name in sorted({LOADER, *needed}):
        _copy(python.libraries[name], library / name)
    for file in [*library.rglob("*"), *(folder / "site").rglob("*"), folder / "bin" / python.interpreter.name]:
        if file.is_file() and is_arm64(file):
            file.write_bytes(without_ballast(file.read_bytes()))
    for licence in python.licences:
        _copy(licence, folder / "licences" / licence.parent.name)
    launcher = folder / LAUNCHER
    launcher.write_text(_LAUNCHER_TEXT.format(loader=LOADER, interpreter=python.interpreter.name), encoding="ascii")
    for program in (launcher, library / LOADER, folder / "bin" / python.interpreter.name):
        program.chmod(0o755)


def _newest_interpreter(roots: Sequence[Path]) -> Path | None:
    found = [
        file
        for root in roots
        for file in root.rglob("bin/python3.*")
        if _INTERPRETER.fullmatch(file.name) and file.is_file() and is_arm64(file)
    ]
    return max(found, key=lambda file: (int(file.name.rpartition(".")[2]), -len(file.parts)), default=None)


def _libraries(roots: Sequence[Path]) -> dict[str, Path]:
    """Libraries by name; one in a plainer place comes before one that is buried deep."""
    found: dict[str, Path] = {}
    for root in roots:
        for file in sorted(root.rglob("*.so*"), key=lambda path: (len(path.parts), str(path))):
            if file.name not in found and file.is_file() and is_arm64(file):
                found[file.name] = file
    return found


def _closure(programs: Iterable[Path], libraries: dict[str, Path], own: set[str]) -> set[str]:
    """Names of all libraries that ``programs`` need, directly or not, and do not bring themselves.

    Raises:
        BundleError: one is nowhere.
    """
    needed: set[str] = set()
    waiting = list(programs)
    while waiting:
        program = waiting.pop()
        for name in needed_libraries(program):
            if name in own or name in needed:
                continue
            if name not in libraries:
                raise BundleError(f"{program.name} needs the library {name}, which is not there.", OWN_PYTHON_HINT)
            needed.add(name)
            waiting.append(libraries[name])
    return needed


def _lacking(programs: Iterable[Path], libraries: dict[str, Path], own: set[str]) -> bool:
    try:
        _closure(programs, libraries, own)
    except BundleError:
        return True
    return False


def _remove(folder: Path, patterns: Iterable[str]) -> None:
    for pattern in patterns:
        for found in list(folder.glob(pattern)):
            if found.is_dir():
                shutil.rmtree(found)
            else:
                found.unlink(missing_ok=True)


def _copy(source: Path, target: Path) -> None:
    """Copy what a link leads to."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
