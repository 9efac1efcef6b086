"""A bundle is put together from what it needs, kept by content, and every lack is a sentence."""

import os
import stat
import zipfile

import pytest
from tiny_elf import tiny_elf

from device_bridge.bundle import build, debian, wheels
from device_bridge.bundle.archive import list_files
from device_bridge.bundle.assemble import assemble, find_python
from device_bridge.bundle.build import build_runtime, check_export, current_runtime, ensure_runtime, export, pack_core
from device_bridge.bundle.debian import debian_python
from device_bridge.bundle.errors import BundleError, NoPackageSourceError
from device_bridge.bundle.wheels import download_wheels, given_wheels

GLIBC = b"GNU C Library (Debian GLIBC 2.36-9) stable release version 2.36.\n"
PARTS = {
    "usr/bin/python3.11": tiny_elf(["libc.so.6", "libz.so.1"]),
    "usr/lib/python3.11/os.py": b"",
    "usr/lib/python3.11/test/big.py": b"#",
    "usr/lib/python3.11/lib-dynload/_lzma.so": tiny_elf(["liblzma.so.5"]),
    "usr/lib/python3.11/lib-dynload/readline.so": tiny_elf(["libreadline.so.8"]),
    "usr/share/doc/libc6/copyright": b"LGPL",
    "lib/ld-linux-aarch64.so.1": tiny_elf(),
    "lib/libc.so.6": tiny_elf(["ld-linux-aarch64.so.1"], content=GLIBC),
    "lib/libz.so.1": tiny_elf(["libc.so.6"]),
    "lib/liblzma.so.5": tiny_elf(["libc.so.6"]),
    "lib/libstdc++.so.6": tiny_elf(["libc.so.6"]),
    "lib/libunused.so.1": tiny_elf(),
}
WHEELS = {
    "mnn-3.6.1-cp311-cp311-manylinux2014_aarch64.whl": {
        "_mnncengine.so": tiny_elf(["libstdc++.so.6", "libgomp-1.so"], ballast=b"x" * 5000),
        "mnn.libs/libgomp-1.so": tiny_elf(),
        "_tools.so": tiny_elf(["libnowhere.so"]),
        "MNN/__init__.py": b"",
    },
    "numpy-2.4.6-cp311-cp311-manylinux_2_28_aarch64.whl": {"numpy/__init__.py": b"", "numpy/tests/t.py": b""},
    "soundfile-0.14.0-py2.py3-none-any.whl": {"soundfile.py": b""},
    "soxr-1.1.0-cp311-cp311-manylinux_2_28_aarch64.whl": {"soxr/__init__.py": b""},
}


@pytest.fixture
def root(tmp_path):
    """An unpacked arm64 Python."""
    for name, data in PARTS.items():
        path = tmp_path / "root" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return tmp_path / "root"


