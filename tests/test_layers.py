"""Who may import whom, and what no file of the packages may hold."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAY_IMPORT = {
    "as2d_core": set(),
    "device_bridge": {"as2d_core"},
    "datastore": {"as2d_core"},
    "dashboard": {"as2d_core", "device_bridge", "datastore"},
}
PACKAGES = sorted(MAY_IMPORT)
NOT_SHIPPED = {"tests", "bench"}
MACHINE_PATH = re.compile(r"(?<![\w/.])/(?:home|Users|root|work|tmp|mnt|opt|var)/|[A-Za-z]:\\\\?Users")
TEXT = {".py", ".json", ".md", ".sql", ".css", ".html", ".toml", ".txt", ".cpp", ".h"}
LONGEST_PAGE_LINES = 80


def sources(package):
    found = sorted((ROOT / package).rglob("*.py"))
    assert found, f"{package} holds no code"
    return found


def imported(path):
    """Full names of everything a file imports, inside functions too."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add("." * node.level + (node.module or ""))
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if called in {"import_module", "__import__"}:
                names.add(str(node.args[0].value))
    return names


def tops(path):
    return {name.partition(".")[0] for name in imported(path)}


def relative(path):
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_imports_only_what_lies_below_it(package):
    forbidden = (set(PACKAGES) - {package} - MAY_IMPORT[package]) | NOT_SHIPPED
    wrong = {relative(p): sorted(tops(p) & forbidden) for p in sources(package) if tops(p) & forbidden}
    assert wrong == {}


def test_streamlit_is_known_to_pages_only():
    def is_page(path):
        name = relative(path)
        return name.startswith("dashboard/pages/") or re.fullmatch(r"dashboard/(streamlit_app|ui\w*)\.py", name)

    wrong = [relative(p) for package in PACKAGES for p in sources(package) if "streamlit" in tops(p) and not is_page(p)]
    assert wrong == []


def test_mnn_is_known_to_its_engine_only():
    wrong = [relative(p) for package in PACKAGES for p in sources(package) if "MNN" in tops(p)]
    assert [name for name in wrong if name != "as2d_core/engines/mnn.py"] == []


def test_the_coordinator_loads_no_mnn():
    code = (
        "import sys, as2d_core.runner.__main__, as2d_core.runner.target_worker, as2d_core.runner.drafter_worker\n"
        "sys.exit('MNN' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, timeout=60, check=False).returncode == 0


def test_no_shipped_file_mentions_a_path_of_some_machine():
    wrong = []
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*")):
            if path.suffix in TEXT and "__pycache__" not in path.parts:
                for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                    if MACHINE_PATH.search(line):
                        wrong.append(f"{relative(path)}:{number}: {line.strip()[:100]}")
    assert wrong == []


def test_a_page_is_a_table_of_contents():
    lengths = {p: len(p.read_text(encoding="utf-8").splitlines()) for p in (ROOT / "dashboard" / "pages").rglob("*.py")}
    assert {relative(p): n for p, n in lengths.items() if n > LONGEST_PAGE_LINES} == {}
