"""What an operator tells the robot beside runs: its speed, motion of parts, jogs, actions."""

from __future__ import annotations

import asyncio
from concurrent.futures import Executor

from robot_rt_control.editor.jogs import Jogs, have_masses
from robot_rt_control.editor.keys import Person
from robot_rt_control.editor.robot import Json, Robot
from robot_rt_control.editor.scenes import Scenes
from robot_rt_control.editor.starts import Starts
from robot_rt_control.vocabulary.errors import DefinitionError

DONE: Json = {"success": True, "message": ""}


class Operating:
    """The replies. All may wait for the workcell, and are called in any thread, but for `jog`: in the event loop's.

    Raises, each of them:
        RobotControlError: it was refused.
    """

    def __init__(self, robot: Robot, scenes: Scenes) -> None:
        self._robot, self._scenes = robot, scenes
        self.jogs, self.starts = Jogs(robot), Starts(robot)

    def speed(self, person: Person, body: Json) -> Json:
        """Set the speed override."""
        speed = body.get("speed")
        if not isinstance(speed, int | float) or isinstance(speed, bool) or not 0 <= speed <= 1:
            return {"success": False, "message": "speed: a number from 0 to 1 is expected"}
        self._robot.set_speed(float(speed))
        return DONE

    def resume(self, person: Person, body: Json) -> Json:
        """Let a session that a protective stop has suspended start motion again."""
        self._robot.resume(str(body.get("session", "")), f"editor: {person.name}")
        return DONE

    def set_motion(self, person: Person, body: Json) -> Json:
        """Enable, disable, clear faults of, or recover one part: `part`, `command`."""
        part, command = body.get("part"), body.get("command")
        if not isinstance(part, str) or part == "":  # to a client, no part means all
            raise DefinitionError("set_motion: part", expected="the name of a part")
        if not isinstance(command, str):
            raise DefinitionError("set_motion: command", expected="enable, disable, clear_faults or recover")
        self._robot.set_motion(part, command)
        return DONE

    def start_action(self, person: Person, body: Json) -> Json:
        """See `Starts.start`."""
        return self.starts.start(person, body)

    def end_action(self, person: Person, body: Json) -> Json:
        """See `Starts.end`: `start`."""
        self.starts.end(body.get("start"))
        return DONE

    async def jog(self, person: Person, body: Json, threads: Executor) -> Json:
        """A button begins to be held, still is held, or is released; see `jogs`."""
        name = self.jogs.wanted_part(person, body)
        if not name:
            return self.jogs.beat(person, body)
        loop = asyncio.get_running_loop()
        if body.get("by_hand") is True:
            links, description = self._scenes.links_of(name), self._scenes.description
            if not await loop.run_in_executor(threads, have_masses, description, links):
                raise DefinitionError(
                    f"part {name!r} cannot be guided by hand: nothing is known of its masses",
                    expected="an <inertial> of its links in robot_description",
                )
        jogged = await loop.run_in_executor(threads, self.jogs.prepare, person, name)
        return self.jogs.begin(body, jogged, self._scenes.base_axes(name))
