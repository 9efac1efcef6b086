"""A model process ends with its parent, whatever it is doing; only the coordinator answers to signals."""

import multiprocessing
import os
import signal
import threading
from contextlib import suppress
from multiprocessing.connection import wait


def hold_on() -> None:
    """Tie this process to its parent.

    A busy process reads no pipe, so that a thread waits for the parent's end. Interrupts from a
    terminal reach the whole group: the coordinator turns them into a cancellation, and a model
    process that died of them would make that a failure.
    """
    for name in ("SIGINT", "SIGTERM"):
        with suppress(ValueError, AttributeError):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    sentinel = parent.sentinel

    def watch() -> None:
        wait([sentinel])
        os._exit(0)

    threading.Thread(target=watch, name="as2d-lifeline", daemon=True).start()
