"""Converts pydantic's errors to DefinitionError: file, line, item, expected, got."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from robot_rt_control.model.workcell_schema import WorkcellFile
from robot_rt_control.model.yaml_source import Document, Place
from robot_rt_control.vocabulary.errors import DefinitionError


def _place(document: Document, location: tuple[int | str, ...], missing: bool) -> tuple[Place, Any]:
    """The item of an error, and its value in the file. Pydantic's names of unions are omitted."""
    place, value = document.root, document.data
    for index, step in enumerate(location):
        inside = (isinstance(value, Mapping) and step in value) or (
            isinstance(value, list) and isinstance(step, int) and step < len(value)
        )
        if inside:
            place, value = place / step, value[step]
        elif missing and index == len(location) - 1:
            place = place / step
    return place, value


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "…"


def _translate(document: Document, error: Mapping[str, Any]) -> DefinitionError:
    kind, context = error["type"], error.get("ctx", {})
    place, value = _place(document, error["loc"], kind == "missing")
    if kind == "missing":
        return DefinitionError(str(place), expected="this field", got="nothing")
    if kind == "refused":
        if "key" in context:
            place, value = place / context["key"], None
            return DefinitionError(str(place), expected=context["expected"])
        return DefinitionError(str(place), expected=context["expected"], got=_shown(value))
    if kind == "union_tag_not_found":
        return DefinitionError(str(place / "kind"), expected="the kind of the part", got="nothing")
    if kind == "union_tag_invalid":
        return DefinitionError(
            str(place / "kind"), expected=f"one of {context['expected_tags']}", got=repr(context["tag"])
        )
    expected = (
        error["msg"].removeprefix("Input should be ").removeprefix("Tuple should ").removeprefix("Dictionary should ")
    )
    return DefinitionError(str(place), expected=expected, got=_shown(value))


def parse_workcell(document: Document) -> WorkcellFile:
    """Check a document against the schema.

    Raises:
        DefinitionError: the first fault; the hint gives the number of further faults.
    """
    if not isinstance(document.data, Mapping):
        raise DefinitionError(
            str(document.path), expected="a mapping with name, parts and devices", got=_shown(document.data)
        )
    try:
        return WorkcellFile.model_validate(document.data)
    except ValidationError as failure:
        errors = failure.errors(include_url=False)
        first = _translate(document, errors[0])
        if len(errors) > 1:
            count = len(errors) - 1
            first = DefinitionError(
                first.what,
                expected=first.expected,
                got=first.got,
                hint=f"There {'is' if count == 1 else 'are'} {count} more: "
                + "; ".join(_translate(document, e).what for e in errors[1:4]),
            )
        raise first from failure
