"""Names of things."""

from __future__ import annotations

import pytest

from robot_rt_control.vocabulary import names
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError


@pytest.mark.parametrize("name", ["a", "_x", "move_down", "Arm7", "x" * 64])
def test_accepts_identifiers(name: str) -> None:
    names.check_name("id of an action", name)


@pytest.mark.parametrize("name", ["", "7a", "a-b", "a b", "a.b", "a/b", "é", "a\n"])
def test_refuses_other_names(name: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        names.check_name("id of an action", name)
    assert str(caught.value) == (
        "id of an action is not valid; expected letters, digits and underscores, not beginning with a digit; "
        f"got {name!r}"
    )


@pytest.mark.parametrize("name", names.RESERVED)
def test_refuses_words_of_the_grammar(name: str) -> None:
    with pytest.raises(DefinitionError, match=f"id of an action is a word of the condition grammar; .*got '{name}'"):
        names.check_name("id of an action", name)


def test_refuses_what_is_no_text() -> None:
    with pytest.raises(DefinitionError, match="name of a part is not a text; expected letters.*; got 3"):
        names.check_name("name of a part", 3)


def test_capacity() -> None:
    with pytest.raises(CapacityError, match=r"^name of a part is too long: 'x{40}…'; expected at most 64 characters"):
        names.check_name("name of a part", "x" * 65)
    names.check_variable("capture", f"{'x' * 64}.{'y' * 64}[15]")
    with pytest.raises(CapacityError, match=r"at most 160 characters \(MAX_DOTTED_NAME_LENGTH\); got 161"):
        names.check_variable("capture", "x" * 80 + "." + "y" * 80)


def test_type_names_may_have_dots() -> None:
    names.check_type_name("type", "my_actions.wiggle")
    with pytest.raises(
        DefinitionError, match="type is not valid; expected a name, or names joined by dots; got 'a..b'"
    ):
        names.check_type_name("type", "a..b")


def test_signal_references() -> None:
    names.check_signal_reference("signal", "pause")
    names.check_signal_reference("signal", "drift.pause")
    with pytest.raises(DefinitionError, match=r"expected 'signal' \(of the owner\) or 'action.signal'; got 'a.b.c'"):
        names.check_signal_reference("signal", "a.b.c")


def test_variables() -> None:
    for name in ("is_done", "arm.position[3]", "a[0][1].b"):
        names.check_variable("capture", name)
    for name in ("arm.position[-1]", "arm.", "arm.position[01]", "x < 3"):
        with pytest.raises(DefinitionError, match="capture is not valid; expected a state variable such as"):
            names.check_variable("capture", name)


def test_lists_of_names() -> None:
    assert names.names_of("parts", "arm") == ("arm",)
    assert names.names_of("parts", ["arm", "base"]) == ("arm", "base")
    with pytest.raises(DefinitionError, match="parts; expected a name, or a list of names; got 3"):
        names.names_of("parts", 3)
    with pytest.raises(DefinitionError, match=r"part 'a' is given twice; expected each once; got \['a', 'b', 'a'\]"):
        names.each_once("part", ["a", "b", "a"])
