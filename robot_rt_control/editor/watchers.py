"""What browsers are shown. Each has a queue of its own, of one place: a slow one gets fewer states, and delays nobody.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import time
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any

from aiohttp import WSCloseCode, WSMsgType, web

from robot_rt_control.editor.keys import Bucket, Person
from robot_rt_control.editor.run_logs import MAX_RECORDS, RunLogs
from robot_rt_control.editor.timelines import TimelineReader, wanted_timeline

MAX_MESSAGE = 256 * 1024
"""[bytes] of a message from a browser."""
MAX_WATCHERS, MAX_OF_PERSON = 100, 20
"""Sockets, of all and of one person."""
_PERIOD = 1 / 20
"""[s] between two states for one browser."""
_AGAIN_S = 0.4
"""[s] after which the same state is sent again: a page that hears nothing for longer says so."""
_SEND_S = 20.0
"""A browser that takes in nothing for that long is let go [s]."""
_MAX_VARIABLES = 50
_FASTEST = 60.0
"""[Hz] of joints for one browser."""
_MAX_PLOTTED, _FASTEST_PLOTS = 16, 30.0
"""Variables of one browser's timeline; and [Hz] of its news."""


class Watchers:
    """All browsers that are connected. For the event loop's thread.

    Args:
        joints: where the joints of the scene are now, as bytes.
        drawn: what is drawn beside its robots, as texts.
        timeline: what a browser's timeline lacks, as messages.
    """

    def __init__(
        self,
        logs: RunLogs,
        joints: Callable[[], bytes] = bytes,
        drawn: Sequence[Callable[[], str]] = (),
        timeline: Callable[[TimelineReader], Iterable[bytes | str]] = lambda _: (),
    ) -> None:
        self.logs, self.joints, self.drawn, self.timeline = logs, joints, drawn, timeline
        self.all: set[Watcher] = set()
        self.text = ""
        """The whole state."""
        self.closed = 0
        """Sockets that were closed because of what came."""

    def publish(self, state: dict[str, Any]) -> None:
        """Show a state to all, and to each the records that it lacks. It is written as text once."""
        text = json.dumps(state, allow_nan=False, separators=(",", ":"))
        is_new, self.text = text != self.text, text
        for watcher in self.all:
            if is_new or watcher.lacks_records:
                watcher.changed.set()

    @property
    def runs(self) -> set[str]:
        """The runs that somebody looks at."""
        return {watcher.run for watcher in self.all if watcher.run}

    @property
    def follow_joints(self) -> bool:
        """Whether somebody looks at the scene."""
        return any(watcher.joints for watcher in self.all)

    @property
    def follow_timeline(self) -> bool:
        """Whether somebody looks at a timeline."""
        return any(watcher.timeline.rate for watcher in self.all)

    @property
    def variables(self) -> set[str]:
        """The state variables that somebody looks at."""
        return {name for watcher in self.all for name in watcher.variables}


