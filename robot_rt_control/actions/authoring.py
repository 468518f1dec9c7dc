"""Everything that an author of action types needs, in one import:

    from robot_rt_control.actions.authoring import ActionType, Parameter, PartKind, Slot, StateVariable, POSITION

In addition use `math`, functions of `robot_rt_control.model.kinematics`, and your own functions marked `@realtime`.
"""

from robot_rt_control.definitions.action_type import PER_JOINT, ActionType, Parameter, Part, Slot, StateVariable
from robot_rt_control.memory.layout import record
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.enums import CommandMode, PartKind, Status
from robot_rt_control.vocabulary.errors import DefinitionError

POSITION = int(CommandMode.POSITION)
"""For `part.command_mode`: the joints follow `part.position_command`. Likewise the next two."""
VELOCITY = int(CommandMode.VELOCITY)
EFFORT = int(CommandMode.EFFORT)

__all__ = [
    "EFFORT",
    "PER_JOINT",
    "POSITION",
    "VELOCITY",
    "ActionType",
    "CommandMode",
    "DefinitionError",
    "Parameter",
    "Part",
    "PartKind",
    "Slot",
    "StateVariable",
    "Status",
    "realtime",
    "record",
]
