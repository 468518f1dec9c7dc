"""The contract of an action type: what a user writes to add real-time behaviour.

An action type is one class in one file. Its methods run in two worlds (document 1, figure 4):

======================  =====================  ====================================================
method                  runs                   what belongs there
======================  =====================  ====================================================
`create`                preparer, no limit     look at the parts of the slots; refuse unsuitable ones
`__init__`              preparer, no limit     keep what `prepare_parameters` needs
`prepare_parameters`    preparer, no limit     check the parameters, plan, fill the parameter record
`on_enter`              loop, compiled         start: plan from the last command
`sense`                 loop, compiled         update the state and the state variables
`set_parameters`        loop, compiled         take in parameters that changed while active
`control`               loop, compiled         write the command interfaces
======================  =====================  ====================================================

The last four are static methods over records: `(state, params, part, ...)`, one part for each slot,
in the order of `slots`. They may read every field of a part (see `layout.part_dtype`), write its
command fields (`layout.COMMAND_FIELDS`), use `math`, and call functions marked `@realtime`. They return
nothing, or an int status: with a non-zero status the action fails, and its parts take their safety action.

The state record is zeroed before `on_enter`. Its first fields are the declared signals, then the
declared state variables (all float64: a bool is 0.0 or 1.0, NaN is unknown; a vector is an array), then the fields of
`State`.
A signal reads 1.0 in exactly one call of `set_parameters` and `control`.

Each declared stream has a record in the state, see `streams`: `state.goal.value[j]`. Each stream input also
brings the state variables `<stream>_age`, `_valid`, `_timed_out`, `_missed`, `_late`, `_clamped`, `_latency` and the
parameters `<stream>_gap`, `_delay`, `_horizon`, `_timeout`. An optional static method
`interpolate_<stream>(state, params, part, ...)` is its own gap function: it runs before `sense`, reads the samples in
`state.<stream>.times` and `.values`, and writes `.value`. An optional method `resample_<stream>(self, time, values)`
runs outside the loop, as long as it takes, for each sample that arrives: see `definitions/resampling.py`.

Instead, the loop's methods may be functions of one C or C++ file, which `realtime_source` names: docs/c_actions.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike

from robot_rt_control.definitions import streams
from robot_rt_control.definitions.streams import Stream, StreamInput, StreamOutput
from robot_rt_control.memory.layout import degree_dtype, record
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.enums import CommandMode, GapPolicy, PartKind
from robot_rt_control.vocabulary.errors import DefinitionError

PER_JOINT = capacities.MAX_JOINTS
"""Length of a field with one value for each joint; the first `part.dof` are in use."""

REALTIME_METHODS = ("on_enter", "sense", "set_parameters", "control")

ParameterValue = float | int | bool | str | np.ndarray


@dataclass(frozen=True, kw_only=True)
class Slot:
    """A role that a part plays in an action."""

    name: str
    kinds: tuple[PartKind, ...]
    description: str = ""
    moves: bool = True
    """Whether the action commands the part (then no other action may), or only reads it.
    Slots that are only read come after those that move."""
    inputs: tuple[str, ...] = ()
    """Names of the inputs that a part has which is made up for measuring and tests; empty: those usual for its kind."""


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A declared parameter of an action type. Lengths: 1, a number, or "dof" (joints of the first slot)."""

    name: str
    type: str = "float"  # float, int, bool, text
    length: int | str = 1
    """1: a scalar; n > 1: exactly n; "dof": one for each joint of the first slot; "any": at least one."""
    unit: str = ""
    """"joint": rad or m, depending on the joints of the first slot; "joint/s": rad/s or m/s; "effort": Nm or N."""
    default: float | int | bool | str | tuple[float, ...] | None = None
    """None: a value must be given, unless `optional`."""
    optional: bool = False
    """It may be omitted without a default; then it is missing in the mapping of `prepare_parameters`."""
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    """The valid values of a text parameter."""
    description: str = ""


JOINT_INDEX = "index of a joint"
"""Used as the unit of a state variable: the index of a joint of the part in the first slot, from 0."""


@dataclass(frozen=True, kw_only=True)
class StateVariable:
    """A named number of a running action, or a vector of them, that conditions and users can read."""

    name: str
    type: str = "float"  # float, int, bool
    unit: str = ""
    description: str = ""
    length: int = 1  # more: a vector, whose elements are name[0], name[1], …

    @property
    def elements(self) -> tuple[StateVariable, ...]:
        """Itself, or the elements of a vector."""
        if self.length == 1:
            return (self,)
        return tuple(replace(self, name=f"{self.name}[{i}]", length=1) for i in range(self.length))


