"""Motion groups of several arms, replaced, stopped, slowed down, faulted and disabled in the middle of their paths."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from random import Random

from bench.attack.attack import Attack
from robot_rt_control.client import MotionCommand, MotionGroup
from robot_rt_control.vocabulary.errors import RobotControlError

_ARMS, _ROUNDS = 8, 150


def _group(random: Random, name: str) -> MotionGroup:
    arms = random.sample(range(_ARMS), random.randint(1, _ARMS))
    commands = [
        MotionCommand(part=f"arm{i}", position=[random.uniform(-2.5, 2.5) for _ in range(3)])
        for i in arms
        for _ in range(random.choice((1, 1, 3)))
    ]
    return MotionGroup(name, *commands)


def _round(random: Random, folder: Path) -> int:
    from arms_cell import cell_of

    cell, session = cell_of(folder, _ARMS)
    with cell:
        known: list[str] = []
        for i in range(_ROUNDS):
            with suppress(RobotControlError):
                match random.choice(("start", "start", "start", "replace", "stop", "speed", "protective", "motion")):
                    case "start":
                        if len(known) < 12:
                            made = _group(random, f"g{i}")
                            session.add(made)
                            known.append(f"g{i}")
                        session.start(random.choice(known))
                    case "replace" if known:
                        name = random.choice(known)
                        session.replace(_group(random, name), start=random.choice(((), (name,))))
                    case "stop":
                        session.stop(*random.sample(known, min(len(known), random.randint(0, 1))))
                    case "speed":
                        cell.server.set_speed(random.choice((0.0, 0.1, random.random(), 1.0)))
                    case "protective":
                        cell.server.protective_stop(True)
                        cell.step(random.randint(1, 50))
                        cell.server.protective_stop(False)
                        session.resume()
                    case "motion":
                        part = [f"arm{random.randrange(_ARMS)}"]
                        cell.server.set_motion(part, random.choice(("disable", "enable", "clear_faults")))
            cell.step(random.choice((1, 2, 10, 100, 400)))
            if i % 30 == 29:
                with suppress(RobotControlError):
                    cell.server.set_motion([], "enable")
    return _ROUNDS


ATTACK = Attack(
    name="groups",
    promise="groups that are replaced, stopped, slowed down or lose a part keep the system limits of every arm",
    round=_round,
    unit="requests",
)
