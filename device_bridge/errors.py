"""What can go wrong between us and a device, one class for each invalid state.

``hint`` says what to do, and ends the message. ``retryable`` says whether the same call can
succeed later without anybody changing the request.
"""

from typing import ClassVar

from as2d_core.errors import As2dError, nearest
from as2d_core.runner.exit_reason import exit_reason


class DeviceError(As2dError):
    """Root of the errors of devices, runners and jobs."""

    retryable: ClassVar[bool] = False

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(f"{message} {hint}".strip())
        self.hint = hint


class UnknownDeviceError(DeviceError):
    """There is no device of this id."""


class DeviceBusyError(DeviceError):
    """The device runs another job; ``job_id`` and ``title`` say which one."""

    retryable = True

    def __init__(self, device_name: str, job_id: str, title: str) -> None:
        self.job_id = job_id
        self.title = title
        super().__init__(
            f"{device_name} is busy with {title!r} (job {job_id}).", "Wait until it has finished, or cancel it."
        )


class RunnerStartError(DeviceError):
    """The runner program does not start on the device."""


class RunnerLostError(DeviceError):
    """The runner ended, or was lost, in the middle of a request."""

    retryable = True


class RunnerSilentError(DeviceError):
    """The runner did not finish, or say anything, within the deadline; it was stopped."""

    retryable = True


class StreamWriteError(DeviceError):
    """The lines of a run cannot be written on this side, so that the run was stopped."""


class JobsClosedError(DeviceError):
    """The job manager was closed; this program is about to end."""


class UnknownJobError(DeviceError):
    """There is no job of this id in this process."""


class AdbServerDownError(DeviceError):
    """The adb server does not answer, or was stopped while we were talking to it."""

    retryable = True


class AdbMissingError(DeviceError):
    """There is no adb program that could be started on this computer."""


class NoPhoneError(DeviceError):
    """No phone is connected to the adb server."""


class AmbiguousPhoneError(DeviceError):
    """Several phones are connected, and nobody said which one is meant."""


class PhoneNotFoundError(DeviceError):
    """The adb server does not know the phone that is meant, now."""

    retryable = True


class UnauthorizedError(DeviceError):
    """The phone has not been told to trust this computer."""


class NoPermissionError(DeviceError):
    """The USB permissions of this computer forbid it to talk to the phone."""


class OfflineError(DeviceError):
    """The adb server sees the phone, but the phone does not answer."""

    retryable = True


class PhoneLostError(DeviceError):
    """The connection ended before the answer was complete: unplugged, or the adb server is gone."""

    retryable = True


class CommandTimeoutError(DeviceError):
    """A command on the phone, or the phone itself, did not answer within the deadline."""

    retryable = True


class CommandRefusedError(DeviceError):
    """A command was not sent: it holds a NUL character, or is longer than adb can carry."""


class CommandFailedError(DeviceError):
    """A command ran on the phone and ended with an exit code other than 0.

    ``code`` is the exit code, ``said`` the last thing it wrote.
    """

    def __init__(self, what: str, code: int, said: str = "", hint: str = "") -> None:
        self.code = code
        self.said = said
        words = f": {said.rstrip('.')}" if said else ""
        super().__init__(f"{what} failed on the phone, {explain_exit(code)}{words}.", hint or exit_hint(code))


class TransferError(DeviceError):
    """A file did not get across; ``reason`` is what the phone itself said about it, or empty."""

    def __init__(self, message: str, hint: str = "", reason: str = "") -> None:
        self.reason = reason
        super().__init__(message, hint)


class NoSpaceError(TransferError):
    """There is not enough room on the phone."""


class ReadOnlyError(TransferError):
    """The place on the phone cannot be written to at all."""


class DeniedError(TransferError):
    """The phone does not let us read or write there."""


class MissingFileError(TransferError):
    """There is no such file on the phone."""


class NotExecutableError(TransferError):
    """A program is on the phone but may not be started from where it lies."""


class TransferStoppedError(TransferError):
    """Somebody asked for the transfer to end; what has arrived is kept for the next one."""


class IntegrityError(TransferError):
    """What arrived is not what was sent."""

    retryable = True


class PhoneBusyError(DeviceError):
    """A runner of another program, or of an earlier session, works on the phone; ``session`` names it."""

    def __init__(self, phone_name: str, session: str) -> None:
        self.session = session
        super().__init__(
            f"Another runner (session {session}) is at work on {phone_name}.",
            "Wait for it, or end it on the Devices page or with: as2d phone cancel",
        )


class SetUpRunningError(DeviceError):
    """The phone is being set up by somebody else in this program."""

    retryable = True


class LeftRunningError(DeviceError):
    """A run goes on where it is, without this program; the next one picks it up."""


class VirtualPhoneError(DeviceError):
    """A virtual phone cannot be started, or does not do what it was told."""


_EXITS = {
    126: "it is there but may not be executed (exit code 126)",
    127: "it was not found there (exit code 127)",
    132: "it met an instruction that this processor lacks (exit code 132, SIGILL)",
    134: "it aborted (exit code 134, SIGABRT)",
    137: "it was killed, most likely because memory ran out (exit code 137, SIGKILL)",
    139: "it crashed (exit code 139, SIGSEGV)",
}
_EXIT_HINTS = {
    126: "Put it on a part of the phone that is not mounted noexec, such as /data/local/tmp, with its exec bit set.",
    127: "Set the phone up again, so that everything is in its place.",
    132: "Use a build for an older processor.",
    134: "Push the model again; if it stays, use a smaller model.",
    137: "Close other apps, or use smaller models or a shorter view of the audio.",
    139: "Check that the model is made for this runner.",
}


def explain_exit(code: int) -> str:
    """Say in one clause why a program on a phone ended with this exit code."""
    return _EXITS.get(code) or exit_reason(code)


def exit_hint(code: int) -> str:
    """Say in one sentence what to do about an exit code; empty when nothing is known."""
    return _EXIT_HINTS.get(code, "")


def unknown_device(device_id: str, known: list[str]) -> UnknownDeviceError:
    """Build the error for a device nobody knows, with the nearest id as a suggestion."""
    near = nearest(device_id, known)
    hint = f"Did you mean {near!r}?" if near else f"Known: {', '.join(known) or 'none'}."
    return UnknownDeviceError(f"There is no device {device_id!r}.", hint)
