"""Workers that start together need the same machine code: one compiles a function, the others wait and load it."""

import fcntl
import threading
from contextlib import contextmanager

from numba.core.dispatcher import Dispatcher


@contextmanager
def compiled_once(folder):
    """While this lasts, of all processes with the same ``folder`` only one compiles a function at a time.

    Numba looks into its cache when it is asked to compile, so who waited finds what the first one kept.
    """
    plain, inside = Dispatcher.compile, threading.local()

    def compile_alone(self, signature):
        if getattr(inside, "it", False):  # a function that the function calls
            return plain(self, signature)
        name = "".join(letter if letter.isalnum() else "-" for letter in self.py_func.__qualname__)
        with (folder / f"{name}.compiling").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            inside.it = True
            try:
                return plain(self, signature)
            finally:
                inside.it = False

    Dispatcher.compile = compile_alone
    yield
    Dispatcher.compile = plain
