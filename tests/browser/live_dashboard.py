"""The real dashboard as a child process, and what a person sees of it."""

import contextlib
import http.client
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from patience import PATIENCE_S
from ports import free_port

ROOT = Path(__file__).parents[2]
ARTIFACTS = ROOT / "artifacts"
BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
BROWSER_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def find_browser() -> str | None:
    """Path of an installed Chromium or Chrome."""
    return next((path for name in BROWSERS if (path := shutil.which(name)) is not None), None)


class LiveDashboard:
    """``streamlit run`` on a free port over a data folder, as ``make dashboard`` starts it."""

    def __init__(self, store: Path, **environment: str) -> None:
        self.store = store
        self.port = free_port()
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the child
        self._child = subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", "dashboard/streamlit_app.py"],
            cwd=ROOT,
            env={
                **os.environ,
                "AS2D_STORE": str(store),
                "STREAMLIT_SERVER_PORT": str(self.port),
                "STREAMLIT_SERVER_HEADLESS": "true",
                "STREAMLIT_SERVER_FILE_WATCHER_TYPE": "none",
                **environment,
            },
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def output(self) -> str:
        """Everything the server has printed so far."""
        self._output.seek(0)
        return self._output.read().decode("utf-8", "replace")

    @property
    def pid(self) -> int:
        return self._child.pid

    def healthy(self) -> bool:
        """Whether the server answers that it is well."""
        with contextlib.suppress(OSError, http.client.HTTPException):
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
            with contextlib.closing(connection):
                connection.request("GET", "/_stcore/health")
                answer = connection.getresponse()
                return answer.status == 200 and answer.read() == b"ok"
        return False

    def wait_until_healthy(self) -> None:
        until = time.monotonic() + PATIENCE_S
        while not self.healthy():
            assert self._child.poll() is None, f"the dashboard ended:\n{self.output}"
            assert time.monotonic() < until, f"the dashboard does not answer:\n{self.output}"
            time.sleep(0.1)

    def stop(self, wait_s: float = PATIENCE_S) -> int:
        """Ask it to end as Ctrl-C does; returns the exit code."""
        with contextlib.suppress(ProcessLookupError):
            self._child.send_signal(signal.SIGINT)
        return self._child.wait(wait_s)

    def kill(self) -> None:
        """End it and everything it started, now."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self._child.wait(PATIENCE_S)

    def close(self) -> None:
        """End it; nothing of its group is left."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.stop(30)
        self.kill()
        self._output.close()


def open_page(page, url: str) -> None:
    """Go to an address and wait until everything on it is drawn."""
    page.goto(url)
    settle(page)


def settle(page) -> None:
    """Wait until the script behind the page has come to rest and its figures are drawn."""
    app = page.locator('[data-testid="stApp"]')
    app.wait_for()
    page.wait_for_function(
        """() => {
            const app = document.querySelector('[data-testid="stApp"]');
            return app && app.getAttribute('data-test-script-state') === 'notRunning'
                && !document.querySelector('[data-testid="stSkeleton"]')
                && [...document.querySelectorAll('[data-testid="stPlotlyChart"]')].every(
                    chart => chart.querySelector('.main-svg'));
        }"""
    )


def exceptions(page) -> list[str]:
    """Text of every exception box on the page."""
    return page.locator('[data-testid="stException"]').all_inner_texts()


def screenshot(page, name: str) -> Path:
    """Save what is seen now as ``artifacts/NAME.png``."""
    ARTIFACTS.mkdir(exist_ok=True)
    path = ARTIFACTS / f"{re.sub(r'[^A-Za-z0-9_.-]+', '-', name)}.png"
    page.screenshot(path=path, full_page=True)
    return path