ACTION_VARIABLES = (
    StateVariable(name="elapsed", unit="s", description="Time since the start, in the action's time."),
    StateVariable(name="timed_out", type="bool", description="The action's time limit has been reached."),
)
"""State variables of every action, which the loop computes. A type that declares one of these names has its own."""


@dataclass(frozen=True, kw_only=True)
class Input:
    """A number that a law takes from a state variable, which its strategy binds. `axis.inputs[i]` is the i-th; NaN:
    unknown. It is read when the law is selected, together with the conditions."""

    name: str
    unit: str = ""
    """As the unit of a parameter; empty: any."""
    optional: bool = False
    """It need not be bound; then it is unknown."""
    description: str = ""


@dataclass(frozen=True, kw_only=True)
class Degree:
    """A degree of freedom that an action type declares: strategies govern it as they govern a joint."""

    name: str
    unit: str = "m"
    """Unit of its position: m or rad."""
    command_modes: tuple[str, ...] = ("position",)
    """In which laws may command it, as its type carries it out: "position", "velocity", "effort"."""


class Part(Protocol):
    """What `create` and `prepare_parameters` can query about a part. (`PartFacts` implements it.)"""

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> PartKind: ...
    @property
    def dof(self) -> int: ...
    @property
    def joint_names(self) -> Sequence[str]: ...
    @property
    def joint_units(self) -> Sequence[str]:
        """Unit of each joint's position: rad or m."""
        ...

    @property
    def command_modes(self) -> Sequence[CommandMode]:
        """The modes in which its hardware takes commands."""
        ...

    @property
    def period(self) -> float:
        """[s] from one tick of the loop to the next."""
        ...

    @property
    def input_names(self) -> Sequence[str]:
        """Names of an io part's inputs, a sensor's values, an arm's own states, in the order of `record.inputs`."""
        ...

    @property
    def output_names(self) -> Sequence[str]:
        """Names of an io part's outputs, or an arm's own commands, in the order of `record.outputs`."""
        ...

    @property
    def record(self) -> np.record:
        """A copy of the part's record (`layout.part_dtype`): limits, chain, and the last known state."""
        ...

    def limits(self, name: str) -> np.ndarray:
        """(dof,) "position_lower", "position_upper", "velocity_limit", "acceleration_limit", "jerk_limit",
        "effort_limit" or "effort_rate_limit"."""
        ...

    @property
    def position(self) -> np.ndarray:
        """(dof,) measured [rad or m]; NaN: unknown."""
        ...

    @property
    def commanded_position(self) -> np.ndarray:
        """(dof,) joint positions of the last command [rad or m]."""
        ...

    @property
    def has_kinematics(self) -> bool:
        """Whether the part is a chain with a tool."""
        ...

    def forward(self, position: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray]:
        """p_WT (3,) [m] and q_WT (4,) x y z w of the tool, at joint positions or the last command."""
        ...

    def inverse_kinematics(self, p_WT: ArrayLike, q_WT: ArrayLike, *, seed: ArrayLike | None = None) -> np.ndarray:
        """(dof,) joint positions within the limits for a tool pose; DefinitionError: none were found."""
        ...

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of the tools that can be put on, in the order of their numbers; none: the tool is never changed."""
        ...

    @property
    def tool(self) -> str:
        """The tool that is on; empty: the part lists none."""
        ...

    def with_tool(self, name: str) -> Part:
        """The part as it is when a tool is on; DefinitionError: it has no such tool."""
        ...

    @property
    def state_variables(self) -> Mapping[str, str]:
        """The state variables that conditions can read: full name ("arm.position[0]") → unit."""
        ...

    @property
    def workcell(self) -> Mapping[str, Part]:
        """All parts of the workcell, by name: this one, sensors, other arms."""
        ...


class ActionType:
    """Base of all action types. The module's docstring describes when each method is called."""

    name: ClassVar[str]
    slots: ClassVar[tuple[Slot, ...]]
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    state_variables: ClassVar[tuple[StateVariable, ...]] = ()
    signals: ClassVar[tuple[str, ...]] = ()
    streams: ClassVar[tuple[Stream, ...]] = ()
    each_part: ClassVar[bool] = False
    """Built-in motion groups: the one slot stands for several parts, and the methods run for each of them."""
    inputs: ClassVar[tuple[Input, ...]] = ()
    """What a law reads: an action type for one degree of freedom alone."""
    degrees_of_freedom: ClassVar[tuple[Degree, ...]] = ()
    """What strategies govern instead of the joints: `state.degrees[i]`, of `layout.degree_dtype`. `sense` fills what is
    measured and commanded, and the limits; the laws write commands between `sense` and `set_parameters`."""
    Params: ClassVar[Mapping[str, Any]] = {}
    """Fields of the parameter record: name → float, int, bool, (float, n) or a record type.
    Empty: one field for each declared parameter (not text), with the same name."""
    State: ClassVar[Mapping[str, Any]] = {}
    """Fields of the state record after signals and state variables, in the same notation."""

    realtime_source: ClassVar[str] = ""
    """A file of C or C++ beside this one, whose functions are the real-time methods; empty: they are Python. `robot-rt
    header` writes the header with the records and the functions."""
    time_budget: ClassVar[float | None] = None
    """[s] that all real-time methods of one action may take in one tick; None: 20 % of the period.
    Measured when the type is loaded, and watched in the wall-clock loop."""
    example: ClassVar[Mapping[str, Any]] = {}
    """Parameters for measuring the compute time; omitted ones take their default, or a value in their range."""

    parts: Mapping[str, Part]

    def __init_subclass__(cls, **options: Any) -> None:
        """Declare what each stream input adds; a parameter that the class declares itself is kept."""
        super().__init_subclass__(**options)
        inputs = stream_inputs(cls)
        known = {p.name for p in cls.parameters}
        cls.parameters += tuple(p for s in inputs for p in _settings_of(cls, s) if p.name not in known)
        brought = [v for s in inputs for v in _variables_of(s)]
        cls.state_variables = (*(v for v in cls.state_variables if v not in brought), *brought)

    @classmethod
    def create(cls, parts: Mapping[str, Part]) -> ActionType:
        """Create the object for these parts (slot name → part). Raise DefinitionError to refuse them."""
        return cls(parts)

    def __init__(self, parts: Mapping[str, Part]) -> None:
        self.parts = parts

    def prepare_parameters(self, values: Mapping[str, ParameterValue], params: np.record) -> None:
        """Fill the parameter record from values whose types, lengths, units and ranges are already checked.

        Args:
            values: parameter name → float, int, bool, str, or float array of shape (n,).
            params: the zeroed record to fill, of `parameter_dtype(type(self))`.

        Raises:
            DefinitionError: the values contradict each other, or do not suit the parts.
        """
        for name, value in values.items():
            if isinstance(value, str):
                raise DefinitionError(
                    f"action type {self.name!r} declares the text parameter {name!r} but does not prepare it",
                    hint="Override prepare_parameters and turn the text into numbers",
                )
            if isinstance(value, np.ndarray):
                params[name][: len(value)] = value
            else:
                params[name] = value

    def prepare_degrees(self, params: np.record, degrees: np.recarray) -> None:
        """Fill the limits of the declared degrees of freedom, as laws see them when their strategies are defined.

        Args:
            params: the filled parameter record.
            degrees: (n,) of `layout.degree_dtype`; without limits, until this sets some.
        """


