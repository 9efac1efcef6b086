"""Small files of the data folder are changed by one thread of one process at a time, and nobody waits for ever."""

import subprocess
import sys
import threading

import pytest
from patience import PATIENCE_S

from datastore.errors import StoreBusyError
from datastore.lock import turn

HOLD = """
import sys
from pathlib import Path
from datastore.lock import turn
with turn(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
"""


def test_another_process_is_waited_for_until_the_deadline(tmp_path):
    path = tmp_path / "small.json"
    child = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdin=-1, stdout=-1, text=True)
    try:
        assert child.stdout.readline() == "held\n"
        with pytest.raises(StoreBusyError, match=r"small\.json was being changed by others"), turn(path, 0.1):
            pass
        child.kill()
        with turn(path, PATIENCE_S):  # a killed holder leaves nothing behind
            pass
    finally:
        child.communicate()


def test_another_thread_is_waited_for_until_the_deadline(tmp_path):
    path, refused = tmp_path / "small.json", []

    def other():
        try:
            with turn(path, 0.1):
                pass
        except StoreBusyError as error:
            refused.append(error)

    with turn(path):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join(PATIENCE_S)
    assert len(refused) == 1
