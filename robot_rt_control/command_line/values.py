"""Parameters on a command line."""

from __future__ import annotations

import argparse
from typing import Any


def assignment(text: str) -> tuple[str, Any]:
    """`name=value`: a number, true, false, a list of numbers, or a text.

    Raises:
        argparse.ArgumentTypeError: it is not valid.
    """
    from robot_rt_control.text.values import typed_value  # slow
    from robot_rt_control.vocabulary.errors import DefinitionError

    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"expected name=value, got {text!r}")
    try:
        return name, typed_value(name, value)
    except DefinitionError:
        raise argparse.ArgumentTypeError(f"{name}: expected a list of numbers, got {value!r}") from None