def stream_inputs(action_type: type[ActionType]) -> tuple[StreamInput, ...]:
    """The declared stream inputs, in their order."""
    return tuple(s for s in action_type.streams if isinstance(s, StreamInput))


def gap_method(action_type: type[ActionType], stream: str) -> str | None:
    """Name of a stream input's own gap function; None: it has none."""
    name = streams.GAP_METHOD + stream
    return name if hasattr(action_type, name) else None


def realtime_method_names(action_type: type[ActionType]) -> tuple[str, ...]:
    """All names under which an action type may have real-time methods."""
    own = (gap_method(action_type, s.name) for s in stream_inputs(action_type))
    return (*REALTIME_METHODS, *(name for name in own if name is not None))


def _settings_of(action_type: type[ActionType], stream: StreamInput) -> tuple[Parameter, ...]:
    name = stream.name
    own = gap_method(action_type, name) is not None
    return (
        Parameter(
            name=f"{name}_gap",
            type="text",
            default="custom" if own else stream.gap,
            choices=streams.gap_choices(own),
            description=f"Value of {name!r} between two samples.",
        ),
        Parameter(
            name=f"{name}_delay",
            unit="s",
            default=stream.delay,
            minimum=streams.AUTOMATIC,
            maximum=2.0,
            description="Time from making a sample to its effect, to absorb jitter; 0: in the next tick; "
            "negative: the server chooses.",
        ),
        Parameter(
            name=f"{name}_horizon",
            unit="s",
            default=stream.horizon,
            minimum=0.0,
            maximum=10.0,
            description="Time for which it is extrapolated.",
        ),
        Parameter(
            name=f"{name}_timeout",
            unit="s",
            default=stream.timeout,
            minimum=0.0,
            maximum=3600.0,
            description="Age of its present sample at which it has timed out; 0: never.",
        ),
    )


