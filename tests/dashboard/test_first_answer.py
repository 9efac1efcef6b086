"""A page that was opened by its address is told where its server is, and has its measures before anything is drawn."""

import asyncio

import pytest

from dashboard.first_answer import FirstAnswer

PAGE = b"<!DOCTYPE html><html><head><title>Streamlit</title></head></html>"


def answered(path, base="", method="GET", kind="text/html; charset=utf-8", status=200):
    """Body and headers of an answer, and the headers that the app behind was asked with."""
    asked, said = [], []

    async def app(scope, receive, send):
        asked.extend(name for name, _ in scope["headers"])
        headers = [(b"content-type", kind.encode()), (b"content-length", b"57"), (b"etag", b"1")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": PAGE[:20], "more_body": True})
        await send({"type": "http.response.body", "body": PAGE[20:]})

    async def send(message):
        said.append(message)

    headers = [(b"accept-encoding", b"gzip"), (b"host", b"x")]
    scope = {"type": "http", "method": method, "path": path, "headers": headers}
    asyncio.run(FirstAnswer(app, base, "As²d", "p { margin: 0 }")(scope, None, send))
    return b"".join(part.get("body", b"") for part in said), dict(said[0]["headers"]), asked


@pytest.mark.parametrize(
    ("path", "base", "told"), [("/budgets", "", "/"), ("/", "", "/"), ("/lab/runs", "lab", "/lab")]
)
def test_the_page_is_told_its_server(path, base, told):
    body, headers, asked = answered(path, base)
    assert f'location.pathname==="{path}"'.encode() in body
    assert f'BACKEND_BASE_URL:location.origin+"{told}"'.encode() in body
    assert "<style>p { margin: 0 }</style><title>As²d</title></head></html>".encode() in body
    assert (headers[b"content-length"], b"etag" in headers) == (str(len(body)).encode(), False)
    assert asked == [b"host"]


@pytest.mark.parametrize(
    ("path", "how"),
    [
        ("/static/js/index.js", {}),
        ("/_stcore/health", {"kind": "text/plain"}),
        ('/"><script>', {}),
        ("/budgets", {"kind": "application/json"}),
        ("/budgets", {"status": 404}),
        ("/budgets", {"method": "POST"}),
    ],
)
def test_nothing_else_is_changed(path, how):
    body, headers, _ = answered(path, **how)
    assert (body, headers[b"etag"]) == (PAGE, b"1")
