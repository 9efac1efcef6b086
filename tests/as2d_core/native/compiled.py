"""Parts of the native runner as a library that tests call."""

import ctypes
import shutil
import subprocess

import pytest

COMPILE_DEADLINE_S = 300


def compiled(folder, files, *options):
    """The C++ files as one library in ``folder``; skips where there is no compiler."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("The native runner is not tested: no C++ compiler found. Install one.")
    library = folder / "tested.so"
    # As one file: their headers are read once.
    text = "".join(f'#include "{file}"\n' for file in files)
    command = [compiler, "-std=c++17", "-shared", "-fPIC", *options, "-x", "c++", "-", "-o", library]
    subprocess.run(command, input=text.encode(), check=True, timeout=COMPILE_DEADLINE_S)
    return ctypes.CDLL(str(library))
