"""A service that works: requests and answers are lines of JSON over TCP (docs/services.md)."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import json
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterable

from robot_rt_control.application.services.requests import Cancel, parse
from robot_rt_control.application.services.service_manager import Answer, Caller, ServiceManager, refused
from robot_rt_control.client import CapacityError, Client, RobotControlError

_log = logging.getLogger(__name__)

LOOPBACK = "127.0.0.1"
MAX_CLIENTS = 8
MAX_LINE_BYTES = 1 << 16
"""Length of one request."""
RATE = 50
"""[1/s] Requests of one client; as many may come at once."""
MAX_UNSENT_BYTES = 1 << 20
"""Answers that wait for a client that does not read; beyond it the client is cut off."""
_OPEN_S = 60.0
_CLOSE_S = 1.0
DEAD_MS = 5000
"""[ms] without an acknowledgement after which a client counts as gone."""


class Rate:
    """Counts requests: `rate` per second, and as many at once.

    Args:
        clock: [s].
    """

    def __init__(self, rate: float, clock: Callable[[], float]) -> None:
        self._rate, self._clock = rate, clock
        self._left, self._last = rate, clock()

    def admits(self) -> bool:
        """Count one request. Returns whether it is within the rate."""
        now = self._clock()
        self._left = min(self._left + (now - self._last) * self._rate, self._rate)
        self._last = now
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True


class JsonLinesService(ServiceManager):
    """Takes requests of up to MAX_CLIENTS clients at a time. There is no authentication: who connects may move.

    Args:
        client, parts, cancel_on_disconnect: as ServiceManager.
        host: address to listen at; another one than this machine's own is reported by a warning.
        port: 0: any free one, see `address`.
        clock: [s] of the clients' rates.
    """

    def __init__(
        self,
        client: Client,
        parts: Iterable[str],
        *,
        host: str = LOOPBACK,
        port: int = 0,
        cancel_on_disconnect: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(client, parts, cancel_on_disconnect=cancel_on_disconnect)
        self._host, self._port, self._clock = host, port, clock
        self.address: tuple[str, int] = (host, port)
        """Where it listens, once it is open."""
        self._loop = asyncio.new_event_loop()
        self._ending = asyncio.Event()
        self._writers: set[asyncio.StreamWriter] = set()
        self._is_open = threading.Event()
        self._error: OSError | None = None
        self._thread = threading.Thread(target=self._run_loop, name="json lines", daemon=True)

    # --- the manager's side, in the thread of `run` ---------------------------------------------

    def open(self) -> None:
        """Listen.

        Raises:
            RobotControlError: the address is in use or not valid.
        """
        self._thread.start()
        in_time = self._is_open.wait(_OPEN_S)
        if self._error is not None or not in_time:
            raise RobotControlError(
                f"listening at {self._host}, port {self._port}",
                expected="a free port of an address of this machine",
                got=str(self._error or "no answer of the system"),
                hint="Choose another one with --host and --port",
            )
        _log.info("listening at %s, port %d", *self.address)
        if not _is_loopback(self.address[0]):
            _log.warning(
                "%s is not only for this machine: everyone who reaches it may move %s, as there is no authentication",
                self.address[0],
                ", ".join(self.parts),
            )

    def answer(self, caller: Caller, answer: Answer) -> None:
        assert isinstance(caller, asyncio.StreamWriter)
        self._loop.call_soon_threadsafe(self._send, caller, answer)

    def close(self) -> None:
        if self._loop.is_closed():
            return
        # Only here is the loop closed: after an `open` that failed its thread may still run, or end at this moment.
        self._loop.call_soon_threadsafe(self._ending.set)
        if self._thread.ident is not None:  # it was started
            self._thread.join()
        self._loop.close()

    # --- the connections' side, in a thread of its own ------------------------------------------

    def _run_loop(self) -> None:
        self._loop.run_until_complete(self._listen())

    async def _listen(self) -> None:
        try:
            server = await asyncio.start_server(self._serve_client, self._host, self._port, limit=MAX_LINE_BYTES)
        except OSError as error:
            self._error = error
            return
        finally:
            if self._error is not None:
                self._is_open.set()
        self.address = server.sockets[0].getsockname()[:2]
        self._is_open.set()
        await self._ending.wait()
        server.close()
        for writer in self._writers:
            writer.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        if others:
            _, late = await asyncio.wait(others, timeout=_CLOSE_S)
            for task in late:  # its client does not read
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def _serve_client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._writers) >= MAX_CLIENTS:
            full = CapacityError("too many clients", expected=f"at most {MAX_CLIENTS}", got=str(MAX_CLIENTS + 1))
            self._send(writer, refused(full))
            writer.close()
            return
        _notice_dead_peer(writer.get_extra_info("socket"))
        self._writers.add(writer)
        rate = Rate(RATE, self._clock)
        try:
            while True:
                try:
                    line = await _next_line(reader)
                    if line.strip():
                        self._take_line(line, writer, rate.admits())
                except RobotControlError as error:
                    self._send(writer, refused(error))
                    if isinstance(error, RateError):
                        await asyncio.sleep(1.0 / RATE)  # holds back who sends on
        except (asyncio.IncompleteReadError, OSError):
            pass  # the client has gone
        finally:
            self._writers.discard(writer)
            self.disconnected(writer)
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    def _take_line(self, line: bytes, writer: asyncio.StreamWriter, is_admitted: bool) -> None:
        request = parse(line)
        if not is_admitted and not isinstance(request, Cancel):  # everybody may always stop
            raise RateError(
                "too many requests", expected=f"at most {RATE} per second", got="one more", hint="It was dropped"
            )
        self.accept_command(request, writer)

    def _send(self, writer: asyncio.StreamWriter, answer: Answer) -> None:
        if writer.is_closing():
            return
        writer.write(json.dumps(answer, allow_nan=False).encode() + b"\n")
        if writer.transport.get_write_buffer_size() > MAX_UNSENT_BYTES:
            _log.warning("a client does not read its answers: it is cut off")
            writer.transport.abort()


class RateError(CapacityError):
    """A client sends more requests than it may."""


async def _next_line(reader: asyncio.StreamReader) -> bytes:
    """The next line.

    Raises:
        CapacityError: it is too long, and has been skipped.
        asyncio.IncompleteReadError: the client has closed the connection.
    """
    length = 0
    while True:
        try:
            line = await reader.readuntil(b"\n")
        except asyncio.LimitOverrunError as error:
            length += len(await reader.readexactly(max(error.consumed, 1)))
            continue
        if not length:
            return line
        raise CapacityError(
            "a line is too long", expected=f"at most {MAX_LINE_BYTES} bytes", got=str(length + len(line) - 1)
        )


def _notice_dead_peer(connection: socket.socket) -> None:
    """Close the connection some seconds after the client's machine or network has died.

    Keep-alive sees it while nothing is sent. While answers wait for their acknowledgement, the system sends no
    keep-alive, and would send them again for a quarter of an hour.
    """
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, DEAD_MS)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in ((socket.TCP_KEEPIDLE, 2), (socket.TCP_KEEPINTVL, 1), (socket.TCP_KEEPCNT, 3)):
        connection.setsockopt(socket.IPPROTO_TCP, option, value)


def _is_loopback(host: str) -> bool:
    return ipaddress.ip_address(host.partition("%")[0]).is_loopback
