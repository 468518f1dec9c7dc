"""What an action type may declare for strategies: inputs of a law, degrees of freedom."""

from __future__ import annotations

from typing import Any

import pytest

from robot_rt_control.definitions.action_type import ActionType, Degree, Input, Slot
from robot_rt_control.definitions.declared_type import check_action_type
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError


def declared(*kinds: PartKind, **fields: Any) -> type[ActionType]:
    return type("Declared", (ActionType,), {"name": "declared", "slots": (Slot(name="part", kinds=kinds),), **fields})


def test_what_is_right_passes() -> None:
    check_action_type(declared(PartKind.AXIS, inputs=(Input(name="force", unit="effort"),)))
    check_action_type(declared(PartKind.ARM, degrees_of_freedom=(Degree(name="x"), Degree(name="rx", unit="rad"))))


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
            {"degrees_of_freedom": (Degree(name="x"),) * 2},
            DefinitionError,
            "the degree of freedom 'x' is declared twice",
        ),
    ],
)
def test_what_is_wrong_is_refused(kinds: Any, fields: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        check_action_type(declared(*kinds, **fields))
