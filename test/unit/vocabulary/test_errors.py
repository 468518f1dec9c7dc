"""What errors say."""

from __future__ import annotations

import pickle
from itertools import count

import pytest

from robot_rt_control.vocabulary.capacities import MAX_ERROR_LENGTH, MAX_MISTAKES
from robot_rt_control.vocabulary.errors import (
    ConditionError,
    DefinitionError,
    ProgramError,
    RobotControlError,
    raise_all,
    unknown,
)


def test_all_parts_in_one_sentence() -> None:
    error = DefinitionError("w", expected="e", got="g", hint="h")
    assert str(error) == "w; expected e; got g. h"
    assert (error.what, error.expected, error.got, error.hint) == ("w", "e", "g", "h")
    assert str(DefinitionError("w")) == "w"


def test_condition_error_points_at_the_character() -> None:
    assert str(ConditionError("w", text="x < 3", position=2, got="g")) == "w; got g\n  x < 3\n    ^"
    assert str(ConditionError("w", text="x", position=1)) == "w\n  x\n   ^"
    assert str(ConditionError("w", text="a\nb\tc\nd", position=4)) == "w\n  b c\n    ^"
    assert str(ConditionError("w")) == "w"


def test_long_conditions_are_cut_around_the_character() -> None:
    text = "".join(chr(ord("a") + i % 26) for i in range(300))
    for position in (0, 49, 50, 150, 250, 299, 300):
        _, line, caret = str(ConditionError("w", text=text, position=position)).split("\n")
        assert len(line) <= 104
        column = len(caret) - 1
        assert caret == " " * column + "^"
        assert line[column : column + 1] == text[position : position + 1]
        assert line.startswith("  …") == (position > 50)
        assert line.endswith("…") == (position < 250)


def test_errors_can_be_sent_to_another_process() -> None:
    error = ConditionError("w", text="x < 3", position=2, expected="e", got="g")
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is ConditionError
    assert str(copy) == str(error)
    assert (copy.expected, copy.position) == ("e", 2)


def test_unknown_names() -> None:
    assert unknown("part", "amr", ["arm", "base"]) == "one of the known names; did you mean 'arm'"
    assert unknown("part", "x", ["arm", "base"]) == "one of: arm, base"
    assert unknown("part", "x", []) == "a known part, but there is none"
    assert unknown("part", "?", [f"p{i:02}" for i in range(20)]).endswith("p11, … (20 in all)")


def test_no_message_grows_without_bound() -> None:
    error = DefinitionError("w" * 3_000_000, got=repr("g" * 2_000_000))
    assert len(str(error)) < 3 * MAX_ERROR_LENGTH
    assert error.what.endswith(f"… ({3_000_000 - MAX_ERROR_LENGTH} more characters)")
    assert "did you mean" not in unknown("part", "x" * 1_000_000, ["arm", "base"])


def test_a_value_of_any_size_makes_a_message_of_bounded_size() -> None:
    error = DefinitionError("name", expected="a name", got=repr("x" * 1_000_000))
    assert len(str(error)) < 1100 and str(error).endswith("xx… (999002 more characters)")


def test_mistakes_beyond_the_limit_are_not_looked_for() -> None:
    numbers = count()
    with pytest.raises(ProgramError) as caught:
        raise_all(DefinitionError(str(i)) for i in numbers)
    assert len(caught.value.mistakes) == next(numbers) == MAX_MISTAKES


@pytest.mark.parametrize(
    ("field", "length"), [("what", 65536), ("hint", 65536), ("expected", 1000), ("got", 1000)]
)
def test_each_part_of_a_message_is_cut_off_at_its_length_and_the_rest_counted(field: str, length: int) -> None:
    for more, shown in ((0, ""), (7, "… (7 more characters)")):
        error = RobotControlError(**{"what": "it", field: "x" * (length + more)})
        assert getattr(error, field) == "x" * length + shown and getattr(error, field) in str(error)
