"""What does a browser get before anything is drawn? Where the server is, and the measures of the page.

Streamlit's page at ``/budgets`` first looks for its server at ``/budgets/_stcore``, which the browser reports as errors
and which costs a round trip. Its first picture is narrow and has other margins, so that all of it would jump.
"""

import re
from html import escape

from dashboard.door import App, Message, Receive, Send

_PAGE = re.compile(r"/[a-z0-9_-]*")
_HEAD = b"<head>"
_CONDITIONS = {b"accept-encoding", b"if-none-match", b"if-modified-since", b"range"}


class FirstAnswer:
    """ASGI middleware that writes address, title and style sheet into the first answer to a browser."""

    def __init__(self, app: App, base: str = "", title: str = "", style: str = "") -> None:
        self._app = app
        self._base = "/" + base.strip("/")
        self._title = f"<title>{escape(title)}</title>".encode()
        self._style = style.replace("<", "").encode()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Pass everything on; only HTML at the address of a page is changed."""
        path = scope.get("path", "")
        below = path.removeprefix(self._base.rstrip("/"))
        if scope["type"] != "http" or scope["method"] != "GET" or not _PAGE.fullmatch(below):
            await self._app(scope, receive, send)
            return
        # Whole: what is compressed cannot be changed, and the copy that a browser has may say another address.
        as_it_is = [item for item in scope["headers"] if item[0].lower() not in _CONDITIONS]
        begun: Message = {}
        body = bytearray()

        async def changed(message: Message) -> None:
            if message["type"] == "http.response.start" and _is_plain_html(message):
                begun.update(message)
            elif not begun or message["type"] != "http.response.body":
                await send(message)
            else:
                body.extend(message.get("body", b""))
                if not message.get("more_body"):
                    await self._send(send, begun, bytes(body), path)

        await self._app({**scope, "headers": as_it_is}, receive, changed)

    async def _send(self, send: Send, begun: Message, body: bytes, path: str) -> None:
        # Behind a proxy that serves this under another path, the page has to find its server itself.
        address = (
            f'<script>if(location.pathname==="{path}")'
            f'window.__streamlit={{BACKEND_BASE_URL:location.origin+"{self._base}"}}</script>'
        )
        told = body.replace(b"<title>Streamlit</title>", self._title)
        told = told.replace(_HEAD, _HEAD + address.encode() + b"<style>" + self._style + b"</style>", 1)
        # Its tag and date are those of the file, which is another one.
        left_out = {b"content-length", b"etag", b"last-modified", b"accept-ranges"}
        headers = [(name, value) for name, value in begun["headers"] if name.lower() not in left_out]
        headers.append((b"content-length", str(len(told)).encode()))
        await send({**begun, "headers": headers})
        await send({"type": "http.response.body", "body": told})


def _is_plain_html(message: Message) -> bool:
    headers = {name.lower(): value for name, value in message.get("headers", ())}
    return (
        message["status"] == 200
        and headers.get(b"content-type", b"").startswith(b"text/html")
        and b"content-encoding" not in headers
    )
