"""Action types that tests load: classes, and a file that tests write and change."""

from __future__ import annotations

import math
import time
from pathlib import Path

import pytest

from robot_rt_control.client.actions import Action
from robot_rt_control.definitions.action_type import ActionType, Parameter, Slot, StateVariable
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.enums import CommandMode, PartKind

POSITION = int(CommandMode.POSITION)
MOVING = (PartKind.ARM, PartKind.BASE, PartKind.GRIPPER)
PAIR = {"one": "left", "two": "tool", "eye": "rangefinder"}

DRIFT = '''
from robot_rt_control.definitions.action_type import ActionType, Parameter, Slot, StateVariable
from robot_rt_control.vocabulary.enums import CommandMode, PartKind
import helper

POSITION = int(CommandMode.POSITION)


class {class_name}(ActionType):
    """Move the first joint at a constant speed."""

    name = "{name}"
    slots = (Slot(name="part", kinds=(PartKind.BASE, PartKind.GRIPPER)),)
    parameters = (Parameter(name="factor", default=1.0),)
    state_variables = (StateVariable(name="speed"),)

    def prepare_parameters(self, values, params):
        params.factor = values["factor"] * helper.SCALE

    @staticmethod
    def control(state, params, part):
        state.speed = params.factor * {speed}
        part.command_mode = POSITION
        for j in range(part.dof):
            part.position_command[j] = part.commanded_position[j]
        part.position_command[0] += state.speed * part.dt
'''


class Drift:
    """Writes the file of an action type, and a module that it imports."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "drift.py"
        self.helper = folder / "helper.py"
        self.helper.write_text("SCALE = 1.0\n")

    def write(self, speed: float, *, name: str = "drift", class_name: str = "Drift", more: str = "") -> str:
        self.path.write_text(DRIFT.format(speed=speed, name=name, class_name=class_name) + more)
        return str(self.path)


def appear(file: Path) -> None:
    """Wait until a file is there, and remove it."""
    end = time.monotonic() + 60.0
    while not file.exists():
        assert time.monotonic() < end
        time.sleep(0.01)
    file.unlink()


class Together(ActionType):
    """Move two parts at opposite speeds, and watch a rangefinder."""

    name = "together"
    slots = (
        Slot(name="one", kinds=MOVING),
        Slot(name="two", kinds=MOVING),
        Slot(name="eye", kinds=(PartKind.RANGEFINDER,), moves=False),
    )
    parameters = (Parameter(name="speed", default=0.1), Parameter(name="nearest", default=0.1))
    state_variables = (StateVariable(name="gap"), StateVariable(name="distance"))

    @staticmethod
    def sense(state, params, one, two, eye):
        state.gap = two.position[0] - one.position[0]
        state.distance = eye.distance
        return 3 if eye.distance < params.nearest else 0

    @staticmethod
    def control(state, params, one, two, eye):
        one.command_mode = POSITION
        two.command_mode = POSITION
        one.position_command[0] = one.commanded_position[0] + params.speed * one.dt
        two.position_command[0] = two.commanded_position[0] - params.speed * two.dt


class Busy(ActionType):
    """Compute for as long as one asks for, with a budget of 50 µs."""

    name = "busy"
    slots = (Slot(name="part", kinds=MOVING),)
    parameters = (Parameter(name="rounds", type="int", default=1),)
    state_variables = (StateVariable(name="ticks"), StateVariable(name="x"))
    time_budget = 50e-6

    @staticmethod
    def control(state, params, part):
        state.ticks += 1.0
        for i in range(20_000):
            if i >= params.rounds:
                break
            state.x = math.sin(state.x + i)


class Creep(ActionType):
    """A law: a constant velocity, without limits of its own."""

    name = "creep"
    slots = (Slot(name="axis", kinds=(PartKind.AXIS,)),)
    parameters = (Parameter(name="velocity", unit="joint/s", default=0.01),)

    @staticmethod
    def control(state, params, axis):
        axis.command_mode = POSITION
        axis.position_command[0] = axis.commanded_position[0] + params.velocity * axis.dt


def moving(cell: LockstepCell) -> None:
    """One part that moves while types come and go."""
    session = cell.session("right", name="mover")
    session.add(Action("move", "probe", speed=0.2))
    session.start("move")
    cell.step(300)
    cell.events.clear()


def steady(cell: LockstepCell, before: float, ticks: int) -> bool:
    """Whether the moving part has gone on at its speed."""
    return cell.part("right").commanded_position[0] == pytest.approx(before + 0.2 * 0.001 * ticks, abs=1e-9)
