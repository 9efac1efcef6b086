"""What is missing for a build of the native runner is one sentence, said before a compiler is started."""

import json
import os

import pytest
from fake_native_trees import AUDIO, LLM, OPENCL, mnn_tree, ndk_tree, tools

from as2d_core.errors import UnknownNameError
from as2d_core.native import builder
from as2d_core.native.builder import SOURCES
from as2d_core.native.errors import NativeBuildError
from as2d_core.native.recipe import Wish, make_recipe
from as2d_core.native.targets import find_target, targets


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """Only the tools of the test are found, and no NDK."""
    monkeypatch.setenv("PATH", str(tools(tmp_path / "tools")))
    monkeypatch.setattr(builder.sys, "prefix", str(tmp_path / "no-environment"))
    for name in ("ANDROID_NDK_HOME", "ANDROID_NDK_ROOT", "ANDROID_NDK", "ANDROID_HOME", "ANDROID_SDK_ROOT", "CXX"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def refused(wish, *words, environment=None):
    with pytest.raises(NativeBuildError) as caught:
        make_recipe(wish, environment)
    sentence = str(caught.value)
    assert "\n" not in sentence
    for word in words:
        assert str(word) in sentence
    return sentence


def test_every_target_is_a_preset_of_cmake_and_every_preset_a_target():
    presets = json.loads((SOURCES / "CMakePresets.json").read_text())["configurePresets"]
    assert [target.name for target in targets()] == [preset["name"] for preset in presets]


def test_a_preset_that_is_not_there_gets_the_nearest_one():
    with pytest.raises(UnknownNameError, match="'android-arm64'"):
        make_recipe(Wish("android-arm"))


# -- tools -----------------------------------------------------------------------------------------


def test_without_cmake_there_is_a_command_that_installs_it(place, monkeypatch):
    monkeypatch.setenv("PATH", str(tools(place / "others", cmake=None)))
    refused(Wish(), "CMake was not found", "pip install cmake")


def test_an_old_cmake_is_told_apart_from_none(place, monkeypatch):
    monkeypatch.setenv("PATH", str(tools(place / "others", cmake="3.18.4")))
    refused(Wish(), "CMake 3.18.4 is too old", "3.21")


def test_cmake_beside_python_is_found_though_it_is_not_on_the_path(place, monkeypatch):
    tools(place / "bin")
    monkeypatch.setenv("PATH", str(place / "empty"))
    monkeypatch.setattr(builder.sys, "prefix", str(place))
    assert make_recipe(Wish()).target.name == "host"


def test_without_a_compiler_there_is_a_command_that_installs_one(place, monkeypatch):
    monkeypatch.setenv("PATH", str(tools(place / "others", others=("ninja",))))
    refused(Wish(), "C++ compiler", "apt install g++")


def test_without_ninja_and_make_nothing_is_started(place, monkeypatch):
    monkeypatch.setenv("PATH", str(tools(place / "others", others=("c++",))))
    refused(Wish(), "Neither ninja nor make")


def test_without_the_cross_compiler_its_package_is_named(place, monkeypatch):
    if find_target("host").machine == "aarch64":
        pytest.skip("this computer is arm64 itself")
    monkeypatch.setenv("PATH", str(tools(place / "others", others=("ninja", "c++"))))
    refused(Wish("linux-arm64"), "aarch64-linux-gnu-g++ was not found", "apt install g++-aarch64-linux-gnu")


# -- the NDK ---------------------------------------------------------------------------------------


def test_without_an_ndk_the_sentence_says_where_it_was_looked_for():
    refused(Wish("android-arm64"), "ANDROID_NDK_HOME", "ANDROID_NDK_ROOT", "ANDROID_HOME", "--ndk FOLDER")


@pytest.mark.parametrize("variable", ["ANDROID_NDK_HOME", "ANDROID_NDK_ROOT", "ANDROID_NDK"])
def test_the_ndk_of_the_environment_is_taken(place, variable):
    root = ndk_tree(place / "ndk")
    recipe = make_recipe(Wish("android-arm64"), {variable: str(root)})
    assert (recipe.ndk.root, recipe.ndk.version, recipe.api_level) == (root, "27.2.12479018", 28)
    assert recipe.configuration.environment == {"ANDROID_NDK_HOME": str(root)}
    assert ("ANDROID_PLATFORM", "android-28") in recipe.configuration.definitions


def test_of_several_ndks_in_the_sdk_the_newest_whole_one_is_taken(place):
    for version, whole in (("9.0.1", True), ("27.2.1", True), ("28.0.1", False)):
        ndk_tree(place / "sdk/ndk" / version, version, toolchain=whole)
    assert make_recipe(Wish("android-arm64"), {"ANDROID_HOME": str(place / "sdk")}).ndk.version == "27.2.1"


def test_an_ndk_without_its_toolchain_file_is_none(place):
    root = ndk_tree(place / "ndk", toolchain=False)
    refused(Wish("android-arm64", ndk=root), "--ndk names", root, "build/cmake/android.toolchain.cmake is missing")


def test_who_gives_the_sdk_in_place_of_an_ndk_is_told_the_folder(place):
    inside = ndk_tree(place / "sdk/ndk/27.2.1", "27.2.1")
    refused(Wish("android-arm64", ndk=place / "sdk"), f"give {inside}")


def test_a_folder_that_is_not_there_is_said_with_who_named_it(place):
    refused(Wish("android-arm64"), "ANDROID_NDK_HOME names", environment={"ANDROID_NDK_HOME": str(place / "gone")})


@pytest.mark.parametrize("level", [0, 19, 36])
def test_an_api_level_that_the_ndk_does_not_build_for_is_refused_with_those_it_does(place, level):
    root = ndk_tree(place / "ndk")
    refused(Wish("android-arm64", ndk=root, api_level=level), f"API level {level}", "21 to 35")


def test_an_ndk_that_lists_its_levels_for_cmake_only_is_asked_there(place):
    root = ndk_tree(place / "ndk", levels=None)
    (root / "build/cmake/platforms.cmake").write_text(
        'set(NDK_MIN_PLATFORM_LEVEL "19")\nset(NDK_MAX_PLATFORM_LEVEL "33")'
    )
    refused(Wish("android-arm64", ndk=root, api_level=34), "21 to 33")


@pytest.mark.parametrize("more", [{"api_level": 30}, {"ndk": "x"}])
def test_what_is_for_android_only_is_refused_elsewhere(more):
    refused(Wish("host", **more), "are for Android")


# -- MNN -------------------------------------------------------------------------------------------


def android(place, root, preset="android-arm64"):
    ndk = place / "ndk"
    return Wish(preset, mnn=root, ndk=ndk if ndk.exists() else ndk_tree(ndk))


def test_an_mnn_that_fits_is_found_with_its_version_and_parts(place):
    recipe = make_recipe(android(place, mnn_tree(place / "mnn", parts=LLM + AUDIO + OPENCL)))
    assert (recipe.mnn.version, recipe.mnn.parts) == ("3.6.1", ("llm", "audio", "opencl"))
    assert ("AS2D_OPENCL", "OFF") in recipe.configuration.definitions
    both = make_recipe(android(place, place / "mnn", "android-arm64-opencl"))
    assert ("AS2D_OPENCL", "ON") in both.configuration.definitions
    assert recipe.key != both.key


def test_parts_may_lie_in_libraries_of_their_own(place):
    root = mnn_tree(place / "mnn", parts=b"")
    for name, part in (("llm", LLM), ("MNNAudio", AUDIO)):
        mnn_tree(place / name, parts=part)
        (place / name / "lib/libMNN.a").rename(root / f"lib/lib{name}.a")
    assert make_recipe(android(place, root)).mnn.parts == ("llm", "audio")


def test_a_folder_that_holds_no_mnn_is_said(place):
    (place / "empty").mkdir()
    refused(android(place, place / "empty"), "holds no MNN", "include/MNN/MNNDefine.h")
    refused(android(place, place / "gone"), "There is no folder")


def test_headers_without_a_library_are_said(place):
    root = mnn_tree(place / "mnn")
    (root / "lib/libMNN.a").unlink()
    refused(android(place, root), "has no library", "libMNN.a")


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        ({"headers": False}, ("LLM part", "-DMNN_BUILD_LLM=ON")),
        ({"parts": AUDIO}, ("LLM part, though its headers", "-DMNN_BUILD_LLM=ON")),
        ({"parts": LLM}, ("audio part", "-DMNN_BUILD_LLM_OMNI=ON")),
        ({"machine": "x86_64"}, ("built for x86_64", "android-arm64 is for aarch64")),
        ({"machine": "arm"}, ("built for arm,",)),
        ({"system": "linux"}, ("built for Linux", "NDK's toolchain file")),
        ({"library": "lib/libMNN.so"}, ("shared library", "-DMNN_BUILD_SHARED_LIBS=OFF")),
    ],
)
def test_an_mnn_that_does_not_fit_a_phone_is_refused_with_what_to_build(place, tree, words):
    refused(android(place, mnn_tree(place / "mnn", **tree)), *words)


