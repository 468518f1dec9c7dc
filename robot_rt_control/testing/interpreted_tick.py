"""The interpreted twin: the same sources as plain Python, beside the compiled ones in one process.

The twin is the reference for all compiled code (tick, kernels, action types): run both on copies of the same memory and
compare. A debugger's breakpoints work in the twin.

    twin = interpreted("robot_rt_control.realtime.tick.tick")
    twin.tick(world, channel)
"""

from __future__ import annotations

import importlib
import sys
import threading
from types import ModuleType

import numba

_PACKAGE = __name__.partition(".")[0]
_lock = threading.Lock()
_twins: dict[str, ModuleType] = {}


def interpreted(name: str, *, also: tuple[str, ...] = ()) -> ModuleType:
    """Import a module, and all that it uses of this package, a second time without Numba's compilation.

    All twins share one copy of the package: what `interpreted("….native_call").register_interpreted` registers,
    `interpreted("….tick").tick` calls. The ordinary modules stay as they are. Types of the twins (enums, exceptions)
    are other objects than the ordinary ones; record types and their memory are compatible.

    With NUMBA_DISABLE_JIT=1 everything is interpreted already, and this is the ordinary module.

    Args:
        name: of the module; of this package, or one that uses it (a test's action types).
        also: modules outside of this package that it imports and that must also be plain Python.
    """
    if numba.config.DISABLE_JIT:
        return importlib.import_module(name)
    with _lock:
        if name not in _twins:
            _import_twin(name, also)
        return _twins[name]


def _is_twin(module: str, others: tuple[str, ...]) -> bool:
    return module == _PACKAGE or module.startswith(f"{_PACKAGE}.") or module in others or module in _twins


def _import_twin(name: str, also: tuple[str, ...]) -> None:
    others = (name, *also)
    ordinary = {m: sys.modules.pop(m) for m in list(sys.modules) if _is_twin(m, others)}
    sys.modules.update(_twins)
    numba.config.DISABLE_JIT = 1
    try:
        importlib.import_module(name)
    finally:
        numba.config.DISABLE_JIT = 0
        _twins.update({m: sys.modules.pop(m) for m in list(sys.modules) if _is_twin(m, others)})
        sys.modules.update(ordinary)
