"""The numbered examples, run as they are in simulated time."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import matplotlib.image
import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="session")
def example() -> Callable[[str], ModuleType]:
    """The module of an example by its file's name: the names begin with digits, so that `import` cannot."""

    sys.path.insert(0, str(EXAMPLES))  # as for a script that is run: what the examples share is beside them

    def load(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module  # pickle looks it up there
        spec.loader.exec_module(module)
        return module

    return load


@pytest.fixture(scope="session")
def colours() -> Callable[[Path], int]:
    """How many colours a picture has, each in at least a thousandth of it; an empty one has one."""

    def count(file: Path) -> int:
        pixels = (matplotlib.image.imread(file)[:, :, :3] * 15.0).round().astype(int)
        _, often = np.unique(pixels.reshape(-1, 3) @ (256, 16, 1), return_counts=True)
        return int((often >= often.sum() / 1000).sum())

    return count
