"""What goes wrong on this computer while a job runs: the job ends with a sentence, and its device is free again."""

import errno
import io
from pathlib import Path

from patience import PATIENCE_S, wait_for

from device_bridge.devices import Limits


class Full(io.RawIOBase):
    """A file on a disk without room."""

    def writable(self):
        return True

    def write(self, _):
        raise OSError(errno.ENOSPC, "No space left on device")


class OnFullDisk(type(Path())):
    """A place on such a disk; files can be made there, and stay empty."""

    def open(self, *_, **__):
        self.touch()
        return Full()


def run(manager, *requests):
    job = manager.submit("here", requests)
    assert job.wait(PATIENCE_S)
    return job


def test_a_note_about_a_job_that_cannot_be_removed_leaves_the_device_free(manager, ask, monkeypatch):
    def refuse(_):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(manager._ledger, "remove", refuse)
    job = run(manager, ask("ok"))
    assert job.state == "done"
    assert "although it has ended: [Errno 30] Read-only file system" in job.warnings[0]
    assert run(manager, ask("ok")).state == "done"


def test_a_device_that_cannot_even_rest_is_free_for_the_next_job(manager, ask, monkeypatch):
    def refuse():
        raise ValueError("no rest")

    device = manager.device("here")
    monkeypatch.setattr(device, "rest", refuse)
    job = run(manager, ask("ok"))
    assert (job.state, job.warnings) == ("done", ["Device here was not left as it should be: no rest"])
    assert run(manager, ask("ok")).state == "done"


def test_a_run_whose_first_line_finds_no_room_fails_with_a_sentence_and_leaves_no_file(manager, ask, tmp_path):
    job = manager.submit("here", [ask("ok"), ask("ok")])
    job.runs[0].path = OnFullDisk(job.runs[0].path)
    assert job.wait(PATIENCE_S)
    assert [item.state for item in job.runs] == ["failed", "done"]
    assert "cannot be written" in job.error
    assert "No space left on device" in job.error
    assert not job.runs[0].path.exists()


def test_a_stream_that_somebody_removes_while_it_is_written_is_missed(make_manager, ask):
    taken = []
    manager = make_manager(on_stream=taken.append)
    job = manager.submit("here", [ask("slow 100000")])
    wait_for(job.runs[0].path.exists)
    job.runs[0].path.unlink()
    job.cancel()
    assert job.wait(PATIENCE_S)
    assert taken == []
    assert "is not there any more" in job.warnings[0]


def test_a_mistake_in_the_code_of_a_device_ends_the_run_with_a_sentence_and_closes_its_file(manager, ask, monkeypatch):
    device = manager.device("here")
    real = device.run

    def stumble(request, take, cancel):
        real(request, lambda line: take(line) and 1 / 0, cancel)

    monkeypatch.setattr(device, "run", stumble)
    job = run(manager, ask("ok"))
    assert job.state == "failed"
    assert "by a mistake of this program: ZeroDivisionError" in job.error
    assert job.runs[0]._file is None
    monkeypatch.undo()
    assert run(manager, ask("ok")).state == "done"


def test_a_clock_that_jumps_back_in_a_run_changes_neither_its_order_nor_its_deadlines(make_manager, ask, monkeypatch):
    manager = make_manager(limits=Limits(silence_s=120.0, request_s=600.0))
    now = [2_000_000_000.0]

    def backwards():
        now[0] -= 3600
        return now[0]

    monkeypatch.setattr("time.time", backwards)
    job = run(manager, ask("slow 20"), ask("ok"))
    assert (job.error, [item.state for item in job.runs]) == (None, ["done", "done"])
