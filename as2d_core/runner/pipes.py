"""Pipes between the model processes, used between two model calls: cheap to ask, cheap to send.

``multiprocessing``'s own ``poll`` builds a selector and its ``send`` a pickler at every call, which
costs more than the rest of a round together.
"""

import pickle
import select
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any


def send(pipe: Connection, message: Any) -> None:
    """Send a message that ``Connection.recv`` can read."""
    pipe.send_bytes(pickle.dumps(message, pickle.HIGHEST_PROTOCOL))


def wait_briefly(asked: Callable[[], bool], seconds: float) -> bool:
    """Spin until there is a message, for at most ``seconds``; whether there is one.

    Waking a sleeping process costs more than a draft on a fast core, so that a serial method would
    be timed by the scheduler. Only for processes that own their core.
    """
    until = time.perf_counter() + seconds
    while not asked():
        if time.perf_counter() > until:
            return False
    return True


def asker(pipe: Connection) -> Callable[[], bool]:
    """A function that tells at once whether ``pipe`` holds a message or has been closed."""
    if not hasattr(select, "poll"):  # Windows
        return pipe.poll
    poller = select.poll()
    poller.register(pipe.fileno(), select.POLLIN | select.POLLHUP)
    return lambda: bool(poller.poll(0))
