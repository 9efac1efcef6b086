"""What of ours is on a phone, and how is it removed? Earlier versions, or everything; never what is running."""

from collections.abc import Collection
from dataclasses import dataclass

from device_bridge.adb.phone import AdbPhone
from device_bridge.errors import DeviceError
from device_bridge.setup.layout import (
    AUDIO,
    CORES,
    INBOX,
    MODELS,
    PHONE_ROOT,
    RUNNERS,
    RUNTIMES,
    SELF_TESTS,
    self_tests_folder,
)

CLEAN_S = 120.0
_LIST = r"""
for folder in "$@"; do
  for found in "$folder"/*; do [ -e "$found" ] && du -sk "$found"; done
done
exit 0
"""
_SIZE = '[ -e "$1" ] && du -sk "$1"; exit 0'
_IN_USE = r"""
# as2d-looks-for-users
root=$1
for p in /proc/[0-9]*; do
  words=$(tr '\0' ' ' < "$p/cmdline" 2> /dev/null) || continue
  case "$words" in *as2d-looks-for-users*) ;; *"$root/"*) echo "${p#/proc/} $words";; esac
done
exit 0
"""


class InUseError(DeviceError):
    """Something of ours runs on the phone, so that its files cannot be removed."""


@dataclass(frozen=True, slots=True)
class Removed:
    """What was removed from a phone."""

    folders: tuple[str, ...]
    freed_bytes: int
    """As the phone reckons what files take on its storage."""


def clean(phone: AdbPhone, keep: Collection[str] = (), *, everything: bool = False) -> Removed:
    """Remove what earlier versions have left, or everything of ours.

    Args:
        keep: folders of runtimes, cores, models and native runners that stay, with the widths that these have found
            exact.
        everything: all of ours, runs and their streams included; nothing is kept.

    Raises:
        InUseError: a runner is at work there.
        DeviceError: the phone was lost, or refuses.
    """
    users = phone.script(_IN_USE, PHONE_ROOT, timeout_s=CLEAN_S).text.splitlines()
    if users:
        raise InUseError(
            f"Something of ours runs on the phone (process {users[0].partition(' ')[0]}), so nothing was removed.",
            "Wait for it, or end it with: as2d phone cancel",
        )
    places = [RUNTIMES, CORES, MODELS, RUNNERS, SELF_TESTS, INBOX, AUDIO]
    sizes = phone.script(_SIZE, PHONE_ROOT, timeout_s=CLEAN_S) if everything else phone.script(
        _LIST, *places, timeout_s=CLEAN_S, what="listing"
    )  # fmt: skip
    found: dict[str, int] = {}
    for line in sizes.text.splitlines():
        kilobytes, _, path = line.partition("\t")
        if kilobytes.isdigit():
            found[path] = int(kilobytes) * 1024
    stays = {*keep, *map(self_tests_folder, keep)}
    gone = [path for path in found if everything or path not in stays]
    if gone:
        phone.run(["rm", "-rf", *gone], timeout_s=CLEAN_S)
    return Removed(tuple(gone), sum(found[path] for path in gone))
