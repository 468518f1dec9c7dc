"""The controllers of a workcell: by which packages written for ros2_control command its parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from robot_rt_control.model.workcell import workcell_schema as schema
from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.text.document import Place
from robot_rt_control.text.mistakes import Mistakes
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import DefinitionError, unknown


@dataclass(frozen=True, kw_only=True)
class ControllerType:
    """A type of controllers, under its name in ros2_control."""

    code: str
    """module:Class, a `controllers.controller.Controller`; imported when a controller of this type is loaded."""
    kinds: tuple[PartKind, ...] = ()
    """Kinds of parts that it commands; empty: it commands no part."""
    starts: bool = True
    """Whether it is active once the workcell is up, unless the workcell file says otherwise."""
    permanent: str = ""
    """Why it is always active; empty: it can be switched."""


TRAJECTORY = "joint_trajectory_controller/JointTrajectoryController"
BROADCASTER = "joint_state_broadcaster/JointStateBroadcaster"
JOG = "robot_rt_control/JogController"
PLANAR_BASE = "robot_rt_control/PlanarBaseController"
FORWARD = "forward_command_controller/ForwardCommandController"
JOINT_GROUPS = {
    "position": "position_controllers/JointGroupPositionController",
    "velocity": "velocity_controllers/JointGroupVelocityController",
    "effort": "effort_controllers/JointGroupEffortController",
}
"""What they command → type: FORWARD under names of their own."""
WRENCH_BROADCASTER = "force_torque_sensor_broadcaster/ForceTorqueSensorBroadcaster"
GRIPPER = "position_controllers/GripperActionController"
PARALLEL_GRIPPER = "parallel_gripper_action_controller/GripperActionController"

CONTROLLER_TYPES = {
    TRAJECTORY: ControllerType(
        code="robot_rt_control.controllers.trajectory.controller:TrajectoryController", kinds=(PartKind.ARM,)
    ),
    JOG: ControllerType(
        code="robot_rt_control.controllers.jogs.controller:JogController",
        kinds=(PartKind.ARM,),
        starts=False,  # it commands what the trajectory controller commands
    ),
    PLANAR_BASE: ControllerType(
        code="robot_rt_control.controllers.jogs.controller:PlanarBaseController", kinds=(PartKind.BASE,)
    ),
    **{
        type: ControllerType(
            code=f"robot_rt_control.controllers.jogs.controller:{type.partition('/')[2]}",
            kinds=(PartKind.ARM, PartKind.BASE),
            starts=False,
        )
        for type in (FORWARD, *JOINT_GROUPS.values())
    },
    WRENCH_BROADCASTER: ControllerType(
        code="robot_rt_control.controllers.broadcaster:ForceTorqueSensorBroadcaster",
        kinds=(PartKind.FORCE_TORQUE_SENSOR,),
    ),
    GRIPPER: ControllerType(
        code="robot_rt_control.controllers.grippers.controller:GripperController", kinds=(PartKind.GRIPPER,)
    ),
    PARALLEL_GRIPPER: ControllerType(
        code="robot_rt_control.controllers.grippers.controller:ParallelGripperController", kinds=(PartKind.GRIPPER,)
    ),
    BROADCASTER: ControllerType(
        code="robot_rt_control.controllers.broadcaster:JointStateBroadcaster",
        permanent="the executor publishes joint_states, with or without controllers",
    ),
}
"""All types; a new one is a row here."""


@dataclass(frozen=True, kw_only=True)
class ControllerDescription:
    """A controller of a workcell."""

    name: str
    type: str
    """A key of CONTROLLER_TYPES."""
    part: str | None = None
    """The part that it commands; None: its type commands none."""
    options: Mapping[str, Any]
    is_active: bool = True
    """Whether it is active once the workcell is up."""
    place: str
    """File, line and item, for messages."""

    @property
    def permanent(self) -> str:
        """Why it is always active; empty: it can be switched."""
        return CONTROLLER_TYPES[self.type].permanent


def read_controllers(
    given: Mapping[str, schema.Controller] | None,
    parts: Sequence[PartDescription],
    place: Place,
    mistakes: Mistakes,
) -> tuple[ControllerDescription, ...]:
    """The controllers of a workcell file, and joint_state_broadcaster.

    Args:
        given: its section `controllers`; None: a trajectory controller `<arm>_controller` for each arm, and
            likewise one for each gripper.
        place: of the section.
        mistakes: gets those of unknown types and parts, and of parts that a type does not command.
    """
    if given is None:
        types = {PartKind.ARM: TRAJECTORY, PartKind.GRIPPER: PARALLEL_GRIPPER}
        given = {
            f"{part.name}_controller": schema.Controller(type=types[part.kind], part=part.name)
            for part in parts
            if part.kind in types
        }
    given = {"joint_state_broadcaster": schema.Controller(type=BROADCASTER), **given}
    found = []
    for name, controller in given.items():
        here = place / name
        with mistakes.collect():
            _check(controller, {part.name: part.kind for part in parts}, here)
        found.append(
            ControllerDescription(
                name=name,
                type=controller.type,
                part=controller.part,
                options=controller.options,
                is_active=(controller.state or _first_state(controller.type)) == "active",
                place=str(here),
            )
        )
    return tuple(found)


def _first_state(type_name: str) -> str:
    known = CONTROLLER_TYPES.get(type_name)
    return "active" if known is None or known.starts else "inactive"


def _check(controller: schema.Controller, kinds: Mapping[str, PartKind], place: Place) -> None:
    if controller.type not in CONTROLLER_TYPES:
        expected = unknown("controller type", controller.type, CONTROLLER_TYPES)
        raise DefinitionError(str(place / "type"), expected=expected, got=repr(controller.type))
    described = CONTROLLER_TYPES[controller.type]
    commanded = [name for name, kind in kinds.items() if kind in described.kinds]
    if described.kinds and controller.part not in commanded:
        raise DefinitionError(
            str(place / "part"),
            expected=f"a part that {controller.type} commands: {', '.join(commanded) or 'there is none'}",
            got="nothing" if controller.part is None else repr(controller.part),
        )
    if not described.kinds and controller.part is not None:
        raise DefinitionError(
            str(place / "part"), expected="nothing: this type commands no part", got=repr(controller.part)
        )
    if described.permanent and controller.state == "inactive":
        raise DefinitionError(str(place / "state"), expected=f"active: {described.permanent}", got=controller.state)
