"""What does the phone do while a file comes? One shell there looks, hashes what has come so far, joins, and finishes.

It lives as long as the transfer, so that nothing else is started there. It reads its orders from standard input:

- ``hash SUFFIX``: the content of the file (no suffix) or of ``.part``.
- ``begin START``: ``.part`` holds START bytes that are as they should be.
- ``come NUMBER START``: ``.part.NUMBER`` is on its way. What comes from the beginning is renamed to ``.part`` at once:
  adbd goes on writing to it, and cannot throw it away any more when the connection breaks. Then one line
  for each time that what has come since is to be hashed, ``end`` as the last, and a line with the hash that is wanted.
- ``finish``: ``.part`` came in one piece, and becomes the file; ``finish SIZE MODE`` when it did not.

Every program that it starts costs milliseconds on a phone, as a megabyte does: what the shell can do itself, it does.
It answers in one write each: a second one could wait for an acknowledgement of the first, which takes 40 ms.
"""

import posixpath
from typing import Self

from device_bridge.adb.commands import command, script
from device_bridge.adb.phone import AdbPhone
from device_bridge.adb.reasons import is_known, reason_of
from device_bridge.adb.wire import Deadline
from device_bridge.errors import (
    CommandFailedError,
    IntegrityError,
    PhoneLostError,
    TransferError,
    exit_hint,
    explain_exit,
)

HASH_S = 900.0
"""Longest time for the content of a file on the phone to be hashed."""
_DAMAGED = 76
_SIGNALS = 128
"""A larger exit code is that of a shell that a signal has ended."""
_RECEIVE = r"""
[ -d "$1" ] || mkdir -p "$1" || exit 1
cd "$1" || exit 1
[ -d "$2" ] && { echo "is a directory" >&2; exit 1; }
if [ -f "$2.part.pid" ] && read -r p < "$2.part.pid"; then
  grep -q as2d-push "/proc/$p/cmdline" 2> /dev/null && kill -9 "-$p" 2> /dev/null
fi
have=-1; [ -f "$2" ] && { have=$(stat -c %s "$2") || exit 1; }
part=-1; [ -f "$2.part" ] && { part=$(stat -c %s "$2.part") || exit 1; }
room=$(stat -f -c '%a %S' .) || exit 1
echo "$have $part $room"
while read -r order a b; do
  case $order in
  hash)
    found=$(sha256sum < "$2$a") || exit $?
    echo "${found%% *}";;
  begin)
    if [ -e "$2.part.0" ] || [ -e "$2.part.1" ]; then rm -f "$2.part.0" "$2.part.1"; fi
    echo $$ > "$2.part.pid" || exit 1
    [ "$a" = 0 ] || truncate -s "$a" "$2.part" || exit 1
    echo ready;;
  come)
    until [ -e "$2.part.$a" ]; do sleep 0.01; done
    exec 3< "$2.part.$a" || exit 1
    if [ "$b" = 0 ]; then mv -f "$2.part.$a" "$2.part" || exit 1; fi
    found=$(while read -r word; do cat <&3; [ "$word" = end ] && break; done | sha256sum) || exit $?
    exec 3<&-
    read -r wanted
    [ "${found%% *}" = "$wanted" ] || exit 76
    if [ "$b" != 0 ]; then cat "$2.part.$a" >> "$2.part" || exit 1; fi
    echo joined;;
  finish)
    if [ -n "$a" ]; then
      have=$(stat -c %s "$2.part") || exit 1
      [ "$have" = "$a" ] || { echo "only $have bytes of $a were written" >&2; exit 1; }
      chmod "$b" "$2.part" || exit 1
    fi
    mv -f "$2.part" "$2" || exit 1
    rm -f "$2.part.0" "$2.part.1" "$2.part.pid"
    echo finished;;
  esac
done
"""
_FORGET = r"""
cd "$1" || exit 1
head -c 65536 /dev/zero >> "$2.part"
rm -f "$2.part" "$2.part.0" "$2.part.1" "$2.part.pid"
"""


