"""Equal questions of several browsers are asked once, and no answer is older than its question."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from robot_rt_control.editor.shared_answers import SharedAnswers


class Log:
    """What is asked, and the lines that there are when it begins."""

    def __init__(self) -> None:
        self.lines, self.asked, self.go = 0, 0, asyncio.Event()

    async def read(self) -> dict[str, Any]:
        self.asked += 1
        there = self.lines
        await self.go.wait()
        return {"lines": there}


def test_twenty_ask_and_two_are_passed_on_and_nobody_misses_a_line() -> None:
    async def run() -> None:
        answers, log = SharedAnswers(), Log()
        first = asyncio.create_task(answers.ask("log", log.read))
        while log.asked == 0:
            await asyncio.sleep(0)
        log.lines = 5
        others = [asyncio.create_task(answers.ask("log", log.read)) for _ in range(19)]
        elsewhere = asyncio.create_task(answers.ask("another", log.read))
        while log.asked < 2:  # this one and the other question
            await asyncio.sleep(0)
        others[0].cancel()  # a browser is closed: the others get their answer
        log.go.set()
        assert (await first)["lines"] == 0
        assert [(await other)["lines"] for other in others[1:]] == [5] * 18
        assert (await elsewhere)["lines"] == 5 and log.asked == 3
        log.lines = 6
        assert (await answers.ask("log", log.read))["lines"] == 6 and log.asked == 4
        assert not answers._under_way and not answers._next

    asyncio.run(run())


def test_what_is_raised_reaches_all_and_the_next_question_is_asked() -> None:
    async def run() -> None:
        answers, log = SharedAnswers(), Log()

        async def fail() -> dict[str, Any]:
            await log.go.wait()
            raise ValueError("no answer")

        asked = [asyncio.create_task(answers.ask("log", work)) for work in (fail, fail, log.read)]
        await asyncio.sleep(0)
        log.go.set()
        for task in asked:
            with pytest.raises(ValueError, match="no answer"):
                await task
        assert await answers.ask("log", log.read) == {"lines": 0}

    asyncio.run(run())
