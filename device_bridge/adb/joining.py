"""What does the phone do with the segments of a file? One shell there checks each and appends it, while the next comes.

It lives as long as the transfer, so that a segment costs one hash and one copy there, and no start of anything else.
"""

import posixpath
from typing import Self

from device_bridge.adb.commands import command, script
from device_bridge.adb.phone import AdbPhone
from device_bridge.adb.reasons import is_known, reason_of
from device_bridge.adb.wire import Deadline
from device_bridge.errors import IntegrityError, PhoneLostError, exit_hint, explain_exit

JOIN_S = 60.0
"""Longest time for one segment."""
_DAMAGED = 76
_SIGNALS = 128
"""A larger exit code is that of a shell that a signal has ended."""
# A line on standard input: number of the segment's file, where it begins in the whole, its hash.
_JOIN = r"""
cd "$1" || exit 1
echo $$ > "$2.part.pid" || exit 1
while read -r number offset wanted; do
  found=$(sha256sum < "$2.part.$number") || exit 1
  [ "${found%% *}" = "$wanted" ] || exit 76
  if [ "$offset" = 0 ]; then mv -f "$2.part.$number" "$2.part" || exit 1
  else cat "$2.part.$number" >> "$2.part" || exit 1; fi
  echo joined
done
"""
_FORGET = r"""
cd "$1" || exit 1
head -c 65536 /dev/zero >> "$2.part"
rm -f "$2.part" "$2.part.0" "$2.part.1" "$2.part.pid"
"""


def split(remote: str) -> tuple[str, str]:
    """Folder and name; the name cannot be taken for an option."""
    folder, name = posixpath.split(remote)
    return folder, f"./{name}"


class Joiner:
    """Appends segments to the ``.part`` of one file. One thread at a time."""

    def __init__(self, phone: AdbPhone, remote: str) -> None:
        """Start the shell.

        Raises:
            DeviceError: the phone is not there.
        """
        self._phone, self._remote = phone, remote
        text = script(_JOIN, *split(remote), name="as2d-push")
        self._shell = phone.open_shell(command(["sh", "-c", text]))
        self._said = bytearray()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._shell.close()

    def join(self, number: int, offset: int, sha256: str) -> None:
        """Check one segment, append it, and return when that is done.

        Raises:
            IntegrityError: it arrived damaged.
            TransferError: the phone cannot write it, in its own words.
            PhoneLostError, CommandTimeoutError: the connection broke, or the shell was killed.
        """
        deadline = Deadline(JOIN_S, f"Phone {self._phone.serial}")
        self._shell.say(f"{number} {offset} {sha256}\n".encode(), deadline)
        heard = bytearray()
        for kind, data in self._shell.output(deadline):
            (heard if kind == "out" else self._said).extend(data)
            if heard.endswith(b"joined\n"):
                return
        raise self._failed(self._shell.exit_code or 1)

    def _failed(self, code: int) -> Exception:
        if code > _SIGNALS:
            # Killed, as Android does when memory runs out: another shell goes on where this one was.
            return PhoneLostError(
                f"The work on {self._remote} ended early on the phone, {explain_exit(code)}.", exit_hint(code)
            )
        if code == _DAMAGED:
            return IntegrityError(f"{self._remote} arrived damaged.", "Try again; if it stays, use another cable.")
        # A shell's own words may be vague; writing once more tells the reason, before the rest is removed.
        why = forget(self._phone, self._remote)
        lines = self._said.decode("utf-8", "replace").strip().splitlines()
        said = lines[-1].strip()[:400] if lines else ""
        return reason_of(self._remote, why if is_known(why) else said, code)


def forget(phone: AdbPhone, remote: str) -> str:
    """Remove what has arrived of a file; returns why the phone cannot write, if it says so.

    Raises:
        DeviceError: the phone is not there.
    """
    return phone.script(_FORGET, *split(remote), check=False).said
