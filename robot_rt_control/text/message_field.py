"""Selects a field of a ROS message: `range`, `ranges[0]`, `pose.position.x`, `min(detections[*].distance)`.

    field      = path | reduction "(" path ")"
    path       = name { "." name | "[" index "]" | "[*]" }
    reduction  = min | max | mean | sum | count

An index counts from 0; a negative one counts from the end. A path that ends at an array, or contains `[*]`, gives many
values. Where one number is wanted it needs a reduction, which ignores NaN. Only `get_fields_and_field_types` of a
message is used, no ROS.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from robot_rt_control.vocabulary.errors import RobotControlError, unknown

ALL = "*"
"""A step of a path: every element of an array."""

_FIELD = re.compile(r"\s*(?:(?P<reduction>\w+)\s*\(\s*(?P<inner>[^()]*?)\s*\)|(?P<path>[^()]*?))\s*\Z")
_STEP = re.compile(r"(?:^|\.)(?P<name>[A-Za-z]\w*)|\[(?P<index>-?\d+|\*)\]")
_ARRAY = re.compile(r"(?:sequence<(?P<of>[\w/]+(?:<\d+>)?)(?:, *\d+)?>|(?P<element>[\w/]+)\[\d+\])\Z")
_NUMBERS = re.compile(r"(?:float|double|boolean|octet|u?int(?:8|16|32|64))\Z")

_REDUCTIONS: dict[str, Callable[[list[float]], float]] = {
    "min": min,
    "max": max,
    "sum": math.fsum,
    "mean": lambda values: math.fsum(values) / len(values),
    "count": lambda values: float(len(values)),
}


@dataclass(frozen=True)
class FieldPath:
    """A field of a message.

    Attributes:
        text: as it was given.
        steps: names, indices, and ALL.
        reduction: function that reduces many numbers to one; empty: there is none.
        error: class of what `check` raises.
    """

    text: str
    steps: tuple[str | int, ...]
    reduction: str
    error: type[RobotControlError]

    def read(self, message: Any) -> Any:
        """What is there, of any type; several values as a tuple.

        Raises:
            AttributeError: the message has no such field.
            IndexError: an array is shorter.
        """
        if self.reduction:
            return self.value(message)
        found = tuple(_walk(message, self.steps))
        if ALL in self.steps:
            return found
        if not found:
            raise IndexError(self.text)
        return found[0]

    def value(self, message: Any, empty: float = math.nan) -> float:
        """The number in a message; NaN if an index is beyond the array.

        Args:
            message: of the type that `check` has seen, with a number there.
            empty: result of a reduction of no numbers; `count` and `sum` give 0.
        """
        found = list(_walk(message, self.steps))
        if not self.reduction:
            return _number(found[0]) if found else math.nan
        numbers = [float(n) for value in found for n in _elements(value)]
        if self.reduction != "count":
            numbers = [n for n in numbers if not math.isnan(n)]
        if not numbers and self.reduction not in ("count", "sum"):
            return empty
        return float(_REDUCTIONS[self.reduction](numbers))

    def check(self, message_type: Any, load: Callable[[str], Any], item: str, *, is_number: bool = True) -> str:
        """Check that messages of this type have such a field. Returns the type of what is there: "double", "Point".

        Args:
            message_type: the message's class.
            load: returns the class of a nested message, "geometry_msgs/Point".
            item: owner of the path, for error texts.
            is_number: whether it must be one number; otherwise it may be anything.

        Raises:
            RobotControlError: of the class `error`: they have none; the text names the wrong step.
        """
        kind, many = message_type, False
        shown = message_type.__name__
        for step in self.steps:
            if isinstance(step, str) and step != ALL:
                if isinstance(kind, str):
                    raise self._fault(item, f"no field after a {kind}", f"{step!r}")
                fields = kind.get_fields_and_field_types()
                if step not in fields:
                    raise self._fault(item, unknown(f"field of {shown}", step, fields), f"{step!r}")
                kind = fields[step]
            else:
                array = _ARRAY.match(kind) if isinstance(kind, str) else None
                if array is None:
                    raise self._fault(item, f"no index after {shown}, which is not an array", f"[{step}]")
                kind, many = array["of"] or array["element"], many or step == ALL
            shown = kind if isinstance(kind, str) else kind.__name__
            if isinstance(kind, str) and "/" in kind and not _ARRAY.match(kind):
                kind = load(kind)
        array = _ARRAY.match(kind) if isinstance(kind, str) else None
        if array is not None:
            kind, many = array["of"] or array["element"], True
        if not (is_number or self.reduction):
            return kind if isinstance(kind, str) else shown
        if self.reduction != "count" and not (isinstance(kind, str) and _NUMBERS.match(kind)):
            raise self._fault(item, "a path to a number", f"a {shown}")
        if many and not self.reduction:
            raise self._fault(item, f"one number: an element, or a reduction such as min({self.text})", "an array")
        if self.reduction and not many:
            raise self._fault(item, f"an array after {self.reduction}", f"a {shown}")
        return "double" if self.reduction else str(kind)

    def _fault(self, item: str, expected: str, got: str) -> RobotControlError:
        return self.error(f"{item}: field {self.text!r}", expected=expected, got=got)


def parse_field(text: str, item: str, error: type[RobotControlError]) -> FieldPath:
    """A field's path from its text.

    Raises:
        RobotControlError: of the class `error`: the text does not follow the grammar.
    """
    what = f"{item}: field {text!r}"
    match = _FIELD.match(text)
    if match is None:
        raise error(what, expected="a path such as pose.position.x, ranges[0] or min(ranges)")
    reduction = match["reduction"] or ""
    if reduction and reduction not in _REDUCTIONS:
        raise error(what, expected=unknown("reduction", reduction, _REDUCTIONS), got=repr(reduction))
    path = match["inner"] if reduction else match["path"]
    steps: list[str | int] = []
    position = 0
    while position < len(path):
        step = _STEP.match(path, position)
        if step is None or (position == 0 and step["name"] is None):
            raise error(what, expected="names separated by dots, and [indices]", got=path[position:])
        name, index = step["name"], step["index"]
        steps.append(name if name is not None else ALL if index == ALL else int(index))
        position = step.end()
    if not steps:
        raise error(what, expected="a path such as pose.position.x, ranges[0] or min(ranges)", got="nothing")
    return FieldPath(text.strip(), tuple(steps), reduction, error)


def _walk(value: Any, steps: tuple[str | int, ...]) -> Iterable[Any]:
    """The values at the end of the path; none if an index is beyond its array."""
    for depth, step in enumerate(steps):
        if step == ALL:
            for element in value:
                yield from _walk(element, steps[depth + 1 :])
            return
        if isinstance(step, str):
            value = getattr(value, step)
            continue
        if not -len(value) <= step < len(value):
            return
        value = value[step]
    yield value


def _elements(value: Any) -> Iterable[Any]:
    """The elements of an array, or the one value; a nested message counts as one."""
    if hasattr(value, "__len__") and not isinstance(value, str | bytes):
        return (0.0 if hasattr(element, "get_fields_and_field_types") else _number(element) for element in value)
    return (0.0 if hasattr(value, "get_fields_and_field_types") else _number(value),)


def _number(value: Any) -> float:
    return float(value[0]) if isinstance(value, bytes) else float(value)
