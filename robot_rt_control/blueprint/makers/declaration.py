"""`@skill`: what a Python function says of itself, as the text of a skill."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from robot_rt_control.text.dump import dump
from robot_rt_control.vocabulary.errors import DefinitionError

_F = TypeVar("_F", bound=Callable[..., Any])
ATTRIBUTE = "__robot_skill__"
_TYPES = {float: "float", int: "int", bool: "bool", str: "text"}


def skill(
    *,
    name: str = "",
    level: str = "capability",
    category: str = "",
    results: Mapping[str, Any] | Iterable[str] = (),
    outputs: Mapping[str, Any] | None = None,
    roles: Mapping[str, Any] | None = None,
    scenarios: Iterable[str] = (),
    tags: Iterable[str] = (),
) -> Callable[[_F], _F]:
    """Make a skill of a function `f(handle, …)`, in a file that the workcell names under `capabilities`.

    Parameters by annotation: float, int, bool, str, Literal["red", "blue"], list[float]; with a unit
    Annotated[float, "m"]; with limits Annotated[float, "m", (0.0, 0.5)]. The docstring is the description.

    It returns None (done), the name of a result, its outputs, or both: `return "found", {"x": 0.1}`. What it raises
    becomes `failed`, with file and line.

    Args:
        name: default: the function's.
        level, category, roles, scenarios, tags: as in a skill's file.
        results: beside done, failed, timeout, cancelled: names, or name → {failure: true}.
        outputs: name → unit, or {type, unit}.
        roles: of the parts that it moves: name → kind, kinds, or {kinds, default}.
    """

    def declare(function: _F) -> _F:
        function.__dict__[ATTRIBUTE] = {
            "name": name or function.__name__,
            "level": level,
            "category": category,
            "scenarios": list(scenarios),
            "tags": list(tags),
            "results": {r: {} for r in results} if not isinstance(results, Mapping) else dict(results),
            "outputs": {n: {"unit": o} if isinstance(o, str) else o for n, o in (outputs or {}).items()},
            "roles": {n: _role(r) for n, r in (roles or {}).items()},
        }
        return function

    return declare


def _role(given: Any) -> Any:
    if isinstance(given, str):
        return {"kinds": [given]} if given else {}
    return dict(given) if isinstance(given, Mapping) else {"kinds": list(given)}


def text_of(function: Callable[..., Any], place: str) -> str:
    """The YAML text of a declared function.

    Args:
        place: "vision.py:count_parts".

    Raises:
        DefinitionError: a parameter has no annotation that says its type.
    """
    declared: dict[str, Any] = dict(getattr(function, ATTRIBUTE))
    declared["description"] = inspect.getdoc(function) or ""
    _, *parameters = inspect.signature(function).parameters.values()
    try:
        hints = get_type_hints(function, include_extras=True)
    except NameError as error:
        raise DefinitionError(f"the annotations of {function.__name__}()", got=str(error)) from None
    declared["parameters"] = {p.name: _parameter(function, p, hints.get(p.name)) for p in parameters}
    declared["is"] = {"python": place}
    return dump({key: value for key, value in declared.items() if value})


def _parameter(function: Callable[..., Any], parameter: inspect.Parameter, hint: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if get_origin(hint) is Annotated:
        hint, *extra = get_args(hint)
        for item in extra:
            if isinstance(item, str):
                found["unit"] = item
            elif isinstance(item, tuple) and len(item) == 2:
                limits = zip(("minimum", "maximum"), item, strict=True)
                found |= {key: value for key, value in limits if math.isfinite(value)}
    if get_origin(hint) in (list, tuple) and get_args(hint):
        found["length"] = "any"
        hint = get_args(hint)[0]
    if get_origin(hint) is Literal:
        found["choices"] = [str(choice) for choice in get_args(hint)]
        hint = str
    if hint not in _TYPES or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        raise DefinitionError(
            f"parameter {parameter.name!r} of {function.__name__}()",
            expected="an annotation: float, int, bool, str, Literal of texts, or a list of these",
            got="none" if hint is None else str(hint),
        )
    found["type"] = _TYPES[hint]
    if parameter.default is not parameter.empty:
        default = parameter.default
        found["default"] = list(default) if isinstance(default, list | tuple) else default
    return found
