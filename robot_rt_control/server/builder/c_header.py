"""The C header of an action type: its records as NumPy lays them out, and its real-time functions."""

from __future__ import annotations

import inspect
from pathlib import Path

from robot_rt_control.definitions.action_type import PER_JOINT, REALTIME_METHODS, ActionType, Parameter, StateVariable
from robot_rt_control.memory.c_structs import INCLUDES, CStructs, c_name
from robot_rt_control.memory.layout import COMMAND_FIELDS, part_dtype
from robot_rt_control.server.code.source import find_action_types, layouts_of, load_action_type
from robot_rt_control.vocabulary.enums import CommandMode
from robot_rt_control.vocabulary.errors import CompileError, DefinitionError

_HEADER = """\
/* Records and real-time functions of the action type {name!r}, for {source}.
   `robot-rt header` makes this file from the class: do not edit it. Each build uses a fresh one all the same. */
#ifndef {guard}
#define {guard}

{includes}
enum {{ POSITION = {position}, VELOCITY = {velocity}, EFFORT = {effort} }};  /* for command_mode */
enum {{ PER_JOINT = {per_joint} }};  /* length of a field with one value for each joint; the first `dof` are in use */
{structs}
/* A file defines at least one of these. Each is called in a tick, in this order, on_enter only as the action starts.
   0: all is well. Any positive number: the action fails with this status, and its parts take their safety action. */
#ifdef __cplusplus
extern "C" {{
#endif
{functions}
#ifdef __cplusplus
}}
#endif

#endif
"""


def header_name(source: str) -> str:
    """Name of the header for a file of real-time code."""
    return f"{Path(source).stem}_records.h"


def c_arguments(action_type: type[ActionType]) -> list[str]:
    """The parameters of its real-time functions, as they are declared: `Part *arm`."""
    slots = [f"{'' if s.moves else 'const '}Part *{c_name(s.name, f'slot {s.name!r}')}" for s in action_type.slots]
    return ["State *state", "const Params *params", *slots]


def action_header(action_type: type[ActionType]) -> str:
    """The text of the header of an action type whose real-time code is written in C or C++.

    Raises:
        CompileError: it names no file, or a record has a name, type or layout that C does not have.
    """
    source = action_type.realtime_source
    if not source:
        raise CompileError(
            f"action type {action_type.name!r} has no real-time code in C or C++",
            hint='Name its file in the class: realtime_source = "my_action.cpp"',
        )
    state, parameters = layouts_of(action_type)
    structs = CStructs()
    try:
        arguments = c_arguments(action_type)
        structs.add("Part", part_dtype, writable=COMMAND_FIELDS)
        structs.add("Params", parameters, notes={p.name: _note(p) for p in action_type.parameters})
        structs.add("State", state, notes={v.name: _note(v) for v in action_type.state_variables})
    except DefinitionError as error:
        of = f"action type {action_type.name!r} in C or C++: {error.what}"
        raise CompileError(of, expected=error.expected, got=error.got, hint=error.hint) from error
    name = header_name(source)
    return _HEADER.format(
        name=action_type.name,
        source=Path(source).name,
        guard=f"ROBOT_RT_CONTROL_{''.join(c if c.isascii() and c.isalnum() else '_' for c in name).upper()}",
        includes=INCLUDES,
        structs=structs.text,
        functions="\n".join(f"int {method}({', '.join(arguments)});" for method in REALTIME_METHODS),
        position=int(CommandMode.POSITION),
        velocity=int(CommandMode.VELOCITY),
        effort=int(CommandMode.EFFORT),
        per_joint=PER_JOINT,
    )


def _note(declared: Parameter | StateVariable) -> str:
    unit = f"[{declared.unit}] " if declared.unit else ""
    return " ".join(f"{unit}{declared.description}".split())


def realtime_file(action_type: type[ActionType]) -> Path:
    """The C or C++ file of an action type, there or not; its name begins at the folder of the class's."""
    owner = next(c for c in action_type.__mro__ if "realtime_source" in vars(c))
    return (Path(inspect.getfile(owner)).resolve().parent / action_type.realtime_source).resolve()


def write_headers(text: str, folder: Path | None = None) -> list[Path]:
    """Write the header of each action type of a source whose real-time code is C or C++.

    Args:
        text: the source, see server/types/action_sources.py; its code is imported in this process.
        folder: for the headers; None: that of the C or C++ file.

    Returns:
        The headers.

    Raises:
        CompileError: it cannot be imported, no type has C or C++ code, or two of them that share a file have different
            records; nothing was written.
        OSError: one cannot be written.
    """
    specs = [text] if ":" in text else find_action_types(text)
    classes = [load_action_type(spec).action_type for spec in specs]
    wanted = [c for c in classes if c.realtime_source] or classes[:1]  # of one without, the error
    headers: dict[Path, str] = {}
    for one in wanted:
        made, name = action_header(one), header_name(one.realtime_source)
        file = (folder or realtime_file(one).parent) / name
        if headers.setdefault(file, made) != made:
            raise CompileError(
                f"{file}: {len(wanted)} action types have this header, with different records",
                hint="Name one of them, or give each its own C or C++ file: my_action.py:Class",
            )
    for file, made in headers.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(made)
    return list(headers)
