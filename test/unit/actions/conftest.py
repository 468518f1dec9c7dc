"""Arms and parameters with which every built-in action type can run."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from robot_rt_control.actions import BUILTIN
from robot_rt_control.definitions.action_type import ActionType
from robot_rt_control.testing.action_harness import ActionHarness
from robot_rt_control.testing.fake_arm import FakeArm, FakePart
from robot_rt_control.vocabulary.enums import PartKind

BENT = (0.0, 0.3, 0.0, -1.6, 0.0, 1.2, 0.0)
"""Joint positions [rad] far from singularities."""
GOAL = (0.4, 0.5, -0.3, -1.2, 0.2, 1.0, 0.3)

PARAMETERS: dict[str, dict[str, Any]] = {
    "stop": {"synchronized": True},
    "hold": {},
    "move_joint": {"position": list(GOAL)},
    "motion_group": {},
    "velocity_move": {"linear": [0.0, 0.0, -0.1], "angular": [0.0, 0.0, 0.2]},
    "track_trajectory": {"times": [0.0, 1.0, 2.0], "positions": [*BENT, *GOAL, *BENT]},
    "track_with_pose": {
        "times": [0.0, 1.0], "positions": [*BENT, *BENT[:-1], 0.2], "velocities": [0.0] * 14, "step": 0.5,
        "body": [0.0, 0.01, 0.0] * 3, "gains": 2 * [25.0, 0.0, 10.0, 0.0, -25.0, 0.0, 0.0,
                                                    0.0, 25.0, 0.0, 10.0, 0.0, -25.0, 0.0],
        "model": [0.0, 0.0, 0.5, 0.0, -0.5, 0.0, 0.0] * 6, "lead": ([1.0] + [0.0] * 13) * 3,
        "most": 0.02, "speed": 0.05, "acceleration": 0.5,
    },
    "sine_wave": {"amplitude": 0.2, "frequency": 0.5},
    "set_output": {"outputs": "output_0, output_1", "values": [1], "duration": 0.1},
    "wait_for_input": {"input": "input_1", "value": 0, "hold": 0.1, "timeout": 0.5},
    "move_linear": {"offset": [0.05, 0.1, -0.1]},
    "move_gripper": {"opening": 0.8},
    "grasp": {"effort": 5.0},
    "change_tool": {"tool": "second"},
    "watch_tool": {"samples": 1},
    "watch_distance": {"samples": 1},
    "follow_joint_stream": {"goal_timeout": 60.0},
    "follow_pose_stream": {"goal_timeout": 60.0},
    "follow_joint_velocity_stream": {"goal_timeout": 60.0},
    "follow_joint_effort_stream": {"goal_timeout": 60.0},
    "follow_twist_stream": {"goal_timeout": 60.0},
    "follow_base_twist_stream": {"goal_timeout": 60.0},
    "govern_tool": {},
    "govern_path": {"points": [0.0, 0.0, 0.0, 0.1, 0.0, 0.0, 0.1, 0.1, 0.0], "frame": "entry"},
    "velocity": {"velocity": 0.3},
    "distance": {"distance": 0.3, "velocity": 0.3},
    "force": {"force": 5.0},
    "stop_at": {"direction": "forward"},
    "position": {"position": 0.3},
    "torque": {"effort": 0.5},
    "impedance": {"stiffness": 4.0, "damping": 4.0, "rest": 0.2},
    "admittance": {"stiffness": 4.0, "damping": 4.0, "rest": 0.2},
}
SAMPLES: dict[str, tuple[float, ...]] = {
    "follow_joint_stream": GOAL,
    "follow_pose_stream": (0.3, 0.1, 0.8, 0.0, 0.0, 0.0, 1.0),
    "follow_joint_velocity_stream": (0.3, -0.2, 0.1, 0.3, 0.0, -0.3, 9.0),
    "follow_joint_effort_stream": (0.3, -0.2, 0.1, 0.3, 0.0, -0.3, 0.1),
    "follow_twist_stream": (0.1, 0.0, -0.1, 0.0, 0.0, 0.3),
    "follow_base_twist_stream": (0.4, -0.2, 0.5),
}
"""What is written to the stream input `goal` before the action starts."""


def load(path: str) -> type[ActionType]:
    module, name = path.split(":")
    return getattr(import_module(module), name)


BUILTIN_TYPES = [load(path) for path in BUILTIN]


@pytest.fixture(params=BUILTIN_TYPES, ids=lambda t: t.name)
def action_type(request) -> type[ActionType]:
    return request.param


def _harness(action_type: type[ActionType], *, compiled: bool = False, moving: bool = False, **parameters: Any):
    """The action on a bent arm; `moving`: with some velocity in every joint when it starts, if it has joints."""
    first = action_type.slots[0]
    if first.kinds[0] == PartKind.IO:
        return ActionHarness(action_type, parameters=parameters or PARAMETERS[action_type.name], compiled=compiled)
    part = _part(first.kinds[0], first.name)
    if moving:
        for j in range(part.dof):
            part.live.commanded_velocity[j] = 0.3 * (-1) ** j
    parts = {first.name: part}
    if action_type.name == "track_with_pose":
        parts["pose"] = FakePart(name="pose", kind=PartKind.SENSOR, inputs=("x", "y", "z", "qx", "qy", "qz", "qw"))
        parts["pose"].live.inputs[6] = 1.0
        parts["pose"].live.input_age[:7] = 0.0
    harness = ActionHarness(
        action_type,
        parts=parts,
        parameters=parameters or PARAMETERS[action_type.name],
        compiled=compiled,
    )
    if action_type.name in SAMPLES:
        harness.stream("goal").write(SAMPLES[action_type.name])
    return harness


def _part(kind: PartKind, name: str) -> FakePart:
    """A bent arm, a gripper in the middle of its range, or a sensor that measures something."""
    if kind == PartKind.ARM:
        return FakeArm(position=BENT)
    part = FakePart(name=name, kind=kind, dof={PartKind.GRIPPER: 2, PartKind.AXIS: 1, PartKind.BASE: 3}.get(kind, 0))
    part.live.wrench[:] = (0.5, -1.0, -8.0, 0.0, 0.1, 0.0)
    part.live.distance = 0.4
    return part


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
