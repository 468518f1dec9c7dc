"""What compiles native code and runs it, and a digest of all that decides about the native code of this package.

Nothing here loads the compiler.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]


@functools.cache
def processor() -> str:
    """The processor that native code is made for: name and features, as LLVM knows them."""
    from llvmlite import binding  # late, for the many processes that import this and run no native code

    features = binding.get_host_cpu_features().flatten()
    return f"{binding.get_host_cpu_name()} {hashlib.sha256(features.encode()).hexdigest()[:16]}"


@functools.cache
def compiler() -> str:
    """The versions of the packages that generate native code."""
    return ", ".join(f"{name} {version(name)}" for name in ("numba", "llvmlite", "numpy"))


def sources_digest(package: Path = PACKAGE) -> str:
    """Digest of all that decides about the native code of this package; 64 hexadecimal digits.

    Args:
        package: its folder.
    """
    digest = hashlib.sha256()
    environment = sorted((name, value) for name, value in os.environ.items() if name.startswith("NUMBA_"))
    digest.update(json.dumps([compiler(), processor(), sys.version, environment]).encode())
    root = os.fspath(package)
    for path in sorted(_sources(root)):
        with open(path, "rb", buffering=0) as file:
            content = hashlib.sha256(file.read()).hexdigest()
        digest.update(f"\n{path[len(root) + 1 :]} {content}".encode())
    return digest.hexdigest()


def _sources(folder: str) -> Iterator[str]:
    """All Python files; three times as fast as `Path.rglob`, at the start of each process."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _sources(entry.path)
            elif entry.name.endswith(".py"):
                yield entry.path
