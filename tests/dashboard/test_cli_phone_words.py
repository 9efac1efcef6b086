"""What the commands on phones and bundles say to a person, in the cases that begin with nothing there."""

import json

import pytest

from dashboard import cli_bundle
from dashboard.cli import main


def test_doctor_without_a_phone_has_a_line_for_the_server_and_one_for_the_phone(own_adb, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("AS2D_ADB_SERVERS", str(own_adb.server))
    monkeypatch.setenv("AS2D_STORE", str(tmp_path))
    assert main(["phone", "doctor", "--phone", "nobody"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"✓ adb server: The adb server at {own_adb.server} answers")
    assert lines[1].startswith("✗ Phone: Phone nobody is not connected.")
    assert main(["phone", "doctor", "--phone", "nobody", "--json"]) == 1
    assert [check["key"] for check in json.loads(capsys.readouterr().out)["checks"]] == ["server", "phone"]


def test_doctor_says_once_that_no_server_answers(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("AS2D_ADB_SERVERS", "nowhere.invalid:5037")
    monkeypatch.setenv("AS2D_STORE", str(tmp_path))
    assert main(["phone", "doctor"]) == 1
    said = capsys.readouterr()
    assert said.out.count("There is no computer nowhere.invalid") == 1
    assert "· Phone: Not tried" in said.out
    assert "Check the name in AS2D_ADB_SERVERS." in said.err


def test_a_bundle_that_could_not_be_written_is_refused_before_it_is_built(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("AS2D_STORE", str(tmp_path))
    monkeypatch.setattr(cli_bundle, "current_runtime", lambda _: pytest.fail("a bundle was looked for"))
    assert main(["bundle", "build", "--output", str(tmp_path / "all.zip")]) == 1
    assert "none of the endings" in capsys.readouterr().err
