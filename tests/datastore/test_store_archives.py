import io
import stat
import zipfile

import pytest

from datastore import archives
from datastore.archives import opened
from datastore.errors import ArchiveError


def pack(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return path


@pytest.mark.parametrize("name", ["../x", "/x", "runs/../../x", "C:x", "runs\\..\\x", "a\nb", "runs/../x"])
def test_a_name_that_leads_out_of_the_folder_is_refused_before_anything_is_read(tmp_path, name):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        member = zipfile.ZipInfo("x")
        member.filename = name
        archive.writestr(member, b"x")
    with pytest.raises(ArchiveError, match="outside of its folder"), opened(path):
        pass
    assert [p.name for p in tmp_path.iterdir()] == ["a.zip"]


def test_a_link_is_refused(tmp_path):
    member = zipfile.ZipInfo("runs/a.ndjson")
    member.external_attr = (stat.S_IFLNK | 0o777) << 16
    path = pack(tmp_path / "a.zip", [(member, b"/etc/passwd")])
    with pytest.raises(ArchiveError, match="link or a device"), opened(path):
        pass


def test_what_expands_beyond_the_limit_is_stopped_while_it_is_read(tmp_path):
    path = pack(tmp_path / "a.zip", [("x", bytes(40_000_000))])
    assert path.stat().st_size < 100_000
    with opened(path, most_bytes=3_000_000) as archive, pytest.raises(ArchiveError, match="expands to more than"):
        archive.read("x")


def test_all_members_count_against_one_limit(tmp_path):
    path = pack(tmp_path / "a.zip", [("x", bytes(2_000_000)), ("y", bytes(2_000_000))])
    with opened(path, most_bytes=3_000_000) as archive:
        archive.read("x")
        with pytest.raises(ArchiveError, match="expands to more than"):
            archive.read("y")


def test_sizes_that_the_archive_claims_are_not_believed(tmp_path):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x", bytes(5_000_000))
    lying = data.getvalue().replace((5_000_000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    path = tmp_path / "a.zip"
    path.write_bytes(lying)
    with opened(path, most_bytes=3_000_000) as archive, pytest.raises(ArchiveError):
        assert len(archive.read("x")) <= 10  # cut to what was claimed, then refused for its checksum


def test_too_many_members_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "MOST_MEMBERS", 3)
    path = pack(tmp_path / "a.zip", [(str(n), b"") for n in range(4)])
    with pytest.raises(ArchiveError, match="4 members"), opened(path):
        pass


@pytest.mark.parametrize("damage", [lambda d: d[: len(d) // 2], lambda d: b"PK" + d[:20], lambda d: d[:0]])
def test_a_damaged_archive_is_a_sentence(tmp_path, damage):
    path = pack(tmp_path / "a.zip", [("x", b"y" * 100)])
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ArchiveError, match="no ZIP archive"), opened(path):
        pass


def test_a_member_whose_bytes_were_changed_is_a_sentence(tmp_path):
    path = pack(tmp_path / "a.zip", [("x", bytes(range(256)) * 40)])
    data = bytearray(path.read_bytes())
    data[60] ^= 0xFF
    path.write_bytes(data)
    with opened(path) as archive, pytest.raises(ArchiveError, match="'x' in"):
        archive.read("x")


def test_a_member_that_is_not_there_is_named(tmp_path):
    with opened(pack(tmp_path / "a.zip", [("x", b"")])) as archive, pytest.raises(ArchiveError, match="no 'y'"):
        archive.read("y")


def test_an_unpacked_folder_reads_as_its_archive(tmp_path):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "a.ndjson").write_bytes(b"1")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "b").write_bytes(b"2")
    with opened(tmp_path) as archive:
        assert archive.names == ("runs/a.ndjson",)
        assert archive.read("runs/a.ndjson") == b"1"


def test_a_link_in_an_unpacked_folder_is_refused(tmp_path):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "a.ndjson").symlink_to("/etc/passwd")
    with pytest.raises(ArchiveError, match="is a link"), opened(tmp_path):
        pass
