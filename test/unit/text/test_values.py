"""Values of parameters as people type them."""

from __future__ import annotations

import pytest

from robot_rt_control.text.values import typed_value
from robot_rt_control.vocabulary.errors import DefinitionError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.1", 0.1), ("3", 3), ("true", True), ("left", "left"), ("", ""), ("[0, 0, -0.1]", [0.0, 0.0, -0.1]),
        ("0, 0, 0.06", [0.0, 0.0, 0.06]), ("1,2", [1.0, 2.0]), ("[]", []), ("one, two", "one, two"),
        ("1, true", "1, true"), ("1, ", "1, "),
    ],
)  # fmt: skip
def test_numbers_lists_with_and_without_brackets_and_texts(text: str, value: object) -> None:
    found = typed_value("linear", text)
    assert found == value and type(found) is type(value)


def test_what_is_no_list_of_numbers_is_refused() -> None:
    for text in ("[1, x]", "[1", "[[1], [2]]", f"[{'9' * 400}]", "9" * 400, f"1, {'9' * 400}"):
        with pytest.raises(DefinitionError, match="parameter 'linear'; expected a "):
            typed_value("linear", text)
