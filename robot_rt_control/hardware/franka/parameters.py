"""Parameters of the plugin `franka` in the workcell file; ranges are those that the robot accepts."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from robot_rt_control.hardware.parameters import Finite, Parameters, Positive, Vector
from robot_rt_control.model.pose import Pose
from robot_rt_control.text.schema import refuse

_Stiffness = Annotated[float, Field(ge=0.0, le=14250.0)]
_Translational = Annotated[float, Field(ge=10.0, le=3000.0)]
_Rotational = Annotated[float, Field(ge=1.0, le=300.0)]
_OfJoints = tuple[Positive, Positive, Positive, Positive, Positive, Positive, Positive]
_OfTool = tuple[Positive, Positive, Positive, Positive, Positive, Positive]


class Collision(Parameters):
    """Thresholds: above the lower ones the robot reports contact, above the upper ones it stops by a reflex."""

    lower_torque: _OfJoints = (20.0, 20.0, 18.0, 18.0, 16.0, 14.0, 12.0)
    """[Nm] of each joint."""
    upper_torque: _OfJoints = (40.0, 40.0, 36.0, 36.0, 32.0, 28.0, 24.0)
    """[Nm]"""
    lower_force: _OfTool = (20.0, 20.0, 20.0, 25.0, 25.0, 25.0)
    """[N] x y z, [Nm] x y z at the tool."""
    upper_force: _OfTool = (40.0, 40.0, 40.0, 50.0, 50.0, 50.0)
    """[N], [Nm]"""

    @model_validator(mode="after")
    def _ordered(self) -> Collision:
        for kind in ("torque", "force"):
            for lower, upper in zip(getattr(self, f"lower_{kind}"), getattr(self, f"upper_{kind}"), strict=True):
                if lower > upper:
                    raise refuse("upper thresholds that are at least the lower ones", key=f"upper_{kind}")
        return self


class Load(Parameters):
    """What the robot carries beside the hand that Desk knows."""

    mass: Annotated[float, Field(ge=0.0, le=10.0)] = 0.0
    """[kg]"""
    center: Vector = (0.0, 0.0, 0.0)
    """[m] in the flange's frame."""
    inertia: tuple[Finite, Finite, Finite, Finite, Finite, Finite] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    """[kg m²] xx yy zz xy xz yz about the centre, along the flange's axes."""


class FrankaParameters(Parameters):
    address: str = Field(min_length=1)
    """IP address or name of the robot's control."""
    realtime: Literal["enforce", "ignore"] = "enforce"
    """enforce: refuse to run without a real-time kernel; ignore: for simulators alone."""
    controller: Literal["joint_impedance", "cartesian_impedance"] = "joint_impedance"
    """The robot's own controller of positions and velocities."""
    joint_impedance: (
        tuple[_Stiffness, _Stiffness, _Stiffness, _Stiffness, _Stiffness, _Stiffness, _Stiffness] | None
    ) = None
    """[Nm/rad] of that controller; None: as the robot has it."""
    cartesian_impedance: (
        tuple[_Translational, _Translational, _Translational, _Rotational, _Rotational, _Rotational] | None
    ) = None
    """[N/m] x y z, [Nm/rad] x y z; None: as the robot has it."""
    collision: Collision = Collision()
    load: Load = Load()
    end_effector: Pose | None = None
    """X_NE: the end effector in the frame that Desk calls nominal; None: as Desk has it."""
    stiffness_frame: Pose | None = None
    """X_EK: where the external wrench acts, in the end effector; None: as the robot has it."""
    wrench_sign: Literal[1, -1] = -1
    """Factor from the robot's external wrench to that which the environment exerts on the tool."""
    reply: Annotated[float, Field(gt=0.0, le=60.0)] | None = None
    """[s] for which a state's command is waited for. None: 0.0003, until when the robot takes it; 1 with `realtime:
    ignore`, as a simulator takes it at any time: a busy machine then makes no command late."""

    @model_validator(mode="after")
    def _in_time(self) -> FrankaParameters:
        if self.realtime == "enforce" and self.reply_s > 0.0009:
            raise refuse("at most 0.0009 s with realtime: enforce", key="reply")
        return self

    @property
    def reply_s(self) -> float:
        """`reply`, or its default."""
        if self.reply is not None:
            return self.reply
        return 0.0003 if self.realtime == "enforce" else 1.0
