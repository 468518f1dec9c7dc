"""Sample parts that replace real ones without a workcell: for tests of actions and measurement of compute times."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from robot_rt_control.memory.layout import limits_dtype, part_dtype, tool_dtype
from robot_rt_control.model.pose import Pose
from robot_rt_control.model.robot.urdf import Inertial
from robot_rt_control.model.workcell.channels import Channel, fill_channels
from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.model.workcell.tool_description import ToolDescription
from robot_rt_control.vocabulary.capacities import MAX_CHANNELS, MAX_JOINTS
from robot_rt_control.vocabulary.defaults import EFFORT_TIME_S, PERIOD_S
from robot_rt_control.vocabulary.enums import CommandMode, OperationalState, PartKind
from robot_rt_control.vocabulary.part_kinds import PART_KINDS

LINK_LENGTH = 0.2


def sample_part(
    kind: PartKind = PartKind.ARM,
    *,
    name: str = "part",
    dof: int | None = None,
    position: Sequence[float] = (),
    inputs: Sequence[str] = (),
    outputs: Sequence[str] = (),
) -> PartDescription:
    """A part with reasonable limits: ±2.9 rad, 1.5 rad/s, 10 rad/s², 100 rad/s³, 100 Nm.

    Its joints are a chain, alternately about z and y, that points straight up at zero; those of a base are x, y [m] and
    yaw, with the same limits. Sensor values are unknown. An arm has the tools `first`, which is on, and `second`, which
    is LINK_LENGTH longer and 2 kg heavier.

    Args:
        dof: number of joints; None: the usual number for the kind.
        position: (dof,) joint positions [rad]; all zero by default.
        inputs: names of an io part's inputs, or of a sensor part's values.
        outputs: names of an io part's digital outputs (0 or 1).

    Raises:
        ValueError: there are too many joints or channels, or `position` has another length.
    """
    n = PART_KINDS[kind].sample_joints if dof is None else dof
    if not 0 <= n <= MAX_JOINTS:
        raise ValueError(f"dof = {n}: expected 0 to {MAX_JOINTS}")
    if len(position) not in (0, n):
        raise ValueError(f"position has {len(position)} values, expected one for each of {n} joints")
    for what, names in (("inputs", inputs), ("outputs", outputs)):
        if len(names) > MAX_CHANNELS:
            raise ValueError(f"{what}: {len(names)} names, expected at most {MAX_CHANNELS}")
    measured = tuple(Channel(name=channel, type="float") for channel in inputs)
    commanded = tuple(Channel(name=channel, lower=0.0, upper=1.0) for channel in outputs)
    record, limits = _record(n, position), np.zeros(1, limits_dtype)[0]
    tools = _tools(record, limits) if kind == PartKind.ARM and n else ()
    types = ("prismatic",) * PART_KINDS[kind].sample_prismatic + ("revolute",) * n
    fill_channels(record, limits, measured, commanded)
    return PartDescription(
        name=name,
        index=0,
        kind=kind,
        device="sample",
        joint_names=tuple(f"{name}_joint_{j + 1}" for j in range(n)),
        joint_types=types[:n],
        command_modes=(CommandMode.POSITION, CommandMode.VELOCITY, CommandMode.EFFORT) if n else (),
        system_limits=limits,
        start_position=np.array(position or (0.0,) * n),
        inputs=measured,
        outputs=commanded,
        tools=tools,
        initial_record=record,
    )


def _record(n: int, position: Sequence[float]) -> np.record:
    record: np.record = np.zeros(1, part_dtype)[0]
    record.dof = n
    record.dt = PERIOD_S
    for described in PART_KINDS.values():
        for field in described.fields:
            record[field] = math.nan
    for field in ("tool_number", "tool_confirmed", "tool_command", "tool_fits"):
        record[field] = math.nan
    record.tool_orientation[3] = 1.0
    record.at_rest = 1.0
    record.operational_state = float(OperationalState.ENABLED)
    record.position[: len(position)] = record.commanded_position[: len(position)] = position
    record.position_lower[:n], record.position_upper[:n] = -2.9, 2.9  # [rad]
    record.velocity_limit[:n] = 1.5  # [rad/s]
    record.acceleration_limit[:n] = 10.0  # [rad/s^2]
    record.jerk_limit[:n] = 100.0  # [rad/s^3]
    record.effort_limit[:n] = 100.0  # [Nm]
    record.effort_rate_limit[:n] = 100.0 / EFFORT_TIME_S
    chain = record.chain
    chain.n_joints = n
    chain.base[:, :3] = chain.tool[:, :3] = np.eye(3)
    chain.tool[2, 3] = LINK_LENGTH
    chain.gravity[2] = -9.81
    for j in range(n):
        chain.origin[j, :, :3] = np.eye(3)
        chain.origin[j, 2, 3] = LINK_LENGTH
        chain.axis[j, 2 if j % 2 == 0 else 1] = 1.0
        chain.mass[j] = 1.0
        chain.center_of_mass[j, 2] = 0.5 * LINK_LENGTH
        chain.inertia[j] = 0.01 * np.eye(3)
    return record


def _tools(record: np.record, limits: np.record) -> tuple[ToolDescription, ...]:
    """The tools of a sample arm; the first one is put on."""
    found, n, chain = [], int(record.dof), record.chain
    for name, mass, length in (("first", 0.0, 0.0), ("second", 2.0, LINK_LENGTH)):
        tool: np.record = np.zeros(1, tool_dtype)[0]
        tool.tool[:] = chain.tool
        tool.tool[2, 3] += length
        tool.mass = chain.mass[n - 1] + mass
        tool.center_of_mass[:], tool.inertia[:] = chain.center_of_mass[n - 1], chain.inertia[n - 1]
        for field in ("velocity_limit", "acceleration_limit", "jerk_limit"):
            tool[field] = record[field]
        for field in ("velocity", "acceleration", "jerk"):
            tool[field] = limits[field]
        pose = Pose(position=(0.0, 0.0, LINK_LENGTH + length))
        body = Inertial(mass=mass, center_of_mass=np.zeros(3), inertia=np.zeros((3, 3)))
        found.append(ToolDescription(name=name, pose=pose, body=body, record=tool))
    record.tool_number, record.tool_confirmed, record.tool_fits[:2] = 0.0, 1.0, 1.0
    return tuple(found)
