"""Reads a document by a schema of pydantic models: the models name the keys, check the values and describe both.

Every mistake is reported with file, line, item, expected and got.
"""

from __future__ import annotations

import math
import re
import reprlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from robot_rt_control.text.document import Document, Mistake, Path, dotted
from robot_rt_control.vocabulary.capacities import MAX_MISTAKES, MAX_NAME_LENGTH
from robot_rt_control.vocabulary.errors import DefinitionError, shortened, unknown
from robot_rt_control.vocabulary.names import NAME_PATTERN, check_name


def refuse(expected: str, **context: Any) -> PydanticCustomError:
    """An error of a validator, whose text completes 'expected …'.

    Args:
        context: `got`, if it is not the value itself; `key`, for an item of the value; `what` failed.
    """
    return PydanticCustomError("refused", "{expected}", {"expected": expected, **context})


class Model(BaseModel):
    """Base of all models: unknown keys are refused, with the nearest known ones."""

    # Deferred: a model that is part of another one needs no validator of its own.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    _path: Path = PrivateAttr(())

    @property
    def path(self) -> Path:
        """Its place in the document, if it is an item of `Each`."""
        return self._path

    @model_validator(mode="wrap")
    @classmethod
    def _in_our_words(cls, data: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        try:
            return handler(data)
        except ValidationError as failure:
            errors = failure.errors(include_url=False)[:MAX_MISTAKES]
            details = [InitErrorDetails(type=_refusal(e, cls), loc=e["loc"], input=e["input"]) for e in errors]
            raise ValidationError.from_exception_data(cls.__name__, details) from None


ModelType = TypeVar("ModelType", bound=Model)


def read(
    model: type[ModelType], document: Document, placeholders: Mapping[str, Any] | None = None
) -> tuple[ModelType | None, list[Mistake]]:
    """The content of a document, and all mistakes with their places.

    Args:
        placeholders: content of needed keys at the top that are missing or not valid, so that the rest can be checked.

    Returns:
        The content without invalid items of `Each` and invalid keys at the top; None: the rest is not valid.
    """
    reading = _Reading(document)
    try:
        return model.model_validate(document.data, context=reading), reading.mistakes
    except ValidationError as failure:
        reading.add(failure)
        wrong = {error["loc"][0] for error in failure.errors(include_url=False) if error["loc"]}
    if not isinstance(document.data, dict):
        return None, reading.mistakes
    rest = {**(placeholders or {}), **{key: value for key, value in document.data.items() if key not in wrong}}
    with suppress(ValidationError):
        return model.model_validate(rest, context=_Reading(document)), reading.mistakes
    return None, reading.mistakes


def mistakes_of(failure: ValidationError, data: Any, path: Path = (), skip: int = 0) -> Iterator[Mistake]:
    """The mistakes of a failed validation as DefinitionErrors.

    Args:
        data: the validated data, or what it is an item of.
        path: of the validated item, without the first `skip` steps of the failure's locations.
    """
    for error in failure.errors(include_url=False)[:MAX_MISTAKES]:
        context = _refusal(error).context or {}
        found = _existing(data, (*path, *error["loc"][skip:]))
        if "key" in context:
            found = (*found, context["key"])
        what = ": ".join(filter(None, (dotted(found), context.get("what")))) or "the content"
        yield DefinitionError(what, **{key: context.get(key, "") for key in ("expected", "got", "hint")}), found


def _existing(value: Any, location: Path) -> Path:
    """The item of an error, without pydantic's names of unions."""
    path: Path = ()
    step: Any
    for step in location:
        if (isinstance(value, Mapping) and step in value) or (
            isinstance(value, list | tuple) and isinstance(step, int) and step < len(value)
        ):
            path, value = (*path, step), value[step]
    return path


class _Reading:
    """One reading of a document, as the context of its validators."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.path: Path = ()
        """Path of the present item of `Each`."""
        self.mistakes: list[Mistake] = []

    def add(self, failure: ValidationError, skip: int = 0) -> None:
        """Keep the mistakes; the first `skip` steps of their locations are already in `path`."""
        found = mistakes_of(failure, self.document.data, self.path, skip)
        self.mistakes += [(self.document.locate(error, *path), path) for error, path in found]


def _each(value: Any, handler: ValidatorFunctionWrapHandler, info: ValidationInfo, *, inner: bool = False) -> Any:
    reading = info.context
    if not isinstance(reading, _Reading) or not isinstance(value, dict | list):
        return handler(value)
    mapping = isinstance(value, dict)
    entries: Any = value.items() if isinstance(value, dict) else enumerate(value)
    handler(type(value)())  # a mapping or a list is possible here
    outer = reading.path
    here = outer if inner else (*outer, (info.field_name or "").rstrip("_"))  # with_ is the key `with`
    found: dict[Any, Any] = {}
    for step, given in entries:
        reading.path = (*here, step)
        try:
            item = next(iter(handler({step: given}).values() if mapping else handler([given])))
        except ValidationError as failure:
            reading.add(failure, skip=1)
            if len(reading.mistakes) >= MAX_MISTAKES:
                break
        else:
            found[step] = item
            if isinstance(item, Model):
                item._path = reading.path
    reading.path = outer
    return found if mapping else list(found.values())


Each = WrapValidator(_each)
"""Marks a mapping or list whose items are read one by one: a mistake in one does not discard the others. Models with
such fields are the document's, or items of such fields."""

EachOfEach = WrapValidator(partial(_each, inner=True))
"""As `Each`, for a mapping or list that is itself an item of `Each`."""

_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = 60
_SHOULD = re.compile(r"^[A-Z][a-z]+ should (be )?")
_EXPECTED = {
    "string_type": "a text",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "float_type": "a number",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a mapping (key: value)",
}


def shown(value: Any) -> str:
    """A value as shown in messages."""
    if value is None:
        return "nothing"
    return str(value).lower() if isinstance(value, bool) else shortened(_REPR.repr(value))


def _refusal(error: ErrorDetails, model: type[Model] | None = None) -> PydanticCustomError:
    """A pydantic error as a DefinitionError."""
    kind, value, context = error["type"], error["input"], dict(error.get("ctx", {}))
    if kind == "refused":
        if isinstance(value, Mapping) and context.get("key") in value:
            value = value[context["key"]]
        return refuse(**{"got": shown(value)} | context)
    if kind in ("value_error", "assertion_error"):
        return refuse("", what=str(context["error"]), got=shown(value))
    if kind == "missing":
        key = error["loc"][-1]
        return refuse("this key" if isinstance(key, str) else "this element", key=key, got="nothing")
    if kind == "extra_forbidden":
        key = str(error["loc"][-1])
        known = [f.alias or name for name, f in model.model_fields.items()] if model is not None else ()
        return refuse(unknown("key", key, known), what="unknown key", got=shown(key))
    if kind == "union_tag_not_found":
        return refuse("this key", key=context["discriminator"].strip("'"), got="nothing")
    if kind == "union_tag_invalid":
        key, tag = context["discriminator"].strip("'"), context["tag"]
        return refuse(_one_of(tag, context["expected_tags"]), key=key, got=shown(tag))
    if kind == "literal_error":
        return refuse(_one_of(value, context["expected"]), got=shown(value))
    if kind == "model_type" and model is not None:
        keys = ", ".join(field.alias or name for name, field in model.model_fields.items())
        return refuse(f"a mapping with {keys}", got=shown(value))
    if kind == "string_type" and isinstance(value, bool | int | float):
        return refuse("a text", got=shown(value), hint="Put it in quotes")
    return refuse(_EXPECTED.get(kind) or _SHOULD.sub("", error["msg"]), got=shown(value))


def _one_of(value: Any, quoted: str) -> str:
    """`quoted`: the valid words or numbers in pydantic's form: "'arm', 'base' or 'io'"; "1 or -1"."""
    words = re.findall(r"'([^']*)'", quoted)
    return unknown("word", str(value), words) if words else f"one of: {quoted}"


# --- values that several schemas have -----------------------------------------------------------


def finite(value: Any) -> float | None:
    """A finite number; None: it is not one."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return float(value) if math.isfinite(value) else None
        except OverflowError:  # an int beyond every float
            return None
    return None


def number_of(value: Any) -> float:
    """Refuses everything but finite numbers."""
    number = finite(value)
    if number is None:
        raise refuse("a finite number")
    return number


def _name(value: str) -> str:
    try:
        check_name("name", value)
    except DefinitionError as error:
        raise refuse(error.expected) from None
    return value


Number = Annotated[float, BeforeValidator(number_of)]
Flag = Annotated[bool, Field(strict=True)]
Name = Annotated[
    str,
    AfterValidator(_name),
    Field(json_schema_extra={"pattern": f"^{NAME_PATTERN}$", "maxLength": MAX_NAME_LENGTH}),
]
