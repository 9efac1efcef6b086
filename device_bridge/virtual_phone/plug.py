"""How is the phone reached? Over a port that an adb server is told of, as it is of a phone that is plugged in."""

import asyncio
import errno
import os
import socket
import time
from collections.abc import Callable
from typing import Protocol

from device_bridge.adb.servers import AdbServer
from device_bridge.errors import DeviceError
from device_bridge.virtual_phone.link import Link, LinkState

CONNECT_S = 3.0
PORT_DEADLINE_S = 10.0


class Owner(LinkState, Protocol):
    """The phone whose plug it is."""


class Plug:
    """One connection of a phone: in or out."""

    def __init__(self, phone: Owner, server: Callable[[], AdbServer | None], port: int = 0) -> None:
        """It is out.

        Args:
            port: to listen on; 0 for any, which is then kept.
        """
        self.port = port
        self._phone, self._server = phone, server
        self._listener: asyncio.Server | None = None
        self._holder: socket.socket | None = None
        """Keeps the port from being given to a connection of somebody else while nobody listens."""
        self._links: set[Link] = set()

    async def put_in(self) -> None:
        """Listen, and tell the server."""
        if self._listener is None:
            self._listener = await self._listen()
            self.port = self._listener.sockets[0].getsockname()[1]
        await self._tell("connect")

    async def pull(self) -> None:
        """Pull it: no connection, and the host's adb server forgets it, as it does over USB."""
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        for link in list(self._links):
            link.cut()
        if self.port:
            await self._tell("disconnect")

    async def keep(self) -> None:
        """Be found by an adb server that has been started anew, as a phone on USB is."""
        if self._listener is not None and not self._links:
            await self._tell("connect")

    async def _listen(self) -> asyncio.Server:
        """A connection of somebody else may have the port that was asked for: wait until it is gone."""
        deadline = time.monotonic() + PORT_DEADLINE_S
        while True:
            try:
                self._hold()
                return await asyncio.start_server(self._connected, "127.0.0.1", self.port, limit=4 << 20)
            except OSError as error:
                if error.errno != errno.EADDRINUSE or time.monotonic() > deadline:
                    raise
                await asyncio.sleep(0.1)

    def _hold(self) -> None:
        if self._holder is not None or os.name != "posix":  # elsewhere a second socket would take the connections
            return
        holder = socket.socket()
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # lets our listener have it beside this one
        try:
            holder.bind(("127.0.0.1", self.port))
        except OSError:
            holder.close()
            raise
        self._holder, self.port = holder, holder.getsockname()[1]

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        link = Link(self._phone, reader, writer)
        self._links.add(link)
        try:
            await link.run()
        finally:
            self._links.discard(link)

    async def _tell(self, what: str) -> None:
        """Ask the adb server to connect or forget us; a server that is down is asked again later."""
        server = self._server()
        if server is None:
            return

        def ask() -> None:
            try:
                # A connection that broke stays in the server's list, and blocks a new one, until it is let go.
                server.disconnect(f"127.0.0.1:{self.port}", CONNECT_S)
                if what == "connect":
                    server.connect(f"127.0.0.1:{self.port}", CONNECT_S)
            except DeviceError:
                pass

        await asyncio.get_running_loop().run_in_executor(None, ask)