class Receiver:
    """The phone's side of the transfer of one file. One thread at a time.

    Any call raises PhoneLostError or CommandTimeoutError when the connection broke, or the shell was killed, and
    CommandFailedError, with the phone's own words, when it cannot do what it was told.
    """

    def __init__(self, phone: AdbPhone, remote: str, idle_s: float) -> None:
        """Start the shell, and look; a shell that an earlier transfer of the file left is ended.

        Args:
            idle_s: longest time for anything but hashing.
        """
        self._phone, self._remote, self._idle_s = phone, remote, idle_s
        text = script(_RECEIVE, *split(remote), name="as2d-push")
        self._heard, self._said = bytearray(), bytearray()
        self._coming: tuple[int, int] | None = None
        self._shell = phone.open_shell(command(["sh", "-c", text]))
        try:
            have, part, blocks, block = self._line(idle_s).split()
        except BaseException:
            self._shell.close()
            raise
        self.size_bytes, self.part_bytes = int(have), int(part)
        """Of the file that is there, and of what an earlier transfer left; -1 for none."""
        self.free_bytes = int(blocks) * int(block)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._shell.close()

    def hash_later(self, suffix: str = "") -> None:
        """Let the phone hash the file, or what is there with a suffix; ``hashed`` waits for it."""
        self._tell(f"hash {suffix}")

    def hashed(self) -> str:
        """SHA-256 of what ``hash_later`` named, in hexadecimal."""
        return self._line(HASH_S)

    def begin(self, start: int) -> None:
        """Make ready for what comes after the first ``start`` bytes."""
        self._tell(f"begin {start}")
        self._line(self._idle_s)

    def more(self, number: int, start: int) -> None:
        """More of ``.part.NUMBER``, which belongs at ``start``, has been sent, and can be hashed by now."""
        self._come(number, start)
        self._tell("more")

    def arrived(self, number: int, start: int, sha256: str) -> None:
        """All of it is there; ``joined`` waits until it is checked and in its place."""
        self._come(number, start)
        self._tell(f"end\n{sha256}")
        self._coming = None

    def _come(self, number: int, start: int) -> None:
        """Once for each: not before something was sent, so that nobody there waits for a file that is not made yet."""
        if self._coming != (number, start):
            self._tell(f"come {number} {start}")
            self._coming = number, start

    def joined(self) -> None:
        """Wait until what arrived has been checked and joined.

        Raises:
            IntegrityError: it is not what was sent.
            TransferError: the phone cannot write it, in its own words; nothing is kept.
        """
        try:
            self._line(HASH_S)
        except CommandFailedError as error:
            raise self._refused(error) from error

    def finish(self, joined_bytes: int | None, mode: int) -> None:
        """Make it the file. One that was joined must have so many bytes; ``None`` for one that came in one piece."""
        self._tell("finish" if joined_bytes is None else f"finish {joined_bytes} {mode:o}")
        self._line(self._idle_s)

    def _tell(self, order: str) -> None:
        try:
            self._shell.say(f"{order}\n".encode(), Deadline(self._idle_s, f"Phone {self._phone.serial}"))
        except PhoneLostError:
            try:
                self._line(self._idle_s)  # a shell that has ended may have said why
            except CommandFailedError as error:
                raise self._refused(error) from error
            raise

    def _refused(self, error: CommandFailedError) -> TransferError:
        """A shell's own words may be vague; writing once more tells the reason, before the rest is removed."""
        why = forget(self._phone, self._remote)
        return reason_of(self._remote, why if is_known(why) else error.said, error.code)

    def _line(self, timeout_s: float) -> str:
        if b"\n" not in self._heard:
            for kind, data in self._shell.output(Deadline(timeout_s, f"Phone {self._phone.serial}")):
                (self._heard if kind == "out" else self._said).extend(data)
                if b"\n" in self._heard:
                    break
            else:
                raise self._ended(self._shell.exit_code or 1)
        line, _, rest = bytes(self._heard).partition(b"\n")
        self._heard = bytearray(rest)
        return line.decode("utf-8", "replace")

    def _ended(self, code: int) -> Exception:
        if code > _SIGNALS:
            # Killed, as Android does when memory runs out: another shell goes on where this one was.
            return PhoneLostError(
                f"The work on {self._remote} ended early on the phone, {explain_exit(code)}.", exit_hint(code)
            )
        if code == _DAMAGED:
            return IntegrityError(f"{self._remote} arrived damaged.", "Try again; if it stays, use another cable.")
        lines = self._said.decode("utf-8", "replace").strip().splitlines()
        return CommandFailedError("receiving a file", code, lines[-1].strip()[:400] if lines else "")


def forget(phone: AdbPhone, remote: str) -> str:
    """Remove what has arrived of a file; returns why the phone cannot write, if it says so.

    Raises:
        DeviceError: the phone is not there.
    """
    return phone.script(_FORGET, *split(remote), check=False).said


def split(remote: str) -> tuple[str, str]:
    """Folder and name; the name cannot be taken for an option."""
    folder, name = posixpath.split(remote)
    return folder, f"./{name}"
