"""Ports for servers of the tests, which they open a while after they were chosen."""

import fcntl
import os
import random
import socket
import tempfile
from pathlib import Path

FIRST, LAST = 20_000, 29_999
"""Below the ports that systems give to outgoing connections, of which tests open hundreds."""
_claims = (Path(tempfile.gettempdir()) / f"as2d-test-ports-{os.getuid()}").open("ab")
"""One byte a port; the system forgets the claims of a process at its end."""


def free_port() -> int:
    """A port that nobody uses, and that no other process of tests is given while this one lives."""
    while True:
        port = random.SystemRandom().randint(FIRST, LAST)
        try:
            fcntl.lockf(_claims, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
        except OSError:
            continue
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers do
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
