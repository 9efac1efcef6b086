"""Who gets in? In front of a server that other computers reach stands this door: a password first, then everything.

It stands before all that Streamlit answers (pages, the connection that draws them, uploads, files to download), so that
nothing of the app runs for a visitor who has not given the password. It speaks ASGI and knows no Streamlit.
"""

import asyncio
import hashlib
import hmac
import math
import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping
from html import escape
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from typing import Any
from urllib.parse import parse_qs

from dashboard.services.password import Guesses, Password, PasswordError
from dashboard.views.theme import DARK, FONT, LIGHT

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

HEALTH = "/_stcore/health"
"""Answers whether the server is well, which is no secret."""
STAY_S = 12 * 3600
"""How long a visitor who gave the password stays known."""
MOST_BODY_BYTES = 4_096
CLOSED = (
    "Other computers can reach this server, and no password stands before it. Start it with `make dashboard` or "
    "`streamlit run dashboard`, which ask for one."
)
GREETING = "This dashboard is open to other computers, so it asks for its password."


def is_local(address: str | None) -> bool:
    """Whether a server at this address can be reached from this computer only."""
    if not address:  # Streamlit takes no address for all addresses
        return False
    if address == "localhost" or address.startswith("unix://"):
        return True
    try:
        return ip_address(address.strip("[]")).is_loopback
    except ValueError:
        return False


def missing_password(address: str | None) -> PasswordError:
    """What is wrong with a server that would be open to everybody."""
    return PasswordError(
        f"At {address or 'every address'} the dashboard would be open to other computers, and it has no password: "
        "set one with `as2d password`, or leave server.address at 127.0.0.1."
    )


class Door:
    """ASGI middleware that lets nobody pass without the password."""

    def __init__(self, app: App, password: Password, guesses: Guesses | None = None, secure: bool = False) -> None:
        self._app = app
        self._password = password
        self._guesses = guesses or Guesses()
        self._secure = secure
        self._key = secrets.token_bytes(32)  # a new one for each process: a restart asks everybody again
        self._one_guess = asyncio.Lock()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Pass on what is from somebody known; ask everybody else."""
        kind = scope["type"]
        if kind == "lifespan" or (kind == "http" and scope["path"] == HEALTH) or self._knows(scope):
            await self._app(scope, receive, send)
        elif kind == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
        elif scope["method"] == "POST":
            await self._guess(scope, receive, send)
        else:
            await _answer(send, 401, _page(GREETING), scope["method"])

    async def _guess(self, scope: Message, receive: Receive, send: Send) -> None:
        address = (scope.get("client") or ("unknown",))[0]
        body = await _body(receive)
        guess = parse_qs(body.decode("utf-8", "replace"), max_num_fields=4).get("password", [""])[0] if body else ""
        async with self._one_guess:  # guesses cost work, and are counted before the next is looked at
            wait_s = self._guesses.wait_s(address)
            if wait_s > 0:
                sentence = f"Too many wrong passwords; try again in {math.ceil(wait_s / 60)} min."
                await _answer(send, 429, _page(sentence), retry_after=f"{math.ceil(wait_s)}")
                return
            right = bool(guess) and await asyncio.to_thread(self._password.matches, guess)
            if right:
                self._guesses.right(address)
            elif guess:
                self._guesses.wrong(address)
        if not right:
            await _answer(send, 401, _page("That is not the password." if guess else GREETING))
            return
        query = scope.get("query_string", b"").decode("latin-1")
        path = "/" + scope.get("raw_path", scope["path"].encode()).decode("latin-1").split("?")[0].lstrip("/\\")
        secure = "; Secure" if self._secure else ""
        cookie = f"{_cookie(scope)}={self._token()}; Path=/; Max-Age={STAY_S}; HttpOnly; SameSite=Strict{secure}"
        await _answer(send, 303, "", location=path + (f"?{query}" if query else ""), set_cookie=cookie)

    def _token(self) -> str:
        until = f"{time.time() + STAY_S:.0f}"
        return f"{until}.{self._signed(until)}"

    def _signed(self, text: str) -> str:
        return hmac.new(self._key, text.encode("latin-1", "replace"), hashlib.sha256).hexdigest()

    def _knows(self, scope: Message) -> bool:
        for name, value in scope.get("headers", ()):
            if name == b"cookie":
                try:
                    kept = SimpleCookie(value.decode("latin-1")).get(_cookie(scope))
                except CookieError:
                    continue
                until, _, signed = (kept.value if kept else "").partition(".")
                if hmac.compare_digest(signed.encode("latin-1", "replace"), self._signed(until).encode()):
                    return float(until) > time.time()
        return False


def _cookie(scope: Message) -> str:
    """Cookies belong to a host, whatever the port: two dashboards of one computer have two."""
    return f"as2d-door-{(scope.get('server') or ('', 0))[1]}"


async def _body(receive: Receive) -> bytes:
    """What was sent; nothing when it is larger than a password is."""
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > MOST_BODY_BYTES or message["type"] != "http.request":
            return b""
        if not message.get("more_body"):
            return body


async def _answer(send: Send, status: int, body: str, method: str = "GET", **headers: str) -> None:
    fixed = {
        "content-type": "text/html; charset=utf-8",
        "cache-control": "no-store",
        "x-frame-options": "DENY",
        "referrer-policy": "same-origin",
        "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'",
    }
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    both = [(name.encode(), value.encode("latin-1", "replace")) for name, value in {**fixed, **named}.items()]
    await send({"type": "http.response.start", "status": status, "headers": both})
    await send({"type": "http.response.body", "body": b"" if method == "HEAD" else body.encode()})


_STYLE = f"""
body {{ font: 15px {FONT}; background: var(--back); color: var(--text); display: grid; place-items: center;
  min-height: 90vh; margin: 0; }}
form {{ display: grid; gap: 12px; width: min(22rem, 90vw); }}
h1 {{ font-size: 1.4rem; margin: 0; }}
p {{ margin: 0; }}
input, button {{ font: inherit; padding: 9px 12px; border-radius: 6px; border: 1px solid var(--line);
  background: var(--back); color: var(--text); }}
button {{ background: var(--button); border-color: var(--button); color: #FFFFFF; font-weight: 600; }}
"""


def _page(sentence: str) -> str:
    colours = "".join(
        f"@media (prefers-color-scheme: {theme.name}) {{ :root {{ color-scheme: {theme.name}; "
        f"--back: {theme.background}; --text: {theme.text}; --line: {theme.muted}; --button: {theme.primary}; }} }}"
        for theme in (LIGHT, DARK)
    )
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>As²d: password</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{colours}{_STYLE}</style></head>'
        f'<body><main><form method="post"><h1>As²d</h1><p role="status">{escape(sentence)}</p>'
        '<label for="password">Password</label><input id="password" name="password" type="password" '
        'autocomplete="current-password" required autofocus><button>Open</button></form></main></body></html>'
    )
