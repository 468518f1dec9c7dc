"""Declarations of streams: what they bring to an action type, and what is refused."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

from robot_rt_control.definitions.action_type import (
    ActionType,
    Parameter,
    Slot,
    StateVariable,
    fill_parameters,
    parameter_dtype,
    realtime_method_names,
    state_dtype,
)
from robot_rt_control.definitions.streams import (
    LOOK_AHEAD,
    VARIABLES,
    Stream,
    StreamInput,
    StreamOutput,
    check_streams,
    range_of,
    units_of,
)
from robot_rt_control.vocabulary.capacities import STREAM_WINDOW
from robot_rt_control.vocabulary.enums import GapPolicy, PartKind
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError

SLOTS = (Slot(name="part", kinds=(PartKind.ARM,)),)
GOAL = StreamInput(name="goal", length="dof", gap="hold", timeout=0.7)


def make(*streams: Stream, **members: object) -> type[ActionType]:
    return type("Made", (ActionType,), {"name": "made", "slots": SLOTS, "streams": streams, **members})


def test_an_input_brings_state_variables_parameters_and_records():
    made = make(GOAL, StreamOutput(name="out", length=2), parameters=(Parameter(name="gain", default=1.0),))
    assert [v.name for v in made.state_variables] == [
        "goal_age", "goal_valid", "goal_timed_out", "goal_missed", "goal_late", "goal_clamped", "goal_latency",
    ]  # fmt: skip
    by_name = {p.name: p for p in made.parameters}
    assert list(by_name) == ["gain", "goal_gap", "goal_delay", "goal_horizon", "goal_timeout"]
    assert by_name["goal_gap"].default == "hold" and by_name["goal_timeout"].default == 0.7
    assert by_name["goal_gap"].choices == ("hold", "linear", "cubic", "extrapolate")
    state, params = state_dtype(made), parameter_dtype(made)
    assert state["goal"].names == ("value", "velocity", "age", "valid", "timed_out", "fresh")
    assert state["out"].names == ("value", "ready") and state["goal"]["value"].shape == (16,)
    assert params.names == ("gain", "goal_gap", "goal_delay", "goal_horizon", "goal_timeout")


def test_a_gap_function_is_a_real_time_method_and_sees_the_window():
    made = make(GOAL, interpolate_goal=staticmethod(lambda state, params, part: None))
    assert realtime_method_names(made)[-1] == "interpolate_goal"
    assert "times" in (state_dtype(made)["goal"].names or ())
    (gap,) = (p for p in made.parameters if p.name == "goal_gap")
    assert gap.default == "custom" and gap.choices[-1] == "custom"


def test_what_the_class_declares_itself_stays_also_in_a_class_derived_from_it():
    class Base(ActionType):
        name = "base"
        slots = SLOTS
        parameters = (Parameter(name="goal_timeout", unit="s", default=5.0),)
        state_variables: ClassVar[tuple[StateVariable, ...]] = (StateVariable(name="own"),)
        streams: ClassVar[tuple[Stream, ...]] = (GOAL,)

    class Derived(Base):
        name = "derived"
        state_variables = (*Base.state_variables, StateVariable(name="more"))

    for made in (Base, Derived):
        assert [p.default for p in made.parameters if p.name == "goal_timeout"] == [5.0]
    assert [v.name for v in Derived.state_variables][:2] == ["own", "more"]
    assert len(Derived.state_variables) == 2 + len(VARIABLES)
    assert parameter_dtype(Derived).names == ("goal_gap", "goal_delay", "goal_horizon", "goal_timeout")


def test_the_author_prepares_only_what_is_his():
    seen = []

    def prepare(self, values, params):
        seen.append(dict(values))
        params.gain = 2.0

    made = make(GOAL, parameters=(Parameter(name="gain"),), Params={"gain": float}, prepare_parameters=prepare)
    record = np.zeros(1, parameter_dtype(made))[0]
    values: dict[str, float | str] = {
        "gain": 1.0,
        "goal_gap": "cubic",
        "goal_delay": -1.0,
        "goal_horizon": 0.1,
        "goal_timeout": 0.7,
    }
    fill_parameters(made({}), values, record)
    assert seen == [{"gain": 1.0}]
    assert (record.gain, record.goal_gap, record.goal_timeout) == (2.0, 2.0, 0.7)


@pytest.mark.parametrize(
    ("streams", "error", "text"),
    [
        ((GOAL,) * 5, CapacityError, r"t has too many streams; expected at most 4 \(MAX_ACTION_STREAMS\); got 5"),
        ((StreamInput(name="a", length=17),), CapacityError, "t: stream 'a': values in a sample; expected 1 to 16"),
        ((StreamInput(name="a", length=0),), CapacityError, "got 0"),
        ((StreamOutput(name="a", length="any"),), DefinitionError, "length; expected a number or 'dof'; got 'any'"),
        ((StreamInput(name="a", length=3, units=("m", "m")),), DefinitionError, "one for each value, or one for all"),
        ((StreamInput(name="a", length=7, quaternion=4),), DefinitionError, "quaternion; expected the index"),
        ((StreamInput(name="a", length="dof", quaternion=0),), DefinitionError, "quaternion; expected the index"),
        ((StreamInput(name="a", beyond="clmp"),), DefinitionError, "beyond; .*did you mean 'clamp'; got 'clmp'"),
        ((StreamInput(name="a", length=3, minimum=(0.0, 1.0)),), DefinitionError, "minimum; expected one for each"),
        ((StreamInput(name="a", length="dof", maximum=(0.0, 1.0)),), DefinitionError, "maximum; .*one for all; got 2"),
        ((StreamInput(name="a", maximum=np.nan),), DefinitionError, "stream 'a': maximum; expected numbers; got nan"),
        (
            (StreamInput(name="a", length=2, minimum=1.0, maximum=(1.0, 0.5)),),
            DefinitionError,
            "minimum of value 1; expected at most the maximum of 0.5; got 1",
        ),
    ],
)
def test_declarations_that_are_not_valid_are_refused(streams, error, text):
    with pytest.raises(error, match=text):
        check_streams("t", streams)


def test_names_that_clash_are_refused():
    with pytest.raises(DefinitionError, match="the state field 'goal' is declared twice"):
        state_dtype(make(GOAL, State={"goal": float}))
    with pytest.raises(DefinitionError, match="Params has the field 'goal_gap'"):
        parameter_dtype(make(GOAL, Params={"goal_gap": float}))
    with pytest.raises(DefinitionError, match="the state field 'goal_age' is declared twice"):
        state_dtype(make(GOAL, state_variables=(StateVariable(name="goal_age"),)))


def test_every_gap_policy_says_how_many_samples_it_looks_ahead():
    assert set(LOOK_AHEAD) == set(GapPolicy)
    assert all(0 <= n <= STREAM_WINDOW // 2 for n in LOOK_AHEAD.values()), "the loop keeps that many at hand"


def test_each_value_has_its_unit_and_its_range():
    goal = StreamInput(name="a", length="dof", units="joint/s^2", minimum=-2.0)
    assert units_of(goal, ["rad", "m"]) == ("rad/s^2", "m/s^2")
    assert units_of(StreamInput(name="a", length="dof", units="effort"), ["rad", "m"]) == ("Nm", "N")
    assert units_of(StreamInput(name="a", length=2, units=("effort", "joint/s")), ["m"]) == ("N", "m/s")
    assert units_of(StreamInput(name="a", length=1, units="joint"), ["m", "rad"]) == ("rad or m",)
    assert units_of(StreamInput(name="a", length=2), []) == ("", "")
    low, high = range_of(goal, 2)
    assert low.tolist() == [-2.0, -2.0] and high.tolist() == [np.inf, np.inf]
    low, high = range_of(StreamInput(name="a", length=2, minimum=(0.0, -1.0), maximum=(1.0, np.inf)), 2)
    assert low.tolist() == [0.0, -1.0] and high.tolist() == [1.0, np.inf]
