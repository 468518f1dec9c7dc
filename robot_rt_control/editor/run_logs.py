"""The logs of the runs that browsers show: a record is read once for all, and goes out with the state it belongs to."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Iterable

from robot_rt_control.editor.robot import Json
from robot_rt_control.vocabulary.errors import RobotControlError

_WAIT_S = 0.05
"""A state waits for its records for that long [s], so that a page draws both at once."""
MAX_RECORDS = 1000
"""In one message to a browser."""


class RunLogs:
    """For the event loop's thread.

    Args:
        read: answers a request `read_runs`. What it raises is a RobotControlError.
        wanted: the runs that browsers show now; all others are forgotten.
        show: what there is now goes to the browsers.
    """

    def __init__(
        self, read: Callable[[Json], Awaitable[Json]], wanted: Callable[[], Iterable[str]], show: Callable[[], None]
    ) -> None:
        self._read, self._wanted, self._show = read, wanted, show
        self._lines: dict[str, list[str]] = {}
        self._reading: asyncio.Task[None] | None = None
        self._again = False
        self._late: asyncio.TimerHandle | None = None

    def update(self) -> None:
        """Something has changed: show it with its new records, or without them if they take too long."""
        self._again = True
        if self._late is None:
            self._late = asyncio.get_running_loop().call_later(_WAIT_S, self._show_now)
        if self._reading is None:
            self._reading = asyncio.get_running_loop().create_task(self._read_all())

    def after(self, run: str, first: int) -> str:
        """The next records of a run as JSON: run, `first` and lines; empty: there are none yet."""
        lines = self._lines.get(run, [])[first : first + MAX_RECORDS]
        return json.dumps({"run": run, "first": first, "lines": lines}) if lines else ""

    def count(self, run: str) -> int:
        """How many records of a run there are."""
        return len(self._lines.get(run, ()))

    def close(self) -> None:
        """End what is under way."""
        if self._late is not None:
            self._late.cancel()
        if self._reading is not None:
            self._reading.cancel()

    def _show_now(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
        self._show()

    async def _read_all(self) -> None:
        try:
            while self._again:
                self._again = False
                wanted = set(self._wanted())
                self._lines = {run: lines for run, lines in self._lines.items() if run in wanted}
                for run in sorted(wanted):
                    with contextlib.suppress(RobotControlError):  # the next change asks again
                        await self._read_rest(run)
        finally:
            self._reading = None
        self._show_now()

    async def _read_rest(self, run: str) -> None:
        lines = self._lines.setdefault(run, [])
        while True:
            answer = await self._read({"run": run, "first": len(lines)})
            lines += answer.get("lines", ())
            if not answer.get("lines") or len(lines) >= answer["total"]:
                return
