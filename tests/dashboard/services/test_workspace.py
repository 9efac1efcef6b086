import subprocess
import sys

import pytest

from as2d_core.errors import UnknownNameError
from as2d_core.request import AudioRef, ModelRef, Request
from dashboard.services import runs
from dashboard.services.folders import user_folders
from dashboard.services.settings import Settings, change_settings
from dashboard.services.workspace import close_workspace, open_workspace
from datastore.errors import StoreFolderError, StoreLockedError

HOLDER = """
import sys
from datastore.opening import open_store
from datastore.store import Store
with open_store(sys.argv[1]):
    print("open", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def held(data_folder):
    """Another process that has the store open; gives its process id."""
    command = [sys.executable, "-c", HOLDER, str(data_folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "open\n"
        yield holder.pid
        holder.stdin.close()


def left_behind(data_folder, text):
    incoming = data_folder / "incoming"
    incoming.mkdir(parents=True)
    (incoming / "r1.ndjson").write_text(text)


def header():
    from as2d_core.protocol import encode
    from as2d_core.records import RunHeader

    request = Request("r1", "target-only", ModelRef("t"), AudioRef("a.wav"))
    return encode(RunHeader(1, "r1", request, {"name": "x"}, {}, "monotonic")) + "\n"


def test_a_process_has_one_workspace_for_a_folder(workspace):
    assert open_workspace() is workspace


def test_a_closed_workspace_is_opened_anew(workspace):
    close_workspace()
    assert open_workspace() is not workspace


def test_a_stream_left_behind_by_a_killed_program_becomes_an_incomplete_run(data_folder):
    left_behind(data_folder, header() + '{"kind":"mark","name":"req')
    workspace = open_workspace()
    assert runs.get_run(workspace, "r1").status == "incomplete"
    assert any("r1" in notice for notice in workspace.notices)
    assert list(workspace.incoming.iterdir()) == []


def test_a_stream_left_behind_without_a_header_is_set_aside_with_a_notice(data_folder):
    left_behind(data_folder, header()[:40])
    workspace = open_workspace()
    assert [path.name for path in workspace.incoming.iterdir()] == ["r1.damaged"]
    assert any("r1.damaged" in notice for notice in workspace.notices)


def test_a_store_that_another_process_holds_is_refused_with_its_id(held):
    with pytest.raises(StoreLockedError, match=str(held)):
        open_workspace()


def test_settings_are_kept(data_folder):
    change_settings(user_folders(), target="other")
    assert open_workspace().settings == Settings(target="other")


def test_an_unknown_setting_suggests_a_known_one(data_folder):
    with pytest.raises(UnknownNameError, match="drafter"):
        change_settings(user_folders(), draftr="x")


@pytest.mark.parametrize("text", ["", "[]", '{"target": 5, "colour": "red"}', "\x00"])
def test_settings_that_cannot_be_read_are_the_defaults(workspace, text):
    (workspace.folders.root / "settings.json").write_text(text)
    assert workspace.settings == Settings()


def test_a_file_in_the_place_of_the_folder_for_streams_is_a_sentence(data_folder):
    data_folder.mkdir(exist_ok=True)
    (data_folder / "incoming").write_text("x")
    with pytest.raises(StoreFolderError, match="incoming cannot be used, a file is where a folder must be"):
        open_workspace()
