"""Descriptions of small devices, for tests of plugins, drivers and the tick."""

from typing import Any

from robot_rt_control.hardware.plugin import HardwareInfo, HardwarePart, JointLimits
from robot_rt_control.model.workcell.channels import numbered_channels
from robot_rt_control.vocabulary.enums import CommandMode, PartKind

ALL_MODES = frozenset({CommandMode.POSITION, CommandMode.VELOCITY, CommandMode.EFFORT})


def limits(n: int, position: float = 3.0, velocity: float = 2.0, acceleration: float = 10.0) -> JointLimits:
    """The same limits for n joints."""
    return JointLimits(
        position_lower=(-position,) * n,
        position_upper=(position,) * n,
        velocity=(velocity,) * n,
        acceleration=(acceleration,) * n,
        effort=(100.0,) * n,
    )


def arm(name: str = "arm", n: int = 2, **changes: Any) -> HardwarePart:
    """An arm with n joints that supports all modes; `changes` replace fields."""
    values: dict[str, Any] = {
        "name": name,
        "index": 0,
        "kind": PartKind.ARM,
        "joint_names": tuple(f"joint_{j + 1}" for j in range(n)),
        "limits": limits(n),
        "supported_modes": ALL_MODES,
    }
    return HardwarePart(**{**values, **changes})


def bench(parameters: dict | None = None, **changes: Any) -> HardwareInfo:
    """A two-joint arm, a one-joint gripper, and one sensor of each kind; `changes` replace fields of the device."""
    parts = (
        arm(),
        HardwarePart(
            name="gripper",
            index=1,
            kind=PartKind.GRIPPER,
            joint_names=("finger",),
            limits=limits(1),
            supported_modes=frozenset({CommandMode.POSITION}),
            start_position=(0.25,),
        ),
        HardwarePart(name="wrist", index=2, kind=PartKind.FORCE_TORQUE_SENSOR),
        HardwarePart(name="rangefinder", index=3, kind=PartKind.RANGEFINDER),
        HardwarePart(
            name="io",
            index=4,
            kind=PartKind.IO,
            inputs=numbered_channels("input", 2),
            outputs=numbered_channels("output", 1),
        ),
    )
    values: dict[str, Any] = {"name": "bench", "parts": parts, "parameters": parameters or {}, **changes}
    return HardwareInfo(**values)
