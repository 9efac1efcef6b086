"""An exit code becomes a clause for people."""

import pytest

from as2d_core.runner.exit_reason import exit_reason


@pytest.mark.parametrize(
    ("code", "clause"),
    [
        (None, "it does not answer"),
        (0, "it ended with exit code 0"),
        (1, "it ended with exit code 1"),
        (127, "it ended with exit code 127"),
        (128, "it ended with exit code 128"),
        (255, "it ended with exit code 255"),
        (-9, "it was killed, by somebody or by the system for lack of memory (SIGKILL)"),
        (137, "it was killed, by somebody or by the system for lack of memory (SIGKILL)"),
        (-15, "it was asked to stop (SIGTERM)"),
        (-2, "it was interrupted (SIGINT)"),
        (-13, "it was stopped (SIGPIPE)"),
        (-99, "it was stopped (signal 99)"),
    ],
)
def test_an_exit_code_says_why(code, clause):
    assert exit_reason(code) == clause


@pytest.mark.parametrize(("code", "name"), [(-11, "SIGSEGV"), (139, "SIGSEGV"), (-6, "SIGABRT"), (-4, "SIGILL")])
def test_a_crash_is_named_by_its_signal(code, name):
    assert exit_reason(code).endswith(f"({name})")
