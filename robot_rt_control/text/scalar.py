"""Unquoted scalars of YAML, by the core schema of YAML 1.2: `on` and `yes` are texts, `1e-3` is a number."""

from __future__ import annotations

import re

Scalar = float | int | bool

_NULL = re.compile(r"~|null|Null|NULL|")
_TRUE, _FALSE = ("true", "True", "TRUE"), ("false", "False", "FALSE")
_INT = re.compile(r"[-+]?[0-9]+")
_BASED_INT = re.compile(r"0x[0-9a-fA-F]+|0o[0-7]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_SPECIAL_FLOAT = re.compile(r"([-+]?)\.(inf|Inf|INF|nan|NaN|NAN)")
_MAX_DIGITS = 400


def parse_scalar(text: str) -> Scalar | str | None:
    """The value of an unquoted scalar."""
    if _NULL.fullmatch(text):
        return None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if len(text) <= _MAX_DIGITS:
        if _INT.fullmatch(text):
            return int(text)
        if _BASED_INT.fullmatch(text):
            return int(text, 0)
        if _FLOAT.fullmatch(text):
            return float(text)
    if match := _SPECIAL_FLOAT.fullmatch(text):
        return float(match[1] + match[2])
    return text
