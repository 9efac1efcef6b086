"""How does a runner live on a phone, whoever is connected? Detached, with its input and its output in files there.

A session is a folder. Requests are appended to ``input``, the runner's lines come to lie in
``events``; whoever reads them from a byte on loses none and repeats none. A small shell of its own
session starts the runner and writes, when it has ended, one last line that says how.
"""

import json
import posixpath
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from device_bridge.adb.commands import command, decoded, encoded, script
from device_bridge.adb.phone import AdbPhone, Output
from device_bridge.adb.shell import Kind
from device_bridge.errors import CommandFailedError, PhoneBusyError, RunnerLostError, RunnerStartError
from device_bridge.retrying import USUAL, Retry, retrying
from device_bridge.setup.layout import PHONE_ROOT
from device_bridge.storage import storage_problem

SESSIONS = f"{PHONE_ROOT}/sessions"
KEPT_STDERR_LINES = 40
ASK_S = 15.0
_BUSY = 75
_END = re.compile(rb'\{"as2d_session_end": (\d+)\}\n')

# Sets ``state`` to ``alive`` or ``dead`` for the session in the folder "$1". A process id alone may have been given
# away again, so the time at which the process began is compared; a group without its leader is still that group.
_ALIVE = r"""
began() { sed 's/.*) //' "/proc/$1/stat" 2> /dev/null | cut -d ' ' -f 20; }
look() {
  state=dead
  read -r leader since < "$1/pid" 2> /dev/null || return
  if [ -d "/proc/$leader" ]; then [ "$(began "$leader")" = "$since" ] && state=alive
  elif kill -0 "-$leader" 2> /dev/null; then state=alive; fi
}
"""
# "$1" is the folder, "$2" the command of the runner. Without the feeder the runner's input ends.
_SUPERVISE = (
    _ALIVE
    + r"""
cd "$1" || exit 1
mkdir lock 2> /dev/null || exit 0
echo "$$ $(began $$)" > pid.part && mv pid.part pid
sh -c 'echo $$ > feeder; exec tail -c +1 -f input' 2> /dev/null | {
  sh -c "echo \$\$ > runner; $2" >> events 2>> stderr
  code=$?
  echo "$code" > ended
  printf '\n{"as2d_session_end": %d}\n' "$code" >> events
  kill "$(cat feeder)"
}
"""
)
_START = (
    _ALIVE
    + r"""
mkdir -p "$1" || exit 1
for other in "$1"/*/; do
  other=${other%/}
  [ "$other" = "$1/$2" ] && continue
  look "$other"
  [ "$state" = alive ] && { echo "${other##*/}"; exit 75; }
done
dir="$1/$2"
mkdir -p "$dir" && cd "$dir" || exit 1
[ -e input ] || : > input || exit 1
[ -e events ] || : > events || exit 1
[ -s about ] || printf '%s' "$5" > about || { rm -rf "$dir"; exit 1; }
setsid sh -c "$3" as2d-session "$dir" "$4" < /dev/null > /dev/null 2>&1 &
n=0
while [ ! -s pid ] && [ $n -lt 100 ]; do sleep 0.05; n=$((n + 1)); done
[ -s pid ] || { echo "the runner's session does not start" >&2; exit 1; }
"""
)
# A line is appended unless it is there: the call may be repeated after a break, at whatever point that came.
_SAY = r"""
cd "$1" || exit 1
cat > said.part || exit 1
[ "$(stat -c %s said.part)" = "$3" ] || { echo "the line did not arrive whole" >&2; exit 1; }
[ -n "$2" ] && grep -qF -- "$2" input || cat said.part >> input
"""
_STATE = (
    _ALIVE
    + r"""
look "$1"
code=$(cat "$1/ended" 2> /dev/null)
echo "$state $(stat -c %s "$1/events" || echo -1) ${code:--1}"
"""
)
_SIGNAL = (
    _ALIVE
    + r"""
look "$1"
[ "$state" = alive ] || exit 0
case "$2" in
TERM) kill -TERM "$(cat "$1/runner")";;
EOF) kill "$(cat "$1/feeder")";;
*) kill -KILL "-$leader";;
esac
exit 0
"""
)
_LIST = (
    _ALIVE
    + r"""
for dir in "$1"/*/; do
  dir=${dir%/}
  [ -d "$dir" ] || continue
  look "$dir"
  asked=$(grep -cF '"run_id": ' "$dir/input" 2> /dev/null)
  ended=$(grep -cF '"kind":"end"' "$dir/events" 2> /dev/null)
  size=$(stat -c '%s %Y' "$dir/events" 2> /dev/null)
  echo "${dir##*/} $state ${asked:-0} ${ended:-0} ${size:-0 0} $(cat "$dir/about" 2> /dev/null)"
done
"""
)


@dataclass(frozen=True, slots=True)
class RunnerCommand:
    """How the runner is started on a phone."""

    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str = PHONE_ROOT
    """Requests name files relative to this folder where they lie below it."""


@dataclass(frozen=True, slots=True)
class SessionState:
    """What is known about a session now."""

    alive: bool
    size_bytes: int
    """Of what the runner has written; -1 when that is gone."""
    exit_code: int | None
    """How the runner ended."""


@dataclass(frozen=True, slots=True)
class FoundSession:
    """A session that lies on a phone."""

    id: str
    alive: bool
    busy: bool
    """Whether its runner was given more requests than it has ended runs."""
    size_bytes: int
    written_at_s: int
    """When its runner last wrote something, in seconds since 1970 by the phone's clock."""
    about: Mapping[str, str]
    """Who started it: ``host``, ``job`` and ``title``, as far as they were written down."""


