"""Goals of joints and of tools as they would be, for the ghost that pages draw; a process beside this one computes."""

from __future__ import annotations

import asyncio
import math
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from robot_rt_control.editor.keys import Person
from robot_rt_control.editor.robot import Json, Robot
from robot_rt_control.editor.scenes import Scenes
from robot_rt_control.processes.call import KeptProcess
from robot_rt_control.vocabulary.errors import DefinitionError, NoAnswer, RobotControlError, unknown

_MODULE = "robot_rt_control.view.goals"
_LIMIT_S = 120.0
"""[s] of processor time, and of idleness, for an answer: the first one may compile."""
_PARTS_S = 2.0
"""[s] for which the parts are known: limits change with tools."""
_FARTHEST = 1e3
"""[rad or m] of a joint or position."""


class TooMany(RobotControlError):
    """One person asks for goals faster than the server lets them."""


class Goals:
    """The reply. For the event loop's thread.

    Args:
        scenes: whose robots the goals are of.
    """

    def __init__(self, robot: Robot, scenes: Scenes) -> None:
        self._robot, self._scenes = robot, scenes
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="goals")
        self._process = KeptProcess(_MODULE, limit=_LIMIT_S)
        self._described = ""
        """What the process has."""
        self._parts: list[Json] = []
        self._parts_at = -math.inf

    async def goal(self, person: Person, body: Json) -> Json:
        """A goal of a part as it would be: see `view.goals.goal_of`; and `joints`, the scene's names of its joints.

        Args:
            body: `part`; `q`, its joint positions [rad or m]; or `position` [m] and `orientation` (x y z w) of its tool
                in the world, either may be left out: it stays as it is now; and `seed`, joint positions near which the
                search begins, else the present ones. `quick`: no other configurations are tried.

        Raises:
            TooMany: of this person.
            RobotControlError: the request is malformed, or the part can have no such goal.
        """
        if not person.goals.take():
            raise TooMany("too many goals")
        name = body.get("part")
        if not isinstance(name, str):
            raise DefinitionError("goal: part", expected="the name of a part")
        loop = asyncio.get_running_loop()
        if time.monotonic() - self._parts_at > _PARTS_S:
            self._parts = await loop.run_in_executor(self._thread, self._robot.parts)
            self._parts_at = time.monotonic()
        parts = {part["name"]: part for part in self._parts}
        if name not in parts:
            raise DefinitionError(f"part {name!r}", expected=unknown("part", name, parts))
        question = self._question(body, parts[name])
        answer = await loop.run_in_executor(self._thread, self._asked, self._scenes.description, question)
        return {"success": True, "message": "", "joints": question["joints"], **answer}

    def _question(self, body: Json, part: Json) -> Json:
        n, name = len(part["joint_names"]), part["name"]
        joints, present = self._scenes.joints_of(name, self._parts), self._scenes.positions()
        if not n or "position" not in part["command_modes"]:
            raise DefinitionError(f"part {name!r}", expected="a part whose joints take positions")
        if not self._scenes.description or len(joints) != n or not all(joint in present for joint in joints):
            raise NoAnswer(f"the joints of part {name!r} are not in the scene", hint="Bring the workcell up")
        now = [present[joint] for joint in joints]
        question = {
            "q": _numbers(body, "q", n),
            "position": _numbers(body, "position", 3),
            "orientation": _numbers(body, "orientation", 4),
            "seed": _numbers(body, "seed", n) or now,
            "quick": body.get("quick") is True,
            "joints": joints,
            "lower": part["position_lower"],
            "upper": part["position_upper"],
            "present": present,
            "tool": self._scenes.tool_of(name),
        }
        if (question["q"] is None) == (question["position"] is None and question["orientation"] is None):
            raise DefinitionError("goal", expected="either q, or position and orientation, or one of these")
        if question["orientation"] is not None and abs(math.hypot(*question["orientation"]) - 1.0) > 1e-3:
            raise DefinitionError("goal: orientation", expected="a quaternion x y z w of length 1")
        if question["q"] is None and any(map(math.isnan, now)):
            raise NoAnswer(f"where part {name!r} is is not known")
        return question

    def _asked(self, description: str, question: Json) -> Json:
        """In the thread."""
        known = description == self._described
        answer = self._process.ask({**question, "description": None if known else description})
        if "lacks_description" in answer:  # the process is a new one
            answer = self._process.ask({**question, "description": description})
        self._described = description
        return dict(answer)

    def rest(self) -> None:
        """Nobody looks: nothing is kept for it."""
        if self._described:
            self._described = ""
            self._thread.submit(self._process.close)

    def close(self) -> None:
        """Does not wait; the process ends with its thread."""
        self._thread.submit(self._process.close)
        self._thread.shutdown(wait=False)


def _numbers(body: Json, key: str, n: int) -> list[float] | None:
    """The numbers of a field; None: it is left out.

    Raises:
        DefinitionError: it is something else than n numbers.
    """
    given: Any = body.get(key)
    if given is None:
        return None
    valid = isinstance(given, list) and len(given) == n and all(type(x) in (int, float) for x in given)
    if not valid or not all(abs(x) <= _FARTHEST for x in given):  # NaN neither
        raise DefinitionError(f"goal: {key}", expected=f"{n} numbers, none beyond {_FARTHEST:g}")
    return [float(x) for x in given]
