import shutil
import sys
from pathlib import Path

import pytest

from device_bridge.bundle import build

LAUNCHER = f"""#!/bin/sh
PYTHONPATH="$AS2D_CORE" exec '{sys.executable}' "$@"
"""
"""Virtual phones without an emulator run the programs of this computer."""
VISIBLE = [sys.prefix, sys.base_prefix]


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    """Bundles of this computer: a runtime that is this Python itself."""
    cache = tmp_path_factory.mktemp("bundles")
    folder = tmp_path_factory.mktemp("runtime")
    (folder / "bin").mkdir()
    (folder / "bin/python").write_text(LAUNCHER)
    (folder / "lib").mkdir()
    (folder / "lib/plain.txt").write_text("something to be damaged\n")
    package = build._keep(folder, cache, {"python": "here", "mnn": "here"}, tried=False, say=lambda _: None)
    build._write(cache / build.CURRENT, {"id": package.id, "recipe": build._recipe()})
    return cache


@pytest.fixture
def own_cache(cache, tmp_path):
    """The same, for tests that change it."""
    shutil.copytree(cache, tmp_path / "bundles")
    return tmp_path / "bundles"


@pytest.fixture
def phone_here(start_phone):
    """A virtual phone that sees this Python."""
    return start_phone(visible=[Path(folder) for folder in VISIBLE])
