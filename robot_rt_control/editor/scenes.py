"""The scene that browsers draw: made anew when another robot_description comes, and the joints' positions for it."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import logging
import math
import struct
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from robot_rt_control.editor.robot import Json, Robot
from robot_rt_control.editor.scene_objects import SceneObjects
from robot_rt_control.processes.call import call
from robot_rt_control.vocabulary.errors import NoAnswer, RobotControlError

_MODULE = "robot_rt_control.view.scene"
_LIMIT_S = 120.0
"""[s] of processor time, and of idleness, for a scene."""
_FRESH_S = 0.008
"""Browsers that ask within this time [s] get the same positions."""
_SHAPES_S = 0.2
"""Between two looks at what the control server draws [s]: ways of tools have many points."""
_log = logging.getLogger(__name__)


class Scenes:
    """The present scene. For the event loop's thread; a process beside this one makes scenes.

    Args:
        robot: whose description and joints are shown.
    """

    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        self.objects = SceneObjects(robot)
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="scenes")
        self._making: asyncio.Task[None] | None = None
        self._naming: asyncio.Task[None] | None = None
        self._description = ""
        self._scene: Json = {}
        self._parts: list[Json] = []
        """Those of the robot whose links are not told apart yet: joint_states have not come."""
        self._parts_of = ""
        """The description with which they were asked for."""
        self._meshes: dict[str, bytes] = {}
        self._problem = ""
        self._version = 0
        self._frame, self._looked = b"", -math.inf
        self._shapes, self._shapes_looked = "", -math.inf
        self._shown_shapes: list[Json] | None = None

    def prepare(self) -> None:
        """Begin to make a scene, if another description has come: somebody will ask for it."""
        if self._making is None and self._robot.description() != self._description:
            loop, description = asyncio.get_running_loop(), self._robot.description()
            self._making = loop.create_task(self._make(description))
            if self._naming is not None:
                self._naming.cancel()
            self._naming = loop.create_task(self._name(description))

    async def scene(self) -> Json:
        """Its `version`, what `view.scene.Scene` has, and `parts`: name and numbers of the links that belong to each.

        The parts are known, by another version, once joint_states have come.

        Raises:
            RobotControlError: there is no description, or it is none.
        """
        self.prepare()
        if self._making is not None:
            await asyncio.shield(self._making)
        if not self._description:
            raise NoAnswer("no robot_description has come", hint="Bring the workcell up")
        if self._problem:
            raise RobotControlError(self._problem)
        return self._scene

    def meshes(self, ids: Any) -> bytes | None:
        """Meshes of the scene and its objects (`view.mesh.encoded`), before each its length as uint32 [bytes], little-
        endian; None: it has not all of them, or one is asked for twice."""
        if not isinstance(ids, list) or not all(isinstance(id, str) for id in ids) or len(set(ids)) != len(ids):
            return None
        parts = []
        for id in ids:
            mesh = self._meshes.get(id) or self.objects.mesh(id)
            if mesh is None:
                return None
            parts += [struct.pack("<I", len(mesh)), mesh]
        return b"".join(parts)

    def frame(self) -> bytes:
        """Where the joints are now: the scene's version as uint32, and a float32 [rad or m] for each of its joints, NaN
        if that is not known; little-endian."""
        now = time.monotonic()
        if now - self._looked < _FRESH_S:
            return self._frame
        self._looked = now
        self.prepare()
        positions = self._robot.joint_positions()
        if self._parts and positions and self._parts_of == self._description:
            found = part_links(self._scene, self._parts, list(positions))
            self._parts = []
            if found:
                self._version += 1
                self._scene = {**self._scene, "parts": found, "version": self._version}
        q = list(self._positions(positions).values())
        self._frame = struct.pack(f"<I{len(q)}f", self._version, *q)
        return self._frame

    def positions(self) -> dict[str, float]:
        """Where each of the scene's joints is now [rad or m]; NaN: that is not known."""
        return self._positions(self._robot.joint_positions())

    def _positions(self, known: Mapping[str, float]) -> dict[str, float]:
        joints = self._scene.get("joints", ())
        q = [known.get(joint["name"], math.nan) for joint in joints]
        q = [_followed(joints, q, i) if math.isnan(value) else value for i, value in enumerate(q)]
        return {joint["name"]: value for joint, value in zip(joints, q, strict=True)}

    def joints_of(self, name: str, parts: list[Json]) -> list[str]:
        """The scene's names of a part's joints, in their order; empty: they are not known, or it has none.

        Args:
            parts: as `Robot.parts`.
        """
        return part_joints(parts, list(self._robot.joint_positions())).get(name, [])

    def links_of(self, part: str) -> set[str]:
        """The links that a part's joints move; empty: they are not known."""
        own = [n for found in self._scene.get("parts", ()) if found["name"] == part for n in found["links"]]
        return {self._scene["links"][n]["name"] for n in own}

    def tool_of(self, part: str) -> str:
        """The link that a part's tool has in robot_description; empty: it has none."""
        links = {link["name"] for link in self._scene.get("links", ())}
        name = f"{part}_tool"
        while f"{name}_frame" in links:  # the robot has a link of this name itself
            name += "_frame"
        return name if name in links else ""

    @property
    def description(self) -> str:
        """The robot_description of the present scene; empty: there is none."""
        return "" if self._problem else self._description

    def base_axes(self, part: str) -> list[list[float]] | None:
        """(3, 3) Axes of a part's base in the world, as columns; None: the base moves, or nothing is known of it."""
        for found in self._scene.get("parts", ()):
            if found["name"] == part:
                return fixed_axes(self._scene["links"], self._scene["links"][found["links"][0]]["parent"])
        return None

    def shapes(self) -> str:
        """What is drawn besides: {"shapes": [...]}, as `Robot.shapes`."""
        now = time.monotonic()
        if now - self._shapes_looked >= _SHAPES_S:
            self._shapes_looked = now
            shapes = self._robot.shapes()
            if shapes is self._shown_shapes:
                return self._shapes
            self._shown_shapes = shapes
            # The page colors the links of a faulted part by itself.
            found = [shape for shape in shapes if _is_finite(shape) and shape.get("namespace") != "faults"]
            self._shapes = json.dumps({"shapes": found}, allow_nan=False, separators=(",", ":"))
        return self._shapes

    def rest(self) -> None:
        """Nobody looks."""
        self._robot.forget_scene()

    async def close(self) -> None:
        for task in (self._making, self._naming):
            if task is not None:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
        await self.objects.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _make(self, description: str) -> None:
        problem = ""
        try:
            made = await asyncio.get_running_loop().run_in_executor(self._threads, _made, description)
        except Exception as error:  # whatever it is, a second attempt would end the same
            made, problem = {"links": [], "joints": [], "meshes": {}}, str(error) or type(error).__name__
            _log.warning("the robot_description cannot be drawn: %s", problem)
        finally:
            self._making = None
        self._version += 1
        self._description, self._problem = description, problem
        self._meshes = {id: base64.b64decode(text) for id, text in made.pop("meshes").items()}
        self._scene = {**made, "parts": [], "version": self._version}

    async def _name(self, description: str) -> None:
        """Find the parts. Nothing is drawn later because the control server keeps this question waiting."""
        try:
            found = await asyncio.get_running_loop().run_in_executor(self._threads, self._robot.parts)
        except RobotControlError as error:
            _log.warning("parts are not told apart: %s", error)
            return
        self._parts, self._parts_of = found, description


