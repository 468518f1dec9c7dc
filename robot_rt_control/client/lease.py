"""Keeping a session alive, and detecting that the control server no longer answers."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from robot_rt_control.vocabulary.defaults import SERVER_STARVED_SILENCE_S, SIMULATED_SERVER_SILENCE_S
from robot_rt_control.vocabulary.errors import RobotControlError, SessionEnded, SessionError

_log = logging.getLogger(__name__)

_LOOK_S = 1.0
"""[s] Interval at which a session without a lease is checked."""
_MARGIN_S = 1.0
_SHORTEST_S = 0.05
_AGAIN_S = 0.1
"""[s] From a try that was not answered to the next one."""
_STALL_S = 0.25
"""[s] A try that takes longer than planned by more than this did not wait for an answer: this process stood still."""


def longest_silence(lease_s: float, *, simulated: bool = False) -> float:
    """[s] Silence of the control server after which a session counts as ended.

    By then its lease has run out, and the executor has given up a server that hangs.

    Args:
        simulated: the workcell lives in simulated time, where both are waited for longer.
    """
    given_up = SIMULATED_SERVER_SILENCE_S if simulated else SERVER_STARVED_SILENCE_S
    return max(lease_s, given_up) + _MARGIN_S


class LeaseKeeper:
    """Renews a session three times in its lease, in a thread of its own, until `stop`.

    Args:
        renew: asks the control server; the argument is the time-out [s]. Raises SessionError: the session is gone;
            another RobotControlError: no answer.
        on_lost: called once with the reason, in the thread, when the session is gone or the server has become silent.
        name: of the thread.
        simulated: whether the workcell lives in simulated time.
    """

    def __init__(
        self,
        renew: Callable[[float], None],
        on_lost: Callable[[str], None],
        *,
        lease_s: float,
        name: str,
        simulated: Callable[[], bool] = lambda: False,
    ) -> None:
        self._simulated = simulated
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
        at_most = max(self._lease_s / 2, 1.0)  # one that is lost leaves time for another one
        silent, failure = 0.0, ""
        before = time.monotonic()
        while True:
            silence = longest_silence(self._lease_s, simulated=self._simulated())
            pause = min(_AGAIN_S if failure else every, every, max(silence - silent, 0.0))
            if self._stopping.wait(pause):
                return
            timeout_s = min(at_most, max(silence - silent - pause, _SHORTEST_S))
            try:
                self._renew(timeout_s)
            except SessionError as error:
                self._on_lost(error.reason if isinstance(error, SessionEnded) else str(error))
                return
            except RobotControlError as error:
                now = time.monotonic()
                silent += min(now - before, pause + timeout_s + _STALL_S)
                before = now
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
                before, silent, failure = time.monotonic(), 0.0, ""
