"""Rule L6 of docs/semantics/limits.md: no built-in action takes a goal beyond the application limits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from robot_rt_control.actions.track_with_pose import TrackWithPose
from robot_rt_control.client.actions import Action
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.errors import DefinitionError

CONFIG = Path(__file__).parents[3] / "config"
ARM7 = CONFIG / "arm7.yaml"
HOME = [0.0, 0.4, 0.0, -1.2, 0.0, 0.8, 0.0]
BEYOND = [[3.2, *HOME[1:]], [*HOME[:3], 2.9, *HOME[4:]], [*HOME[:6], -3.2]]

GOALS: dict[str, list[tuple[dict[str, Any], str]]] = {
    "move_joint": [
        *(({"position": q}, "is outside its limits") for q in BEYOND),
        ({"position": HOME, "velocity_scale": 1.01}, "velocity_scale"),
        ({"position": HOME, "acceleration_scale": 2.0}, "acceleration_scale"),
    ],
    "velocity_move": [
        ({"velocity": [0.0] * 6 + [9.0]}, "is above its limit"),
        ({"velocity": [-9.0] + [0.0] * 6}, "-9.0000"),
    ],
    "track_trajectory": [
        *(({"times": [0.0, 9.0], "positions": HOME + q}, "the position of joint") for q in BEYOND),
        ({"times": [0.0, 0.1], "positions": [*HOME, 1.5, *HOME[1:]], "slowest": 1.0}, "is outside its limits"),
        ({"times": [0.0, 0.1], "positions": [*HOME, 1.5, *HOME[1:]], "slowest": 0.5}, "expected at least 0.5 of its"),
    ],
    "sine_wave": [
        ({"amplitude": 4.0, "frequency": 0.01}, "amplitude"),
        ({"amplitude": 1.0, "frequency": 5.0}, "velocity"),
        ({"amplitude": 0.02, "frequency": 5.0}, "acceleration"),
    ],
}
"""Action type → parameters beyond the limits of arm7, and a part of the refusal."""

OUTPUTS: dict[str, tuple[dict[str, Any], str]] = {
    "set_output": ({"outputs": "output_0", "values": [2.0]}, "value of output 'output_0'; expected 0 to 1")
}
WITHOUT_GOAL = {
    *("change_tool", "govern_path", "govern_tool", "hold", "stop"),
    *("wait_for_input", "watch_distance", "watch_tool"),
}
LAWS = {"admittance", "distance", "force", "impedance", "position", "stop_at", "torque", "velocity"}
"""Their limits are those of one degree of freedom: test/unit/actions/laws."""
WHILE_IT_MOVES = {
    *("move_linear", "follow_joint_stream", "follow_joint_velocity_stream", "follow_pose_stream"),
    *("follow_twist_stream", "follow_base_twist_stream", "follow_joint_effort_stream"),
}
"""For tool and stream goals the joint motion is known only at run time; it is limited there."""
GROUPS = {"motion_group"}
"""Its motion commands have goals, not its parameters: M2."""
GRIPPER: dict[str, tuple[dict[str, Any], str]] = {
    "grasp": ({"effort": 500.0}, "the effort is above its limit; expected at most 40; got 500"),
    "move_gripper": ({"opening": 1.5}, "parameter 'opening'"),
}
LED: dict[str, tuple[dict[str, Any], str]] = {
    "position": ({"positions": [*HOME, 3.2, *HOME[1:]]}, "the position of joint"),
    "velocity": ({"times": [0.0, 1.0], "positions": [*HOME, 1.5, *HOME[1:]]}, "is outside its limits"),
    "aside": ({"speed": 9.0}, "its limit of velocity"),
    "its acceleration": ({"acceleration": 90.0}, "its limit of acceleration"),
}
"""Of track_with_pose: what is led aside keeps the limits wherever it is."""


@pytest.fixture(scope="module")
def arm() -> Iterator[LockstepCell]:
    with LockstepCell(ARM7) as made:
        yield made


@pytest.mark.parametrize(
    ("kind", "parameters", "words"), [(kind, *goal) for kind, goals in GOALS.items() for goal in goals]
)
def test_L6_a_goal_beyond_the_application_limits_is_refused(
    arm: LockstepCell, kind: str, parameters: dict[str, Any], words: str
) -> None:
    session = arm.session("arm")
    try:
        with pytest.raises(DefinitionError) as refused:
            session.add(Action("beyond", kind, **parameters))
        assert words in str(refused.value) and "expected" in str(refused.value) and "got" in str(refused.value)
        assert session.ended is None
        assert not arm.server.contents(arm.server.session(session.id)).actions, "nothing of it is there"
    finally:
        session.close()
        arm.step()


def test_L6_new_parameters_are_refused_alike_and_the_old_ones_stay(arm: LockstepCell) -> None:
    session = arm.session("arm")
    session.add(Action("go", "move_joint", position=HOME))
    session.start("go")
    arm.step(50)
    with pytest.raises(DefinitionError, match="is outside its limits; expected .* got 3.2000"):
        session.set("go", position=BEYOND[0])
    arm.step(3000)
    assert session.value("go.is_settled") == 1.0
    session.close()
    arm.step()


@pytest.mark.parametrize("kind", OUTPUTS)
def test_L6_outputs_beyond_their_range_are_refused(cell: LockstepCell, kind: str) -> None:
    parameters, words = OUTPUTS[kind]
    session = cell.session("io")
    with pytest.raises(DefinitionError) as refused:
        session.add(Action("beyond", kind, **parameters))
    assert words in str(refused.value)


@pytest.mark.parametrize("kind", GRIPPER)
def test_L6_grippers_are_asked_for_no_more_than_their_limits(cell: LockstepCell, kind: str) -> None:
    parameters, words = GRIPPER[kind]
    session = cell.session("tool")
    with pytest.raises(DefinitionError) as refused:
        session.add(Action("beyond", kind, **parameters))
    assert words in str(refused.value)


@pytest.mark.parametrize("limit", LED)
def test_L6_a_motion_that_a_pose_leads_aside_is_refused_alike(limit: str) -> None:
    parameters, words = LED[limit]
    example: dict[str, Any] = {**TrackWithPose.example, "times": [0.0, 9.0], "positions": [*HOME, *HOME]}
    slots = {"part": "arm", "pose": "camera"}
    with LockstepCell(CONFIG / "push.yaml", hardware="mock") as cell:
        session = cell.session("arm")
        session.add(Action("within", "track_with_pose", parts=slots, **example))
        with pytest.raises(DefinitionError) as refused:
            session.add(Action("beyond", "track_with_pose", parts=slots, **{**example, **parameters}))
        assert words in str(refused.value)


def test_L6_every_built_in_action_is_looked_at(arm: LockstepCell) -> None:
    known = {*GOALS, *OUTPUTS, *GRIPPER, *GROUPS, *WITHOUT_GOAL, *WHILE_IT_MOVES, *LAWS, "track_with_pose"}
    assert {t.name for t in arm.types.all()} == known