def _made(description: str) -> Json:
    """The scene. In a thread."""
    question = {"description": description, "with_meshes": True}
    try:
        return call(_MODULE, question, limit=_LIMIT_S)
    except RobotControlError as error:
        if error.__class__ is not RobotControlError:  # the URDF is wrong
            raise
        _log.warning("%s; once more without meshes", error)
        return call(_MODULE, {**question, "with_meshes": False}, limit=_LIMIT_S)


def _is_finite(shape: Json) -> bool:
    """What is not finite makes the sum so."""
    rows = (shape["color"], *shape["points"], *shape["colors"])
    return math.isfinite(shape["size"] + sum(map(sum, rows)))


def part_links(scene: Json, parts: list[Json], names: list[str]) -> list[Json]:
    """The links of each part that has joints: those that they move, and what is fixed to them.

    Args:
        parts: as `Robot.parts`.
        names: of joint_states. The executor names each part's joints there, in the order of parts; robots that share
            names have prefixes in the scene, which nothing else tells.
    """
    numbers = {joint["name"]: i for i, joint in enumerate(scene["joints"])}
    joints = part_joints(parts, names)
    if not joints:
        return []
    owners = {
        numbers[name]: i for i, part in enumerate(parts) for name in joints[part["name"]] if name in numbers
    }
    for number, joint in enumerate(scene["joints"]):
        if joint["follows"] and number not in owners and joint["follows"][0] in owners:
            owners[number] = owners[joint["follows"][0]]
    links: list[int] = []
    for link in scene["links"]:
        above = links[link["parent"]] if link["parent"] >= 0 else -1
        links.append(owners.get(link["joint"], above))
    return [
        {"name": part["name"], "links": [n for n, owner in enumerate(links) if owner == i]}
        for i, part in enumerate(parts)
        if i in owners.values()
    ]


def part_joints(parts: list[Json], names: list[str]) -> dict[str, list[str]]:
    """The names that the joints of each part have in joint_states; empty: the message is not of these parts.

    Args:
        parts, names: see `part_links`.
    """
    found: dict[str, list[str]] = {}
    first = 0
    for part in parts:
        own = names[first : first + len(part["joint_names"])]
        first += len(own)
        if not all(name.endswith(end) for name, end in zip(own, part["joint_names"], strict=False)):
            return {}
        found[part["name"]] = own
    return found


def fixed_axes(links: list[Json], link: int) -> list[list[float]] | None:
    """(3, 3) The axes of a link in the root's frame, as columns; None: joints move it."""
    R = [[float(i == j) for j in range(3)] for i in range(3)]
    while link >= 0:
        if links[link]["motion"] != "fixed":
            return None
        X = links[link]["X"]  # column by column
        R = [[sum(X[i + 4 * k] * R[k][j] for k in range(3)) for j in range(3)] for i in range(3)]
        link = links[link]["parent"]
    return R


def _followed(joints: list[Json], q: list[float], i: int) -> float:
    """Where a joint that mimics others is; NaN: they are not known."""
    factor, offset = 1.0, 0.0
    for _ in joints:  # a circle ends
        if not math.isnan(q[i]):
            return factor * q[i] + offset
        if not joints[i]["follows"]:
            break
        i, multiplier, add = joints[i]["follows"]
        factor, offset = factor * multiplier, offset + factor * add
    return math.nan
