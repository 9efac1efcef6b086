"""Tests wait for what is to happen and never for a time: what they start may be frozen for seconds, or last in line."""

import time

PATIENCE_S = 120.0
"""Much longer than anything takes; who waits this long has found a mistake."""


def wait_for(condition, patience_s=PATIENCE_S):
    """Ask until the answer is true, and give it back."""
    ends = time.monotonic() + patience_s
    while not (found := condition()):
        assert time.monotonic() < ends, f"it did not come about within {patience_s:g} s"
        time.sleep(0.01)
    return found
