"""Streams from a broken source: goals anywhere, numbers that are none, clocks that jump, bursts and silence."""

from __future__ import annotations

import math
from contextlib import suppress
from pathlib import Path
from random import Random

from bench.attack.attack import Attack
from bench.attack.content import NUMBERS
from robot_rt_control.client.actions import Action
from robot_rt_control.definitions.streams import gap_choices
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.defaults import STREAM_TIMEOUT_S
from robot_rt_control.vocabulary.errors import RobotControlError

_ROUNDS = 400
_TYPES = ("follow_joint_stream", "follow_joint_velocity_stream")
_REST_TICKS = 1000


def _values(random: Random, size: int) -> list[float]:
    kind = random.randrange(8)
    if kind < 5:
        return [random.uniform(-1.0, 1.0) for _ in range(size)]
    if kind == 5:
        return [random.choice((math.nan, math.inf, -math.inf, 1e308, 5e-324, -0.0, 0.3)) for _ in range(size)]
    if kind == 6:
        return [random.uniform(-1, 1) * 10.0 ** random.randint(-20, 20) for _ in range(size)]
    return [0.1] * random.choice((0, size - 1, size + 1, 64))


def _round(random: Random, folder: Path) -> int:
    from arms_cell import arms_file

    with LockstepCell(arms_file(folder, 2)) as cell:
        session, clock = cell.session("arm0", "arm1"), 100.0
        for i, kind in enumerate(_TYPES):
            session.add(Action(f"a{i}", kind, parts=f"arm{i}", goal_gap=random.choice(gap_choices(own_function=False))))
        session.start("a0", "a1")
        cell.step()
        streams = [session.stream(f"a{i}", "goal") for i in range(2)]
        for _ in range(_ROUNDS):
            with suppress(RobotControlError):
                match random.choice(("write",) * 8 + ("absurd", "burst", "jump", "silence", "speed", "stop", "start")):
                    case "absurd":
                        cell.server.write_stream(
                            session.id,
                            random.choice(("a0", "a1")),
                            "goal",
                            _values(random, 3),
                            time=random.choice((None, clock, *NUMBERS)),
                            sequence=random.choice((0, 1, 2, 100, 2**31, 2**63 - 1, 2**64 - 1)),
                            tick=random.choice((0, 0, 1, cell.tick + 1, 2**31, 2**63 - 1, 2**64 - 1)),
                        )
                    case "write":
                        random.choice(streams).write(_values(random, 3), time=clock)
                    case "burst":
                        for k in range(random.randint(2, 300)):
                            random.choice(streams).write(_values(random, 3), time=clock + k * random.choice((0, 1e-3)))
                    case "jump":
                        clock += random.choice((-1, 1)) * 10.0 ** random.uniform(-3, 7)
                    case "silence":
                        cell.step(random.choice((100, 1000)))
                    case "speed":
                        cell.server.set_speed(random.random())
                    case "stop":
                        cell.server.protective_stop(True)
                        cell.step(random.randint(1, 40))
                        cell.server.protective_stop(False)
                        session.resume()
                    case "start":
                        session.start(random.choice(("a0", "a1")))
            ticks = random.choice((1, 1, 5, 20))
            cell.step(ticks)
            clock += ticks * 1e-3
        cell.server.set_speed(1.0)
        cell.step(round(STREAM_TIMEOUT_S * 1e3) + _REST_TICKS)
        for part in ("arm0", "arm1"):
            moving = cell.part(part).commanded_velocity[:3]
            assert not moving.any(), f"after the stream's time-out {part!r} still moves: {moving}"
    return _ROUNDS


ATTACK = Attack(
    name="streams",
    promise="a broken source moves nothing beyond a limit, and after the stream's time-out the arm comes to rest",
    round=_round,
    unit="samples and requests",
)
