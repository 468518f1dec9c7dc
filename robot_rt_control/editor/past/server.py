"""Serves recordings to browsers: the editor's server, with its links and limits, and nothing that reaches a robot."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from aiohttp import web

from robot_rt_control.editor.keys import Person
from robot_rt_control.editor.past.bars import MOST_TICKS, bars
from robot_rt_control.editor.past.compared import first_difference
from robot_rt_control.editor.past.recorded import Json, Recorded
from robot_rt_control.editor.past.robot import RecordedRobot
from robot_rt_control.editor.past.values import (
    MOST_COLUMNS,
    MOST_NAMES,
    MOST_SAMPLES,
    column_bytes,
    sample_bytes,
    variables,
)
from robot_rt_control.editor.scenes import Scenes, part_links
from robot_rt_control.editor.server import Bytes, EditorServer, Reply
from robot_rt_control.processes.call import call
from robot_rt_control.vocabulary.errors import RobotControlError

PAGE = "/past.html"
_MOST_SCENES = 8
"""That are kept: one for each robot_description, which a change of a tool makes another one."""
_TEST_WRITER, _LIMIT_S = "robot_rt_control.testing.recorded_test", 300.0
"""What writes tests, and the processor time [s] that it may take."""
_DONE: Json = {"success": True, "message": ""}


class PastServer(EditorServer):
    """See `EditorServer`.

    Args:
        recordings: what is shown; the first one's robot is drawn solid.
    """

    def __init__(self, recordings: Sequence[Recorded], **options: Any) -> None:
        first = recordings[0]
        robot = RecordedRobot(first.file.path, first.descriptions[0][1] if first.descriptions else "")
        super().__init__(robot, **options)
        self._recordings = recordings
        self._drawn: dict[tuple[int, int], Scenes] = {(0, 0): self._scenes}
        kept = {name: self._replies[name] for name in ("me", "scene", "meshes")}
        self._replies = {
            **kept,
            "past": (self._blocking(lambda p, b: self._about()), "all"),
            "past_events": (self._of(lambda it, body: {**_DONE, **it.events()}), "all"),
            "past_variables": (self._of(lambda it, body: {**_DONE, "variables": variables(it)}), "all"),
            "past_difference": (self._blocking(lambda p, b: self._difference()), "all"),
            "past_test": (self._of(_test), "all"),
            "past_joints": (self._bytes_of(_joints), "all"),
            "past_bars": (self._of(_bars), "all"),
            "past_columns": (self._bytes_of(_columns), "all"),
            "past_samples": (self._bytes_of(_samples), "all"),
            "protective_stop": (self._no_robot, "all"),
        }
        self.app.on_cleanup.append(self._closed)

    def _about(self) -> Json:
        return {**_DONE, "recordings": [each.about() for each in self._recordings]}

    def _difference(self) -> Json:
        if len(self._recordings) < 2:
            raise RobotControlError("a comparison", expected="two recordings", got="one")
        return {**_DONE, **first_difference(*self._recordings)}

    def _recording(self, body: Json) -> int:
        number = body.get("recording", 0)
        if type(number) is not int or not 0 <= number < len(self._recordings):
            raise web.HTTPNotFound(text="there is no such recording")
        return number

    def _of(self, work: Callable[[Recorded, Json], Json]) -> Reply:
        async def reply(person: Person, body: Json) -> Json:
            it = self._recordings[self._recording(body)]
            return await self._blocking(lambda p, b: work(it, b))(person, body)

        return reply

    def _bytes_of(self, work: Callable[[Recorded, Json], bytes]) -> Bytes:
        async def reply(person: Person, body: Json) -> bytes:
            it = self._recordings[self._recording(body)]
            try:
                with self._one_more(person):
                    return await asyncio.get_running_loop().run_in_executor(self._pool, work, it, body)
            except ValueError as error:
                raise web.HTTPBadRequest(text=str(error)) from None

        return reply

    async def _no_robot(self, person: Person, body: Json) -> Json:
        return {"success": False, "message": "This page shows a recording: there is no robot here that STOP reaches."}

    async def _scene(self, person: Person, body: Json) -> Json:
        """As `EditorServer`, of the tick `tick` of `recording`.

        `from`, `until`: the ticks for which it holds, before `until`; None: no other one precedes, or follows.
        """
        number, tick = self._recording(body), body.get("tick", 0)
        if type(tick) is not int:
            raise web.HTTPBadRequest(text="tick: a whole number is expected")
        it = self._recordings[number]
        which = it.description_at(tick)
        if which < 0:
            raise RobotControlError(f"recording {it.file.path.name}", expected="a robot_description", got="none")
        key = (number, which)
        if key not in self._drawn:
            if len(self._drawn) >= _MOST_SCENES:
                oldest = next(each for each in self._drawn if each != (0, 0))
                await self._drawn.pop(oldest).close()
            self._drawn[key] = Scenes(RecordedRobot(it.file.path, it.descriptions[which][1]))
        later = it.descriptions[which + 1 :]
        with self._one_more(person):
            scene = await self._drawn[key].scene()
        parts = [{"name": part["name"], "joint_names": part["joints"]} for part in it.jointed]
        found = part_links(scene, parts, it.joints)
        return {
            **_DONE,
            **scene,
            "parts": found,
            "from": it.descriptions[which][0] if which else None,
            "until": later[0][0] if later else None,
        }

    async def _meshes(self, person: Person, body: Json) -> bytes:
        for drawn in list(self._drawn.values()):
            content = drawn.meshes(body.get("meshes"))
            if content is not None:
                return content
        raise web.HTTPNotFound(text="the scene has no such meshes")

    async def _closed(self, app: web.Application) -> None:
        for key, drawn in self._drawn.items():
            if key != (0, 0):
                await drawn.close()


def _test(it: Recorded, body: Json) -> Json:
    """The text of a test from a moment on: `first` to `last`. A process beside this one writes it."""
    ticks = [body.get(name) for name in ("first", "last")]
    if not all(type(tick) is int and 0 <= tick < 2**53 for tick in ticks):
        raise RobotControlError("a test", expected="the ticks first and last", got="others")
    question = {"file": str(it.file.path.absolute()), "first": ticks[0], "last": ticks[1]}
    return {**_DONE, **call(_TEST_WRITER, question, limit=_LIMIT_S)}


def _joints(it: Recorded, body: Json) -> bytes:
    return it.joints_of(_whole(body, "block"))


def _whole(body: Json, name: str, least: int = 0, most: int = 2**53) -> int:
    value = body.get(name)
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"{name}: a whole number from {least} to {most} is expected")
    return value


def _names(body: Json) -> list[str]:
    names = body.get("names")
    if not isinstance(names, list) or not 0 < len(names) <= MOST_NAMES or not all(isinstance(n, str) for n in names):
        raise ValueError(f"names: 1 to {MOST_NAMES} names of variables are expected")
    return names


def _bars(it: Recorded, body: Json) -> Json:
    first, last = (body.get(name) for name in ("first", "last"))
    if type(first) is not int or type(last) is not int or not 0 <= last - first < MOST_TICKS or abs(first) > 2**53:
        raise RobotControlError("bars", expected=f"the ticks first and last, at most {MOST_TICKS} ticks", got="others")
    return {**_DONE, **bars(it, first, last)}


def _columns(it: Recorded, body: Json) -> bytes:
    first, last = _whole(body, "first"), _whole(body, "last")
    return column_bytes(it, _names(body), first, last, _whole(body, "count", 1, MOST_COLUMNS))


def _samples(it: Recorded, body: Json) -> bytes:
    first, last = _whole(body, "first"), _whole(body, "last")
    if last - first >= MOST_SAMPLES:
        raise ValueError(f"a range of at most {MOST_SAMPLES} ticks is expected: ask for columns instead")
    return sample_bytes(it, _names(body), first, last)
