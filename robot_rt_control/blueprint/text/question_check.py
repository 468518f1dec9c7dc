"""What is wrong with the answers of a question, and with how people see them (N56)."""

from __future__ import annotations

from collections.abc import Iterator

from robot_rt_control.blueprint.graph.results import ANY, FAILURE, STANDARD, SUCCESS
from robot_rt_control.blueprint.text.schema import Question
from robot_rt_control.vocabulary.errors import DefinitionError, unknown


def mistakes_of(ask: Question, of: str) -> Iterator[tuple[DefinitionError, tuple[str, ...]]]:
    """Each with the keys of `ask` that it concerns. Answers are results beside those that every skill has.

    Args:
        of: the question, for messages.
    """
    answers, titles = dict.fromkeys(ask.answers), ask.titles
    if not answers:
        yield DefinitionError(f"{of}: answers", expected="at least one", got="none"), ("answers",)
    for answer in answers:
        if answer in (*STANDARD, SUCCESS, FAILURE, ANY):
            expected = "names that have no meaning of their own"
            yield DefinitionError(f"{of}: answers", expected=expected, got=repr(answer)), ("answers",)
        if (times := ask.answers.count(answer)) > 1:
            got = f"{answer!r} {times} times"
            yield DefinitionError(f"{of}: answers", expected="each once", got=got), ("answers",)
    for answer, title in titles.items():
        if answer not in answers:
            error = DefinitionError(f"{of}: titles", expected=unknown("answer", answer, answers))
            yield error, ("titles", answer)
        for other in answers:
            if other != answer and title in (other, titles.get(other)):  # an answer is taken by either
                expected = f"one that answer {other!r} has neither as its identifier nor as its title"
                error = DefinitionError(f"{of}: the title of answer {answer!r}", expected=expected, got=repr(title))
                yield error, ("titles", answer)
