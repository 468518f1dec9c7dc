"""The key under which an action type's native code is kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from robot_rt_control.definitions import native_code
from robot_rt_control.definitions.action_type import parameter_dtype, state_dtype
from robot_rt_control.memory.layout import layout_digest, part_dtype
from robot_rt_control.native import toolchain
from robot_rt_control.native.code_digest import code_digest
from robot_rt_control.native.module_digest import module_digest
from robot_rt_control.server.code.source import ActionSource, files_digest

_BUILDER = tuple(
    f"robot_rt_control.server.{name}"
    for name in (
        *("builder.native", "builder.type_check", "builder.call_lines", "builder.allowed_symbols", "builder.measure"),
        *("builder.c_code", "builder.c_header"),
        "code.source",
    )
)
"""What makes native code of an action type, refuses it, or measures it after it was compiled."""


def native_key(source: ActionSource, functions: Iterable[Any], further: Iterable[str] = ()) -> str:
    """The key of an action type's native code: it differs whenever the code, or what was measured of it, could.

    Comments and docstrings do not count, in users' files as little as in this package.

    Args:
        source: the action type.
        functions: its real-time methods, and the functions that they call and that are compiled with them.
        further: what decides about methods in C or C++.

    Returns:
        64 hexadecimal digits.
    """
    digest = hashlib.sha256()

    def add(*values: object) -> None:
        digest.update(json.dumps([str(v) for v in values]).encode())

    add(native_code.FORMAT, toolchain.compiler(), toolchain.processor(), code_digest(*functions))
    add(*[module_digest(name, imports=False) for name in _BUILDER])
    add(source.class_name, source.file.name, len(source.action_type.slots))
    add(*[layout_digest(d) for d in (part_dtype, state_dtype(source.action_type), parameter_dtype(source.action_type))])
    # The whole files of the action type: its example and `prepare_parameters` decide what is measured.
    add(files_digest(source.module), *further)
    return digest.hexdigest()
