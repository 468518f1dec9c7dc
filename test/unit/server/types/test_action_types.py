"""Declarations of action types are checked before anybody can use them."""

from typing import Any

import pytest

from robot_rt_control.definitions.action_type import ActionType, Parameter, Slot, StateVariable
from robot_rt_control.definitions.declared_type import DeclaredType
from robot_rt_control.memory.layout import record
from robot_rt_control.server.builder.process import Builder
from robot_rt_control.server.types.action_types import ActionTypes, register
from robot_rt_control.server.types.type_building import LoadedType
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import CapacityError, CompileError, DefinitionError

ARM = Slot(name="arm", kinds=(PartKind.ARM,))
EYE = Slot(name="eye", kinds=(PartKind.RANGEFINDER,), moves=False)


def declare(**attributes: Any) -> type[ActionType]:
    return type("Made", (ActionType,), {"name": "made", "slots": (ARM,), "__doc__": "Do\n    something."} | attributes)


def loaded(key: str = "", **attributes: Any) -> LoadedType:
    made = declare(**attributes)
    return LoadedType(DeclaredType.of(made), key, made)


def test_a_good_type_has_its_layouts_and_description() -> None:
    made = loaded(
        "k" * 64,
        slots=(ARM, EYE),
        parameters=(Parameter(name="goal", length="dof"),),
        state_variables=(StateVariable(name="is_done", type="bool"),),
        signals=("stop_now",),
    )
    types = ActionTypes([made])
    registered = types.get("made", "action 'x'")
    assert (registered.index, registered.key, registered.declared.description) == (0, "k" * 64, "Do\nsomething.")
    assert registered.moving_slots == (ARM,)
    assert registered.declared.state_record.offsets == {"stop_now": 0, "is_done": 8}
    assert types.keys == ["k" * 64]


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no slot": ({"slots": ()}, "action type 'made': slots; expected at least one slot that moves; got []"),
    "no moving slot": ({"slots": (EYE,)}, "action type 'made': slots; expected at least one slot that moves"),
    "order of slots": ({"slots": (ARM, EYE, ARM)}, "expected those that are only read after those that move"),
    "name": ({"name": "to do"}, "name of an action type is not valid"),
    "parameter twice": (
        {"parameters": (Parameter(name="a"), Parameter(name="a"))},
        "action type 'made': the parameter 'a' is declared twice",
    ),
    "type of a parameter": (
        {"parameters": (Parameter(name="a", type="flaot"),)},
        "action type 'made': parameter 'a': type; expected one of the known names; did you mean 'float'; got 'flaot'",
    ),
    "length of a parameter": (
        {"parameters": (Parameter(name="a", length="dofs"),)},
        "action type 'made': parameter 'a': length; expected 1 to 1024, or any or dof; got 'dofs'",
    ),
    "default out of range": (
        {"parameters": (Parameter(name="a", default=2.0, maximum=1.0),)},
        "action type 'made': default of parameter 'a': out of range; expected at most 1; got 2.0",
    ),
    "variable's name": (
        {"state_variables": (StateVariable(name="is done"),)},
        "action type 'made': name of a state variable is not valid",
    ),
    "signal is a variable": (
        {"signals": ("go",), "state_variables": (StateVariable(name="go"),)},
        "the state field 'go' is declared twice",
    ),
    "size": (
        {"Params": {"flag": record([("x", "i4")])}},
        "action type 'made': Params; expected a record whose size is a multiple of 8 bytes; got 4 bytes",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_declaration_is_refused(name: str) -> None:
    attributes, text = BAD[name]
    with pytest.raises(DefinitionError) as error:
        register(loaded(**attributes), 0)
    assert text in str(error.value)


def test_too_many_slots_are_refused() -> None:
    slots = tuple(Slot(name=f"s{i}", kinds=(PartKind.ARM,)) for i in range(5))
    with pytest.raises(CapacityError, match=r"has too many slots; expected at most 4 \(MAX_ACTION_SLOTS\); got 5"):
        register(loaded(slots=slots), 0)


def test_two_types_of_one_name_are_refused_with_both_places() -> None:
    with pytest.raises(DefinitionError) as error:
        ActionTypes([loaded("a"), loaded("b")])
    assert "two action types have the name 'made'" in str(error.value)
    assert "test_action_types:Made and " in str(error.value)


def test_an_unknown_type_is_refused_with_near_matches() -> None:
    with pytest.raises(DefinitionError) as error:
        ActionTypes([loaded()]).get("maed", "action 'x'")
    assert str(error.value) == (
        "action 'x': unknown action type; expected one of the known names; did you mean 'made'; got 'maed'"
    )


def test_every_type_that_cannot_be_built_is_named() -> None:
    with Builder() as builder, pytest.raises(CompileError) as error:
        ActionTypes.build(["nowhere.py:A", "no.such.module:B"], builder, lambda _: None, builtin=())
    assert "nowhere.py: no such file" in str(error.value)
    assert "no.such.module" in str(error.value)
