"""The value types of a workcell file: vectors, quaternions, ranges."""

from __future__ import annotations

import math
from typing import Annotated, Any

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from robot_rt_control.text.schema import finite, number_of, refuse


def _numbers(value: Any) -> tuple[float, ...]:
    if isinstance(value, (list, tuple)):
        numbers = [finite(v) for v in value]
        if None not in numbers:
            return tuple(n for n in numbers if n is not None)
    raise refuse("a list of finite numbers")


def _per_joint(value: Any) -> float | tuple[float, ...]:
    number = finite(value)
    if number is not None:
        return number
    try:
        return _numbers(value)
    except PydanticCustomError:
        raise refuse("a finite number for all joints, or a list with one for each") from None


def _triple(value: Any) -> tuple[float, float, float]:
    numbers = _numbers(value)
    if len(numbers) != 3:
        raise refuse("three numbers x, y, z")
    return numbers[0], numbers[1], numbers[2]


def _six(value: Any) -> tuple[float, float, float, float, float, float]:
    numbers = _numbers(value)
    if len(numbers) != 6:
        raise refuse("six numbers ixx, ixy, ixz, iyy, iyz, izz")
    xx, xy, xz, yy, yz, zz = numbers
    return xx, xy, xz, yy, yz, zz


def _range(value: Any) -> tuple[float, float]:
    numbers = _numbers(value)
    if len(numbers) != 2 or not numbers[0] < numbers[1]:
        raise refuse("two numbers, the lower one first")
    return numbers[0], numbers[1]


def _level(value: Any) -> float:
    return float(value) if isinstance(value, bool) else number_of(value)


def _quaternion(value: Any) -> tuple[float, float, float, float]:
    numbers = _numbers(value)
    length = math.sqrt(sum(n * n for n in numbers))
    if len(numbers) != 4 or abs(length - 1.0) > 1e-3:
        raise refuse("a quaternion x, y, z, w of length 1 (within 0.001)")
    x, y, z, w = (n / length for n in numbers)
    return x, y, z, w


Numbers = Annotated[tuple[float, ...], BeforeValidator(_numbers)]
PerJoint = Annotated[float | tuple[float, ...], BeforeValidator(_per_joint)]
Triple = Annotated[tuple[float, float, float], BeforeValidator(_triple)]
Six = Annotated[tuple[float, float, float, float, float, float], BeforeValidator(_six)]
Quaternion = Annotated[tuple[float, float, float, float], BeforeValidator(_quaternion)]
Range = Annotated[tuple[float, float], BeforeValidator(_range)]
Level = Annotated[float, BeforeValidator(_level)]  # of an output: true, false or a number
