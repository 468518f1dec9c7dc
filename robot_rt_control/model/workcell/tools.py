"""The tools of an arm, of which one is on at a time: from their entries in the workcell file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from robot_rt_control.memory.layout import offset_of, tool_dtype, world_dtype
from robot_rt_control.model.kinematics.chain import Chain, joined
from robot_rt_control.model.robot.urdf import Inertial
from robot_rt_control.model.workcell import workcell_schema as schema
from robot_rt_control.model.workcell.limits import LimitedJoint, given_for_joints
from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.model.workcell.state_variables import part_state_variables
from robot_rt_control.model.workcell.tool_description import ToolDescription
from robot_rt_control.text.document import Place
from robot_rt_control.text.mistakes import Mistakes
from robot_rt_control.vocabulary import capacities, defaults
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError, unknown

if TYPE_CHECKING:
    from robot_rt_control.conditions.types import VariableRef

_PLANNED = {"velocity": "velocity_limit", "acceleration": "acceleration_limit", "jerk": "jerk_limit"}
_MARGINS = {"velocity": defaults.VELOCITY_MARGIN, "acceleration": defaults.ACCELERATION_MARGIN, "jerk": 1.0}


def tools_of(
    part: schema.Arm, described: PartDescription, chain: Chain, joints: Sequence[LimitedJoint], place: Place
) -> tuple[tuple[ToolDescription, ...], int]:
    """The tools that the file lists for an arm, without their sensors' conditions, and the number of the first one on.

    Args:
        described: the arm with its limits, before any tool is put on.
        chain: its chain; `chain.record.tool` leads to the tip link.

    Raises:
        DefinitionError: a limit exceeds the arm's, or there is no such tool to start with.
        CapacityError: too many tools.
    """
    if part.tools is None:
        return (), 0
    if len(part.tools) > capacities.MAX_PART_TOOLS:
        raise CapacityError(
            str(place / "tools"),
            expected=f"at most MAX_PART_TOOLS = {capacities.MAX_PART_TOOLS} tools",
            got=str(len(part.tools)),
        )
    names = list(part.tools)
    if part.start_tool is not None and part.start_tool not in names:
        raise DefinitionError(
            str(place / "start_tool"), expected=unknown("tool", part.start_tool, names), got=repr(part.start_tool)
        )
    tools = tuple(
        _tool(name, tool, described, chain, joints, place / "tools" / name) for name, tool in part.tools.items()
    )
    return tools, names.index(part.start_tool) if part.start_tool is not None else 0


def _tool(
    name: str, tool: schema.Tool, part: PartDescription, chain: Chain, joints: Sequence[LimitedJoint], place: Place
) -> ToolDescription:
    record: np.record = np.zeros(1, tool_dtype)[0]
    X_JL = np.vstack([chain.record.tool, (0.0, 0.0, 0.0, 1.0)])
    record.tool[:] = (X_JL @ tool.pose.matrix)[:3]
    last = part.dof - 1
    arm = chain.record
    bare = Inertial(mass=arm.mass[last], center_of_mass=arm.center_of_mass[last], inertia=arm.inertia[last])
    xx, xy, xz, yy, yz, zz = tool.inertia
    own = Inertial(
        mass=tool.mass,
        center_of_mass=np.array(tool.center_of_mass),
        inertia=np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]),
    )
    if (np.linalg.eigvalsh(own.inertia) < -1e-12).any():
        raise DefinitionError(
            str(place / "inertia"),
            expected="ixx, ixy, ixz, iyy, iyz, izz of a body, whose principal moments are not below 0",
            got=", ".join(f"{value:g}" for value in tool.inertia),
        )
    body = joined([bare, own.moved(X_JL)])
    record.mass, record.center_of_mass[:], record.inertia[:] = body.mass, body.center_of_mass, body.inertia
    _fill_limits(record, tool.limits, part, joints, place / "limits")
    return ToolDescription(name=name, pose=tool.pose, body=own, sensor=tool.sensor or "", record=record)


def _fill_limits(
    record: np.record, given: schema.ToolLimits, part: PartDescription, joints: Sequence[LimitedJoint], place: Place
) -> None:
    n, planned, enforced = part.dof, part.initial_record, part.system_limits
    for key, limit in _PLANNED.items():
        record[limit][:n], record[key][:n] = planned[limit][:n], enforced[key][:n]
        values = given_for_joints(getattr(given, key), joints, place / key)
        if values is None:
            continue
        for joint, value, bound in zip(joints, values, planned[limit], strict=False):
            if not 0.0 < value <= bound:
                raise DefinitionError(
                    f"{place / key}, joint {joint.name!r}",
                    expected=f"a number above 0 and at most {bound:g}, the limit of the part",
                    got=f"{value:g}",
                )
        record[limit][:n] = values
        if key != "jerk" or enforced.jerk[:n].any():  # a jerk that is not limited stays so
            record[key][:n] = np.minimum(enforced[key][:n], values * _MARGINS[key])


def with_sensors(parts: Sequence[PartDescription], place: Place, mistakes: Mistakes) -> list[PartDescription]:
    """The parts, with the conditions of their tools' sensors, which may read every part's state variables.

    Args:
        place: of the parts in the file.
        mistakes: takes those of conditions: names, types, length.
    """
    if not any(tool.sensor for part in parts for tool in part.tools):
        return list(parts)
    from robot_rt_control.conditions.types import VariableRef as Ref  # here: few workcells have sensors of tools

    known = {
        v.name: Ref(offset_of(world_dtype, "parts", part.index) + v.offset, v.type, v.unit, v.length)
        for part in parts
        for v in part_state_variables(part)
    }
    found = []
    for part in parts:
        tools = []
        for tool in part.tools:
            tools.append(tool)
            if tool.sensor:
                with mistakes.collect():
                    tools[-1] = _with_sensor(tool, known, place / part.name / "tools" / tool.name / "sensor")
        found.append(replace(part, tools=tuple(tools)))
    return found


def _with_sensor(tool: ToolDescription, known: dict[str, VariableRef], place: Place) -> ToolDescription:
    from robot_rt_control.conditions.compiler import compile_condition

    compiled = compile_condition(tool.sensor, known.__getitem__, known=lambda: known, of=str(place))
    n = len(compiled.instructions)
    if n > capacities.MAX_SENSOR_INSTRUCTIONS:
        raise CapacityError(
            str(place),
            expected=f"at most MAX_SENSOR_INSTRUCTIONS = {capacities.MAX_SENSOR_INSTRUCTIONS} comparisons and joins",
            got=str(n),
        )
    record = tool.record.copy()
    record.n_instructions = n
    return replace(tool, instructions=compiled.instructions, record=record)
