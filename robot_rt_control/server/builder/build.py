"""Building an action type: load, check, compile, cache. Runs in the builder process."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from numba.core import config

from robot_rt_control.definitions import native_code
from robot_rt_control.definitions.action_type import ActionType, gap_method, stream_inputs
from robot_rt_control.definitions.declared_type import DeclaredType
from robot_rt_control.memory.layout import layout_digest, part_dtype
from robot_rt_control.native import toolchain
from robot_rt_control.native.code_cache import alone
from robot_rt_control.server.builder.built_type import UNPROVEN, BuiltType
from robot_rt_control.server.builder.c_code import CCode, c_code_of, compile_c
from robot_rt_control.server.builder.measure import compute_time
from robot_rt_control.server.builder.native import MachineCode, compile_action
from robot_rt_control.server.builder.native_key import native_key
from robot_rt_control.server.builder.realtime_methods import python_function
from robot_rt_control.server.builder.syntax_check import CheckedCode, check_syntax
from robot_rt_control.server.code.source import ActionSource, files_digest, layouts_of, load_action_type
from robot_rt_control.vocabulary.errors import CompileError


def _nobody(_message: str) -> None:
    """Drop the progress."""


def build(
    spec: str | type[ActionType],
    progress: Callable[[str], None] = _nobody,
    trusted: Sequence[Path] | None = None,
) -> BuiltType:
    """Build an action type in this process. Servers use `Builder`, which does it in another one.

    Args:
        spec: "file.py:Class", "module:Class" or the class itself.
        progress: called with what is being done, in a few words.
        trusted: folders whose C and C++ code is accepted; None: all, the caller is its author.

    Raises:
        CompileError: the code is refused.
    """
    started = time.monotonic()
    if config.DISABLE_JIT:
        raise CompileError("the builder cannot compile with NUMBA_DISABLE_JIT=1", hint="Unset it for the builder")
    source = load_action_type(spec)
    in_c = c_code_of(source, trusted)
    checked = check_syntax(source) if in_c is None else CheckedCode({})
    layouts_of(source.action_type)
    declared = DeclaredType.of(source.action_type, checked.command_modes)
    if in_c is None:
        functions = [f for f in map(python_function, checked.helpers.values()) if f is not None]
        functions += [m.function for m in checked.methods.values()]
        key = native_key(source, functions)
        what = ", ".join(checked.methods)
        metadata, cached = _stored(
            source, key, what, progress, lambda: compile_action(source.action_type, checked, source.module, key)
        )
    else:
        key, metadata, cached = _stored_c(source, in_c, progress)
        progress(f"{in_c.file}: {UNPROVEN}")
    if native_code.measured(key) is None:
        progress(f"measuring {source.action_type.name}")
    seconds, why_not = compute_time(source.action_type, key, checked.counted)
    if why_not:
        progress(f"the compute time of {source.action_type.name} is not known ({why_not}): declare an `example` for it")
    return BuiltType(
        spec=source.spec,
        key=key,
        declared=declared,
        files=files_digest(source.module),
        methods=metadata.methods,
        compute_time=seconds,
        worst_time=checked.work.seconds if in_c is None else math.nan,
        worst_loop=checked.work.longest,
        cached=cached,
        seconds=time.monotonic() - started,
        unproven="" if in_c is None else str(in_c.file),
    )


def build_c(action_type: type[ActionType]) -> str:
    """Build a type whose real-time methods are C or C++ in this process, for interpreted tests; nothing is measured.

    Returns:
        The key of its native code, which is in the cache.

    Raises:
        CompileError: as `build`.
    """
    source = load_action_type(action_type)
    code = c_code_of(source, None)
    assert code is not None
    key, _, _ = _stored_c(source, code, _nobody)
    return key


def _stored_c(
    source: ActionSource, code: CCode, progress: Callable[[str], None]
) -> tuple[str, native_code.NativeMetadata, bool]:
    key = native_key(source, (), code.decisive)
    what = f"{code.file.name} with {code.compiler.name}"
    return key, *_stored(source, key, what, progress, lambda: compile_c(code, source.action_type, key, progress))


def _stored(
    source: ActionSource, key: str, what: str, progress: Callable[[str], None], compile_it: Callable[[], MachineCode]
) -> tuple[native_code.NativeMetadata, bool]:
    """The native code of a key, compiled unless it is in the cache; and whether it was there."""
    metadata = native_code.find(key)
    cached = metadata is not None
    if metadata is None:
        progress(f"compiling {source.action_type.name}: {what}")
        with alone(native_code.folder_of(key)):
            metadata = native_code.find(key)  # another builder may have compiled it by now
            if metadata is None:
                machine_code = compile_it()
                metadata = _describe(source, key, machine_code.symbols, machine_code.needed, machine_code.code)
                native_code.store(metadata, machine_code.code)
    return metadata, cached


def _describe(
    source: ActionSource, key: str, symbols: dict[str, str], needed: tuple[str, ...], code: bytes
) -> native_code.NativeMetadata:
    state, parameters = layouts_of(source.action_type)
    return native_code.NativeMetadata(
        key=key,
        type_name=source.action_type.name,
        class_name=source.class_name,
        source_file=str(source.file),
        n_slots=len(source.action_type.slots),
        symbols=symbols,
        needed=needed,
        part_layout=layout_digest(part_dtype),
        state_layout=layout_digest(state),
        state_size=state.itemsize,
        parameter_layout=layout_digest(parameters),
        parameter_size=parameters.itemsize,
        processor=toolchain.processor(),
        created_by=toolchain.compiler(),
        object_digest=hashlib.sha256(code).hexdigest(),
        gap_methods=tuple(gap_method(source.action_type, s.name) or "" for s in stream_inputs(source.action_type)),
    )
