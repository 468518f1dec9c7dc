"""Checks the declarations of an action type: slots, parameters, state variables, signals, streams."""

from __future__ import annotations

from robot_rt_control.definitions.action_type import ActionType, Parameter
from robot_rt_control.definitions.parameters import check_parameters
from robot_rt_control.definitions.streams import check_streams
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError, unknown
from robot_rt_control.vocabulary.names import check_name, check_type_name

PARAMETER_TYPES = ("float", "int", "bool", "text")


def check_action_type(action_type: type[ActionType]) -> None:
    """Check an action type's declarations. Called before the server registers it and when `program check` loads it.

    Raises:
        DefinitionError, CapacityError: a declaration is not valid; the message names it and the type.
    """
    of = f"action type {action_type.name!r}"
    check_type_name("name of an action type", action_type.name)
    _check_slots(of, action_type)
    for kind, names in (
        ("slot", [s.name for s in action_type.slots]),
        # Each stream adds parameters and state variables, so its name is checked first.
        ("stream", [s.name for s in action_type.streams]),
        ("parameter", [p.name for p in action_type.parameters]),
        ("signal", list(action_type.signals)),
        ("state variable", [v.name for v in action_type.state_variables]),
        ("input", [i.name for i in action_type.inputs]),
        ("degree of freedom", [d.name for d in action_type.degrees_of_freedom]),
    ):
        for name in names:
            check_name(f"{of}: name of a {kind}", name)
            if names.count(name) > 1:
                raise DefinitionError(f"{of}: the {kind} {name!r} is declared twice", expected="each once")
    for parameter in action_type.parameters:
        check_parameter(of, parameter, lengths=("any", "dof"))
    check_streams(of, action_type.streams)
    _check_strategies(of, action_type)


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
            f"{of}: slots", expected="those that are only read after those that move", got=str(moves)
        )


def _check_strategies(of: str, action_type: type[ActionType]) -> None:
    """What concerns strategies: inputs of a law, declared degrees of freedom."""
    inputs, degrees, kinds = action_type.inputs, action_type.degrees_of_freedom, action_type.slots[0].kinds
    if inputs and kinds != (PartKind.AXIS,):
        raise DefinitionError(
            f"{of} has inputs",
            expected="a type whose first slot takes a degree of freedom alone (PartKind.AXIS): strategies bind inputs",
            got=f"slot {action_type.slots[0].name!r} for {' or '.join(kind.name for kind in kinds)}",
        )
    if degrees and PartKind.AXIS in kinds:
        raise DefinitionError(
            f"{of} declares degrees of freedom", expected="a type for a whole part", got="one for a degree of freedom"
        )
    for what, limit, name, needed in (
        ("inputs", capacities.MAX_LAW_INPUTS, "MAX_LAW_INPUTS", len(inputs)),
        ("degrees of freedom", capacities.MAX_JOINTS, "MAX_JOINTS", len(degrees)),
    ):
        if needed > limit:
            raise CapacityError(f"{of} has too many {what}", expected=f"at most {limit} ({name})", got=str(needed))
    for degree in degrees:
        if degree.unit not in ("m", "rad"):
            raise DefinitionError(
                f"{of}: unit of degree of freedom {degree.name!r}", expected="m or rad", got=repr(degree.unit)
            )


def check_parameter(owner: str, parameter: Parameter, *, lengths: tuple[str, ...]) -> None:
    """Check the declaration of a parameter of an action type or a program, including its default.

    Args:
        owner: start of messages: "action type 'move_joint'"; empty: none.
        lengths: words that are allowed as length, besides numbers.

    Raises:
        DefinitionError: the declaration contradicts itself.
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
