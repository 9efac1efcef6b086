"""What can go wrong between us and a device, one class for each invalid state.

``hint`` says what to do, and ends the message. ``retryable`` says whether the same call can
succeed later without anybody changing the request.
"""

from difflib import get_close_matches
from typing import ClassVar

from as2d_core.errors import As2dError


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


def unknown_device(device_id: str, known: list[str]) -> UnknownDeviceError:
    """Build the error for a device nobody knows, with the nearest id as a suggestion."""
    near = get_close_matches(device_id, known, n=1, cutoff=0.4)
    hint = f"Did you mean {near[0]!r}?" if near else f"Known: {', '.join(known) or 'none'}."
    return UnknownDeviceError(f"There is no device {device_id!r}.", hint)
