"""A digest of a module's code and of everything it imports from its own package, without comments and docstrings."""

from __future__ import annotations

import ast
import functools
import hashlib
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import CodeType

_PACKAGE = Path(__file__).resolve().parents[1]
_INSTALLED = tuple(Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib"))


def is_installed(file: str | Path) -> bool:
    """Whether a file belongs to Python or an installed package other than this one."""
    file = Path(file).resolve()
    return not file.is_relative_to(_PACKAGE) and any(file.is_relative_to(root) for root in _INSTALLED)


def module_digest(name: str, *, imports: bool = True) -> str | None:
    """Digest of the code of a module and, if wanted, of all that it imports from its own package or folder.

    Docstrings, comments and line numbers do not count.

    Args:
        name: an imported module.
        imports: whether the modules that it imports are included.

    Returns:
        64 hexadecimal digits; None if the module does not come from a Python source file.
    """
    file = getattr(sys.modules.get(name), "__file__", None)
    if file is None or not file.endswith(".py"):
        return None
    root = _root(Path(file).resolve(), name)
    digest = hashlib.sha256()
    seen: set[Path] = set()
    waiting = [Path(file).resolve()]
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        status = current.stat()
        code, imported = _parsed(current, status.st_mtime_ns, status.st_size, root)
        digest.update(current.relative_to(root).as_posix().encode() + b"\0" + code)
        if imports:
            waiting += imported
    return digest.hexdigest()


def _root(file: Path, name: str) -> Path:
    """The folder from which the module's top-level package is imported."""
    place = file.parent if file.name == "__init__.py" else file.with_suffix("")
    parts = name.split(".")
    # A user's file that is loaded by its path gets a generated name, and may import files beside it.
    return place.parents[len(parts) - 1] if place.parts[-len(parts) :] == tuple(parts) else file.parent


@functools.lru_cache(maxsize=1024)
def _parsed(file: Path, _changed: int, _size: int, root: Path) -> tuple[bytes, tuple[Path, ...]]:
    """Digest of a file's code, and the files below `root` that it imports, in a fixed order."""
    text = file.read_bytes()
    tree = ast.parse(text, str(file))
    found = {f for n in ast.walk(tree) for name in _imported(n, file, root) for f in _files(root, name)}
    code = compile(_bare(tree), "", "exec", dont_inherit=True)
    return _code_digest(code), tuple(sorted(found, reverse=True))


def _bare(tree: ast.Module) -> ast.Module:
    """Remove docstrings and line numbers: Python puts instructions for them into the code."""
    for node in ast.walk(tree):
        if isinstance(node, ast.expr | ast.stmt | ast.excepthandler | ast.arg | ast.keyword | ast.alias):
            node.lineno = node.end_lineno = 1
            node.col_offset = node.end_col_offset = 0
        body = getattr(node, "body", None)
        if isinstance(body, list):
            said = [s for s in body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
            node.body = said or [ast.Pass(lineno=1, col_offset=0)]  # type: ignore[attr-defined]  # it has one
    return tree


def _imported(node: ast.AST, file: Path, root: Path) -> Iterator[str]:
    """Dotted names that an import statement may load."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = node.module or ""
        if node.level:
            package = file.parents[node.level - 1].relative_to(root).parts
            base = ".".join((*package, *filter(None, [base])))
        yield base
        yield from (f"{base}.{alias.name}" for alias in node.names)


def _files(root: Path, name: str) -> Iterator[Path]:
    """The source file of a module below a folder; empty if there is no such module."""
    if not name:
        return
    place = root.joinpath(*name.split("."))
    for file in (place.with_suffix(".py"), place / "__init__.py"):
        if file.is_file():
            yield file


def _code_digest(code: CodeType) -> bytes:
    digest = hashlib.sha256(code.co_code)
    shape = (code.co_name, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_flags)
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)
    digest.update(repr((shape, counts, getattr(code, "co_exceptiontable", b""))).encode())
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            digest.update(_code_digest(constant))
        else:
            digest.update(repr(sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant).encode())
        digest.update(b"\0")
    return digest.digest()
