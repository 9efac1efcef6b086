"""How long will it take to set a phone up? What is to be sent, at the speed that was seen at this phone before."""

import json
import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from as2d_core.errors import As2dError
from as2d_core.reading import read_json
from datastore.files import write_durably
from datastore.locations import Folders
from datastore.lock import turn
from device_bridge.setup.checks import Readiness
from device_bridge.setup.setup import Say, Transferred

SEEN_FILE = "set_up_times.json"
LEAST_BYTES = 1 << 20
"""A speed that was seen over less says little."""


@dataclass(frozen=True, slots=True)
class SeenTimes:
    """What earlier set-ups of a phone took; ``None`` = not seen."""

    bytes_per_s: float | None = None
    """Speed of the last transfer of more than ``LEAST_BYTES``."""
    rest_s: float | None = None
    """Of the last set-up that came to its end: what it took beside sending (unpacking, starting, trying).

    Building the bundle, which happens once for all phones, is not in it."""


@dataclass(frozen=True, slots=True)
class SetUpEstimate:
    """What a set-up will take, seen from before."""

    to_send_bytes: int | None
    """At most; ``None`` = unknown. What an earlier attempt has left on the phone is not sent again."""
    sending_s: float | None
    """Seconds for that; ``None`` = unknown."""
    seconds: float | None
    """For everything; ``None`` = unknown."""


class SetUpMeter:
    """Listens to what a set-up says, and sees how fast it sends."""

    def __init__(self, say: Say, clock: Callable[[], float] = time.monotonic) -> None:
        """``say`` is told everything, too."""
        self._say, self._clock = say, clock
        self._began_s, self._sends = clock(), False
        self._last: tuple[str, int, float] | None = None
        self.sent_bytes, self.sending_s = 0, 0.0

    def say(self, sentence: str) -> None:
        """Take the next sentence."""
        now_s = self._clock()
        if isinstance(sentence, Transferred):
            if not self._sends:
                self._sends, self._began_s = True, now_s  # whatever was built, was built before
            if self._last is not None and self._last[0] == sentence.what:
                self.sent_bytes += max(0, sentence.done_bytes - self._last[1])
                self.sending_s += now_s - self._last[2]
            self._last = (sentence.what, sentence.done_bytes, now_s)
        else:
            self._last = None
        self._say(sentence)

    def seen(self, before: SeenTimes, *, ended: bool) -> SeenTimes:
        """What is known now of the phone.

        Args:
            ended: whether the set-up came to its end, so that the rest of its time is known.
        """
        enough = self.sent_bytes > LEAST_BYTES and self.sending_s > 0
        return SeenTimes(
            self.sent_bytes / self.sending_s if enough else before.bytes_per_s,
            self._clock() - self._began_s - self.sending_s if ended else before.rest_s,
        )


def expected_set_up(
    folders: Folders, phone_id: str, readiness: Readiness, *, native: bool = False, program: Path | None = None
) -> SetUpEstimate:
    """What setting a phone up will take. It asks nobody, and takes no time.

    Args:
        readiness: of this phone, as it was looked at last.
        native: whether it is to use a native runner; otherwise Python's.
        program: file of the native runner here; ``None``: the one that is on the phone.
    """
    return estimate(seen_times(folders, phone_id), _to_send_bytes(readiness, native=native, program=program))


def estimate(seen: SeenTimes, to_send_bytes: int | None) -> SetUpEstimate:
    """The same from what was seen before."""
    if to_send_bytes is None or (to_send_bytes and seen.bytes_per_s is None):
        return SetUpEstimate(to_send_bytes, None, None)
    sending_s = to_send_bytes / seen.bytes_per_s if to_send_bytes and seen.bytes_per_s else 0.0
    return SetUpEstimate(to_send_bytes, sending_s, None if seen.rest_s is None else sending_s + seen.rest_s)


def seen_times(folders: Folders, phone_id: str) -> SeenTimes:
    """What earlier set-ups of a phone took, as far as it can be read."""
    try:
        kept = read_json(folders.root / SEEN_FILE)[phone_id]
        return SeenTimes(_positive(kept["bytes_per_s"]), _positive(kept["rest_s"]))
    except (OSError, ValueError, KeyError, TypeError):
        return SeenTimes()


def keep_times(folders: Folders, phone_id: str, meter: SetUpMeter, *, ended: bool) -> None:
    """Remember what a set-up took. It has done its work: that this cannot be written down is no failure of it."""
    path = folders.root / SEEN_FILE
    with suppress(As2dError, OSError):
        folders.create()
        with turn(path):
            try:
                kept = read_json(path)
            except (OSError, ValueError):
                kept = {}
            known = kept if isinstance(kept, dict) else {}
            known[phone_id] = asdict(meter.seen(seen_times(folders, phone_id), ended=ended))
            write_durably(path, (json.dumps(known, indent=1) + "\n").encode())


def _to_send_bytes(readiness: Readiness, *, native: bool, program: Path | None) -> int | None:
    runner: int | None = 0
    if not native:
        runner = readiness.python_bytes
    elif program is not None:
        try:
            runner = program.expanduser().stat().st_size
        except OSError:
            runner = None
    return None if runner is None or readiness.model_bytes is None else runner + readiness.model_bytes


def _positive(value: object) -> float | None:
    number = float(value) if isinstance(value, int | float) else math.nan
    return number if math.isfinite(number) and number > 0 else None
