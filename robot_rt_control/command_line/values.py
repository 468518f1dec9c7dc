"""Parameters on a command line."""

from __future__ import annotations

import argparse
from typing import Any


def assignment(text: str) -> tuple[str, Any]:
    """`name=value`: a number, true, false, a list of numbers, or a text.

    Raises:
        argparse.ArgumentTypeError: it is not valid.
    """
    from robot_rt_control.text.document import Document  # slow
    from robot_rt_control.text.scalar import parse_scalar
    from robot_rt_control.vocabulary.capacities import MAX_PROGRAM_BYTES
    from robot_rt_control.vocabulary.errors import DefinitionError

    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"expected name=value, got {text!r}")
    if value.lstrip().startswith("["):
        try:
            elements = Document(value, name, max_bytes=MAX_PROGRAM_BYTES).data
            return name, [float(element) for element in elements]
        except (DefinitionError, TypeError, ValueError):
            raise argparse.ArgumentTypeError(f"{name}: expected a list of numbers, got {value!r}") from None
    parsed = parse_scalar(value)
    return name, value if parsed is None else parsed
