"""Feedback that lies while an arm moves: not a number, infinite, frozen, blocked, jumping, reversed, too old."""

from __future__ import annotations

import math
from contextlib import suppress
from pathlib import Path
from random import Random

import numpy as np

from bench.attack.attack import Attack
from robot_rt_control.client.actions import Action
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.enums import CommandMode, OperationalState
from robot_rt_control.vocabulary.errors import RobotControlError

_LIES = 40
_BOUND_TICKS = 1500
"""[ticks] By then each lie is a fault; what is not a number in its first one."""


def _round(random: Random, folder: Path) -> int:
    from faulty_device import PLUGIN, spoil
    from rules.changed_workcell import changed_workcell

    plugin = {f"devices/{device}/{PLUGIN}": {"damping": 20.0} for device in ("first", "second")}
    with LockstepCell(changed_workcell(folder, plugin, PLUGIN)) as cell:
        session = cell.session("left")
        speeds = [sign * random.uniform(0.1, 0.9) for sign in (-1, 1) for _ in range(2)]
        for i, speed in enumerate(speeds):
            session.add(Action(f"p{i}", "probe", parts="left", speed=speed))
            session.add(Action(f"v{i}", "writer", parts="left", mode=int(CommandMode.VELOCITY), value=speed))
        for _ in range(_LIES):
            # Towards the middle of the range: what stands at its end does not move, and cannot be seen to be blocked.
            i = random.choice((0, 1) if cell.part("left").position[0] > 0.0 else (2, 3))
            action = f"{random.choice('pv')}{i}"
            session.start(action)
            cell.step(random.randint(300, 500))
            faulted = [e.reason for e in cell.kinds("part_faulted")]
            assert not faulted, f"true feedback was called a fault: {faulted}, during {action}"
            kind = random.choice(tuple(LIES))
            spoil(cell, "first", LIES[kind](random))
            try:
                ticks = cell.step_until(lambda: bool(cell.kinds("part_faulted")), at_most=_BOUND_TICKS)
            except TimeoutError:
                what = f"{kind} during {action}, {speeds[i]:.3f} m/s,"
                raise AssertionError(f"{what} was no fault in {_BOUND_TICKS} ticks") from None
            assert ticks == 1 or kind not in AT_ONCE, f"{kind} during {action} was a fault after {ticks} ticks only"
            cell.step(random.randint(0, 50))
            spoil(cell, "first", None)
            _bring_back(cell)
            cell.events.clear()
    return _LIES


def _bring_back(cell: LockstepCell) -> None:
    for _ in range(20):
        cell.step(200)
        if OperationalState(int(cell.part("left").operational_state)) == OperationalState.ENABLED:
            return
        with suppress(RobotControlError):
            cell.server.set_motion(["left"], "clear_faults")
            cell.server.set_motion(["left"], "enable")
    raise AssertionError("with true feedback again, the part was not enabled in 4 s")


def _not_a_number(random: Random):
    value = random.choice((math.nan, math.inf, -math.inf))
    places = random.choice(((0,), (1,), (3,), (4,), (0, 3), (0, 1, 3, 4)))
    return lambda states: states.__setitem__(list(places), value)


def _kept(noise: float):
    kept: list[np.ndarray] = []

    def change(states: np.ndarray) -> None:
        kept.append(states[:6].copy())
        states[:6] = kept[0]
        if noise:
            shake = noise * (-1.0) ** len(kept)
            states[0:6:3] += shake
            states[1:6:3] = shake

    return change


def _jump(random: Random):
    step = random.choice((-1, 1)) * random.uniform(0.3, 3.0)
    return lambda states: states.__setitem__(0, states[0] + step)


def _reversed(random: Random):
    begin: list[float] = []

    def change(states: np.ndarray) -> None:
        begin.append(float(states[0]))
        states[0], states[1] = 2.0 * begin[0] - states[0], -states[1]

    return change


LIES = {
    "not a number": _not_a_number,
    "frozen": lambda _: _kept(0.0),
    "blocked": lambda _: _kept(1e-5),
    "a jump": _jump,
    "reversed": _reversed,
}
AT_ONCE = ("not a number", "a jump")

ATTACK = Attack(
    name="feedback",
    promise="feedback that lies is a fault, a number that is none in its first tick, true feedback never; limits hold",
    round=_round,
    unit="lies",
)
