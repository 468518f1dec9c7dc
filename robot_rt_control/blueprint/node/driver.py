"""Drives the executor in a thread of its own: it sleeps until something happens, and publishes what changes."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable

from robot_rt_control.blueprint.runs.executor import Executor, ExecutorState, same_but_time
from robot_rt_control.vocabulary.errors import NoAnswer, RobotControlError

_RUNNING_S = 0.02
"""[s] Between two looks while a run goes on: deadlines, and what no event tells."""
_IDLE_S = 0.5
_PATIENCE_S = 0.5
"""[s] A request is answered before the state is published, if that takes longer."""


class Driver:
    """Started by `start`, ended by `close`.

    Args:
        connect: makes the executor. Raises RobotControlError: not yet; it is tried again.
        publish: gets each new state, in the thread.
        log: gets what goes wrong once the workcell was reached, or why it is not.

    Attributes:
        changed: notified after each look.
        executor: None: the workcell has not been reached yet.
        problem: why not.
    """

    def __init__(
        self,
        connect: Callable[[Callable[[], None]], Executor],
        publish: Callable[[ExecutorState], None],
        log: Callable[[str], object],
    ) -> None:
        self._connect, self._publish, self._log = connect, publish, log
        self.changed = threading.Condition()
        self._publishing = threading.Lock()
        self.executor: Executor | None = None
        self.problem = "the workcell has not been reached yet"
        self._trace = ""
        """Of the last unexpected failure."""
        self._wake, self._closing = threading.Event(), threading.Event()
        self._last: ExecutorState | None = None
        self._thread = threading.Thread(target=self._run, name="blueprints", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._publish(nothing(self.problem))
        self._thread.start()

    def close(self, timeout_s: float) -> None:
        """End: all runs end, and their sessions are closed."""
        self._closing.set()
        self.wake()
        self._thread.join(timeout_s)

    def wake(self) -> None:
        """Something may have happened. From any thread; returns at once."""
        self._wake.set()

    @property
    def is_closing(self) -> bool:
        """Whether it ends."""
        return self._closing.is_set()

    def _run(self) -> None:
        while not self._closing.is_set():
            idle = self._look()
            self._wake.wait(_IDLE_S if idle else _RUNNING_S)
            self._wake.clear()
        executor, self.executor = self.executor, None
        if executor is not None:
            executor.close()
        with self.changed:
            self.changed.notify_all()

    def _look(self) -> bool:
        """Look once. Returns whether there is nothing to wait for but events."""
        try:
            if self.executor is None:
                self.executor, self.problem = self._connect(self.wake), ""
            self.executor.update()
            self._publish_change(self.executor)
            self._trace = ""
            return self.executor.is_idle
        except RobotControlError as error:
            if str(error) != self.problem:
                self.problem = str(error)
                if self.executor is not None or not isinstance(error, NoAnswer):
                    self._log(self.problem)  # a workcell that still comes up is no news: the node says what it awaits
                if self.executor is None:
                    self._publish(nothing(self.problem))
            time.sleep(_RUNNING_S)
        except Exception:  # any mistake of ours: it must not end, parts would stay with runs that nobody drives
            if (trace := traceback.format_exc()) != self._trace:  # it would be the same some 50 times a second
                self._trace = trace
                self._log(f"the executor of blueprints failed unexpectedly:\n{trace}")
            time.sleep(_RUNNING_S)
        return False

    def _publish_change(self, executor: Executor) -> None:
        with self._publishing:
            state = executor.state()
            if self._last is None or not same_but_time(state, self._last):
                self._last = state
                self._publish(state)
        with self.changed:
            self.changed.notify_all()

    def publish_now(self) -> None:
        """After a request that changed something."""
        executor = self.executor
        if executor is not None and executor.lock.acquire(timeout=_PATIENCE_S):
            executor.lock.release()  # nobody keeps it for long: the control server answers
            self._publish_change(executor)
        self.wake()


def nothing(problem: str) -> ExecutorState:
    """The state of an executor that has not reached its workcell."""
    return ExecutorState(
        tick=0, time=0.0, nodes=(), protective_stop=False, armed=0.0, waiting=(), problem=problem, skills_changed=0
    )
