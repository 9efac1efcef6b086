"""Which jobs go on without us? Written down while they run, so that a later program can pick them up."""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from as2d_core.errors import As2dError, RecordError
from as2d_core.protocol import request_from_json, request_to_json
from as2d_core.reading import read_json
from as2d_core.request import Request

SUFFIX = ".job.json"


@dataclass(frozen=True, slots=True)
class LeftJob:
    """A job that had not ended when its program did."""

    job_id: str
    device_id: str
    title: str
    requests: tuple[Request, ...]
    done: tuple[str, ...] = ()
    """Run ids whose streams have been handed on."""
    stop_at: float | None = None
    """No request is begun after this instant (seconds since 1970)."""

    @property
    def remaining(self) -> tuple[Request, ...]:
        """Requests whose streams have not been handed on."""
        return tuple(request for request in self.requests if request.run_id not in self.done)


class Ledger:
    """The jobs that are written down in one folder. One thread writes about one job."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, job: LeftJob) -> None:
        """Write a job down, or what has become of it.

        Raises:
            OSError: it cannot be written.
        """
        text = json.dumps({
            "job_id": job.job_id,
            "device_id": job.device_id,
            "title": job.title,
            "requests": [request_to_json(request) for request in job.requests],
            "done": list(job.done),
            "stop_at": job.stop_at,
        })  # fmt: skip
        self._folder.mkdir(parents=True, exist_ok=True)
        part = self._path(job.job_id).with_suffix(".part")
        try:
            part.write_text(text, encoding="utf-8")
            part.replace(self._path(job.job_id))
        except OSError:
            with suppress(OSError):
                part.unlink(missing_ok=True)
            raise

    def remove(self, job_id: str) -> None:
        """The job has ended.

        Raises:
            OSError: the note cannot be removed.
        """
        self._path(job_id).unlink(missing_ok=True)

    def read(self) -> tuple[list[LeftJob], list[str]]:
        """The jobs, oldest first, and a sentence for each file that cannot be read."""
        jobs: list[LeftJob] = []
        problems: list[str] = []
        for path in sorted(self._folder.glob(f"*{SUFFIX}")):
            try:
                jobs.append(_job(path))
            except (OSError, ValueError, KeyError, TypeError, As2dError) as error:
                problems.append(f"The note {path} on a job left running cannot be read ({error}); remove it.")
        return jobs, problems

    def _path(self, job_id: str) -> Path:
        return self._folder / f"{job_id}{SUFFIX}"


def _job(path: Path) -> LeftJob:
    body = read_json(path)
    if not isinstance(body, dict):
        raise RecordError("it holds no note")
    requests: Sequence[Request] = [request_from_json(item) for item in body["requests"]]
    if f"{body['job_id']}{SUFFIX}" != path.name:
        raise RecordError("it is about another job")
    done = tuple(str(run_id) for run_id in body["done"])
    stop_at = body.get("stop_at")
    return LeftJob(
        str(body["job_id"]),
        str(body["device_id"]),
        str(body["title"]),
        tuple(requests),
        done,
        None if stop_at is None else float(stop_at),
    )
