"""What people do at random moments of random motions, in the rules' workcell."""

from __future__ import annotations

import contextlib

import numpy as np

from robot_rt_control.client.actions import Action
from robot_rt_control.client.session import Session
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.enums import CommandMode
from robot_rt_control.vocabulary.errors import RobotControlError

COMMANDS = (
    *("start", "start", "bad", "knock", "disable", "enable", "clear", "all", "stop", "release", "speed", "recover"),
)
HOME = {
    "name": "home",
    "start": ["home"],
    "actions": {"home": {"type": "move_joint", "parts": ["left"], "parameters": {"position": [0.5, -0.5]}}},
}


def commands_at_random(cell: LockstepCell, random: np.random.Generator, rounds: int, parts: tuple[str, ...]) -> None:
    """Enable, disable, clear, recover, stop, release, slow down, start: at random moments of random motions."""
    session: Session | None = None

    def begin() -> Session:
        made = cell.session(*parts)
        for part in parts:
            top = cell.part(part).velocity_limit[0]
            for mode in (CommandMode.POSITION, CommandMode.VELOCITY, CommandMode.EFFORT):
                for i in range(2):
                    value = float(random.uniform(-1, 1)) * (top if mode != CommandMode.EFFORT else 60.0)
                    made.add(Action(f"{part}_{mode.name}_{i}", "writer", parts=part, mode=int(mode), value=value))
            made.add(Action(f"{part}_bad", "writer", parts=part, kind=1))
        return made

    for _ in range(rounds):
        part = str(random.choice(parts))
        command = str(random.choice(COMMANDS))
        if session is None or session.ended is not None:
            with contextlib.suppress(RobotControlError):  # a recovery may hold a part
                session = begin()
        with contextlib.suppress(RobotControlError):
            if command in ("disable", "enable", "clear"):
                cell.server.set_motion([part], "clear_faults" if command == "clear" else command)
            elif command == "all":
                cell.server.set_motion([], "clear_faults")
                cell.server.set_motion([], "enable")
            elif command == "speed":
                cell.server.set_speed(float(random.uniform()))
            elif command == "knock":
                joint = {"left": "turn", "right": "y"}[part]
                cell.set_sensor(f"{part}/{joint}/position", float(random.uniform(-0.8, 0.8)))
            elif command in ("stop", "release"):
                cell.server.protective_stop(command == "stop")
                if command == "release" and session is not None:
                    session.resume()
            elif session is None:
                cell.server.set_motion([part], "enable")
            elif command == "start":
                names = [f"{part}_{mode}_{i}" for mode in ("POSITION", "VELOCITY", "EFFORT") for i in range(2)]
                session.start(str(random.choice(names)))
            elif command == "bad":
                session.start(f"{part}_bad")
            else:
                session.close()
                session = None
                cell.recoveries.recover(["left"])
        cell.step(int(random.choice([1, 2, 5, 20, 100])))
