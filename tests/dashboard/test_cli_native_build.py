"""``as2d native`` says what is missing, compiles, and ends with the next command; the compiler is a script here."""

import hashlib

import platformdirs
import pytest
from fake_native_trees import android_note, elf, mnn_tree, ndk_tree, tools

from as2d_core.native.built import built_runners
from dashboard.services.native_builds import runners_for_phones
from datastore.locations import Folders

WORDS = b"usage: as2d-runner [FILE | --describe"
CMAKE = """#!/bin/sh
if [ "$1" = --version ]; then echo 'cmake version 3.25.1'; exit; fi
echo "$*" >> {place}/asked; echo "$ANDROID_NDK_HOME" > {place}/ndk-of-cmake
if [ "$1" = --build ]; then
  [ -e {place}/broken ] && {{ echo 'main.cpp:1:2: error: no such thing'; exit 1; }}
  echo '[1/2] Building'; echo '[2/2] Linking'; /bin/cp {place}/compiled "$2/as2d-runner"
fi
"""


@pytest.fixture
def place(tmp_path, monkeypatch, data_folder):
    folder = tools(tmp_path / "tools")
    (folder / "cmake").write_text(CMAKE.format(place=tmp_path))
    (tmp_path / "compiled").write_bytes(elf(text=WORDS + b"N3MNN11Transformer3Llm", notes=android_note()))
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(platformdirs, "user_cache_dir", lambda _: str(tmp_path / "cache"))
    monkeypatch.delenv("MNN_ROOT", raising=False)
    return tmp_path


def android(place):
    return (
        "--preset", "android-arm64", "--mnn", mnn_tree(place / "mnn"), "--ndk", ndk_tree(place / "ndk"), "--api", "30",
    )  # fmt: skip


def test_a_build_is_one_document_and_is_kept_with_what_is_known_about_it(place, as2d, data_folder):
    code, answer = as2d("native", "build", *android(place))
    assert code == 0, answer
    program = data_folder / "native-runners/android-arm64/as2d-runner"
    assert answer["program"] == str(program)
    assert answer["sha256"] == hashlib.sha256((place / "compiled").read_bytes()).hexdigest()
    assert answer["next"] == f"as2d phone setup --runner {program}"
    built = answer["built"]
    assert (built["mnn"], built["parts"], built["api_level"], built["ndk"]) == (
        "3.6.1", ["llm", "audio"], 30, "27.2.12479018",
    )  # fmt: skip
    (kept,) = runners_for_phones(Folders(data_folder))
    assert (kept.program, kept.backends) == (program, ("cpu",))
    assert "-DANDROID_PLATFORM=android-30" in (place / "asked").read_text()
    assert (place / "ndk-of-cmake").read_text().strip() == str(place / "ndk")


def test_a_person_sees_how_far_it_is_and_what_to_type_next(place, run):
    code, out, err = run("native", "build", "--preset", "linux-arm64", "--output", place / "my runner")
    assert code == 0
    assert "Compiling" in err
    assert "only scripted requests" in out
    assert out.splitlines()[-1] == f"Next: as2d phone setup --runner '{place}/my runner'"
    assert (place / "my runner").read_bytes() == (place / "compiled").read_bytes()


def test_what_the_compiler_says_is_the_error(place, as2d, data_folder):
    (place / "broken").touch()
    code, answer = as2d("native", "build")
    assert code == 1
    assert answer["error"].endswith("error: no such thing")
    assert built_runners(Folders(data_folder).native_runners) == ()


def test_a_program_that_was_exchanged_since_is_not_offered(place, as2d, data_folder):
    as2d("native", "build", "--preset", "linux-arm64")
    (data_folder / "native-runners/linux-arm64/as2d-runner").write_bytes(b"other")
    assert runners_for_phones(Folders(data_folder)) == ()


def test_check_says_what_a_program_is_for(place, run, as2d):
    code, out, _ = run("native", "check", place / "compiled")
    assert code == 0
    assert "for Android on aarch64, API level 28 or higher, built with NDK r27c" in out
    assert "MNN is in it, without OpenCL." in out
    (place / "other").write_bytes(elf())
    code, answer = as2d("native", "check", place / "other")
    assert (code, answer["found"]["is_runner"]) == (1, False)
    assert "is no native runner" in answer["error"]
