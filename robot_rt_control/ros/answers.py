"""Answers of services, sent again while the client that asked is not yet known to the middleware."""

from __future__ import annotations

import threading
import time
import traceback
import warnings
from collections import deque
from collections.abc import Callable
from typing import Any

from rclpy._rclpy_pybind11 import InvalidHandle, RCLError

_PATIENCE_S = 5.0
"""[s] for which an answer is sent again."""
_MOST = 64
"""Answers that wait; more let go of the oldest: anybody can ask in the name of a client that does not exist."""
_PAUSE_S = 0.01
"""[s] between two attempts, beside the time that the middleware waits itself."""
_TEXT = "failed to send response (timeout)"
"""How rclpy's warning that an answer was not sent begins. It is all that rclpy tells of it."""

_sending = threading.local()


class _OwnText:
    """Stands for a pattern in a filter of warnings. Matches rclpy's warning in threads that send for `Answers` alone.

    In other threads the warning stays one: as an exception it would end the spinning of an application's own nodes.
    """

    def match(self, text: str) -> bool:
        return text.startswith(_TEXT) and getattr(_sending, "is_ours", False)


class _Unused(Warning):
    """No warning is of this class: a filter for it changes nothing."""


_FILTER: Any = ("error", _OwnText(), RuntimeWarning, None, 0)


class Answers:
    """Sends the answers of a node's services.

    A client asks as soon as it knows the service; the service may know the client later. Fast DDS then waits for 0.1 s
    and drops the answer, for which the client would wait until its time-out.

    Args:
        on_error: called with a text for each answer that was not sent, in any thread.
    """

    def __init__(self, on_error: Callable[[str], object]) -> None:
        self._on_error = on_error
        self._lock = threading.Lock()
        self._waiting: deque[tuple[str, Callable[[], object], float]] = deque()
        self._runs = False

    def serve(self, service: Any) -> None:
        """Send the answers of this service, of rclpy."""
        rclpys, what = service.send_response, f"service {service.service_name!r}"
        service.send_response = lambda response, header: self.send(what, lambda: rclpys(response, header))

    def send(self, what: str, send: Callable[[], object]) -> None:
        """Call `send`; if the client is not known, again in another thread, for 5 s.

        Args:
            what: is answered, in texts.
            send: calls rclpy, which may raise.

        Raises:
            Exception: of the first call of `send`, but that the client is not known.
        """
        if not _sent(send):
            self.send_again(what, send)

    def send_again(self, what: str, send: Callable[[], object]) -> None:
        """As `send` from the second attempt on."""
        with self._lock:
            dropped = self._waiting.popleft()[0] if len(self._waiting) >= _MOST else ""
            self._waiting.append((what, send, time.monotonic() + _PATIENCE_S))
            starts, self._runs = not self._runs, True
        if dropped:
            text = f"the answer of {dropped} was given up, as {_MOST} others wait for clients that are not known"
            self._on_error(text)
        if starts:
            threading.Thread(target=self._run, name="answers", daemon=True).start()

    def _run(self) -> None:
        """In a thread of its own, until all are sent or given up."""
        while True:
            with self._lock:
                if not self._waiting:
                    self._runs = False
                    return
                what, send, until = self._waiting.popleft()
            try:
                if _sent(send):
                    continue
            except (InvalidHandle, RCLError):  # the service has ended, or its context
                continue
            except Exception:  # it must not end the thread: the other answers wait for it
                self._on_error(f"the answer of {what} failed:\n{traceback.format_exc()}")
                continue
            if time.monotonic() < until:
                with self._lock:
                    self._waiting.append((what, send, until))
                time.sleep(_PAUSE_S)
            else:
                text = f"the answer of {what} was not sent; its client did not become known within {_PATIENCE_S:g} s"
                self._on_error(text)


def raise_unsent(yes: bool) -> None:
    """Set whether rclpy raises in this thread, from now on, if it could not send an answer."""
    if yes and _FILTER not in warnings.filters:  # others may have set the filters anew since the last time
        filters: Any = warnings.filters
        filters.insert(0, _FILTER)
        warnings.simplefilter("default", _Unused, append=True)  # lets Python notice that the list has changed
    _sending.is_ours = yes


def is_unsent(error: BaseException) -> bool:
    """Whether it says that an answer could not be sent because its client is not known."""
    if isinstance(error, SystemError) and error.__cause__ is not None:
        error = error.__cause__  # C++ returned as if nothing had been raised
    return isinstance(error, RuntimeWarning) and str(error).startswith(_TEXT)


def _sent(send: Callable[[], object]) -> bool:
    """Whether the client was known. Raises what `send` raises otherwise."""
    raise_unsent(True)
    try:
        send()
    except (RuntimeWarning, SystemError) as error:
        if not is_unsent(error):
            raise
        return False
    finally:
        raise_unsent(False)
    return True
