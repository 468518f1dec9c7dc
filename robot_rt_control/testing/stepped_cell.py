"""A workcell in one process that ticks on request, and calls functions around its ticks."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

from robot_rt_control.client.callback_queue import CallbackQueue
from robot_rt_control.definitions.action_type import ActionType
from robot_rt_control.model.workcell.workcell import Workcell
from robot_rt_control.server.sessions import Session
from robot_rt_control.server.types.action_types import ActionTypes
from robot_rt_control.testing.interpreted_types import InterpretedTypes
from robot_rt_control.testing.server_bench import ServerBench

_TICKS_AT_ONCE = 100
"""[ticks] After these, events are taken, so that none is lost."""


class SteppedCell(ServerBench):
    """Executor, server, and functions to call before and after each tick.

    Args:
        as ServerBench.

    Attributes:
        before_tick: called before each tick, by name: they set sensors.
        after_tick: called after each tick.
    """

    def __init__(
        self,
        workcell: Workcell,
        types: ActionTypes,
        *,
        interpreted: InterpretedTypes | None = None,
        gated: bool,
        record: Path | None = None,
    ) -> None:
        self.workcell = workcell
        self.before_tick: dict[str, Callable[[], None]] = {}
        self.after_tick: list[Callable[[], None]] = []
        self._queues: list[CallbackQueue] = []
        super().__init__(workcell, types, interpreted=interpreted, gated=gated, record=record)

    @property
    def tick(self) -> int:
        """The last tick."""
        return int(self.executor.world.memory.tick)

    @property
    def now(self) -> float:
        """[s] The server's clock for leases and deadlines: simulated time plus what a test has added."""
        return self._now + self.tick * self.workcell.period

    @now.setter
    def now(self, value: float) -> None:
        self._now = value - self.tick * self.workcell.period

    def step(self, ticks: int = 1) -> int:
        """Run ticks, hand out their events, and call callbacks. Returns the last one's number."""
        self._call_back()
        done = 0
        while done < ticks:
            each = self.before_tick or self._queues or any(map(self._may_run_out, self.server.sessions()))
            n = 1 if each else min(_TICKS_AT_ONCE, ticks - done)
            self._run(n)
            self.server.poll()
            self._call_back()
            done += n
        return self.tick

    def _run(self, ticks: int) -> None:
        for call in self.before_tick.values():
            call()
        for n in [1] * ticks if self.after_tick else [ticks]:
            self.executor.step(n)
            for call in self.after_tick:
                call()
        if self.interpreted is not None:
            self.interpreted.raise_error()

    def _may_run_out(self, session: Session) -> bool:
        return self.server.remaining(session) < math.inf

    def while_waiting(self) -> None:
        """Let the executor do its part of an answer."""
        if self.executor.channel.memory.gated:
            super().while_waiting()
        else:
            self._run(1)

    # --- callbacks ------------------------------------------------------------------------------

    def serve(self, queue: CallbackQueue) -> None:
        """Call a queue's callback after each tick for new items. In a gated cell `step` raises its exceptions."""
        self._queues.append(queue)

    def _call_back(self) -> None:
        while any(queue.is_ready for queue in self._queues):  # a callback may cause another one
            for queue in list(self._queues):
                errors = queue.call_waiting()
                if errors and self.link.gated:
                    raise errors[0]
        self._queues = [queue for queue in self._queues if not queue.is_done]

    # --- action types ---------------------------------------------------------------------------

    def load(self, source: str | type[ActionType], *, replace: bool = True) -> tuple[str, ...]:
        """Load action types while the loop runs, or reload them after a change (see server/types/action_sources.py).

        Returns:
            Their names.

        Raises:
            CompileError, DefinitionError: it was refused; nothing has changed.
        """
        if self.interpreted is None:
            return self.server.load_action_types(source, replace=replace)
        if isinstance(source, type):
            present = [t for t in self.types.all() if t.code is source]
            if present:
                return (present[0].name,)
        python = self.interpreted.add(source)
        return tuple(t.name for t in self.types.add(python, replace=replace, used=self.store.used_types()))
