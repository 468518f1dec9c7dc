"""Checks a plugin's parameters against a pydantic model and reports every mistake."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeVar

from pydantic import Field, ValidationError

from robot_rt_control.text.document import Path
from robot_rt_control.text.schema import Model, mistakes_of
from robot_rt_control.vocabulary.errors import HardwareError


class Parameters(Model):
    """Base of parameter models: unknown names are refused."""


Finite = Annotated[float, Field(allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]
Vector = tuple[Finite, Finite, Finite]


_Model = TypeVar("_Model", bound=Model)


def checked(
    model: type[_Model], values: Mapping[str, Any], where: str, line: Callable[[Path], str] = lambda path: ""
) -> _Model:
    """The values as an object of the model.

    Args:
        where: begins each mistake.
        line: of a value's path, what comes before: its file and line.

    Raises:
        HardwareError: names every wrong value, its place, and what was given.
    """
    try:
        return model.model_validate(dict(values))
    except ValidationError as failure:
        found = mistakes_of(failure, values)
        raise HardwareError("\n".join(f"{line(path)}{where}: {error}" for error, path in found)) from None
