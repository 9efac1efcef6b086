"""Before a server that others can reach stands a door: nothing of the app answers until the password was given."""

import asyncio
import http.client
import io
import os
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import quote

import pytest
from page_samples import PageApp
from patience import PATIENCE_S
from ports import free_port
from streamlit import config

from dashboard.cli import main
from dashboard.door import MOST_BODY_BYTES, Door, is_local, missing_password
from dashboard.services.password import Guesses, hashed, set_password
from datastore.locations import Folders

EVERYWHERE = "0.0.0.0"  # noqa: S104 - that is what is tested
ROOT = Path(__file__).parents[2]
WORD = "a word & ä signs %"


async def behind(scope, receive, send):
    """The app behind the door."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"the app"})


class Visitor:
    """Speaks to a door as a server would."""

    def __init__(self, **how):
        self.door = Door(behind, hashed(WORD), **how)
        self.cookie = None

    def ask(self, kind="http", method="GET", path="/", query="", body=b"", address="10.0.0.7"):
        """Returns the status, the headers and the body; for a connection, the type of its first answer."""
        scope = {
            "type": kind,
            "method": method,
            "path": path,
            "query_string": query.encode(),
            "client": (address, 5),
            "server": ("x", 8501),
            "headers": [(b"cookie", f"a=b; {self.cookie}".encode())] if self.cookie else [],
        }
        said = []

        async def receive():
            return {"type": "http.request", "body": body}

        async def send(message):
            said.append(message)

        asyncio.run(self.door(scope, receive, send))
        if kind == "websocket":
            return said[0]["type"]
        headers = {name.decode(): value.decode() for name, value in said[0]["headers"]}
        return said[0]["status"], headers, said[1]["body"].decode()

    def guess(self, word, **how):
        answer = self.ask(method="POST", body=f"password={quote(word)}".encode(), **how)
        self.cookie = answer[1].get("set-cookie", "").partition(";")[0] or self.cookie
        return answer


def test_nothing_of_the_app_answers_a_visitor_without_the_password():
    visitor = Visitor()
    for path in ("/", "/runs", "/_stcore/stream", "/_stcore/upload_file/a/b", "/media/x", "/_stcore/healthy"):
        status, headers, body = visitor.ask(path=path)
        assert (status, headers["cache-control"], "the app" in body) == (401, "no-store", False)
        assert visitor.ask("websocket", path=path) == "websocket.close"
    assert visitor.ask(method="PUT", path="/_stcore/upload_file/a/b")[0] == 401
    assert visitor.ask(path="/_stcore/health")[2] == "the app"


def test_the_password_opens_the_page_that_was_asked_for():
    visitor = Visitor()
    status, headers, _ = visitor.guess(WORD, path="/timeline", query="run=a%20b")
    assert (status, headers["location"]) == (303, "/timeline?run=a%20b")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= {part.strip() for part in headers["set-cookie"].split(";")}
    assert "Secure" not in headers["set-cookie"]
    assert visitor.ask()[2] == "the app"
    assert visitor.ask("websocket") == "websocket.accept"


def test_with_a_certificate_the_cookie_never_travels_in_the_clear():
    assert "; Secure" in Visitor(secure=True).guess(WORD)[1]["set-cookie"]


def test_a_link_to_another_host_is_not_followed():
    assert Visitor().guess(WORD, path="//evil.example/")[1]["location"] == "/evil.example/"


@pytest.mark.parametrize("cookie", ["", "as2d-door-8501=", "as2d-door-8501=9999999999.0", "as2d-door-8501=é.ü", ";;="])
def test_a_made_up_cookie_opens_nothing(cookie):
    visitor = Visitor()
    visitor.cookie = cookie
    assert visitor.ask()[0] == 401


def test_a_cookie_ends_with_its_time_and_with_the_process(monkeypatch):
    visitor = Visitor()
    visitor.guess(WORD)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 13 * 3600)
    assert visitor.ask()[0] == 401
    monkeypatch.undo()
    other = Visitor()
    other.cookie = visitor.cookie
    assert other.ask()[0] == 401


def test_wrong_guesses_are_limited_and_then_even_the_right_one_waits():
    visitor = Visitor(guesses=Guesses(most=2, span_s=600.0))
    assert [visitor.guess("wrong")[0] for _ in range(3)] == [401, 401, 429]
    status, headers, body = visitor.guess(WORD)
    assert (status, 0 < int(headers["retry-after"]) <= 600) == (429, True)
    assert "try again in 10 min" in body
    assert visitor.guess(WORD, address="10.0.0.8")[0] == 303


def test_a_body_larger_than_any_password_is_no_guess():
    visitor = Visitor(guesses=Guesses(most=1))
    assert visitor.guess(WORD + "x" * MOST_BODY_BYTES)[0] == 401
    assert visitor.guess(WORD)[0] == 303


def test_the_page_of_the_door_asks_nothing_of_others():
    _, headers, body = Visitor().ask()
    assert headers["content-security-policy"].startswith("default-src 'none'")
    assert "://" not in body


@pytest.mark.parametrize("address", ["127.0.0.1", "localhost", "::1", "[::1]", "127.8.8.8"])
def test_this_computer_alone_needs_no_password(address):
    assert is_local(address)


@pytest.mark.parametrize("address", [None, "", EVERYWHERE, "::", "192.168.1.5", "example.org", "127.0.0.1.nip.io"])
def test_everything_else_does(address):
    assert not is_local(address)
    assert "as2d password" in str(missing_password(address))


def test_an_app_that_others_reach_without_a_door_shows_nothing(data_folder):
    before = config.get_option("server.address")
    config.set_option("server.address", EVERYWHERE)
    try:
        test = PageApp("runs", {}).test
        test.run()
        assert [warning.value.partition(",")[0] for warning in test.warning] == [
            "Other computers can reach this server"
        ]
        assert (len(test.dataframe), len(test.button)) == (0, 0)
    finally:
        config.set_option("server.address", before)


def test_the_command_sets_and_forgets_the_password(data_folder, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert main(["password", "--stdin"]) == 1
    assert "has 0 characters" in capsys.readouterr().err
    monkeypatch.setattr("dashboard.cli_password.asked_for", lambda: WORD)
    assert main(["password"]) == 0
    assert (data_folder / "password.json").is_file()
    assert main(["password", "--remove"]) == 0
    assert not (data_folder / "password.json").exists()


def started(folder, port):
    environment = {
        "AS2D_STORE": str(folder),
        "STREAMLIT_SERVER_ADDRESS": EVERYWHERE,
        "STREAMLIT_SERVER_PORT": str(port),
        "STREAMLIT_SERVER_HEADLESS": "true",
        "STREAMLIT_BROWSER_SERVER_ADDRESS": "localhost",  # else its address on the network is looked for
    }
    command = [sys.executable, "-m", "streamlit", "run", "dashboard"]
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return subprocess.Popen(command, cwd=ROOT, env={**os.environ, **environment}, text=True, **pipes)


def test_without_a_password_a_server_for_others_does_not_start(tmp_path):
    with started(tmp_path / "as2d", free_port()) as server:
        said, _ = server.communicate(timeout=PATIENCE_S)
    assert server.returncode == 1
    assert said.strip().endswith("set one with `as2d password`, or leave server.address at 127.0.0.1.")
    assert "Traceback" not in said


def test_with_a_password_a_server_for_others_asks_for_it(tmp_path):
    set_password(Folders(tmp_path / "as2d"), WORD)
    port = free_port()

    def asked(method, path, body=None, **headers):
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)) as connection:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.getheader("set-cookie"), answer.read()

    server = started(tmp_path / "as2d", port)
    try:
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until and server.poll() is None:
            with suppress(OSError):
                if asked("GET", "/_stcore/health")[2] == b"ok":
                    break
            time.sleep(0.1)
        assert asked("GET", "/runs")[0] == 401
        assert asked("GET", "/_stcore/host-config")[0] == 401
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        status, cookie, _ = asked("POST", "/runs", f"password={quote(WORD)}", **form)
        assert status == 303
        status, _, body = asked("GET", "/runs", Cookie=cookie.partition(";")[0])
        assert (status, b'<div id="root">' in body) == (200, True)
    finally:
        server.terminate()
        server.communicate(timeout=PATIENCE_S)
    assert server.returncode == 0
