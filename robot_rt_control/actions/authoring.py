"""Everything that an author of action types needs, in one import:

    from robot_rt_control.actions.authoring import ActionType, Parameter, PartKind, Slot, limited, limited_dtype

An action may be started while its part moves, and its code may ask for a jump. So let `limited` have the last word on
the positions that it commands: `return limited(state.motion, arm)`, with `State = {"motion": limited_dtype}`. If they
are steps from the commanded ones, as those of `actions.cartesian.follow_tool`, use `limited_velocity`.

In addition use `math`, functions of `robot_rt_control.model.kinematics.kinematics`, and your own functions marked
`@realtime`.
"""

from robot_rt_control.actions.limited import limited, limited_dtype, limited_velocity
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
    "limited",
    "limited_dtype",
    "limited_velocity",
    "realtime",
    "record",
]
