"""Native code of functions of this package that Python calls, or whose address it passes on, by name.

It is compiled once for these sources; after that no process that calls it loads the compiler, or the modules that the
code was made from. Under the digest of all sources of the package the cache has the name of the object file, which in
turn has the digest of the code: after a change of a comment it is found again, but not compiled.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from robot_rt_control.native.cache_folder import cache_root, read_code
from robot_rt_control.native.compiled_forms import interpreted
from robot_rt_control.native.linking import link
from robot_rt_control.native.object_cache import object_in, write_cached
from robot_rt_control.native.toolchain import sources_digest
from robot_rt_control.vocabulary.errors import RobotControlError

_lock = threading.Lock()
_addresses: dict[str, int] = {}
_digest = functools.cache(sources_digest)


def python_call(
    module: str, name: str, arguments: int, *, returns: bool = True, keeps_gil: bool = True
) -> Callable[..., Any]:
    """A function of integers that Python can call; with NUMBA_DISABLE_JIT=1 the Python function itself.

    Args:
        module, name: where the function is found; `name` may be that of a `@realtime` function.
        arguments: how many integers it takes.
        returns: whether it returns an integer; otherwise None.
        keeps_gil: whether a call keeps the GIL, which is cheaper; one that takes long must not.
    """
    if interpreted():
        return getattr(importlib.import_module(module), name)
    make = ctypes.PYFUNCTYPE if keeps_gil else ctypes.CFUNCTYPE
    kind: Any = make(ctypes.c_int64 if returns else None, *[ctypes.c_int64] * arguments)
    return kind(address(module, name, arguments))


def address(module: str, name: str, arguments: int) -> int:
    """The address of a function `int64 f(int64, …)`; see `python_call`. It is compiled, or loaded, at the first call.

    Raises:
        RobotControlError: another user can have written the cache.
    """
    spec = f"{module}.{name}"
    with _lock:
        if spec not in _addresses:
            symbol = "robot_rt_control_entry_" + spec.replace(".", "_")
            code = _known(spec)
            if code is None:
                # Only here, because it loads the compiler.
                from robot_rt_control.native.entry_compiler import entry_code

                file, code = entry_code(module, name, arguments, symbol)
                _keep(spec, file)
            _addresses[spec] = link(code, [symbol])[symbol]
        return _addresses[spec]


def _names() -> Path:
    return cache_root() / "entries" / _digest()


def _known(spec: str) -> bytes | None:
    """The machine code for these sources; None: it is not in the cache, or damaged."""
    with contextlib.suppress(FileNotFoundError):
        name = read_code(_names() / spec).decode()
        return object_in(cache_root() / "entries" / Path(name).name)
    return None


def _keep(spec: str, file: Path) -> None:
    with contextlib.suppress(OSError, RobotControlError):  # a cache that cannot be written only costs time
        write_cached(_names() / spec, file.name.encode())
