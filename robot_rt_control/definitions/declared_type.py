"""What an action type declares, as plain data: the server knows a user's class by this alone."""

from __future__ import annotations

import dataclasses
import inspect
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from robot_rt_control.definitions.action_type import (
    ACTION_VARIABLES,
    ActionType,
    Degree,
    Input,
    Parameter,
    Slot,
    StateVariable,
    gap_method,
    parameter_dtype,
    state_dtype,
    stream_inputs,
)
from robot_rt_control.definitions.parameters import check_parameters
from robot_rt_control.definitions.resampling import RESAMPLE_METHOD, has_resampler
from robot_rt_control.definitions.streams import Stream, StreamInput, StreamOutput, check_streams
from robot_rt_control.memory.layout import layout_digest
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError, unknown
from robot_rt_control.vocabulary.names import check_name, check_type_name

COMMAND_MODES = ("position", "velocity", "effort")
PARAMETER_TYPES = ("float", "int", "bool", "text")


@dataclass(frozen=True)
class RecordLayout:
    """A record type of an action type."""

    size: int
    """[bytes]"""
    digest: int
    """See `layout.layout_digest`."""
    offsets: Mapping[str, int]
    """Field → offset [bytes]."""

    @classmethod
    def of(cls, dtype: np.dtype) -> RecordLayout:
        """The layout of a record type."""
        assert dtype.fields is not None  # a record type
        return cls(dtype.itemsize, layout_digest(dtype), {n: dtype.fields[n][1] for n in dtype.names or ()})


@dataclass(frozen=True, kw_only=True, eq=False)
class DeclaredType:
    """The declarations of an action type; see `ActionType`."""

    name: str
    description: str
    """The class's docstring."""
    place: str
    """Module and name of the class."""
    slots: tuple[Slot, ...]
    parameters: tuple[Parameter, ...]
    state_variables: tuple[StateVariable, ...]
    """Numbers: those of a vector by their own names."""
    vectors: tuple[StateVariable, ...]
    signals: tuple[str, ...]
    streams: tuple[Stream, ...]
    inputs: tuple[Input, ...]
    degrees_of_freedom: tuple[Degree, ...]
    own_gaps: tuple[str, ...]
    """Stream inputs with a gap function of their own."""
    resampled: tuple[str, ...]
    """Stream inputs with a function outside the loop, see `resampling`."""
    each_part: bool
    """Whether its slot stands for several parts, see `ActionType.each_part`."""
    command_modes: tuple[str, ...]
    """In which its code commands the part of its first slot: "position", "velocity", "effort"; empty: not known."""
    time_budget: float | None
    """[s]"""
    parameter_record: RecordLayout
    state_record: RecordLayout

    @classmethod
    def of(cls, action_type: type[ActionType], command_modes: tuple[str, ...] = ()) -> DeclaredType:
        """The declarations of a class.

        Args:
            command_modes: what its code shows, see `builder.syntax_check`; empty: not known.

        Raises:
            DefinitionError, CapacityError: a declaration is not valid; the message names it and the type.
        """
        _check(action_type)
        return cls(
            name=action_type.name,
            description=inspect.cleandoc(action_type.__doc__ or ""),
            place=f"{action_type.__module__}:{action_type.__qualname__}",
            slots=action_type.slots,
            parameters=action_type.parameters,
            state_variables=tuple(e for v in action_type.state_variables for e in v.elements),
            vectors=tuple(v for v in action_type.state_variables if v.length > 1),
            signals=action_type.signals,
            streams=action_type.streams,
            inputs=action_type.inputs,
            degrees_of_freedom=action_type.degrees_of_freedom,
            own_gaps=tuple(s.name for s in stream_inputs(action_type) if gap_method(action_type, s.name)),
            resampled=tuple(s.name for s in stream_inputs(action_type) if has_resampler(action_type, s.name)),
            each_part=action_type.each_part,
            command_modes=command_modes,
            time_budget=action_type.time_budget,
            parameter_record=RecordLayout.of(parameter_dtype(action_type)),
            state_record=RecordLayout.of(state_dtype(action_type)),
        )

    @property
    def action_variables(self) -> tuple[StateVariable, ...]:
        """The state variables of every action, as far as the type has none of its own with their names."""
        own = {v.name for v in (*self.state_variables, *self.vectors)}
        return tuple(v for v in ACTION_VARIABLES if v.name not in own)

    @property
    def can_time_out(self) -> bool:
        """Whether its actions may have a time limit: their `timed_out` is not a variable of the type's own."""
        return any(v.name == "timed_out" for v in self.action_variables)

    @property
    def stream_inputs(self) -> tuple[StreamInput, ...]:
        """The stream inputs, in their order."""
        return tuple(s for s in self.streams if isinstance(s, StreamInput))

    def to_json(self) -> str:
        """The declarations as a text.

        Raises:
            DefinitionError: a declared value is neither a number, a text nor a sequence of them.
        """
        try:
            return json.dumps(dataclasses.asdict(self), default=_plain)
        except (TypeError, ValueError) as error:
            raise DefinitionError(
                f"action type {self.name!r}: its declarations", expected="numbers, texts and tuples", got=str(error)
            ) from error

    @classmethod
    def from_json(cls, text: str) -> DeclaredType:
        """What `to_json` wrote."""
        data = _with_tuples(json.loads(text))
        data["slots"] = tuple(Slot(**s | {"kinds": tuple(map(PartKind, s["kinds"]))}) for s in data["slots"])
        data["parameters"] = tuple(Parameter(**p) for p in data["parameters"])
        for variables in ("state_variables", "vectors"):
            data[variables] = tuple(StateVariable(**v) for v in data[variables])
        data["streams"] = tuple(StreamInput(**s) if "gap" in s else StreamOutput(**s) for s in data["streams"])
        data["inputs"] = tuple(Input(**i) for i in data["inputs"])
        data["degrees_of_freedom"] = tuple(Degree(**d) for d in data["degrees_of_freedom"])
        for record in ("parameter_record", "state_record"):
            data[record] = RecordLayout(**data[record])
        return cls(**data)


