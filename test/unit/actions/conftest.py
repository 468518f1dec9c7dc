"""Arms and parameters with which every built-in action type can run."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from robot_rt_control.actions import BUILTIN
from robot_rt_control.program.action_type import ActionType
from robot_rt_control.program.vocabulary import PartKind
from robot_rt_control.testing.action_harness import ActionHarness
from robot_rt_control.testing.fake_arm import FakeArm

BENT = (0.0, 0.3, 0.0, -1.6, 0.0, 1.2, 0.0)
"""Joint positions [rad] far from singularities."""
GOAL = (0.4, 0.5, -0.3, -1.2, 0.2, 1.0, 0.3)

PARAMETERS: dict[str, dict[str, Any]] = {
    "stop": {"synchronized": True},
    "hold": {},
    "move_joint": {"position": list(GOAL)},
    "velocity_move": {"linear": [0.0, 0.0, -0.1], "angular": [0.0, 0.0, 0.2]},
    "track_trajectory": {"times": [0.0, 1.0, 2.0], "positions": [*BENT, *GOAL, *BENT]},
    "sine_wave": {"amplitude": 0.2, "frequency": 0.5},
    "set_output": {"outputs": "output_0, output_1", "values": [1], "duration": 0.1},
    "wait_for_input": {"input": "input_1", "value": 0, "hold": 0.1, "timeout": 0.5},
}


def load(path: str) -> type[ActionType]:
    module, name = path.split(":")
    return getattr(import_module(module), name)


BUILTIN_TYPES = [load(path) for path in BUILTIN]


@pytest.fixture(params=BUILTIN_TYPES, ids=lambda t: t.name)
def action_type(request) -> type[ActionType]:
    return request.param


def _harness(action_type: type[ActionType], *, compiled: bool = False, moving: bool = False, **parameters: Any):
    """The action on a bent arm; `moving`: with some velocity in every joint when it starts. An io part has neither."""
    slot = action_type.slots[0]
    if PartKind.ARM not in slot.kinds:
        return ActionHarness(action_type, parameters=parameters or PARAMETERS[action_type.name], compiled=compiled)
    arm = FakeArm(position=BENT)
    if moving:
        for j in range(arm.dof):
            arm.live.commanded_velocity[j] = 0.3 * (-1) ** j
    return ActionHarness(
        action_type, parts={slot.name: arm}, parameters=parameters or PARAMETERS[action_type.name], compiled=compiled
    )


@pytest.fixture
def harness():
    """Makes a harness: `harness(ActionType, compiled=True, **parameters)`."""
    return _harness


@pytest.fixture
def bent() -> tuple[float, ...]:
    return BENT


@pytest.fixture
def goal() -> tuple[float, ...]:
    return GOAL
