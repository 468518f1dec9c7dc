"""Options of a trajectory controller, named as the parameters of joint_trajectory_controller."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from robot_rt_control.hardware.parameters import Positive, checked
from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.text.schema import Model
from robot_rt_control.vocabulary.errors import DefinitionError, HardwareError, unknown

_NotNegative = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]


class JointConstraints(Model):
    """Default tolerances of a joint [rad or m]; 0: any difference."""

    trajectory: _NotNegative = 0.0
    goal: _NotNegative = 0.0


class Constraints(Model):
    """Default tolerances; keys of its own are names of joints."""

    model_config = ConfigDict(extra="allow", frozen=True)
    __pydantic_extra__: dict[str, JointConstraints] = Field(init=False)

    stopped_velocity_tolerance: _NotNegative = 0.01
    """[rad/s or m/s] of each joint at the goal; 0: any velocity."""
    goal_time: _NotNegative = 0.0
    """[s] after the last point; 0: any time."""
    retime: bool = True
    """Whether a trajectory is slowed where it exceeds limits of velocity or acceleration; otherwise it is refused."""
    slowest: Annotated[float, Field(gt=0.0, le=1.0)] = 0.01
    """Lowest fraction of the planned speed that is accepted."""
    keep_jerk: bool | None = None
    """Whether it is slowed where it exceeds the limit of jerk, too; null: if the system limits of the part have one."""

    @property
    def least_rate(self) -> float:
        """Lowest fraction of the planned speed; 1: nothing is slowed."""
        return self.slowest if self.retime else 1.0

    @property
    def joints(self) -> dict[str, JointConstraints]:
        return self.__pydantic_extra__


class Options(Model):
    """All of them."""

    joints: tuple[str, ...] = ()
    """Order of the joints in messages; default: the part's."""
    command_interfaces: tuple[Literal["position"], ...] = ("position",)
    state_interfaces: tuple[Literal["position", "velocity"], ...] = ("position", "velocity")
    allow_partial_joints_goal: bool = False
    allow_nonzero_velocity_at_trajectory_end: bool = False
    action_monitor_rate: Positive = 20.0
    """[Hz] of feedback."""
    state_publish_rate: Positive = 20.0
    """[Hz] of controller_state."""
    constraints: Constraints = Field(default_factory=Constraints)
    start_tolerance: Annotated[float, Field(gt=0.0, allow_inf_nan=False)] = 0.02
    """[rad or m] of each joint between the commanded position and a first point whose time is the start."""


def read_options(of: str, given: Mapping[str, Any], part: PartDescription) -> Options:
    """The options of a part's controller.

    Args:
        of: the controller, for messages.

    Raises:
        DefinitionError: names every wrong one.
    """
    try:
        options = checked(Options, given, of)
    except HardwareError as error:
        raise DefinitionError(str(error)) from None
    for name in options.constraints.joints:
        if name not in part.joint_names:
            raise DefinitionError(
                f"{of}: constraints of {name!r}", expected=unknown("joint", name, part.joint_names), got=repr(name)
            )
    if options.joints and sorted(options.joints) != sorted(part.joint_names):
        raise DefinitionError(
            f"{of}: joints", expected=f"all of part {part.name!r}: {', '.join(part.joint_names)}",
            got=", ".join(options.joints),
        )  # fmt: skip
    return options
