"""How does a phone stay awake while it is measured, and get its own setting back whatever happens?

The only setting this project changes on a phone. Its old value is kept in a file on the phone before
it is changed. A small shell process there puts it back when nobody has asked for more time for a
while and no runner works any more: after a crash of this program, or a cable that was pulled. What
even that misses (the phone was switched off) is put back at the next connection.
"""

import threading
from contextlib import suppress
from typing import Self

from device_bridge.adb.phone import AdbPhone
from device_bridge.errors import DeviceError
from device_bridge.sessions import SESSIONS
from device_bridge.setup.layout import PHONE_ROOT

FOLDER = f"{PHONE_ROOT}/stay-awake"
SETTING = "stay_on_while_plugged_in"
AWAKE = "7"
"""Bits: on AC, USB and wireless power."""
LEASE_S = 60
RENEW_S = 20.0
_COMMAND_S = 15.0

_PUT_BACK = """
put_back() {
  [ -f "$1/old" ] || return 0
  old=$(cat "$1/old")
  case "$old" in
    null|"") settings delete global "$2" > /dev/null ;;
    *) settings put global "$2" "$old" ;;
  esac
  rm -rf "$1"
}
"""
_BEGIN = """
mkdir -p "$1" || exit 1
[ -f "$1/old" ] || { settings get global "$2" > "$1/old.part" && mv "$1/old.part" "$1/old"; } || exit 1
old=$(cat "$1/old")
: > "$1/lease"
settings put global "$2" "$3" || exit 1
# Whoever puts it back in this very moment removes the folder.
[ -f "$1/old" ] || { mkdir -p "$1" && echo "$old" > "$1/old" && : > "$1/lease"; } || exit 1
[ -f "$1/guard" ] && kill -0 "$(cat "$1/guard")" 2>/dev/null && exit 0
setsid sh -c "$6" as2d-stay-awake "$1" "$2" "$4" "$5" < /dev/null > /dev/null 2>&1 &
echo $! > "$1/guard"
"""
_HELP_ITSELF = (
    _PUT_BACK
    + """
help_itself() {
  busy=
  for file in "$4"/*/pid; do
    [ -f "$file" ] && read -r pid rest < "$file" && kill -0 "$pid" 2>/dev/null && busy=1
  done
  age=$(( $(date +%s) - $(stat -c %Y "$1/lease" 2>/dev/null || echo 0) ))
  # A lease from the future: the clock was set back, and nobody has renewed it since.
  if [ "$age" -lt -5 ]; then age=$(( $3 + 1 )); fi
  if [ -z "$busy" ] && [ "$age" -gt "$3" ]; then put_back "$1" "$2"; fi
}
"""
)
"""Arguments: folder, setting, lease in seconds, folder of jobs."""
_GUARD = (
    _HELP_ITSELF
    + """
while [ -f "$1/old" ]; do
  sleep 5
  help_itself "$@"
done
"""
)
_LEFT = (
    _HELP_ITSELF
    + """
[ -f "$1/old" ] || exit 0
help_itself "$@"
"""
)
_RENEW = '[ -f "$1/old" ] && : > "$1/lease"'
_END = _PUT_BACK + 'put_back "$1" "$2"'


class StayAwake:
    """Keeps a phone's screen from going off while it is plugged in, for as long as the block lasts."""

    def __init__(self, phone: AdbPhone, jobs_folder: str = SESSIONS, lease_s: int = LEASE_S) -> None:
        """Prepare it; nothing happens before the block is entered.

        Args:
            jobs_folder: folder on the phone with one folder a session, each with its process id in ``pid``.
            lease_s: time after which the phone helps itself when nobody renews and no job runs.
        """
        self._phone, self._jobs_folder, self._lease_s = phone, jobs_folder, lease_s
        self._over = threading.Event()
        self._renewer: threading.Thread | None = None

    def __enter__(self) -> Self:
        """Switch it on.

        Raises:
            DeviceError: the phone is not there, or refuses.
        """
        self._phone.script(
            _BEGIN,
            FOLDER,
            SETTING,
            AWAKE,
            str(self._lease_s),
            self._jobs_folder,
            _GUARD,
            timeout_s=_COMMAND_S,
            what="keeping the phone awake",
        )
        self._renewer = threading.Thread(target=self._renew, name="as2d-stay-awake", daemon=True)
        self._renewer.start()
        return self

    def leave(self) -> None:
        """Let go of a phone on which something goes on; it puts its setting back when nothing works there any more."""
        self._over.set()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        with suppress(DeviceError):  # it is gone: it puts the setting back itself
            put_back(self._phone)

    def _renew(self) -> None:
        while not self._over.wait(min(RENEW_S, self._lease_s / 3)):
            with suppress(DeviceError):
                self._phone.script(_RENEW, FOLDER, timeout_s=_COMMAND_S, check=False)


def put_back(phone: AdbPhone) -> None:
    """Give the phone its own setting back, if an earlier session has left ours there.

    Raises:
        DeviceError: the phone is not there, or refuses.
    """
    phone.script(_END, FOLDER, SETTING, timeout_s=_COMMAND_S, what="putting the phone's own setting back")


def put_back_left(phone: AdbPhone) -> None:
    """The same for a phone that has just been connected, unless something still works there or keeps it awake.

    Raises:
        DeviceError: the phone is not there, or refuses.
    """
    what = "putting the phone's own setting back"
    phone.script(_LEFT, FOLDER, SETTING, str(LEASE_S), SESSIONS, timeout_s=_COMMAND_S, what=what)
