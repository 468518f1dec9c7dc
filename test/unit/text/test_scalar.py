"""Unquoted scalars."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_rt_control.text.scalar import parse_scalar


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("-007", -7),
        ("+3", 3),
        ("0x1F", 31),
        ("0o17", 15),
        ("1.", 1.0),
        (".5", 0.5),
        ("1e-3", 0.001),
        ("1E5", 100000.0),
        ("-.inf", -math.inf),
        ("true", True),
        ("FALSE", False),
        ("", None),
        ("~", None),
        ("null", None),
        ("on", "on"),
        ("yes", "yes"),
        ("1:30", "1:30"),
        ("1_000", "1_000"),
        ("2026-11-21", "2026-11-21"),
        ("0.2 m", "0.2 m"),
        ("9" * 5000, "9" * 5000),
    ],
)
def test_scalars(text: str, value: object) -> None:
    got = parse_scalar(text)
    assert got == value
    assert type(got) is type(value)


def test_not_a_number() -> None:
    assert math.isnan(parse_scalar(".nan"))  # type: ignore[arg-type]  # it is a float


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**64), 2**64))
def test_numbers_round_trip(value: float) -> None:
    got = parse_scalar(repr(value))
    assert got == value
    assert type(got) is type(value)
