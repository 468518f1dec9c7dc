"""The one protocol with processes beside this one: messages in frames, over a pair of sockets.

A frame is the length of its content (4 bytes, the highest first), then the content. What a process gets is pickled: it
trusts the one that started it. What it answers is a JSON object of bounded size: code of users may have written it, so
it is never unpickled, and anything else counts as the end of the process. The near end, of the process that started
the other one, waits for nothing longer than it wants to, also in the middle of a frame; the far end may wait for ever.
"""

from __future__ import annotations

import json
import os
import pickle
import select
import signal
import socket
import struct
import sys
import threading
import time
from contextlib import suppress
from typing import Any

from robot_rt_control.processes.parent_death import end_with

MOST_BYTES = 1 << 26
"""The largest answer, if whoever waits for it does not know better."""
_LENGTH = struct.Struct("!I")
_CHUNK = 1 << 16


class _End:
    """One end of the connection. One thread receives; `hang_up` may be called from any."""

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        self._arrived = bytearray()

    def fileno(self) -> int:
        return self._socket.fileno()

    def hang_up(self) -> None:
        """The other end notices, and so does a thread that receives here, and all processes that have this end."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """In this process; a process that was forked from it may have this end as well. No thread receives any more."""
        self._socket.close()

    def _frame(self, most: int) -> bytes | None:
        """The content of the next frame; None: it has not arrived whole."""
        if len(self._arrived) < _LENGTH.size:
            return None
        (size,) = _LENGTH.unpack_from(self._arrived)
        if size > most:
            raise ConnectionError(f"a message of {size} bytes; expected at most {most}")
        end = _LENGTH.size + size
        if len(self._arrived) < end:
            return None
        content = bytes(self._arrived[_LENGTH.size : end])
        del self._arrived[:end]
        return content

    def _read(self) -> None:
        try:
            data = self._socket.recv(_CHUNK)
        except OSError:  # with what it has not taken, or closed here by another thread
            data = b""
        if not data:
            raise ConnectionResetError("the other end has hung up")
        self._arrived += data


class Near(_End):
    """The end of the process that started the other one. `send` may be called from any thread."""

    def __init__(self, end: socket.socket) -> None:
        super().__init__(end)
        self._left = bytearray()
        self._sending = threading.Lock()

    def send(self, message: object) -> None:
        """Does not wait: what is not taken at once leaves during `receive`. That also says if the other end is gone."""
        data = pickle.dumps(message)
        with self._sending:
            self._left += _LENGTH.pack(len(data)) + data
        self._write()

    def _write(self) -> None:
        with self._sending:
            try:
                if self._left:
                    del self._left[: self._socket.send(self._left, socket.MSG_DONTWAIT)]
            except BlockingIOError:
                pass
            except OSError:
                self._left.clear()

    def receive(
        self, timeout: float | None, *, most: int = MOST_BYTES, end: socket.socket | _End | None = None
    ) -> dict[str, Any] | None:
        """The next message; None: it has not arrived in this time [s].

        Args:
            most: bytes of a larger message are not waited for.
            end: when something arrives there, nothing more will arrive here.

        Raises:
            ConnectionResetError: the other end has hung up.
            ConnectionError: what it said is no message.
        """
        until = None if timeout is None else time.monotonic() + timeout
        while (content := self._frame(most)) is None:
            if self.fileno() < 0:
                raise ConnectionResetError("this end is closed")
            look = select.poll()
            look.register(self._socket, select.POLLIN | (select.POLLOUT if self._left else 0))
            if end is not None:
                look.register(end, select.POLLIN)
            seen = dict(look.poll(None if until is None else 1e3 * max(until - time.monotonic(), 0.0)))
            if not seen:
                return None
            state = seen.get(self.fileno(), 0)
            if state & select.POLLOUT:
                self._write()
            if state & ~select.POLLOUT:
                self._read()
            elif not state:
                raise ConnectionResetError("the other end has ended")
        try:
            found = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise ConnectionError("what is no JSON") from error
        if not isinstance(found, dict):
            raise ConnectionError("what is no message")
        return found


class Far(_End):
    """The end of the process that was started. One thread sends."""

    def send(self, message: dict[str, Any]) -> None:
        """Waits until all is sent. Raises OSError: the other end is gone."""
        data = json.dumps(message).encode()
        self._socket.sendall(_LENGTH.pack(len(data)) + data)

    def receive(self) -> Any:
        """The next message, however long it takes. Raises ConnectionError: the other end has hung up."""
        while (content := self._frame(1 << 32)) is None:
            self._read()
        return pickle.loads(content)

    def speaks(self, timeout: float) -> bool:
        """Whether the other end says something, or hangs up, within this time [s]."""
        look = select.poll()
        look.register(self._socket, select.POLLIN)
        return bool(look.poll(1e3 * timeout))


def connect(*, with_thread: bool) -> Far:
    """In a process that `PythonProcess` has started: its connection; `sys.argv[3:]` are its arguments.

    Args:
        with_thread: it is killed when the thread ends that has started it; else it should end when the other end
            hangs up.
    """
    descriptor, parent = map(int, sys.argv[1:3])
    if with_thread:
        end_with(parent, signal.SIGKILL)
    os.set_inheritable(descriptor, False)
    return Far(socket.socket(fileno=descriptor))