@pytest.fixture
def wheel_folder(tmp_path):
    """Wheels for it."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for name, files in WHEELS.items():
        with zipfile.ZipFile(folder / name, "w") as archive:
            for file, data in files.items():
                archive.writestr(file, data)
    return folder


@pytest.fixture(autouse=True)
def _no_trial(monkeypatch):
    """These programs are too small to be started."""
    monkeypatch.setattr(build, "try_bundle", lambda _: None)


def names(archive):
    import tarfile

    with tarfile.open(archive) as tar:
        return {entry.name for entry in tar}


def test_a_bundle_holds_what_is_needed_and_nothing_else(tmp_path, root, wheel_folder):
    runtime = build_runtime(tmp_path / "cache", [root], wheel_folder)
    assert names(runtime.archive) == {
        "about.json", "bin/python", "bin/python3.11", "lib/ld-linux-aarch64.so.1", "lib/libc.so.6", "lib/libz.so.1",
        "lib/liblzma.so.5", "lib/libstdc++.so.6", "lib/python3.11/os.py", "lib/python3.11/lib-dynload/_lzma.so",
        "licences/libc6", "site/MNN/__init__.py", "site/_mnncengine.so", "site/mnn.libs/libgomp-1.so",
        "site/numpy/__init__.py", "site/soundfile.py", "site/soxr/__init__.py",
    }  # fmt: skip


def test_the_versions_of_the_parts_are_known(tmp_path, root, wheel_folder):
    versions = build_runtime(tmp_path / "cache", [root], wheel_folder).versions
    assert {k: versions[k] for k in ("python", "glibc", "mnn", "numpy")} == {
        "python": "3.11", "glibc": "2.36", "mnn": "3.6.1", "numpy": "2.4.6",
    }  # fmt: skip


def test_building_the_same_twice_gives_the_same_bundle(tmp_path, root, wheel_folder):
    first = build_runtime(tmp_path / "one", [root], wheel_folder)
    second = build_runtime(tmp_path / "two", [root], wheel_folder)
    assert (first.id, first.archive_sha256) == (second.id, second.archive_sha256)


def test_a_bundle_that_was_built_is_used_again(tmp_path, root, wheel_folder):
    built = build_runtime(tmp_path / "cache", [root], wheel_folder)
    assert ensure_runtime(tmp_path / "cache") == built


def test_a_damaged_bundle_is_not_used_again(tmp_path, root, wheel_folder):
    built = build_runtime(tmp_path / "cache", [root], wheel_folder)
    built.archive.write_bytes(built.archive.read_bytes()[:-1])
    assert current_runtime(tmp_path / "cache") is None
    assert build_runtime(tmp_path / "cache", [root], wheel_folder) == built
    assert current_runtime(tmp_path / "cache") == built


def test_a_bundle_for_another_mnn_is_not_used_again(tmp_path, root, wheel_folder, monkeypatch):
    build_runtime(tmp_path / "cache", [root], wheel_folder)
    monkeypatch.setattr(build, "wanted_wheels", lambda: ("MNN==9.9.9",))
    assert current_runtime(tmp_path / "cache") is None


@pytest.mark.parametrize("lacking", ["usr/bin/python3.11", "usr/lib/python3.11/os.py", "lib/libc.so.6"])
def test_a_python_that_lacks_a_part_is_refused_with_what_to_give(root, lacking):
    (root / lacking).unlink()
    with pytest.raises(BundleError, match=r"--python FOLDER"):
        find_python([root])


def test_parts_may_come_from_several_folders(tmp_path, root):
    (root / "lib").rename(tmp_path / "glibc")
    assert find_python([root, tmp_path / "glibc"]).glibc == (2, 36)


def test_a_library_that_is_nowhere_is_named(tmp_path, root, wheel_folder):
    (root / "lib/libz.so.1").unlink()
    with pytest.raises(BundleError, match=r"python3\.11 needs the library libz\.so\.1"):
        build_runtime(tmp_path / "cache", [root], wheel_folder)


def test_a_failed_build_leaves_nothing_in_the_cache(tmp_path, root, wheel_folder):
    (root / "lib/libz.so.1").unlink()
    with pytest.raises(BundleError):
        build_runtime(tmp_path / "cache", [root], wheel_folder)
    assert list((tmp_path / "cache").iterdir()) == []


def test_the_launcher_can_be_executed_and_finds_its_folder_by_itself(tmp_path, root):
    site = tmp_path / "site"
    site.mkdir()
    assemble(find_python([root]), site, tmp_path / "bundle", lambda _: None)
    launcher = tmp_path / "bundle/bin/python"
    assert launcher.stat().st_mode & stat.S_IXUSR
    assert str(tmp_path) not in launcher.read_text()


def test_missing_wheels_are_named(tmp_path):
    with pytest.raises(BundleError, match=r"no wheel of mnn, numpy, soundfile and soxr"):
        given_wheels(tmp_path)


def test_a_wheel_for_another_processor_is_refused(wheel_folder):
    (wheel_folder / "cffi-2.0-cp311-cp311-win_amd64.whl").write_bytes(b"")
    with pytest.raises(BundleError, match=r"cffi-2\.0.* is no wheel for arm64"):
        given_wheels(wheel_folder)


def test_pip_without_an_index_is_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    with pytest.raises(BundleError, match=r"No arm64 wheels for Python 3\.11 were to be had \(pip: .*--wheels"):
        download_wheels(tmp_path / "wheels", (3, 11), (2, 36), lambda _: None)


def test_without_apt_the_sentence_says_what_to_give_instead(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoPackageSourceError, match=r"no apt.*--python FOLDER"):
        debian_python(tmp_path / "apt", lambda _: None)


def test_apt_without_arm64_packages_is_quoted(tmp_path, monkeypatch):
    for name in ("apt-get", "apt-config", "dpkg-deb"):
        script = tmp_path / name
        script.write_text("#!/bin/sh\necho 'E: Unable to locate package python3-minimal' >&2\nexit 100\n")
        script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(NoPackageSourceError, match=r"apt: Unable to locate package python3-minimal\).*--python"):
        debian_python(tmp_path / "apt", lambda _: None)


def test_apt_writes_only_into_the_given_folder_and_runs_no_hook_of_the_computer(tmp_path, monkeypatch):
    monkeypatch.setattr(debian.shutil, "which", lambda name: name)
    seen = {}

    def run(command, timeout_s, environment):
        if command[0] == "apt-config":
            text = (
                'Acquire::http::Proxy "http://proxy";\nAPT::Update::Post-Invoke:: "rm -rf";\nDir::Cache "/elsewhere";\n'
            )
            return debian.subprocess.CompletedProcess(command, 0, text.encode(), b"")
        seen[command[1]] = environment["APT_CONFIG"]
        return debian.subprocess.CompletedProcess(command, 1, b"", b"E: enough\n")

    monkeypatch.setattr(debian, "_run", run)
    with pytest.raises(NoPackageSourceError):
        debian_python(tmp_path / "apt", lambda _: None)
    text = (tmp_path / "apt/apt.conf").read_text()
    assert seen == dict.fromkeys(("update", "install"), str(tmp_path / "apt/apt.conf"))
    assert 'Acquire::http::Proxy "http://proxy";' in text
    assert "Post-Invoke" not in text
    assert "/elsewhere" not in text


def test_mnn_on_a_phone_is_the_version_of_this_computer():
    import MNN

    assert wheels.wanted_wheels()[0] == f"MNN=={MNN.version()}"


def test_the_core_holds_the_runner_but_no_demo_models_and_no_recorded_data(tmp_path):
    held = names(pack_core(tmp_path).archive)
    assert {"as2d_core/runner/__main__.py", "as2d_core/models/probe.py"} <= held
    assert not [n for n in held if n.endswith((".mnn", ".weight", ".parquet", ".flac", ".pyc"))]


def test_a_changed_core_gets_another_name(tmp_path):
    source = tmp_path / "as2d_core"
    source.mkdir()
    (source / "__init__.py").write_text("")
    before = pack_core(tmp_path / "cache", source).id
    (source / "__init__.py").write_text("#")
    assert pack_core(tmp_path / "cache", source).id != before


def test_runtime_and_core_can_be_written_into_one_file(tmp_path, root, wheel_folder):
    cache = tmp_path / "cache"
    runtime = build_runtime(cache, [root], wheel_folder)
    export(runtime, pack_core(cache), tmp_path / "all.tar.xz")
    assert {"bin/python", "core/as2d_core/runner/__main__.py"} <= names(tmp_path / "all.tar.xz")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("all.zip", "none of the endings"), ("root.tar", "is a folder"), ("file/all.tar", "nothing can be made in")],
)
def test_a_file_that_cannot_become_a_bundle_is_refused(tmp_path, name, sentence):
    (tmp_path / "root.tar").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(BundleError, match=sentence):
        check_export(tmp_path / name)


def test_what_a_killed_build_left_is_removed_by_a_later_one_and_what_others_build_now_is_not(tmp_path):
    cache = tmp_path / "cache"
    for name in ("build-killed", "pack-killed", "build-now"):
        (cache / name).mkdir(parents=True)
    for name in ("build-killed", "pack-killed"):
        os.utime(cache / name, (0, 0))
    core = pack_core(cache)
    assert {folder.name for folder in cache.iterdir()} == {"build-now", core.id}


def test_the_list_in_the_cache_is_that_of_the_archive(tmp_path, root, wheel_folder):
    import shutil

    runtime = build_runtime(tmp_path / "cache", [root], wheel_folder)
    shutil.unpack_archive(runtime.archive, tmp_path / "out", "gztar", filter="data")
    assert runtime.listing.read_text() == list_files(tmp_path / "out")