def _plain(value: Any) -> Any:
    """A value of NumPy's as Python's own."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{value!r}, a {type(value).__name__}")


def _with_tuples(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _with_tuples(value) for key, value in data.items()}
    return tuple(map(_with_tuples, data)) if isinstance(data, list) else data


def _check(declared: type[ActionType]) -> None:
    of = f"action type {declared.name!r}"
    check_type_name("name of an action type", declared.name)
    _check_slots(of, declared)
    for kind, names in (
        ("slot", [s.name for s in declared.slots]),
        # Each stream adds parameters and state variables, so its name is checked first.
        ("stream", [s.name for s in declared.streams]),
        ("parameter", [p.name for p in declared.parameters]),
        ("signal", list(declared.signals)),
        ("state variable", [v.name for v in declared.state_variables]),
        ("input", [i.name for i in declared.inputs]),
        ("degree of freedom", [d.name for d in declared.degrees_of_freedom]),
    ):
        for name in names:
            check_name(f"{of}: name of a {kind}", name)
            if names.count(name) > 1:
                raise DefinitionError(f"{of}: the {kind} {name!r} is declared twice", expected="each once")
    for variable in declared.state_variables:
        longest = capacities.MAX_VECTOR_LENGTH
        if type(variable.length) is not int or not 1 <= variable.length <= longest:
            raise DefinitionError(
                f"{of}: length of the state variable {variable.name!r}",
                expected=f"1 to {longest} (MAX_VECTOR_LENGTH)",
                got=repr(variable.length),
            )
    for parameter in declared.parameters:
        check_parameter(of, parameter, lengths=("any", "dof"))
    check_streams(of, declared.streams)
    inputs = [s.name for s in stream_inputs(declared)]
    for method in (name for name in dir(declared) if name.startswith(RESAMPLE_METHOD)):
        stream = method.removeprefix(RESAMPLE_METHOD)
        if stream not in inputs:
            raise DefinitionError(
                f"{of}: method {method}", expected=unknown("stream input", stream, inputs), got=repr(stream)
            )
    _check_strategies(of, declared)


def _check_slots(of: str, declared: type[ActionType]) -> None:
    slots = declared.slots
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


def _check_strategies(of: str, declared: type[ActionType]) -> None:
    """What concerns strategies: inputs of a law, declared degrees of freedom."""
    inputs, degrees, kinds = declared.inputs, declared.degrees_of_freedom, declared.slots[0].kinds
    if inputs and kinds != (PartKind.AXIS,):
        raise DefinitionError(
            f"{of} has inputs",
            expected="a type whose first slot takes a degree of freedom alone (PartKind.AXIS): strategies bind inputs",
            got=f"slot {declared.slots[0].name!r} for {' or '.join(kind.name for kind in kinds)}",
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
        if not degree.command_modes or not set(degree.command_modes) <= set(COMMAND_MODES):
            raise DefinitionError(
                f"{of}: command_modes of degree of freedom {degree.name!r}",
                expected=f"one or several of {', '.join(COMMAND_MODES)}",
                got=repr(degree.command_modes),
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