def _variables_of(stream: StreamInput) -> tuple[StateVariable, ...]:
    return tuple(
        StateVariable(name=f"{stream.name}_{name}", type=kind, unit=unit, description=text.format(stream.name))
        for name, kind, unit, text in streams.VARIABLES
    )


def _setting_names(action_type: type[ActionType]) -> list[str]:
    return [f"{s.name}_{setting}" for s in stream_inputs(action_type) for setting in streams.SETTINGS]


def fill_parameters(instance: ActionType, values: Mapping[str, ParameterValue], params: np.record) -> None:
    """Fill a parameter record: the author's own part by `prepare_parameters`, the streams' settings here.

    Args:
        values: checked values of all parameters.
        params: the zeroed record, of `parameter_dtype(type(instance))`.

    Raises:
        DefinitionError: the values contradict each other, or do not suit the parts.
    """
    settings = _setting_names(type(instance))
    for stream in stream_inputs(type(instance)):
        delay, timeout = (float(values[f"{stream.name}_{setting}"]) for setting in ("delay", "timeout"))
        if delay >= timeout > 0.0:
            raise DefinitionError(
                f"{type(instance).name}: {stream.name}_delay",
                expected=f"less than {stream.name}_timeout, {timeout:g} s: a sample is as old as its delay",
                got=f"{delay:g} s",
            )
    instance.prepare_parameters({name: v for name, v in values.items() if name not in settings}, params)
    for name in settings:
        value = values[name]
        params[name] = float(GapPolicy[value.upper()]) if isinstance(value, str) else value


def _field(owner: str, name: str, spec: Any) -> tuple:
    if isinstance(spec, tuple):
        element, *shape = spec
        base = _field(owner, name, element)[1]
        return (name, base, tuple(int(n) for n in shape))
    if isinstance(spec, np.dtype):
        return (name, spec)
    if spec in (float, bool):
        return (name, "f8")
    if spec is int:
        return (name, "i8")
    raise DefinitionError(
        f"{owner}, field {name!r}", expected="float, int, bool, (float, n) or a record type", got=repr(spec)
    )


def parameter_dtype(action_type: type[ActionType]) -> np.dtype:
    """The record type of an action type's parameters."""
    spec: dict[str, Any] = dict(action_type.Params)
    settings = _setting_names(action_type)
    if not spec:
        for p in action_type.parameters:
            if p.type == "text" or p.name in settings:
                continue
            element = int if p.type == "int" else float
            length = PER_JOINT if p.length == "dof" else p.length
            spec[p.name] = element if length == 1 else (element, length)
    for name in settings:
        if name in spec:
            raise DefinitionError(
                f"action type {action_type.__name__}: Params has the field {name!r}",
                expected="another name: a stream's setting has this one",
            )
    spec |= dict.fromkeys(settings, float)
    fields = [_field(f"{action_type.__name__}.Params", n, s) for n, s in spec.items()]
    return record(fields or [("unused", "f8")])


def stream_record(action_type: type[ActionType], stream: Stream) -> np.dtype:
    """The record type of a stream in an action's state."""
    room = streams.width(stream)
    if isinstance(stream, StreamOutput):
        return streams.output_record(room)
    return streams.input_record(room, window=gap_method(action_type, stream.name) is not None)


def state_dtype(action_type: type[ActionType]) -> np.dtype:
    """The record type of an action type's state: signals, variables, its own fields, degrees of freedom, streams."""
    fields: list[tuple] = [(n, "f8") for n in action_type.signals]
    fields += [(v.name, "f8", (v.length,)) if v.length > 1 else (v.name, "f8") for v in action_type.state_variables]
    fields += [_field(f"{action_type.__name__}.State", n, s) for n, s in action_type.State.items()]
    if action_type.degrees_of_freedom:
        fields.append(("degrees", degree_dtype, (len(action_type.degrees_of_freedom),)))
    fields += [(s.name, stream_record(action_type, s)) for s in action_type.streams]
    names = [f[0] for f in fields]
    for name in names:
        if names.count(name) > 1:
            raise DefinitionError(f"action type {action_type.__name__}: the state field {name!r} is declared twice")
    return record(fields or [("unused", "f8")])
