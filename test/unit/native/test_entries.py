"""Native code that Python calls is compiled once; then no process that calls it loads the compiler."""

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import sys
import numpy as np
from robot_rt_control.memory.atomics import load_acquire, store_release
word = np.zeros(1, np.int64)
store_release(word.ctypes.data, np.int64(-9))
print(load_acquire(word.ctypes.data), "numba" in sys.modules)
"""


def called(cache: Path, **settings: str) -> str:
    """What a new process prints: the value, and whether it has loaded the compiler."""
    environment = os.environ | {"ROBOT_RT_CONTROL_CACHE": str(cache)} | settings
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_only_the_first_process_loads_the_compiler(tmp_path: Path) -> None:
    assert called(tmp_path) == "-9 True"
    assert called(tmp_path) == "-9 False"
    assert called(tmp_path, NUMBA_BOUNDSCHECK="1") == "-9 True", "other settings are other code"


def test_damaged_code_is_compiled_again(tmp_path: Path) -> None:
    called(tmp_path)
    files = list((tmp_path / "entries").glob("*.o"))
    assert len(files) == 2
    for file in files:
        file.write_bytes(file.read_bytes()[:-100])
    assert called(tmp_path) == "-9 True"
    assert called(tmp_path) == "-9 False"


def test_interpreted_it_is_the_python_function(tmp_path: Path) -> None:
    assert called(tmp_path, NUMBA_DISABLE_JIT="1") == "-9 False"
    assert not (tmp_path / "entries").exists()
