"""The editor's server in a thread, for tests, and a small HTTP client of it."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aiohttp import web

from robot_rt_control.editor.robot import Robot
from robot_rt_control.editor.server import EditorServer


class Served:
    """A server that runs."""

    def __init__(self, server: EditorServer, port: int, loop: asyncio.AbstractEventLoop, thread: threading.Thread):
        self.server, self.port, self.loop, self._thread = server, port, loop, thread

    def end(self) -> None:
        """Close it, as the end of its process would: sockets close, and its tokens and cookies are forgotten."""
        if self._thread.is_alive():
            self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join(60)

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def link(self) -> str:
        return f"{self.origin}/#token={self.server.keys.operate}"

    @property
    def watching_link(self) -> str:
        return f"{self.origin}/#token={self.server.keys.watch}"

    def request(
        self, method: str, path: str, body: bytes | str | None = None, *, cookie: str = "", **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        """Status, headers, body. `headers` with underscores; None as text leaves one out: Origin=''."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        given = {"Origin": self.origin, "Content-Type": "application/json"}
        given |= {key.replace("_", "-"): value for key, value in headers.items()}
        if cookie:
            given["Cookie"] = f"{self.server.cookie}={cookie}"
        try:
            connection.request(method, path, body, {key: value for key, value in given.items() if value})
            response = connection.getresponse()
            return response.status, {k.lower(): v for k, v in response.getheaders()}, response.read()
        finally:
            connection.close()

    def post(self, name: str, fields: Any = None, *, cookie: str = "", **headers: str) -> tuple[int, Any]:
        status, _, body = self.request("POST", f"/api/{name}", json.dumps(fields or {}), cookie=cookie, **headers)
        return status, json.loads(body)

    def enter(self, token: str, name: str = "") -> str:
        """The cookie for a token."""
        body = json.dumps({"token": token, "name": name})
        status, headers, _ = self.request("POST", "/api/enter", body)
        assert status == 200
        return headers["set-cookie"].split(";")[0].split("=", 1)[1]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def served(robot: Robot, port: int = 0, workcell: Path | None = None) -> Iterator[Served]:
    """Serve the editor on a port of this machine."""
    with served_by(lambda port: EditorServer(robot, port=port, workcell=workcell), port) as found:
        yield found


@contextmanager
def served_by(made: Callable[[int], EditorServer], port: int = 0) -> Iterator[Served]:
    """Serve what is made for a port of this machine."""
    port = port or free_port()
    loop = asyncio.new_event_loop()
    ready, found = threading.Event(), list[Served]()

    async def begin() -> web.AppRunner:
        server = made(port)
        runner = web.AppRunner(server.app, shutdown_timeout=0.5)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port, reuse_address=True).start()
        found.append(Served(server, port, loop, thread))
        return runner

    def run() -> None:
        asyncio.set_event_loop(loop)
        runner = loop.run_until_complete(begin())
        ready.set()
        loop.run_forever()
        loop.run_until_complete(runner.cleanup())
        loop.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert ready.wait(60)
    try:
        yield found[0]
    finally:
        found[0].end()