class Watcher:
    """One socket."""

    def __init__(self, watchers: Watchers, person: Person) -> None:
        self._watchers, self.person = watchers, person
        self.changed = asyncio.Event()
        self.variables: tuple[str, ...] = ()
        self.joints = 0.0
        """[Hz] at which it wants joints; 0: not."""
        self._follows = asyncio.Event()
        """It wants them."""
        self.timeline, self._plots = TimelineReader(), asyncio.Event()
        self.run, self._records = "", 0
        """The run whose log it shows, and how many of its records it has."""
        self.socket: web.WebSocketResponse | None = None
        self._messages = Bucket(rate=50, burst=50)

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        """Until the browser goes, or misbehaves."""
        socket = self.socket = web.WebSocketResponse(max_msg_size=MAX_MESSAGE, heartbeat=20.0, compress=False)
        await socket.prepare(request)
        self._watchers.all.add(self)
        self.changed.set()
        sending = [asyncio.create_task(send(socket)) for send in (self._send, self._send_joints, self._send_timeline)]
        try:
            async for message in socket:
                if message.type != WSMsgType.TEXT or not self._messages.take() or not self._take(message.data):
                    self._watchers.closed += 1
                    await socket.close(code=WSCloseCode.POLICY_VIOLATION)
                    break
        finally:
            self._watchers.all.discard(self)
            for task in sending:
                task.cancel()
            for task in sending:
                with contextlib.suppress(asyncio.CancelledError, ConnectionError, TimeoutError):
                    await task
        return socket

    def _take(self, text: str) -> bool:
        """Whether a message is one: {"variables": [names], "run": id, "records": it has so many, "joints": [Hz],
        "timeline": as `wanted_timeline`}; all but the first may be left out."""
        try:
            message = json.loads(text)
            json.dumps(message, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            return False
        names = message.get("variables") if isinstance(message, dict) else None
        if not isinstance(names, list) or len(names) > _MAX_VARIABLES:
            return False
        if not all(isinstance(name, str) and len(name) < 200 for name in names):
            return False
        run, records = message.get("run", ""), message.get("records", 0)
        if not isinstance(run, str) or len(run) >= 200 or type(records) is not int or records < 0:
            return False
        joints = message.get("joints", 0)
        if type(joints) not in (int, float) or not math.isfinite(joints) or not 0 <= joints <= _FASTEST:
            return False
        plots = wanted_timeline(
            message.get("timeline", {"choice": 0, "names": [], "rate": 0}), most=_MAX_PLOTTED, fastest=_FASTEST_PLOTS
        )
        if plots is None:
            return False
        choice, plotted, rate = plots
        if not rate:  # a timeline that is opened later has nothing of this one
            self.timeline = TimelineReader()
        self.timeline.rate = rate
        self.timeline.choose(choice, plotted)
        (self._plots.set if self.timeline.rate else self._plots.clear)()
        self.joints = float(joints)
        (self._follows.set if joints else self._follows.clear)()
        self.variables = tuple(names)
        if (run, records) != (self.run, self._records):
            self.run, self._records = run, records
            self._watchers.logs.update()
        return True

    @property
    def lacks_records(self) -> bool:
        """Whether there are records of its run that it was not sent."""
        return self._watchers.logs.count(self.run) > self._records

    def _text(self) -> str:
        """The whole state, with the next records of its run."""
        text, more = self._watchers.text, ""
        if self.lacks_records:
            more = self._watchers.logs.after(self.run, self._records)
            self._records = min(self._records + MAX_RECORDS, self._watchers.logs.count(self.run))
        if self.lacks_records:
            self.changed.set()
        return f'{text[:-1]},"log":{more}}}' if more else text

    async def _send(self, socket: web.WebSocketResponse) -> None:
        while not socket.closed:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.changed.wait(), _AGAIN_S)
            self.changed.clear()
            if not await self._sent(socket, socket.send_str(self._text())):
                return
            await asyncio.sleep(_PERIOD)

    async def _send_joints(self, socket: web.WebSocketResponse) -> None:
        """At its own rate, as long as they change."""
        sent, drawn, due = b"", [""] * len(self._watchers.drawn), time.monotonic()
        while not socket.closed:
            await self._follows.wait()
            frame = self._watchers.joints()
            if frame != sent and not await self._sent(socket, socket.send_bytes(frame)):
                return
            sent = frame
            for i, look in enumerate(self._watchers.drawn):
                text = look()
                if text != drawn[i] and not await self._sent(socket, socket.send_str(text)):
                    return
                drawn[i] = text
            due = max(due + 1.0 / max(self.joints, 0.1), time.monotonic())
            await asyncio.sleep(due - time.monotonic())

    async def _send_timeline(self, socket: web.WebSocketResponse) -> None:
        """At its own rate. A browser that is slow gets the ticks that are still here when it has taken the last."""
        due = time.monotonic()
        while not socket.closed:
            await self._plots.wait()
            for message in self._watchers.timeline(self.timeline):
                sending = socket.send_str(message) if isinstance(message, str) else socket.send_bytes(message)
                if not await self._sent(socket, sending):
                    return
            due = max(due + 1.0 / max(self.timeline.rate, 0.1), time.monotonic())
            await asyncio.sleep(due - time.monotonic())

    async def _sent(self, socket: web.WebSocketResponse, sending: Coroutine[Any, Any, None]) -> bool:
        """Whether the browser took it in; else it is let go."""
        try:
            await asyncio.wait_for(sending, _SEND_S)
        except TimeoutError:
            if request_transport := socket._req.transport if socket._req is not None else None:
                request_transport.abort()
            return False
        return True
