"""Values of parameters as people type them."""

from __future__ import annotations

from robot_rt_control.text.document import Document
from robot_rt_control.text.scalar import parse_scalar
from robot_rt_control.vocabulary.capacities import MAX_PROGRAM_BYTES
from robot_rt_control.vocabulary.errors import DefinitionError


def typed_value(name: str, text: str) -> float | int | bool | str | list[float]:
    """A number, true, false, a list of numbers, or a text. Numbers between commas are a list without brackets as well.

    Args:
        name: of the parameter, for the error.

    Raises:
        DefinitionError: something else than numbers in brackets, or a number that is too large.
    """
    try:
        return _typed(name, text)
    except OverflowError:
        raise DefinitionError(f"parameter {name!r}", expected="a float64", got=text) from None


def _typed(name: str, text: str) -> float | int | bool | str | list[float]:
    if text.lstrip().startswith("["):
        try:
            return [float(element) for element in Document(text, name, max_bytes=MAX_PROGRAM_BYTES).data]
        except (DefinitionError, TypeError, ValueError):
            raise DefinitionError(f"parameter {name!r}", expected="a list of numbers", got=repr(text)) from None
    if "," in text:
        numbers = [parse_scalar(word.strip()) for word in text.split(",")]
        if all(type(number) in (int, float) for number in numbers):
            return [float(number) for number in numbers if not isinstance(number, str | None)]
    parsed = parse_scalar(text)
    if isinstance(parsed, int):
        float(parsed)  # its digits may be too many
    return text if parsed is None else parsed