class Session:
    """One session on one phone. All calls may be repeated, and are, while the connection breaks."""

    def __init__(self, phone: AdbPhone, session_id: str, retry: Retry = USUAL) -> None:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", session_id):
            raise RunnerStartError(f"{session_id!r} cannot be the name of a session.")
        self.id = session_id
        self.folder = posixpath.join(SESSIONS, session_id)
        self._phone = phone
        self._retry = retry

    def start(self, runner: RunnerCommand, about: Mapping[str, str] | None = None) -> None:
        """Start the runner, unless it has been started in this session.

        Raises:
            PhoneBusyError: a runner of another session is at work.
            RunnerStartError: the session cannot be made.
            DeviceError: the phone is not there.
        """
        inner = command(runner.argv, runner.env, runner.cwd)
        said = json.dumps(dict(about or {}))
        line = script(_START, SESSIONS, self.id, _SUPERVISE, inner, said)
        output = self._ask(lambda: self._phone.run(["sh", "-c", line], check=False, timeout_s=ASK_S))
        if output.code == _BUSY:
            raise PhoneBusyError(f"phone {self._phone.serial}", output.text.strip())
        if output.code:
            full = storage_problem(self._phone)
            raise RunnerStartError(
                f"A session cannot be started on phone {self._phone.serial}: {full.clause if full else output.said}.",
                full.hint if full else "Check the phone with: as2d phone doctor",
            )

    def say(self, line: str, key: str = "") -> None:
        """Hand the runner one line, once: ``key`` is a part of it that no other line holds.

        Without a key it may be handed over more than once, when the connection breaks.

        Raises:
            RunnerLostError: the phone cannot write it down; the session is of no use any more.
            DeviceError: the phone is not there.
        """
        data = encoded(line) + b"\n"
        try:
            self._script(_SAY, key, str(len(data)), stdin=data)
        except CommandFailedError as error:
            full = storage_problem(self._phone)
            raise RunnerLostError(
                f"A line for the runner cannot be written on phone {self._phone.serial}: "
                f"{full.clause if full else error.said}.",
                full.hint if full else "The next request starts a new one.",
            ) from error

    def state(self) -> SessionState:
        """Ask how it is.

        Raises:
            DeviceError: the phone is not there.
        """
        state, size, code = self._script(_STATE).split()
        return SessionState(state == "alive", int(size), int(code) if int(code) >= 0 else None)

    def read(self, offset: int, idle_s: float) -> Generator[tuple[Kind, bytes], None, None]:
        """What the runner has written from a byte on, and whatever follows, for as long as the connection lasts.

        Yields:
            ``("out", bytes)``, and ``("idle", b"")`` after every ``idle_s`` without anything.

        Raises:
            DeviceError: the connection broke, or was not to be had.
        """
        text = script('exec tail -c "+$2" -f "$1/events"', self.folder, str(offset + 1))
        with self._phone.open_shell(text) as shell:
            yield from shell.output(idle_s=idle_s)

    def signal(self, name: Literal["TERM", "EOF", "KILL"]) -> None:
        """Tell the runner to stop (``TERM``) or that no request follows (``EOF``), or kill the whole group.

        Raises:
            DeviceError: the phone is not there.
        """
        self._script(_SIGNAL, name)

    def last_words(self) -> str:
        """The last line the runner wrote to stderr.

        Raises:
            DeviceError: the phone is not there.
        """
        text = self._script('tail -n "$2" "$1/stderr" 2> /dev/null; true', str(KEPT_STDERR_LINES))
        return next((line.strip()[:400] for line in reversed(text.splitlines()) if line.strip()), "")

    def remove(self) -> None:
        """Kill whatever is left of it and remove its files.

        Raises:
            DeviceError: the phone is not there.
        """
        self._script(_SIGNAL, "KILL")
        self._script('rm -rf "$1"')

    def _script(self, text: str, *arguments: str, stdin: bytes = b"") -> str:
        output = self._ask(lambda: self._phone.script(text, self.folder, *arguments, stdin=stdin, timeout_s=ASK_S))
        return decoded(output.out)

    def _ask(self, call: Callable[[], Output]) -> Output:
        return retrying(call, self._retry)


def end_code(line: bytes) -> int | None:
    """The runner's exit code, if this is the last line of a session."""
    found = _END.fullmatch(line)
    return int(found[1]) if found else None


def find_run(phone: AdbPhone, run_key: str) -> str | None:
    """The session whose runner has been given a request that holds ``run_key``; its log may be long finished.

    Raises:
        DeviceError: the phone is not there.
    """
    found = phone.script('cd "$1" 2> /dev/null && grep -lF -- "$2" */input; exit 0', SESSIONS, run_key).text.split()
    return posixpath.dirname(found[-1]) if found else None


def find_sessions(phone: AdbPhone) -> list[FoundSession]:
    """The sessions on a phone, of whichever program; those that are alive are at work or wait for requests.

    Raises:
        DeviceError: the phone is not there.
    """
    found = []
    for line in phone.script(_LIST, SESSIONS, what="looking for sessions").text.splitlines():
        name, state, asked, ended, size, written, *about = line.split(" ", 6)
        try:
            told = json.loads(about[0]) if about else {}
        except ValueError:
            told = {}
        known = {str(k): str(v) for k, v in told.items()} if isinstance(told, dict) else {}
        found.append(FoundSession(name, state == "alive", int(asked) > int(ended), int(size), int(written), known))
    return found


def end_session(phone: AdbPhone, session_id: str) -> None:
    """Kill the runner of a session, with everything it has started, and remove the session's files.

    Raises:
        DeviceError: the phone is not there.
    """
    Session(phone, session_id).remove()