def test_opencl_that_is_missing_names_the_flag_and_the_other_preset(place):
    wish = android(place, mnn_tree(place / "mnn"), "android-arm64-opencl")
    assert refused(wish, "-DMNN_OPENCL=ON").endswith("choose the preset android-arm64.")


def test_opencl_without_any_mnn_is_refused(place):
    refused(android(place, None, "android-arm64-opencl"), "--mnn")


def test_an_mnn_for_phones_does_not_fit_this_computer(place):
    root = mnn_tree(place / "mnn", machine="arm", system=None, library="lib/libMNN.so")
    refused(Wish(mnn=root), "built for arm,", "preset host")


@pytest.mark.parametrize("damage", [b"", b"!<arch>\n", b"\x7fELF\x02\x01\x01", b"text"])
def test_a_damaged_library_is_a_sentence(place, damage):
    root = mnn_tree(place / "mnn")
    (root / "lib/libMNN.a").write_bytes(damage)
    refused(android(place, root), root / "lib/libMNN.a")


def test_of_many_builds_the_oldest_are_removed_and_none_that_somebody_may_be_using(tmp_path):
    cache = tmp_path / "builds"
    for number in range(9):
        (cache / f"{number}").mkdir(parents=True)
    for number in (3, 1):
        os.utime(cache / f"{number}", (number, number))
    builder.forget_old_builds(cache)
    assert {path.name for path in cache.iterdir()} == {"0", "2", "4", "5", "6", "7", "8"}
    os.utime(cache / "8", (8, 8))
    builder.forget_old_builds(cache)
    assert not (cache / "8").exists()
    for path in cache.iterdir():
        os.utime(path, (1, 1))
    builder.forget_old_builds(cache)
    assert len(list(cache.iterdir())) == 6
