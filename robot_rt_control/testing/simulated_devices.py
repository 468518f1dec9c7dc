"""Descriptions of two arms and of a small gantry, for tests in simulation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from robot_rt_control.hardware.plugin import HardwarePart, JointLimits
from robot_rt_control.model.robot.urdf import Mimic
from robot_rt_control.vocabulary.enums import CommandMode, PartKind

ALL_MODES = frozenset({CommandMode.POSITION, CommandMode.VELOCITY, CommandMode.EFFORT})


def iiwa(name: str = "arm", index: int = 0, **changes: Any) -> HardwarePart:
    """KUKA LBR iiwa, elbow bent."""
    upper = (2.967, 2.094, 2.967, 2.094, 2.967, 2.094, 3.054)
    values: dict[str, Any] = {
        "name": name,
        "index": index,
        "kind": PartKind.ARM,
        "joint_names": tuple(f"lbr_iiwa_joint_{j}" for j in range(1, 8)),
        "urdf": "package://robot_rt_control/config/robots/iiwa.urdf",
        "tip_link": "lbr_iiwa_link_7",
        "start_position": (0.0, 0.4, 0.0, -1.2, 0.0, 0.8, 0.0),
        "limits": JointLimits(
            position_lower=tuple(-limit for limit in upper),
            position_upper=upper,
            velocity=(1.7,) * 7,
            acceleration=(10.0,) * 7,
            effort=(300.0,) * 7,
        ),
        "supported_modes": ALL_MODES,
    }
    return HardwarePart(**{**values, **changes})


def panda(name: str = "arm", index: int = 0, **changes: Any) -> HardwarePart:
    """Franka Panda, hand pointing down."""
    values: dict[str, Any] = {
        "name": name,
        "index": index,
        "kind": PartKind.ARM,
        "joint_names": tuple(f"panda_joint{j}" for j in range(1, 8)),
        "urdf": "package://robot_rt_control/config/robots/panda.urdf",
        "tip_link": "panda_hand",
        "start_position": (0.0, -0.215, 0.0, -2.57, 0.0, 2.356, 0.785),
        "limits": JointLimits(
            position_lower=(-2.9671, -1.8326, -2.9671, -3.1416, -2.9671, -0.0873, -2.9671),
            position_upper=(2.9671, 1.8326, 2.9671, 0.0, 2.9671, 3.8223, 2.9671),
            velocity=(2.175,) * 4 + (2.61,) * 3,
            acceleration=(10.0,) * 7,
            effort=(87.0,) * 4 + (12.0,) * 3,
        ),
        "supported_modes": ALL_MODES,
    }
    return HardwarePart(**{**values, **changes})


def panda_gripper(name: str = "gripper", index: int = 1, *, fingers: int = 2, **changes: Any) -> HardwarePart:
    """The Panda's hand, open; with `fingers=1` the second finger mimics the first one."""
    values: dict[str, Any] = {
        "name": name,
        "index": index,
        "kind": PartKind.GRIPPER,
        "joint_names": ("panda_finger_joint1", "panda_finger_joint2")[:fingers],
        "followers": (Mimic(name="panda_finger_joint2", joint="panda_finger_joint1", multiplier=1.0, offset=0.0),)[
            : 2 - fingers
        ],
        "joint_types": ("prismatic",) * fingers,
        "start_position": (0.04,) * fingers,
        "limits": JointLimits(
            position_lower=(0.0,) * fingers,
            position_upper=(0.04,) * fingers,
            velocity=(0.2,) * fingers,
            acceleration=(2.0,) * fingers,
            effort=(20.0,) * fingers,
        ),
    }
    return HardwarePart(**{**values, **changes})


GANTRY_URDF = """<robot name="gantry">
  <link name="frame">
    <inertial> <mass value="1"/> <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/> </inertial>
  </link>
  <joint name="mount" type="fixed"> <parent link="frame"/> <child link="rail"/> </joint>
  <link name="rail">
    <inertial> <mass value="1"/> <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/> </inertial>
  </link>
  <joint name="lift" type="prismatic">
    <parent link="rail"/> <child link="carriage"/>
    <origin xyz="0 0 1"/> <axis xyz="0 0 1"/>
    <limit lower="-2" upper="2" effort="500" velocity="2"/>
  </joint>
  <link name="carriage">
    <inertial> <mass value="1"/> <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/> </inertial>
  </link>
  <joint name="flange" type="fixed"> <parent link="carriage"/> <child link="tool"/> </joint>
  <link name="tool">
    <inertial>
      <origin xyz="{x} {y} -0.1" rpy="{roll} 0 0"/> <mass value="2"/>
      <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/>
    </inertial>
    <collision> <origin xyz="0 0 -0.1"/> <geometry> <box size="0.1 0.1 0.2"/> </geometry> </collision>
    <visual> <origin xyz="0 0 -0.1"/> <geometry> <box size="0.1 0.1 0.2"/> </geometry> </visual>
  </link>
</robot>
"""
"""A carriage of 1 kg that moves up and down from z = 1 m, and below it, on a fixed joint, a tool of
2 kg and 0.2 m length. The tool's center of mass is at (x, y, -0.1)."""


def gantry(
    folder: Path, *, center: tuple[float, float] = (0.0, 0.0), roll: float = 0.0, **changes: Any
) -> HardwarePart:
    """The gantry; its URDF is written to `folder`. `roll` turns the tool's inertial frame, which changes nothing."""
    path = folder / f"gantry_{center[0]}_{center[1]}_{roll}.urdf"
    path.write_text(GANTRY_URDF.format(x=center[0], y=center[1], roll=roll))
    values: dict[str, Any] = {
        "name": "gantry",
        "index": 0,
        "kind": PartKind.ARM,
        "joint_names": ("lift",),
        "urdf": str(path),
        "limits": JointLimits(
            position_lower=(-2.0,), position_upper=(2.0,), velocity=(2.0,), acceleration=(10.0,), effort=(500.0,)
        ),
        "supported_modes": ALL_MODES,
    }
    return HardwarePart(**{**values, **changes})
