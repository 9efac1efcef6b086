"""What stands between the network and the app? Nothing on this computer alone; a password everywhere else."""

import asyncio
import importlib
import inspect
import pkgutil
import signal
import sys
import threading
import webbrowser
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from starlette.middleware import Middleware
from streamlit import config

import dashboard
from as2d_core.errors import As2dError
from dashboard.door import Door, is_local, missing_password
from dashboard.first_answer import FirstAnswer
from dashboard.services.folders import user_folders
from dashboard.services.password import kept_password

OPEN_AFTER_S = 0.5
"""The server answers a moment after it has started."""

_doors: list[str | None] = []
"""Addresses that a door was put before, in this process."""


def layers() -> list[Middleware]:
    """What stands before Streamlit; ends the process when others could reach it and there is no password."""
    address = config.get_option("server.address")
    style = (Path(__file__).parent / "assets" / "page.css").read_text(encoding="utf-8")
    pages = Middleware(FirstAnswer, base=config.get_option("server.baseUrlPath") or "", title="As²d", style=style)
    if is_local(address):
        return [pages]
    try:
        password = kept_password(user_folders())
        if password is None:
            raise missing_password(address)
    except As2dError as error:
        sys.exit(str(error))
    _doors.append(address)
    return [Middleware(Door, password=password, secure=bool(config.get_option("server.sslCertFile"))), pages]


def is_guarded() -> bool:
    """Whether the app may show itself: nobody else can reach it, or a door stands before it."""
    address = config.get_option("server.address")
    return is_local(address) or address in _doors


@asynccontextmanager
async def while_it_runs(_app: Any) -> AsyncIterator[None]:
    """Open the browser unless told otherwise, and end in peace when asked to."""
    _end_in_peace()
    threading.Thread(target=get_ready, name="as2d-get-ready", daemon=True).start()
    if not config.get_option("server.headless"):
        asyncio.get_running_loop().call_later(OPEN_AFTER_S, webbrowser.open, _url())
    yield


def get_ready() -> None:
    """Read in what pages are made of while the browser still loads, so that the first visitor does not wait for it."""
    for module in pkgutil.iter_modules(dashboard.__path__):
        if module.name.startswith("ui_") and module.name != "ui_script":  # which is the app itself
            importlib.import_module(f"dashboard.{module.name}")
    inspect.stack()  # Streamlit asks this at the first element of a process, which then looks at every module's file


def _url() -> str:
    address = config.get_option("server.address")
    host = "localhost" if address in {None, "", "0.0.0.0", "::", "127.0.0.1", "::1"} else address  # noqa: S104
    scheme = "https" if config.get_option("server.sslCertFile") else "http"
    return f"{scheme}://{host}:{config.get_option('server.port')}"


def _end_in_peace() -> None:
    """Ctrl-C is how a dashboard is ended, and no failure: uvicorn would end itself once more by the same signal."""
    if threading.current_thread() is not threading.main_thread():
        return
    for number in (signal.SIGINT, signal.SIGTERM):
        server = getattr(signal.getsignal(number), "__self__", None)
        if hasattr(server, "should_exit") and hasattr(server, "force_exit"):
            signal.signal(number, _ends(server))


def _ends(server: Any) -> Any:
    def end(_number: int, _frame: FrameType | None) -> None:
        server.force_exit = server.should_exit  # the second time, whoever is still connected is not waited for
        server.should_exit = True

    return end
