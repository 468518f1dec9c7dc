"""Equal questions of several browsers are asked once: 20 pages want the same list when a skill has changed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from robot_rt_control.editor.robot import Json


class SharedAnswers:
    """Equal questions are asked one at a time. Askers during one share the next: it begins later, so that its answer
    has all that the askers know. For the event loop's thread."""

    def __init__(self) -> None:
        self._under_way: dict[str, asyncio.Task[Json]] = {}
        self._next: dict[str, asyncio.Task[Json]] = {}

    async def ask(self, question: str, work: Callable[[], Awaitable[Json]]) -> Json:
        """The answer of `work`, called for the first of those who share it. All of them get what it raises."""
        task = self._next.get(question)
        if task is None:
            before = self._under_way.get(question)
            task = asyncio.get_running_loop().create_task(self._ask(question, before, work))
            task.add_done_callback(lambda done: done.cancelled() or done.exception())  # all may have gone
            (self._under_way if before is None else self._next)[question] = task
        return await asyncio.shield(task)

    async def _ask(
        self, question: str, before: asyncio.Task[Json] | None, work: Callable[[], Awaitable[Json]]
    ) -> Json:
        if before is not None:
            await asyncio.wait([before])
            self._under_way[question] = self._next.pop(question)
        try:
            return await work()
        finally:
            if question not in self._next:
                del self._under_way[question]
