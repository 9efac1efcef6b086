"""Ingest in processes that are killed. Imports once, forks for every death: a death costs no start-up.

usage: killed_children.py random FOLDER DEATHS LOG...    kills at a random moment while logs come in, again and again
       killed_children.py steps FOLDER STEPS LOG         kills at the 1st, 2nd, … step of one ingest

Prints one JSON object a death: the data folder, the ids that were acknowledged, and whether it was still alive.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import psutil  # noqa: F401 - loaded before the forks

from datastore import ingest, recovery  # noqa: F401 - loaded before the forks
from datastore.opening import open_store


def main(kind: str, folder: str, count: str, *logs: str) -> None:
    pick = random.Random(int(count))
    for number in range(1, int(count) + 1):
        data = Path(folder) / f"{kind}-{number}"
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reader)
            if kind == "steps":
                arm(number)
            work(data, logs, writer)
            if kind == "random":
                signal.pause()  # its death comes, however slow its killer is
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as said:
            acknowledged = [said.readline().strip()] if kind == "random" else []
            if kind == "random":
                time.sleep(pick.uniform(0, 0.12))
                os.kill(pid, signal.SIGKILL)
            acknowledged += said.read().split()
        _, status = os.waitpid(pid, 0)
        print(json.dumps([str(data), acknowledged, os.WIFEXITED(status)]), flush=True)


def work(data: Path, logs: tuple[str, ...], writer: int) -> None:
    store = open_store(data)
    for log in logs:
        result = ingest.ingest_run(store, log)
        os.write(writer, f"{result.run_id}\n".encode())


def arm(number: int) -> None:
    """Die before the ``number``-th step that changes anything on the disk."""
    left = [number]

    def deadly(function):
        def step(*args, **kwargs):
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*args, **kwargs)

        return step

    os.fsync = deadly(os.fsync)
    Path.replace = deadly(Path.replace)
    Path.unlink = deadly(Path.unlink)
    ingest._append = deadly(ingest._append)
    ingest.keep_self_tests = deadly(ingest.keep_self_tests)
    ingest._result = deadly(ingest._result)


if __name__ == "__main__":
    main(*sys.argv[1:])
