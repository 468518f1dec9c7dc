"""New records of a run go out with the state that they belong to, to each browser those that it lacks."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
from memory_robot import MemoryRobot
from served_editor import Served

from robot_rt_control.editor.keys import Person
from robot_rt_control.editor.run_logs import MAX_RECORDS, RunLogs
from robot_rt_control.editor.watchers import Watcher, Watchers
from robot_rt_control.vocabulary.errors import NoAnswer

AT_MOST = 120.0
TOUR = "name: tour\nnodes:\n  a: {wait: 0.05, then: b}\n  b: {wait: 0.05, then: c}\n  c: {say: done}\n"


class Log:
    """A log that answers with two records at a time, when it may."""

    def __init__(self) -> None:
        self.lines, self.asked, self.fails = list[str](), 0, False
        self.go = asyncio.Event()
        self.go.set()

    async def read(self, request: dict[str, Any]) -> dict[str, Any]:
        self.asked += 1
        await self.go.wait()
        if self.fails:
            raise NoAnswer("the node is not available")
        first = request["first"]
        return {"success": True, "lines": self.lines[first : first + 2], "total": len(self.lines)}


def in_a_loop(work: Callable[[], Awaitable[None]]) -> None:
    async def run() -> None:
        await asyncio.wait_for(work(), AT_MOST)

    asyncio.run(run())


def test_a_state_is_shown_with_all_its_records_and_without_if_they_take_long() -> None:
    async def work() -> None:
        log, shown, wanted = Log(), asyncio.Queue[int](), {"r"}
        logs = RunLogs(log.read, lambda: wanted, lambda: shown.put_nowait(logs.count("r")))
        log.lines = [f"{n}" for n in range(5)]
        logs.update()
        assert await shown.get() == 5 and log.asked == 3 and shown.empty()
        assert json.loads(logs.after("r", 3)) == {"run": "r", "first": 3, "lines": ["3", "4"]}
        assert not logs.after("r", 5)
        log.lines.append("5")
        log.go.clear()
        logs.update()
        assert await shown.get() == 5, "what waits for nothing is shown"
        logs.update()  # another state, while the log is being read
        log.go.set()
        assert await shown.get() == 6
        log.fails = True
        logs.update()
        assert await shown.get() == 6
        log.fails = False
        log.lines.append("6")
        logs.update()
        while await shown.get() != 7:
            pass
        wanted.clear()
        logs.update()
        assert await shown.get() == 0, "nobody looks at it any more"
        logs.close()

    in_a_loop(work)


def test_a_long_log_goes_out_in_parts() -> None:
    async def work() -> None:
        log, shown = Log(), asyncio.Event()
        logs = RunLogs(log.read, lambda: watchers.runs, shown.set)
        watchers = Watchers(logs)
        watcher = Watcher(watchers, Person(id="1", name="Ann", may_operate=True))
        watchers.all.add(watcher)
        log.lines = [f"{n}" for n in range(2 * MAX_RECORDS + 1)]
        watchers.publish({"x": 1})
        assert watcher._take(json.dumps({"variables": [], "run": "r", "records": 1}))
        while logs.count("r") < len(log.lines):
            await shown.wait()
            shown.clear()
            await asyncio.sleep(0)
        parts = []
        while watcher.lacks_records:
            watcher.changed.clear()
            parts.append(json.loads(watcher._text()))
            assert watcher.changed.is_set() == watcher.lacks_records
        assert [(part["x"], part["log"]["first"]) for part in parts] == [(1, 1), (1, 1 + MAX_RECORDS)]
        assert [line for part in parts for line in part["log"]["lines"]] == log.lines[1:]
        assert json.loads(watcher._text()) == {"x": 1}
        logs.close()

    in_a_loop(work)


def test_E8_each_browser_gets_the_whole_log_of_its_run(editor: Served, robot: MemoryRobot) -> None:
    cookie = editor.enter(editor.server.keys.operate)
    assert editor.post("run", {"skill": TOUR}, cookie=cookie)[1]["run"] == "run-1"

    async def follow(has: int) -> list[str]:
        found: list[str] = []
        async with (
            aiohttp.ClientSession(cookies={editor.server.cookie: cookie}) as session,
            session.ws_connect(f"{editor.origin}/api/live", origin=editor.origin) as live,
        ):
            await live.send_json({"variables": [], "run": "run-1", "records": has})
            while not found or json.loads(found[-1])["what"] != "end":
                if "log" in (state := await live.receive_json(timeout=AT_MOST)):
                    assert state["log"]["run"] == "run-1" and state["log"]["first"] == has + len(found)
                    found += state["log"]["lines"]
        return found

    async def both() -> tuple[list[str], list[str]]:
        return await asyncio.gather(follow(0), follow(1))

    whole, rest = asyncio.run(both())
    assert whole == [json.dumps(record) for record in robot.runs[0].records] and rest == whole[1:]
