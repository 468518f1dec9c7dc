"""Keeping a session alive, and detecting that the control server no longer answers."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from robot_rt_control.vocabulary.defaults import SERVER_PYTHON_SILENCE_S
from robot_rt_control.vocabulary.errors import RobotControlError, SessionEnded, SessionError

_log = logging.getLogger(__name__)

_LOOK_S = 1.0
"""[s] Interval at which a session without a lease is checked."""
_MARGIN_S = 1.0
_SHORTEST_S = 0.05


def longest_silence(lease_s: float) -> float:
    """[s] Silence of the control server after which a session counts as ended.

    By then its lease has run out, and the executor has given up a server that hangs.
    """
    return max(lease_s, SERVER_PYTHON_SILENCE_S) + _MARGIN_S


class LeaseKeeper:
    """Renews a session three times in its lease, in a thread of its own, until `stop`.

    Args:
        renew: asks the control server; the argument is the time-out [s]. Raises SessionError: the session is gone;
            another RobotControlError: no answer.
        on_lost: called once with the reason, in the thread, when the session is gone or the server has become silent.
        name: of the thread.
    """

    def __init__(
        self, renew: Callable[[float], None], on_lost: Callable[[str], None], *, lease_s: float, name: str
    ) -> None:
        self._renew, self._on_lost, self._lease_s = renew, on_lost, lease_s
        self._stopping = threading.Event()
        self.unanswered = False
        """Whether the server has become silent, so that the session may still be open there."""
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop renewing. May be called from any thread; does not wait."""
        self._stopping.set()

    def _run(self) -> None:
        every = self._lease_s / 3 if self._lease_s > 0 else _LOOK_S
        at_most, silence = max(self._lease_s, 1.0), longest_silence(self._lease_s)
        answered = time.monotonic()
        failure = ""
        while not self._stopping.wait(min(every, max(answered + silence - time.monotonic(), 0.0))):
            try:
                self._renew(min(at_most, max(answered + silence - time.monotonic(), _SHORTEST_S)))
            except SessionError as error:
                self._on_lost(error.reason if isinstance(error, SessionEnded) else str(error))
                return
            except RobotControlError as error:
                silent = time.monotonic() - answered
                if silent >= silence:
                    self.unanswered = True
                    self._on_lost(
                        f"the control server has not answered for {silent:.1f} s: {failure or error.what}; "
                        "its process has ended or hangs, or the network to its machine is cut"
                    )
                    return
                if not failure:
                    _log.warning("a session's lease was not renewed: %s", error)
                    failure = error.what  # the first one: later tries have shorter time-outs
            else:
                answered, failure = time.monotonic(), ""
