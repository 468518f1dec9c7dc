"""The cache of native code that is called from Python or by address: files named after `code_digest`.

Numba's own cache checks whether the file of the cached function has changed. That is not enough, because the function
calls code in other files; and it is too strict, because a comment changes a file. Here a file's name is the digest of
everything that determines the code. So no entry is ever outdated, and no index is needed: processes that compile the
same function at the same time write the same file, each atomically by renaming. What takes long to compile
(`compile_by_address`) is compiled by one of them; the others wait for its file.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import pickle
import re
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from numba.core import compiler, sigutils
from numba.core.caching import _Cache
from numba.core.ccallback import CFunc
from numba.core.serialize import dumps

from robot_rt_control.native.cache_folder import NUMBA_VARIABLE, cache_root, own_folder, read_code
from robot_rt_control.native.code_digest import code_digest
from robot_rt_control.vocabulary.private_files import private

KEPT = 16
"""Most recently used files that are always kept for each function. Several installations may share one cache."""
KEPT_S = 30 * 24 * 3600.0
"""[s] Any other file is removed after this time without use, when the function is compiled again."""
PATIENCE_S = 300.0
"""[s] for which another process may compile the same code before this one does it as well. The loop takes 30 s, and
minutes on a busy machine: compiling it twice would make that busier."""


_ROOT = cache_root() / "numba"

if os.environ.get(NUMBA_VARIABLE):  # plugins of the hardware may use it in this process
    own_folder(Path(os.environ[NUMBA_VARIABLE]))


@contextlib.contextmanager
def alone(compiled: Path) -> Iterator[None]:
    """Compile while no other process compiles the same, to load what that one has compiled.

    If that one dies, the next goes on. If it takes longer than PATIENCE_S, perhaps because it is stopped, both compile.

    Args:
        compiled: the file or folder to be made; nobody waits any more once it is there.
    """
    path = own_folder(cache_root() / "compiling", make=True) / compiled.stem
    deadline = time.monotonic() + PATIENCE_S
    with contextlib.ExitStack() as held:
        while time.monotonic() < deadline and not compiled.exists():
            file = open(path, "w", opener=private)  # noqa: SIM115
            with contextlib.ExitStack() as opened:
                opened.enter_context(file)
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    time.sleep(0.02)
                    continue
                # One that has ended removed its file: a lock on that one keeps nobody else out.
                with contextlib.suppress(FileNotFoundError):
                    if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                        held.push(opened.pop_all())
                        held.callback(path.unlink, missing_ok=True)
                        break
        yield


class CodeCache(_Cache):
    """The cache of one function, as Numba expects it. Frozen values are checked at each compilation.

    Args:
        function: the Python function.
        options: compiler options of the function.
    """

    def __init__(self, function: Any, options: dict[str, Any]) -> None:
        self._function, self._options = function, options
        self._folder = _ROOT / re.sub(r"[^\w.]", "", f"{function.__module__}.{function.__qualname__}")
        self._enabled = True

    @property
    def cache_path(self) -> str:
        """The folder of this function's files."""
        return str(self._folder)

    def enable(self) -> None:
        """Enable loading and saving."""
        self._enabled = True

    def disable(self) -> None:
        """Disable loading and saving."""
        self._enabled = False

    def flush(self) -> None:
        """Remove this function's files."""
        for file in self._files():
            file.unlink(missing_ok=True)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The cached function for these argument types; None if it is not cached.

        Raises:
            RobotControlError: another user can have written the cache.
        """
        target_context.refresh()
        file = self.file(sig, target_context)
        if not self._enabled:
            return None
        try:
            loaded = compiler.CompileResult._rebuild(target_context, *pickle.loads(read_code(file)))
        except FileNotFoundError:
            return None
        # The disk was full, or the machine lost power; or a module that it names has been moved.
        except (EOFError, pickle.UnpicklingError, ImportError):
            file.unlink(missing_ok=True)
            return None
        with contextlib.suppress(OSError):
            os.utime(file)  # marks it as used, for `_prune`
        return loaded

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save a compiled function, unless its code contains addresses of this process."""
        if not self._enabled or data.library.has_dynamic_globals or any(not x.can_cache for x in data.lifted):
            return
        own_folder(self._folder, make=True)
        with tempfile.NamedTemporaryFile(dir=self._folder, suffix=".part", delete=False) as file:
            file.write(dumps(data._reduce()))
        os.replace(file.name, self._file(sig, data.codegen))
        self._prune()

    def file(self, sig: Any, target_context: Any) -> Path:
        """Where the function compiled for these argument types is kept."""
        return self._file(sig, target_context.codegen())

    def _file(self, sig: Any, codegen: Any) -> Path:
        digest = hashlib.sha256(code_digest(self._function).encode())
        digest.update(repr((sorted(self._options.items()), str(sig), codegen.magic_tuple())).encode())
        return self._folder / f"{digest.hexdigest()[:40]}.nbc"

    def _files(self) -> list[Path]:
        return [f for f in self._folder.glob("*") if f.suffix in (".nbc", ".part")]

    def _prune(self) -> None:
        """Remove files that have not been used for a long time. Another process may do so at the same time."""
        ages = []
        for file in self._files():
            with contextlib.suppress(FileNotFoundError):
                ages.append((time.time() - file.stat().st_mtime, file))
        for age, file in sorted(ages)[KEPT:]:
            if age > KEPT_S:
                file.unlink(missing_ok=True)


def compile_by_address(function: Any, signature: Any) -> Any:
    """Compile a function that is called by its address, as `numba.cfunc` does, with this cache.

    Args:
        function: a Python function of this package.
        signature: a Numba signature with its return type.
    """
    options = {"nopython": True}
    entry: Any = CFunc(function, sigutils.normalize_signature(signature), locals={}, options=options)
    entry._cache = cache = CodeCache(function, options)
    file = cache.file(entry._sig, entry._targetdescr.target_context)
    with contextlib.nullcontext() if file.exists() else alone(file):
        entry.compile()
    return entry
