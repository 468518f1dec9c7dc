"""Checks a plugin's parameters against a pydantic model and says clearly what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from robot_rt_control.vocabulary.errors import HardwareError, unknown


class Parameters(BaseModel):
    """Base of parameter models: unknown names are refused, values are not converted from text."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)


Finite = Annotated[float, Field(allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]
Vector = tuple[Finite, Finite, Finite]


_Model = TypeVar("_Model", bound=BaseModel)


def _known_names(model: type[BaseModel], location: tuple[Any, ...]) -> list[str]:
    """Names that are valid beside the last one of `location`, where the path leads through plain models."""
    for step in location[:-1]:
        if not isinstance(step, str) or step not in model.model_fields:
            return []
        annotation = model.model_fields[step].annotation
        if not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
            return []
        model = annotation
    return list(model.model_fields)


def checked(model: type[_Model], values: Mapping[str, Any], where: str) -> _Model:
    """The values as an object of the model.

    Raises:
        HardwareError: names every wrong value, where it is, and what came.
    """
    try:
        return model.model_validate(dict(values))
    except ValidationError as error:
        problems = []
        for problem in error.errors():
            path = ".".join(str(step) for step in problem["loc"])
            if problem["type"] == "extra_forbidden":
                names = _known_names(model, problem["loc"])
                expected = f" (expected {unknown('parameter', str(problem['loc'][-1]), names)})" if names else ""
                problems.append(f"{path}: unknown parameter{expected}")
            elif problem["type"] == "missing":
                problems.append(f"{path}: missing")
            elif problem["type"] == "refused":
                key = problem["ctx"].get("key")
                got = "" if key else f", got {problem['input']!r}"
                problems.append(f"{path}{f'.{key}' if key else ''}: expected {problem['msg']}{got}")
            else:
                problems.append(f"{path or 'value'}: {problem['msg']}, got {problem['input']!r}")
        raise HardwareError(f"{where}: " + "; ".join(problems)) from error
