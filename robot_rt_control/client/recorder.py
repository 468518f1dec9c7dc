"""Records state variables while a program does something else."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from types import TracebackType

from robot_rt_control.client.recording import Recording
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError, unknown

_log = logging.getLogger(__name__)

TIME = "time"
"""The state variable with the number of the observed tick."""


class Recorder:
    """Records all variables of one tick every `period_s`; in simulated time every tick. Made by a session.

    A context manager. Over ROS it reads the loop's last snapshot, as often as the connection allows. What must be seen
    in each tick belongs in an action's own state variables, or in a reaction's captured values.

    Args:
        look: returns name → value of all state variables whose names begin with one of the given words.
        names: of the state variables.
        period_s: [s] between two samples.
        each_tick: calls a function after each tick, and returns a function that ends this; None: ticks are not seen.

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
        missing = float("nan")  # its action has been removed
        self.recording.append(values[TIME], [values.get(name, missing) for name in self.recording.names])

    def _run(self) -> None:
        while not self._stop.wait(self._period_s):
            try:
                self._take(self._look(self._wanted))
            except RobotControlError as error:
                _log.warning("reading the state variables failed; the recording ends here: %s", error)
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
