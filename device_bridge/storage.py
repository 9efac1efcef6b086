"""Can a phone be written to? Asked when something went wrong there: what a full disk breaks rarely says so."""

from dataclasses import dataclass

from device_bridge.adb.phone import AdbPhone
from device_bridge.adb.reasons import reason_of
from device_bridge.errors import DeviceError, NoSpaceError, ReadOnlyError, TransferError
from device_bridge.setup.layout import PHONE_ROOT

_ASK_S = 10.0
_TRY = r"""
cd "$1" 2> /dev/null || cd "${1%/*}" 2> /dev/null || exit 0
head -c 65536 /dev/zero > .writable
code=$?
rm -f .writable
exit $code
"""
_KINDS: dict[type[TransferError], tuple[str, str]] = {
    NoSpaceError: (
        "the phone's storage is full",
        "Remove something from the phone, or earlier versions of ours with: as2d phone clean",
    ),
    ReadOnlyError: ("the phone's storage has become read-only", "Restart the phone; Android does this after an error."),
}


@dataclass(frozen=True, slots=True)
class StorageProblem:
    """Why a phone cannot write: a clause, with the phone's own words in it, and what to do."""

    clause: str
    hint: str


def storage_problem(phone: AdbPhone) -> StorageProblem | None:
    """Whether the phone cannot write below our folder there; ``None`` when it can, or does not answer."""
    try:
        output = phone.script(_TRY, PHONE_ROOT, timeout_s=_ASK_S, check=False, what="writing")
    except DeviceError:
        return None
    if not output.code:
        return None
    clause, hint = _KINDS.get(type(reason_of(PHONE_ROOT, output.said, output.code)), (None, ""))
    return None if clause is None else StorageProblem(f"{clause} ({output.said.rpartition(': ')[2]})", hint)
