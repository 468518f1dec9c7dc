"""What a type declares is the same after its way from one process to another; what it may declare for strategies."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from robot_rt_control.actions import BUILTIN
from robot_rt_control.definitions.action_type import (
    ActionType,
    Degree,
    Input,
    Parameter,
    Slot,
    StateVariable,
    state_dtype,
)
from robot_rt_control.definitions.declared_type import DeclaredType
from robot_rt_control.definitions.streams import StreamInput, StreamOutput
from robot_rt_control.server.code.source import load_action_type
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError

ARM = Slot(name="arm", kinds=(PartKind.ARM,))


class Streaming(ActionType):
    """Streams in both directions."""

    name = "streaming"
    slots = (ARM,)
    parameters = (
        Parameter(name="a", default=np.float64(0.5)),
        Parameter(name="b", length=2, default=(1.0, 2.0), maximum=np.inf),
    )
    streams = (
        StreamInput(name="goal", units=("m", "rad"), length=2, minimum=(0.0, -np.inf)),
        StreamOutput(name="found"),
    )
    signals = ("go",)
    state_variables = (
        StateVariable(name="error", unit="m", length=2, description="Of each."),
        StateVariable(name="elapsed", unit="s"),
    )
    time_budget = 1e-4

    @staticmethod
    def interpolate_goal(state, params, arm):
        state.goal.value[0] = 1.0

    def resample_goal(self, time, values):
        return [(time, values)]


@pytest.mark.parametrize("spec", [*BUILTIN, Streaming])
def test_declarations_arrive_as_they_were(spec):
    declared = DeclaredType.of(load_action_type(spec).action_type)
    arrived = DeclaredType.from_json(declared.to_json())
    assert dataclasses.asdict(arrived) == dataclasses.asdict(declared)
    assert [type(s) for s in arrived.streams] == [type(s) for s in declared.streams]
    assert all(isinstance(kind, PartKind) for slot in arrived.slots for kind in slot.kinds)


def test_what_the_server_needs_of_the_records():
    declared = DeclaredType.of(Streaming)
    fields = state_dtype(Streaming).fields
    assert fields is not None
    assert declared.state_record.offsets == {name: field[1] for name, field in fields.items()}
    assert declared.own_gaps == ("goal",) and [s.name for s in declared.stream_inputs] == ["goal"]
    assert [v.name for v in declared.state_variables][:3] == ["error[0]", "error[1]", "elapsed"]
    assert declared.state_variables[1] == StateVariable(name="error[1]", unit="m", description="Of each.")
    assert [v.name for v in declared.vectors] == ["error"]
    assert [v.name for v in declared.action_variables] == ["timed_out"], "it has an elapsed of its own"
    assert declared.place == f"{__name__}:Streaming" and declared.description == "Streams in both directions."


def test_declarations_that_are_not_plain_data_are_refused():
    class Odd(Streaming):
        name = "odd"
        time_budget = len  # type: ignore[assignment]

    with pytest.raises(DefinitionError) as refused:
        DeclaredType.of(Odd).to_json()
    assert str(refused.value) == (
        "action type 'odd': its declarations; expected numbers, texts and tuples; "
        "got <built-in function len>, a builtin_function_or_method"
    )


def type_for(*kinds: PartKind, **fields: Any) -> type[ActionType]:
    return type("Declared", (ActionType,), {"name": "declared", "slots": (Slot(name="part", kinds=kinds),), **fields})


def test_what_is_right_passes() -> None:
    DeclaredType.of(type_for(PartKind.AXIS, inputs=(Input(name="force", unit="effort"),)))
    DeclaredType.of(type_for(PartKind.ARM, degrees_of_freedom=(Degree(name="x"), Degree(name="rx", unit="rad"))))


@pytest.mark.parametrize(
    ("kinds", "fields", "error", "text"),
    [
        ((PartKind.ARM,), {"inputs": (Input(name="a"),)}, DefinitionError, "has inputs; expected a type"),
        ((PartKind.AXIS, PartKind.ARM), {"inputs": (Input(name="a"),)}, DefinitionError, "slot 'part' for AXIS or ARM"),
        ((PartKind.AXIS,), {"inputs": (Input(name="a"),) * 2}, DefinitionError, "the input 'a' is declared twice"),
        ((PartKind.AXIS,), {"inputs": (Input(name="1"),)}, DefinitionError, "name of a input is not valid"),
        (
            (PartKind.AXIS,),
            {"inputs": tuple(Input(name=f"a{i}") for i in range(5))},
            CapacityError,
            r"has too many inputs; expected at most 4 \(MAX_LAW_INPUTS\); got 5",
        ),
        (
            (PartKind.AXIS,),
            {"degrees_of_freedom": (Degree(name="x"),)},
            DefinitionError,
            "declares degrees of freedom; expected a type for a whole part; got one for a degree of freedom",
        ),
        (
            (PartKind.ARM,),
            {"degrees_of_freedom": (Degree(name="x", unit="mm"),)},
            DefinitionError,
            "unit of degree of freedom 'x'; expected m or rad; got 'mm'",
        ),
        (
            (PartKind.ARM,),
            {"degrees_of_freedom": (Degree(name="x", command_modes=("position", "torque")),)},
            DefinitionError,
            "command_modes of degree of freedom 'x'; expected one or several of position, velocity, effort; got .'p",
        ),
        (
            (PartKind.ARM,),
            {"degrees_of_freedom": (Degree(name="x"),) * 2},
            DefinitionError,
            "the degree of freedom 'x' is declared twice",
        ),
    ],
)
def test_what_is_wrong_is_refused(kinds: Any, fields: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        DeclaredType.of(type_for(*kinds, **fields))
@pytest.mark.parametrize("length", [0, 65, True, 2.0, "dof"])
def test_a_vector_has_a_length(length):
    class Odd(ActionType):
        name = "odd"
        slots = (ARM,)
        state_variables = (StateVariable(name="error", length=length),)

    with pytest.raises(DefinitionError) as refused:
        DeclaredType.of(Odd)
    assert str(refused.value) == (
        "action type 'odd': length of the state variable 'error'; expected 1 to 64 (MAX_VECTOR_LENGTH); "
        f"got {length!r}"
    )


def test_a_function_that_resamples_belongs_to_a_stream_input():
    assert DeclaredType.of(Streaming).resampled == ("goal",)
    wrong = type("Wrong", (Streaming,), {"resample_gaol": Streaming.resample_goal})
    with pytest.raises(DefinitionError, match="method resample_gaol; expected .*did you mean 'goal'; got 'gaol'"):
        DeclaredType.of(wrong)
