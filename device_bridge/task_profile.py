"""Does a phone let a shell process work as the app in front does? Android's highest task profile, asked for by name.

A task profile says on which cores a process may run and how much of them it may take. ``settaskprofile``
(Android 12 and later) applies one to a process; Android's own performance tests use this one. It holds
for the process that asks and for what it starts, and ends with them: nothing on the phone is changed.
"""

from dataclasses import replace

from as2d_core.runner.placement import TASK_PROFILE_VARIABLE
from device_bridge.adb.phone import AdbPhone
from device_bridge.errors import DeviceError
from device_bridge.sessions import RunnerCommand

HIGHEST = "CPUSET_SP_TOP_APP"
APPLIED = "is applied successfully"
"""What the program says when it has worked; its exit code differs between versions."""
ASK = f"command -v settaskprofile > /dev/null && sh -c 'settaskprofile $$ {HIGHEST}' 2>&1"
"""Asks for a shell that ends with it; says nothing where there is no such program."""
_ASK_S = 10.0
# "$0" is the profile, the rest the command of the runner.
_UNDER = f"""
said=$(settaskprofile $$ "$0" 2>&1)
case "$said" in
*"{APPLIED}"*) ;;
*) echo "the phone refuses the task profile $0: $said" >&2; exit 1 ;;
esac
export {TASK_PROFILE_VARIABLE}="$0"
exec "$@"
"""


class TaskProfileError(DeviceError):
    """A phone does not let a shell process ask for its highest task profile."""


def check_task_profile(phone: AdbPhone, name: str) -> None:
    """Ask for the highest task profile in a shell that ends at once.

    Args:
        name: what a person calls the phone.

    Raises:
        TaskProfileError: the phone has none, or refuses it.
        DeviceError: it does not answer.
    """
    said = phone.script(ASK, timeout_s=_ASK_S, check=False, what="asking for a task profile").text.strip()
    if APPLIED in said:
        return
    if not said:
        raise TaskProfileError(
            f"{name} has no settaskprofile, so that no task profile can be asked for.",
            "Leave it out; Android 12 and later have it.",
        )
    reason = said.splitlines()[-1][:200]
    raise TaskProfileError(f"{name} refuses the task profile {HIGHEST} to a shell process ({reason}).", "Leave it out.")


def under_profile(runner: RunnerCommand, profile: str) -> RunnerCommand:
    """The same runner, working under a task profile; it ends at once with a sentence when that is refused."""
    return replace(runner, argv=["sh", "-c", _UNDER, profile, *runner.argv])
