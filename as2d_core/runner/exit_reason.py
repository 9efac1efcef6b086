"""Why did a process end? One clause for an exit code, for people."""

import signal

_MEANING = {
    "SIGSEGV": "it crashed (segmentation fault), which MNN does on a model or an input that it cannot run",
    "SIGABRT": "it aborted, which MNN does when a model file is damaged or memory runs out",
    "SIGILL": "it met an instruction that this processor lacks",
    "SIGBUS": "it crashed (bus error), often a model file that was cut off while it was mapped",
    "SIGKILL": "it was killed, by somebody or by the system for lack of memory",
    "SIGTERM": "it was asked to stop",
    "SIGINT": "it was interrupted",
}


def exit_reason(code: int | None) -> str:
    """A clause such as ``it was killed, by somebody or by the system for lack of memory (SIGKILL)``."""
    if code is None:
        return "it does not answer"
    number = -code if code < 0 else code - 128  # a shell writes a signal as 128 and its number
    try:
        name = signal.Signals(number).name
    except ValueError:
        return f"it was stopped (signal {number})" if code < 0 else f"it ended with exit code {code}"
    return f"{_MEANING.get(name, 'it was stopped')} ({name})"
