"""What compiles native code and runs it, and a digest of all that decides about the native code of this package.

Nothing here loads the compiler.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import sys
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
    for file in sorted(package.rglob("*.py")):
        content = hashlib.sha256(file.read_bytes()).hexdigest()
        digest.update(f"\n{file.relative_to(package).as_posix()} {content}".encode())
    return digest.hexdigest()
