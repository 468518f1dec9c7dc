"""Mistakes that are reported together."""

from __future__ import annotations

import pytest

from robot_rt_control.text.document import Document
from robot_rt_control.text.mistakes import Mistakes
from robot_rt_control.vocabulary.capacities import MAX_MISTAKES
from robot_rt_control.vocabulary.errors import DefinitionError, ProgramError

DOCUMENT = Document("a:\n  - 1\n  - 2\n", "x.yaml", max_bytes=100)


def refuse(error: DefinitionError) -> None:
    raise error


def test_all_are_raised_by_line() -> None:
    mistakes = Mistakes()
    for path in (("a", 1), ("a",)):
        with mistakes.collect(DOCUMENT, *path):
            refuse(DefinitionError(f"wrong at {path}"))
    with pytest.raises(ProgramError) as caught:
        mistakes.raise_all()
    assert str(caught.value) == "x.yaml:1: wrong at ('a',)\nx.yaml:3: wrong at ('a', 1)"


def test_the_parts_of_an_error_are_kept_one_by_one() -> None:
    mistakes = Mistakes()
    with mistakes.collect(DOCUMENT, "a", 0):
        refuse(ProgramError([DefinitionError("first"), DefinitionError("second")]))
    assert [str(error) for error in mistakes.errors] == ["x.yaml:2: first", "x.yaml:2: second"]


def test_nothing_wrong_raises_nothing_and_one_mistake_is_itself() -> None:
    mistakes, only = Mistakes(), DefinitionError("only")
    mistakes.raise_all()
    with mistakes.collect():
        refuse(only)
    with pytest.raises(DefinitionError) as caught:
        mistakes.raise_all()
    assert caught.value is only


def test_collecting_ends_at_the_limit() -> None:
    mistakes = Mistakes()
    with pytest.raises(ProgramError) as caught:
        for i in range(10 * MAX_MISTAKES):
            with mistakes.collect():
                refuse(DefinitionError(str(i)))
    assert len(caught.value.mistakes) == len(mistakes.errors) == MAX_MISTAKES
