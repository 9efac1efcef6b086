"""How does a command open the workspace, and wait for a job?"""

import sys
from collections.abc import Callable

from as2d_core.errors import one_line
from dashboard.cli_output import Progress
from dashboard.services.workspace import Workspace, open_workspace
from device_bridge.job import Job

POLL_S = 0.1
CANCEL_WAIT_S = 20.0


def opened() -> Workspace:
    """The user's workspace; what opening it found is said on standard error.

    Raises:
        StoreError: it cannot be opened, or another process holds it.
    """
    workspace = open_workspace()
    workspace.tell = _tell
    for notice in tuple(workspace.notices):
        _tell(notice)
    return workspace


def _tell(notice: str) -> None:
    print(one_line(notice), file=sys.stderr)


def wait(job: Job, progress: Progress, said: Callable[[Job], str] = lambda job: job.stage) -> bool:
    """Wait until a job is over and show what it does; an interrupt cancels it. Returns whether there was one."""
    try:
        while not job.wait(POLL_S):
            progress.say(said(job))
    except KeyboardInterrupt:
        job.cancel()
        progress.say("Cancelling.")
        job.wait(CANCEL_WAIT_S)
        return True
    finally:
        progress.done()
    return False
