"""What inputs are derived from in the simulated world, and what outputs do in it.

    world:
      io:
        io:                                  # the io part
          inputs:
            part_present: {type: zone, objects: [bracket], pose: {position: [0.5, 0, 0.05]}, size: [0.1, 0.1, 0.1]}
            touched: {type: contact, body: arm, link: finger, other: bracket}
            button: {type: joint, body: panel, joint: button, above: 0.004, rest: 0.0, force: 5.0}
            holding: {type: held, output: suction}
          outputs:
            clamp: {type: joint, body: vise, joint: jaw, off: 0.0, on: 0.04, force: 200}
            suction: {type: grip, body: arm, link: tool, objects: [bracket], reach: 0.005, force: 60}
            lamp: {type: color, object: lamp, off: [0.2, 0.2, 0.2], on: [0.1, 0.9, 0.1]}

A channel that is not listed does nothing: such an input stays 0.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from robot_rt_control.hardware.parameters import Finite, Parameters, Positive
from robot_rt_control.model.pose import Pose

Color = tuple[float, float, float] | tuple[float, float, float, float]


class ContactInput(Parameters):
    """Whether something is touched; an analog input gives the sum of the normal forces [N]."""

    type: Literal["contact"] = "contact"
    body: str
    """An object, or a part (its whole robot unless `link` is given)."""
    link: str | None = None
    other: str | None = None
    """An object or a part; default: anything."""


class ZoneInput(Parameters):
    """Whether the origin of an object is in a box."""

    type: Literal["zone"]
    objects: tuple[str, ...] = Field(min_length=1)
    """Any of them counts; an analog input gives how many."""
    pose: Pose = Pose()
    """Pose of the box's center in the world."""
    size: tuple[Positive, Positive, Positive]
    """[m] edge lengths along the box's x, y, z."""


class JointInput(Parameters):
    """Where a joint is, such as a push button's [rad or m]; of a digital input, whether it is above a level.

    In an object, a force pushes it back to its rest position, as a weak drive does.
    """

    type: Literal["joint"]
    body: str
    """An object with a URDF, or a part."""
    joint: str
    above: Finite = 0.0
    """[rad or m] digital: 1 above it."""
    rest: Finite = 0.0
    """[rad or m] to which the joint is pushed."""
    force: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] = 0.0
    """[Nm or N] with which it is pushed there; 0: the joint is free."""


class HeldInput(Parameters):
    """Whether an output of the same part, of the type grip, holds something: a vacuum switch."""

    type: Literal["held"]
    output: str


class GripOutput(Parameters):
    """While it is on, hold the nearest object within reach: a suction gripper, a magnet, a clamp.

    It also takes hold of what comes into reach later. What it holds stays where it is, seen from the body.
    """

    type: Literal["grip"]
    body: str
    """An object, or a part, that holds."""
    link: str | None = None
    """Link of the body; default: its root link."""
    objects: tuple[str, ...] = Field(min_length=1)
    """What it may hold."""
    reach: Positive = 0.005
    """[m] between the surfaces."""
    force: Positive = 1000.0
    """[N] greatest; what is pulled harder slips, and is lost once it has slipped by `reach`."""


class JointOutput(Parameters):
    """Drive a joint that no part drives: the position is off + (on - off) times the output's value."""

    type: Literal["joint"]
    body: str
    """An object with a URDF."""
    joint: str
    off: Finite = 0.0
    """[rad or m]"""
    on: Finite
    """[rad or m]"""
    force: Positive = 100.0
    """[Nm or N]"""
    speed: Positive = 0.5
    """[rad/s or m/s]"""


class ColorOutput(Parameters):
    """Paint an object: a lamp."""

    type: Literal["color"]
    object: str
    off: Color = (0.3, 0.3, 0.3)
    """Red, green, blue and opacity, 0 to 1."""
    on: Color = (0.1, 0.9, 0.1)


InputParameters = Annotated[ContactInput | ZoneInput | JointInput | HeldInput, Field(discriminator="type")]
OutputParameters = Annotated[GripOutput | JointOutput | ColorOutput, Field(discriminator="type")]


class IoParameters(Parameters):
    """Channels of an io part, by name."""

    inputs: dict[str, InputParameters] = Field(default_factory=dict)
    outputs: dict[str, OutputParameters] = Field(default_factory=dict)
