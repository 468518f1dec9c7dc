"""Looks at state variables again and again while a program does something else."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from types import TracebackType

from robot_rt_control.client.recording import Recording
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError, unknown

_log = logging.getLogger(__name__)

TIME = "time"
"""The state variable that says which tick a look saw."""


class Recorder:
    """Looks at all variables of one tick, every `period_s`; in simulated time after every tick. Made by a session.

    A context manager. Over ROS it sees what the server sees: the loop's last snapshot. How often it can look depends on
    the connection; what must be seen in each tick belongs into an action's own state variables, or into a reaction's
    captured values.

    Args:
        look: gives name → value of all state variables whose name begins with one of some words.
        names: of the state variables.
        period_s: between two looks [s].
        each_tick: calls a function after each tick, and returns what ends that; None where ticks are not seen.

    Raises:
        DefinitionError: there is no such state variable.
    """

    def __init__(
        self,
        look: Callable[[Iterable[str]], dict[str, float]],
        names: Iterable[str],
        period_s: float,
        each_tick: Callable[[Callable[[], None]], Callable[[], None] | None] = lambda _: None,
    ) -> None:
        self.recording = Recording(names)
        self._look, self._period_s = look, period_s
        self._wanted = (TIME, *self.recording.names)
        values = look(self._wanted)
        for name in self.recording.names:
            if name not in values:
                what = f"state variable {name!r} cannot be recorded"
                raise DefinitionError(what, expected=unknown("state variable", name, look([""])))
        self._first, self._each_tick = values, each_tick
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)

    def _take(self, values: dict[str, float]) -> None:
        missing = float("nan")  # its action has been removed meanwhile
        self.recording.append(values[TIME], [values.get(name, missing) for name in self.recording.names])

    def _run(self) -> None:
        while not self._stop.wait(self._period_s):
            try:
                self._take(self._look(self._wanted))
            except RobotControlError as error:
                _log.warning("a look at the state variables failed, and the recording ends there: %s", error)
                return

    def __enter__(self) -> Recording:
        self._end = self._each_tick(lambda: self._take(self._look(self._wanted)))
        if self._end is None:
            self._take(self._first)
            self._thread.start()
        return self.recording

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._end is not None:
            self._end()
            return
        self._stop.set()
        self._thread.join(2.0)
