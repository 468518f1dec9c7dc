"""A device of a workcell as plain data for its plugin."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robot_rt_control.hardware.info import HardwareInfo, HardwarePart, JointLimits
from robot_rt_control.model.robot.urdf_file import urdf_file
from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.model.workcell.workcell import EXTERNAL, NOT_PYTHON, TOPIC, DeviceDescription, Workcell
from robot_rt_control.vocabulary.errors import DefinitionError


def _joints(values: np.ndarray, dof: int) -> tuple[float, ...]:
    return tuple(float(v) for v in values[:dof])


def hardware_part(part: PartDescription) -> HardwarePart:
    """One part as its hardware sees it. Its limits are the system limits that the loop enforces."""
    limits, dof = part.system_limits, part.dof
    return HardwarePart(
        name=part.name,
        index=part.index,
        kind=part.kind,
        joint_names=part.joint_names,
        joint_types=part.joint_types,
        # A part mounted on another one has its joints in that one's body.
        urdf=None if part.urdf is None or part.mounted_on else str(urdf_file(part.urdf)),
        mounted_on=part.mounted_on,
        base_link=part.base_link,
        tip_link=part.tip_link,
        base=part.base,
        tool=part.tool,
        start_position=tuple(float(q) for q in part.start_position),
        limits=JointLimits(
            position_lower=_joints(limits.position_lower, dof),
            position_upper=_joints(limits.position_upper, dof),
            velocity=_joints(limits.velocity, dof),
            acceleration=_joints(limits.acceleration, dof),
            effort=_joints(limits.effort, dof),
        ),
        supported_modes=frozenset(part.command_modes),
        followers=part.followers,
        inputs=part.inputs,
        outputs=part.outputs,
        drive_states=part.drive_states,
        mount=part.mount,
        range=part.range,
    )


def _with_tools(part: PartDescription) -> HardwarePart:
    """With its tools. The planner's parts are without them: it plans with the bodies of the URDF."""
    return replace(hardware_part(part), tools=tuple(t.body for t in part.tools), start_tool=part.start_tool)


def hardware_info(workcell: Workcell, device: DeviceDescription) -> HardwareInfo:
    """The device with its parts and its plugin's parameters."""
    return HardwareInfo(
        name=device.name,
        period_s=workcell.period,
        parameters=device.config,
        parts=tuple(_with_tools(workcell.part(name)) for name in device.parts),
        folder=str(workcell.path.parent),
        document=workcell.document,
    )


def python_device(device: DeviceDescription) -> DeviceDescription:
    """The device, which a driver process of this package runs.

    Raises:
        DefinitionError: it has a foreign driver.
    """
    if device.plugin == EXTERNAL:
        raise DefinitionError(
            f"device {device.name!r}",
            expected="a plugin in Python",
            got="a foreign driver",
            hint="Start it by `external_driver`, or choose other hardware",
        )
    return device


def with_window(workcell: Workcell) -> Workcell:
    """The same workcell with a window for each simulator; a plugin without a window refuses the parameter."""
    devices = (
        device if device.plugin in (*NOT_PYTHON, TOPIC) else replace(device, config={**device.config, "gui": True})
        for device in workcell.devices
    )
    return replace(workcell, devices=tuple(devices))
