"""Who may open a dashboard that other computers can reach? Whoever knows the password that was set for it.

There is none by default. What is kept is a salted scrypt hash, never the password; guesses are limited.
"""

import getpass
import hashlib
import hmac
import json
import secrets
import time
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass

from as2d_core.errors import As2dError
from as2d_core.reading import read_json
from dashboard.views.numbers import counted
from datastore.files import write_durably
from datastore.locations import Folders

FILE = "password.json"
SHORTEST, LONGEST = 10, 1_000
"""Characters of a password."""
_N, _R, _P, _SALT_BYTES, _KEY_BYTES = 1 << 15, 8, 1, 16, 32
"""Cost of scrypt: 32 MiB and about a tenth of a second for each guess."""
_MOST_MEMORY_BYTES = 64 << 20


class PasswordError(As2dError):
    """There is no password where one is needed, or it is none that can be used."""


@dataclass(frozen=True, slots=True)
class Password:
    """A password as it is kept."""

    salt: str
    """Hexadecimal."""
    key: str
    """What scrypt makes of the password and the salt, hexadecimal."""
    n: int = _N
    r: int = _R
    p: int = _P

    def matches(self, guess: str) -> bool:
        """Whether this is the password; takes the same time for every wrong one."""
        found = _derived(guess[:LONGEST], bytes.fromhex(self.salt), self.n, self.r, self.p)
        return hmac.compare_digest(found, bytes.fromhex(self.key))


def hashed(password: str) -> Password:
    """A password as it can be kept.

    Raises:
        PasswordError: it is too short or too long.
    """
    if not SHORTEST <= len(password) <= LONGEST:
        raise PasswordError(
            f"The password has {counted(len(password), 'character')}; "
            f"choose one of {SHORTEST} to {LONGEST:,} characters."
        )
    salt = secrets.token_bytes(_SALT_BYTES)
    return Password(salt.hex(), _derived(password, salt, _N, _R, _P).hex())


def set_password(folders: Folders, password: str) -> None:
    """Keep the password of a data folder, for this user's eyes only.

    Raises:
        PasswordError: it is too short or too long.
        StoreError: it cannot be written.
    """
    kept = hashed(password)
    folders.create()
    path = folders.root / FILE
    write_durably(path, (json.dumps(asdict(kept)) + "\n").encode())
    path.chmod(0o600)


def remove_password(folders: Folders) -> bool:
    """Forget the password; returns whether there was one."""
    path = folders.root / FILE
    there = path.is_file()
    path.unlink(missing_ok=True)
    return there


def kept_password(folders: Folders) -> Password | None:
    """The password of a data folder, if one was set.

    Raises:
        PasswordError: the file is damaged.
    """
    path = folders.root / FILE
    try:
        body = read_json(path)
        kept = Password(**body)
        kept.matches("")
    except FileNotFoundError:
        return None
    except (OSError, TypeError, ValueError, AttributeError, MemoryError, OverflowError) as error:
        raise PasswordError(f"The password in {path} cannot be read; set it again with: as2d password") from error
    return kept


def asked_for(first: Callable[[str], str] = getpass.getpass) -> str:
    """A password that somebody types twice.

    Raises:
        PasswordError: they typed two different ones.
    """
    typed = first("Password for the dashboard: ")
    if typed != first("The same again: "):
        raise PasswordError("These were two different passwords; nothing was changed.")
    return typed


def _derived(password: str, salt: bytes, n: int, r: int, p: int) -> bytes:
    secret = password.encode("utf-8", "surrogatepass")
    return hashlib.scrypt(secret, salt=salt, n=n, r=r, p=p, maxmem=_MOST_MEMORY_BYTES, dklen=_KEY_BYTES)


class Guesses:
    """How many wrong passwords lie behind us, by where they came from, and for how long no more are listened to.

    Args:
        most: wrong guesses of one address that are listened to within ``span_s``.
        most_of_all: those of all addresses together.
    """

    def __init__(
        self, most: int = 5, most_of_all: int = 50, span_s: float = 300.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most, self._most_of_all, self._span_s, self._clock = most, most_of_all, span_s, clock
        self._wrong: deque[tuple[float, str]] = deque(maxlen=most_of_all)

    def wait_s(self, address: str) -> float:
        """Seconds until the next guess from here is listened to; 0 when it is now."""
        now = self._clock()
        while self._wrong and self._wrong[0][0] <= now - self._span_s:
            self._wrong.popleft()
        mine = [when for when, whose in self._wrong if whose == address]
        full = [
            times[-most]
            for times, most in ((mine, self._most), (self._times(), self._most_of_all))
            if len(times) >= most
        ]
        return max((when + self._span_s - now for when in full), default=0.0)

    def wrong(self, address: str) -> None:
        """One more wrong guess."""
        self._wrong.append((self._clock(), address))

    def right(self, address: str) -> None:
        """Somebody there knows the password: their slips are forgotten."""
        kept = [guess for guess in self._wrong if guess[1] != address]
        self._wrong = deque(kept, maxlen=self._most_of_all)

    def _times(self) -> list[float]:
        return [when for when, _ in self._wrong]
