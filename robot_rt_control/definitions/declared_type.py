"""What is wrong with the declarations of an action type: slots, parameters, state variables, signals, streams."""

from __future__ import annotations

from robot_rt_control.definitions.action_type import ActionType, Parameter
from robot_rt_control.definitions.parameters import check_parameters
from robot_rt_control.definitions.streams import check_streams
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError, unknown
from robot_rt_control.vocabulary.names import check_name, check_type_name

PARAMETER_TYPES = ("float", "int", "bool", "text")


def check_action_type(action_type: type[ActionType]) -> None:
    """Check what an action type declares. The server does before it registers one, `program check` when it loads one.

    Raises:
        DefinitionError, CapacityError: names the type and the declaration that is not valid.
    """
    of = f"action type {action_type.name!r}"
    check_type_name("name of an action type", action_type.name)
    _check_slots(of, action_type)
    for kind, names in (
        ("slot", [s.name for s in action_type.slots]),
        # Each stream brings parameters and state variables of its own: its name comes first.
        ("stream", [s.name for s in action_type.streams]),
        ("parameter", [p.name for p in action_type.parameters]),
        ("signal", list(action_type.signals)),
        ("state variable", [v.name for v in action_type.state_variables]),
    ):
        for name in names:
            check_name(f"{of}: name of a {kind}", name)
            if names.count(name) > 1:
                raise DefinitionError(f"{of}: the {kind} {name!r} is declared twice", expected="each once")
    for parameter in action_type.parameters:
        check_parameter(of, parameter, lengths=("any", "dof"))
    check_streams(of, action_type.streams)


def _check_slots(of: str, action_type: type[ActionType]) -> None:
    slots = action_type.slots
    if not slots or not slots[0].moves:
        raise DefinitionError(f"{of}: slots", expected="at least one slot that moves", got=str([s.name for s in slots]))
    if len(slots) > capacities.MAX_ACTION_SLOTS:
        raise CapacityError(
            f"{of} has too many slots",
            expected=f"at most {capacities.MAX_ACTION_SLOTS} (MAX_ACTION_SLOTS)",
            got=str(len(slots)),
        )
    moves = [s.moves for s in slots]
    if moves != sorted(moves, reverse=True):
        raise DefinitionError(
            f"{of}: slots", expected="those that are only read behind those that move", got=str(moves)
        )


def check_parameter(owner: str, parameter: Parameter, *, lengths: tuple[str, ...]) -> None:
    """Check what is declared about a parameter, of an action type or of a program, its default included.

    Args:
        owner: begins messages: "action type 'move_joint'"; empty: nothing does.
        lengths: words that its length may be, besides numbers.

    Raises:
        DefinitionError: it contradicts itself.
    """
    of = f"{owner}: parameter {parameter.name!r}" if owner else f"parameter {parameter.name!r}"
    if parameter.type not in PARAMETER_TYPES:
        raise DefinitionError(
            f"{of}: type", expected=unknown("type", parameter.type, PARAMETER_TYPES), got=repr(parameter.type)
        )
    length = parameter.length
    is_number = isinstance(length, int) and not isinstance(length, bool) and 1 <= length <= 1024
    if length not in lengths and not is_number:
        raise DefinitionError(f"{of}: length", expected=f"1 to 1024, or {' or '.join(lengths)}", got=repr(length))
    if parameter.type == "text" and length != 1:
        raise DefinitionError(f"{of}: length", expected="1 for a text", got=repr(length))
    if parameter.type in ("bool", "text") and (parameter.minimum is not None or parameter.maximum is not None):
        raise DefinitionError(f"{of}: minimum and maximum", expected="for numbers only", got=f"type {parameter.type}")
    if parameter.choices and parameter.type != "text":
        raise DefinitionError(f"{of}: choices", expected="for texts only", got=f"type {parameter.type}")
    low, high = parameter.minimum, parameter.maximum
    if low is not None and high is not None and low > high:
        raise DefinitionError(f"{of}: minimum", expected=f"at most the maximum of {high:g}", got=f"{low:g}")
    if parameter.default is not None:
        check_parameters("", [parameter], [], dof=1, of=owner or "program")
