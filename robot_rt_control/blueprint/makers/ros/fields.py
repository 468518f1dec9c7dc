"""Messages of any installed type: found by name, filled from YAML, and read by the names of their fields."""

from __future__ import annotations

import functools
import importlib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from robot_rt_control.definitions.parameter_value import Value
from robot_rt_control.text.message_field import FieldPath, parse_field
from robot_rt_control.vocabulary.errors import DefinitionError, shortened, unknown

_ELEMENT = re.compile(r"(?:sequence<)?(\w+)/(\w+)(?:,\s*\d+>|>|\[\d+\])?")
_SHOWN = 120
"""Characters of a message in a few words."""
_EXAMPLE = {"action": "nav2_msgs/action/Spin", "srv": "std_srvs/srv/Trigger", "msg": "std_msgs/msg/String"}


def type_of(kind: str, name: str) -> Any:
    """The class of a message, service or action type.

    Args:
        kind: msg, srv or action.
        name: "std_srvs/srv/Trigger".

    Raises:
        DefinitionError: it is not installed.
    """
    words = name.split("/")
    if len(words) != 3 or words[1] != kind or not all(word.isidentifier() for word in words):
        raise DefinitionError("type", expected=f"such as {_EXAMPLE[kind]}", got=repr(name))
    package, _, last = words
    try:
        module = importlib.import_module(f"{package}.{kind}")
    except ImportError as error:
        expected = f"package {package!r}"
        raise DefinitionError(f"type {name!r} is not installed", expected=expected, got=str(error)) from None
    if not hasattr(module, last):
        known = [word for word in vars(module) if word[0].isupper()]
        raise DefinitionError(f"type {name!r} is not installed", expected=unknown(kind, last, known))
    return getattr(module, last)


def filled(kind: Any, fields: Mapping[str, Any], value_of: Callable[[str], Any], of: str = "fields") -> Any:
    """A message of a class, with some of its fields.

    Args:
        value_of: computes a text.

    Raises:
        DefinitionError: there is no such field, or the value does not fit.
    """
    message = _checking(kind)
    declared: Mapping[str, str] = kind.get_fields_and_field_types()
    for name, written in fields.items():
        if name not in declared:
            raise DefinitionError(f"{of}: no field {name!r}", expected=unknown("field", name, declared))
        where = f"{of}.{name}"
        value = _value(declared[name], getattr(message, name), written, value_of, where)
        try:
            setattr(message, name, value)
        except (AssertionError, TypeError, ValueError, OverflowError):
            raise DefinitionError(where, expected=f"a {declared[name]}", got=repr(value)) from None
    return message


def _checking(kind: Any) -> Any:
    """A message that checks what is set: newer ones do so on request only, and what does not fit ends the process."""
    try:
        return kind(check_fields=True)
    except AssertionError:  # an older one, which always checks
        return kind()


def _value(type: str, present: Any, written: Any, value_of: Callable[[str], Any], of: str) -> Any:
    if isinstance(written, Mapping):
        if not hasattr(present, "get_fields_and_field_types"):
            raise DefinitionError(of, expected=f"a {type}", got="fields of a message")
        return filled(present.__class__, written, value_of, of)
    value = value_of(written) if isinstance(written, str) else written
    if isinstance(value, list | tuple):
        element = _ELEMENT.fullmatch(type)
        if element is not None:
            kind = getattr(importlib.import_module(f"{element[1]}.msg"), element[2])
            return [filled(kind, item, value_of, f"{of}[{i}]") for i, item in enumerate(value)]
        values = [value_of(item) if isinstance(item, str) else item for item in value]
        return [_scalar(type, item) for item in values]
    return _scalar(type, value)


def _scalar(type: str, value: Any) -> Any:
    """A number as the kind of number that the field has."""
    if isinstance(value, bool | str):
        return value
    if "float" in type or "double" in type:
        return float(value) if isinstance(value, int) else value
    if "int" in type and isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def check_path(kind: Any, path: str, *, is_number: bool = False) -> str:
    """Check that messages of a class have a field. Returns its type: "string", "double".

    Raises:
        DefinitionError: they have none, or it is not one number although it has to be.
    """
    return _path(path).check(kind, _nested, "message", is_number=is_number)


def read_all(message: Any, path: str) -> tuple[Any, ...]:
    """What a field holds: its one value, or all of an array or of a path with [*]; empty: it is not there."""
    try:
        found = _path(path).read(message)
    except (AttributeError, IndexError):
        return ()
    return tuple(found) if isinstance(found, list | tuple) else (found,)


@functools.lru_cache(maxsize=256)
def _path(text: str) -> FieldPath:
    return parse_field(text, "message", DefinitionError)


def _nested(name: str) -> Any:
    package, _, message = name.partition("/")
    return type_of("msg", f"{package}/msg/{message}")


def output_of(message: Any, path: str) -> Value | None:
    """A field as an output; None: it has no value."""
    try:
        value = _path(path).read(message)
    except (AttributeError, IndexError):
        return None
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, bytes):
        return None
    if isinstance(value, bool | str):
        return value
    if isinstance(value, int | float):
        return value if math.isfinite(value) else None
    try:
        values: tuple[Any, ...] = tuple(value)
    except TypeError:  # a message
        return None
    return values if values and all(isinstance(item, int | float) for item in values) else None


def short_text(message: Any) -> str:
    """The numbers, booleans and texts of a message in a few words, without those of messages in it if it has its own.

    "number_of_recoveries 0, distance_remaining 3.25"; at most _SHOWN characters, empty if there are none.
    """
    level = [("", message)]
    while level:
        found = [(f"{path}.{name}".lstrip("."), getattr(part, name)) for path, part in level for name in _names(part)]
        words = [f"{path} {_word(value)}" for path, value in found if _is_plain(value)]
        if words:
            return shortened(" ".join(", ".join(words).split()), _SHOWN)
        level = [(path, value) for path, value in found if _names(value)]
    return ""


def _names(message: Any) -> Iterable[str]:
    return message.get_fields_and_field_types() if hasattr(message, "get_fields_and_field_types") else ()


def _is_plain(value: Any) -> bool:
    return isinstance(value, bool | int | float) or (isinstance(value, str) and value != "")


def _word(value: bool | str | int | float) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value:.4g}" if isinstance(value, float) else str(value)


class Numbers(Mapping[str, float | Sequence[float]]):
    """The numbers and booleans of a message, for conditions; everything else is unknown."""

    def __init__(self, message: Any) -> None:
        self._message = message

    def __getitem__(self, path: str) -> float | Sequence[float]:
        found = output_of(self._message, path) if self._message is not None else None
        if isinstance(found, tuple):
            return [float(item) for item in found]
        return math.nan if found is None or isinstance(found, str) else float(found)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0
