"""Where the data folder is, and what is in it."""

import pytest

from datastore.errors import StoreFolderError
from datastore.files import download_name, safe_name
from datastore.ingest import ingest_run
from datastore.locations import Folders, data_folder
from datastore.opening import open_store


def test_the_environment_names_the_folder(tmp_path):
    assert data_folder({"AS2D_STORE": str(tmp_path / "x")}) == tmp_path / "x"


def test_without_the_environment_it_is_the_users_data_folder_of_as2d():
    for blank in ({}, {"AS2D_STORE": "  "}):
        assert data_folder(blank).name == "as2d"
        assert data_folder(blank).is_absolute()


def test_a_home_sign_is_expanded(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert data_folder({"AS2D_STORE": "~/runs"}) == tmp_path / "runs"


def test_opening_makes_the_whole_layout(folder):
    open_store(folder).close()
    names = {p.name for p in folder.iterdir()}
    assert names == {"as2d.duckdb", "as2d.lock", "runs", "bin", "models", "profiles", "corpora", "uploads"}


def test_a_file_in_the_way_is_told_with_its_path(tmp_path):
    (tmp_path / "data").write_text("not a folder")
    with pytest.raises(StoreFolderError, match="data"):
        Folders(tmp_path / "data").create()


def test_a_data_folder_that_is_a_file_says_that_a_folder_is_wanted(tmp_path):
    (tmp_path / "as2d.duckdb").write_text("")
    for place in ("as2d.duckdb", "as2d.duckdb/below"):
        with pytest.raises(StoreFolderError, match="a file is where a folder must be"):
            Folders(tmp_path / place).create()


@pytest.mark.parametrize("plain", ["run-1", "2025.01.02_a", "x"])
def test_plain_names_stay_as_they_are(plain):
    assert safe_name(plain) == plain


@pytest.mark.parametrize(
    "odd",
    [
        "../../etc/passwd",
        "/etc/passwd",
        "a/b",
        "a\\b",
        "..",
        ".",
        ".hidden",
        "C:x",
        "A",
        "é",
        "a\0b",
        "x" * 300,
        "\udc80",
    ],
)
def test_odd_names_become_one_safe_part_of_a_path(odd, tmp_path):
    name = safe_name(odd)
    assert (tmp_path / name).resolve().parent == tmp_path.resolve()
    assert len(name) <= 100
    assert name.isascii()
    (tmp_path / name).write_text("it can be written")


def test_different_names_get_different_files_even_where_case_does_not_count():
    names = ["A", "a", "a/b", "a\\b", "a-b", "A-b", "../a", "a~b"]
    assert len({safe_name(n).lower() for n in names}) == len(names)


@pytest.mark.parametrize("run_id", ["../../outside", "/outside", "a/../../../outside", "..", "con\0trol"])
def test_a_run_id_with_path_characters_never_leaves_the_folder(folder, tmp_path, run_id, sample):
    before = set(tmp_path.rglob("*"))
    with open_store(folder) as store:
        result = ingest_run(store, sample(run_id))
        assert result.log.parent == folder / "runs"
        assert result.run_id == run_id
    new = set(tmp_path.rglob("*")) - before
    assert all(p == folder or folder in p.parents or p.parent.name == "made" or p.name == "made" for p in new)


@pytest.mark.parametrize(
    ("title", "name"),
    [("As²d b=7 on long_00", "as2d-b-7-on-long-00"), ("../../é\n", "e"), ("測試", "report"), ("x" * 99, "x" * 48)],
)
def test_a_download_is_named_so_that_its_title_is_recognised(title, name):
    assert download_name(title, "report") == name
