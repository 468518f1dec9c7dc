"""The cache of native code that is called from Python or by address: files named after `code_digest`.

Numba's own cache checks whether the file of the cached function has changed. That is not enough, because the function
calls code in other files; and it is too strict, because a comment changes a file. Here a file's name is the digest of
everything that determines the code. So no entry is ever outdated, and no index is needed: processes that compile the
same function at the same time write the same file, each atomically by renaming. What takes long to compile
(`compile_by_address`) is compiled by one of them; the others wait for its file.

Files of the cache are code: they are unpickled, loaded and imported. So nothing is taken from a folder or file that
another user can have written. The same holds for the folder in which Numba keeps what users' own code caches.
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

from robot_rt_control.native.code_digest import code_digest
from robot_rt_control.vocabulary.private_files import check_own, make_private, private, read_own

KEPT = 16
"""Most recently used files that are always kept for each function. Several installations may share one cache."""
KEPT_S = 30 * 24 * 3600.0
"""[s] Any other file is removed after this time without use, when the function is compiled again."""
PATIENCE_S = 300.0
"""[s] for which another process may compile the same code before this one does it as well. The loop takes 30 s, and
minutes on a busy machine: compiling it twice would make that busier."""


def cache_root() -> Path:
    """Folder of all native code: $ROBOT_RT_CONTROL_CACHE if set, else the user's cache folder."""
    given = os.environ.get("ROBOT_RT_CONTROL_CACHE")
    if given:
        return Path(given)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "robot_rt_control"


_ROOT = cache_root() / "numba"
_NUMBA_VARIABLE = "NUMBA_CACHE_DIR"
_checked: set[Path] = set()


def own_folder(folder: Path, *, make: bool = False) -> Path:
    """A folder with code, checked once in a process.

    Args:
        make: it if it is missing; otherwise a missing one is not looked at.

    Raises:
        RobotControlError: another user can have written in it.
        OSError: it cannot be made.
    """
    if make:
        make_private(folder)
    if folder not in _checked and (make or folder.exists()):
        check_own(
            folder,
            "the cache of compiled code",
            "Delete what others can have written and restrict the folder (chmod go-w), or set ROBOT_RT_CONTROL_CACHE "
            f"(for Numba's own cache: {_NUMBA_VARIABLE}) to a folder of your own",
        )
        _checked.add(folder)
    return folder


def read_code(path: Path) -> bytes:
    """The content of a file of the cache.

    Raises:
        RobotControlError: another user can have written it.
        OSError: it cannot be read.
    """
    own_folder(path.parent)
    return read_own(path, "compiled code", f"Delete {path.parent}: it is compiled again")


def users_numba_folder() -> Path:
    """Where Numba keeps what users' code has it cache (`cache=True`): it unpickles its index files without a look.

    Raises:
        RobotControlError: another user can have written in it.
        OSError: it cannot be made.
    """
    folder = own_folder(Path(os.environ.get(_NUMBA_VARIABLE) or cache_root() / "users"), make=True)
    for path in folder.rglob("*"):
        check_own(path, "Numba's cache", f"Delete {folder}: what it contains is compiled again")
    return folder


if os.environ.get(_NUMBA_VARIABLE):  # plugins of the hardware may use it in this process
    own_folder(Path(os.environ[_NUMBA_VARIABLE]))


@contextlib.contextmanager
def alone(name: str) -> Iterator[None]:
    """Compile while no other process compiles what has the same name, to load what that one has compiled.

    If that one dies, the next goes on. If it takes longer than PATIENCE_S, perhaps because it is stopped, both compile.
    """
    path = own_folder(cache_root() / "compiling", make=True) / name
    with open(path, "w", opener=private) as file:
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(0.02)
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


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
            payload = pickle.loads(read_code(file))
        except FileNotFoundError:
            return None
        except (EOFError, pickle.UnpicklingError):  # the disk was full, or the machine lost power
            file.unlink(missing_ok=True)
            return None
        with contextlib.suppress(OSError):
            os.utime(file)  # marks it as used, for `_prune`
        return compiler.CompileResult._rebuild(target_context, *payload)

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
    with contextlib.nullcontext() if file.exists() else alone(file.stem):
        entry.compile()
    return entry
