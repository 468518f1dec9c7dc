"""Which degree of freedom a name means, and what can be a law."""

from __future__ import annotations

import pytest

from robot_rt_control.actions.govern_tool import GovernTool
from robot_rt_control.actions.hold import Hold
from robot_rt_control.actions.laws.velocity import Velocity
from robot_rt_control.actions.set_output import SetOutput
from robot_rt_control.definitions.declared_type import DeclaredType
from robot_rt_control.validation.strategies import find_axis, is_law
from robot_rt_control.vocabulary.errors import DefinitionError

ARM = {"arm": ["base", "elbow"]}
TWO = {"left": ["x", "turn"], "right": None}


@pytest.mark.parametrize(
    ("axis", "joints", "found"),
    [
        ("elbow", ARM, ("arm", 1)),
        ("joint[0]", ARM, ("arm", 0)),
        ("arm.elbow", ARM, ("arm", 1)),
        ("arm.joint[1]", ARM, ("arm", 1)),
        ("left.turn", TWO, ("left", 1)),
        ("right.anything", TWO, ("right", None)),
    ],
)
def test_a_degree_of_freedom_is_found(axis: str, joints: dict, found: tuple) -> None:
    assert find_axis("here", axis, joints, by_index=True) == found


@pytest.mark.parametrize(
    ("axis", "joints", "by_index", "text"),
    [
        ("elbo", ARM, True, "here: unknown degree of freedom; expected one of the known names; did you mean 'elbow'"),
        ("joint[2]", ARM, True, "here: unknown degree of freedom; expected joint[0] to joint[1]; got 'joint[2]'"),
        ("joint[0]", ARM, False, "here: unknown degree of freedom; expected one of: base, elbow; got 'joint[0]'"),
        ("x", TWO, True, "here: the action moves 2 parts; expected the part before the joint: left.x or right.x"),
        ("lef.x", TWO, True, "here: unknown part; expected one of the known names; did you mean 'left'; got 'lef'"),
    ],
)
def test_what_does_not_exist_is_refused(axis: str, joints: dict, by_index: bool, text: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        find_axis("here", axis, joints, by_index=by_index)
    assert str(caught.value).startswith(text)


def test_a_law_moves_one_degree_of_freedom_without_streams() -> None:
    laws = [is_law(DeclaredType.of(action_type)) for action_type in (Velocity, Hold, GovernTool, SetOutput)]
    assert laws == [True, True, False, False]


def test_a_type_with_streams_is_no_law() -> None:
    from robot_rt_control.definitions.streams import StreamInput

    streaming = type("Streaming", (Velocity,), {"name": "streaming", "streams": (StreamInput(name="goal"),)})
    assert not is_law(DeclaredType.of(streaming))
