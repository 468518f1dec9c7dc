"""Where the tools of an active action are to go, and on which way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from robot_rt_control.actions.motion_group import MotionGroup
from robot_rt_control.actions.move_joint import MoveJoint
from robot_rt_control.actions.track_trajectory import TrackTrajectory
from robot_rt_control.definitions.action_type import ActionType, parameter_dtype
from robot_rt_control.drawing.shape import BLUE, GREEN, GREY, RED, Shape, ShapeKind, points_of
from robot_rt_control.model.kinematics.calls import forward_kinematics
from robot_rt_control.model.rotation_formulas import quaternion_to_matrix
from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.model.workcell.part_facts import PartFacts
from robot_rt_control.model.workcell.robot_description import WORLD
from robot_rt_control.motion_group.plan import Plan
from robot_rt_control.motion_group.trajectory import CurvePlan, curve_through
from robot_rt_control.server.tables.entities import DefinedAction
from robot_rt_control.server.views.snapshot_view import SnapshotView

GOAL_POSITION, GOAL_ORIENTATION = "goal_position", "goal_orientation"
"""State variables by which an action type says where the tool of its first part is to go: vectors of 3 [m] and of 4
(x y z w), in the world. The latter may be left out."""
AXIS = 0.08
"""[m] Length of the axes that show the goal's orientation."""
SAMPLES = 200
"""Points of a planned path, evenly in time."""

_END_FIELDS: dict[type[ActionType], str] = {MoveJoint: "position", TrackTrajectory: "goal", MotionGroup: "end"}
"""Action types whose parameter records hold the last joint positions of each part, and the field that does."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Goal:
    """Where a tool is to go."""

    part: PartDescription
    position: np.ndarray
    """p_WT (3,) [m]"""
    orientation: np.ndarray | None
    """q_WT (4,), x y z w; None: any."""


def goals_of(action: DefinedAction, view: SnapshotView) -> Iterator[Goal]:
    """The goals of an active action, for its parts that have a tool; none if it has no goal, or an unknown one."""
    declared = {vector.name: (vector.length, vector.unit) for vector in action.type.declared.vectors}
    if declared.get(GOAL_POSITION) == (3, "m"):
        position = _vector(action, view, GOAL_POSITION, 3)
        orientation = None
        if declared.get(GOAL_ORIENTATION, (0, ""))[0] == 4:
            orientation = _vector(action, view, GOAL_ORIENTATION, 4)
        if np.isfinite(position).all():
            known = orientation is not None and bool(np.isfinite(orientation).all() and orientation.any())
            yield Goal(
                part=_as_it_is(action.prepared.parts[0]),
                position=position,
                orientation=orientation if known else None,
            )
        return
    instance = action.prepared.instance
    field = _END_FIELDS.get(type(instance)) if isinstance(instance, ActionType) else None
    if field is None:
        return
    for part, record in _records(action):
        if has_tool(part):
            position, orientation = tool_pose(part, record[field])
            yield Goal(part=part, position=position, orientation=orientation)


def goal_shapes(goal: Goal) -> list[Shape]:
    """A green ball at the goal, and its axes x y z in red, green, blue."""
    at = points_of([goal.position])
    ball = Shape(
        namespace="goal", frame=WORLD, kind=ShapeKind.SPHERE, points=at, size=0.04, color=(*GREEN[:3], 0.6)
    )
    if goal.orientation is None:
        return [ball]
    R = np.eye(4)[:3, :3]  # as in `Pose.matrix`: for this kind of array it is compiled already
    quaternion_to_matrix(goal.orientation / np.linalg.norm(goal.orientation), R)
    ends = points_of(goal.position + AXIS * R.T)
    lines = Shape(
        namespace="goal",
        frame=WORLD,
        kind=ShapeKind.LINES,
        points=tuple(point for end in ends for point in (*at, end)),
        size=0.008,
        color=GREEN,
        colors=tuple(color for color in (RED, GREEN, BLUE) for _ in range(2)),
    )
    return [ball, lines]


def planned_shapes(action: DefinedAction) -> list[Shape]:
    """The tools' ways along the trajectories of an action: of track_trajectory and of motion groups that are planned
    outside the loop. It takes milliseconds; the result changes with `action.prepared` only."""
    found = []
    for part, plan in _plans(action):
        if has_tool(part):
            positions, _, _ = plan.sample(np.linspace(0.0, plan.duration, SAMPLES))
            points = points_of([tool_pose(part, q)[0] for q in positions])
            found.append(
                Shape(
                    namespace="planned_path",
                    frame=WORLD,
                    kind=ShapeKind.LINE_STRIP,
                    points=points,
                    size=0.004,
                    color=GREY,
                )
            )
    return found


def has_tool(part: PartDescription) -> bool:
    """Whether its joints are a chain with a tool."""
    return bool(part.initial_record.chain.n_joints)


def tool_pose(part: PartDescription, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """p_WT (3,) [m] and q_WT (4,) of a part with a tool, at joint positions (at least dof,) [rad or m]."""
    return forward_kinematics(part.initial_record.chain, positions)


def _vector(action: DefinedAction, view: SnapshotView, name: str, length: int) -> np.ndarray:
    return np.array([view.action_value(action, f"{name}[{i}]") for i in range(length)])


def _as_it_is(part: PartFacts) -> PartDescription:
    """The description with the tool that is on."""
    return part.description.with_tool(part.tool) if part.tools else part.description


def _records(action: DefinedAction) -> Iterator[tuple[PartDescription, np.record]]:
    """Parameter records of a built-in type: a motion group has one for each part, others one for their first part."""
    prepared = action.prepared
    assert isinstance(prepared.instance, ActionType)
    records = prepared.parameters.view(parameter_dtype(type(prepared.instance)))
    for part, record in zip(prepared.parts, records, strict=False):
        yield _as_it_is(part), record


def _plans(action: DefinedAction) -> Iterator[tuple[PartDescription, Plan]]:
    prepared = action.prepared
    if prepared.group is not None:
        for member, plan in zip(prepared.parts, prepared.group.plans, strict=False):  # planned in the loop: no plans
            yield _as_it_is(member), plan
    elif type(prepared.instance) is TrackTrajectory:
        ((part, record),) = _records(action)
        n, dof = int(record.n_segments), part.dof
        curve = curve_through(
            record.time[: n + 1],
            record.position[: n + 1, :dof],
            record.velocity[: n + 1, :dof],
            np.stack([record.begin[:n, :dof], record.end[:n, :dof]]),
        )
        yield part, CurvePlan(curve, record.goal[:dof])
