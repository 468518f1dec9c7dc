"""Native code is compiled again when what is compiled has changed, and only then."""

import json
import os
import pickle
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numba
import pytest
from numba.core.ccallback import CFunc
from numba.core.environment import Environment
from numba.core.sigutils import normalize_signature

import robot_rt_control
from robot_rt_control.native import cache_folder, code_cache
from robot_rt_control.native.cache_folder import cache_root
from robot_rt_control.native.code_cache import CodeCache, alone, compile_by_address
from robot_rt_control.processes.python import environment
from robot_rt_control.vocabulary.errors import RobotControlError

PROGRAM = """
import json, sys
import numpy as np
from robot_rt_control.memory.atomics import load_acquire
from robot_rt_control.motion.profile import profile_dtype
from robot_rt_control.motion.ramp import ramp_displacement, velocity_ramp
from robot_rt_control.motion.velocity import plan_velocity
import robot_rt_control, numba
assert robot_rt_control.__file__.startswith(sys.argv[1]), robot_rt_control.__file__
ramp_displacement(velocity_ramp(0.0, 0.0, 1.0, 2.0, 3.0), 0.0, 0.0)
plan_velocity(np.zeros(1, profile_dtype)[0], 0.0, 0.0, 0.0, 1.0, 2.0, 3.0)
load_acquire.dispatcher(np.zeros(1, np.int64).ctypes.data)
for function in (velocity_ramp, ramp_displacement, plan_velocity, load_acquire):
    stats = function.for_python.stats
    assert sum(stats.cache_hits.values()) + sum(stats.cache_misses.values()) == 1
compiled = [f.py_func.__name__ for f in (velocity_ramp, ramp_displacement, plan_velocity, load_acquire)
            if f.for_python.stats.cache_misses]
print(json.dumps(compiled))
"""
ALL = ["velocity_ramp", "ramp_displacement", "plan_velocity", "load_acquire"]


class _Copy:
    """A copy of the package with a cache of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(
            Path(robot_rt_control.__file__).parent,
            folder / "robot_rt_control",
            ignore=shutil.ignore_patterns("__pycache__"),
        )

    def compiled(self, **settings: str) -> list[str]:
        """Which functions a new process compiles."""
        environment = os.environ | {
            "PYTHONPATH": str(self.folder),
            "PYTHONDONTWRITEBYTECODE": "1",  # a .pyc file may outlive an edit of its second
            "ROBOT_RT_CONTROL_CACHE": str(self.folder / "cache"),
        }
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, str(self.folder)],
            env=environment | settings,
            capture_output=True,
            text=True,
            cwd=self.folder,
        )
        assert done.returncode == 0, done.stderr
        return list(json.loads(done.stdout))

    def file(self, name: str) -> Path:
        return self.folder / "robot_rt_control" / name


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    copy = _Copy(tmp_path_factory.mktemp("package"))
    assert copy.compiled() == ALL
    assert copy.compiled() == []
    return copy


@pytest.fixture
def edit(warm):
    """Edit files of the copy; afterwards they are as they were."""
    before: dict[Path, str] = {}

    def replace(name: str, old: str, new: str) -> None:
        file = warm.file(name)
        text = before.setdefault(file, file.read_text())
        assert text.count(old) == 1, f"{name} has {old!r} {text.count(old)} times"
        file.write_text(text.replace(old, new))

    yield replace
    for file, text in before.items():
        file.write_text(text)


HARMLESS = {
    "a comment above": ("motion/ramp.py", "import math\n", "import math\n\n# A comment\n# of two lines\n"),
    "a docstring": ("motion/ramp.py", '"""Duration of a ramp [s]."""', '"""How long\n    a ramp takes [s]."""'),
    "the module's docstring": ("motion/profile.py", '"""', '"""Some more words. '),
    "a comment in the compiler": ("native/realtime_compiler.py", "import numba\n", "import numba  # of version 0.68\n"),
    "a docstring of generated code": ("memory/atomics.py", "Address of a record, or", "The address of a record, or"),
    "a function that is not reached": ("motion/ramp.py", "return ramp[1] + ramp[2] + ramp[4]", "return 0.0"),
    "a file that is not reached": ("conditions/tokens.py", "import re\n", "import re\n\nNOTHING = 0\n"),
    "a new function": ("motion/velocity.py", "import math\n", "import math\n\n\ndef nothing() -> None:\n    pass\n\n"),
}


def test_nothing_is_compiled_after_an_edit_that_changes_no_code(warm, edit):
    for what, (name, old, new) in HARMLESS.items():
        if what == "the module's docstring":
            old = warm.file(name).read_text().splitlines()[0]
            new = old.replace('"""', '"""Some more words. ', 1)
        edit(name, old, new)
    assert warm.compiled() == []


_RAMP = {"velocity_ramp", "plan_velocity"}
HARMFUL = {
    "its own body": ("motion/ramp.py", "= v0 + a0 * abs(a0)", "= v0 - a0 * abs(a0)", _RAMP),
    "a number in its body": ("motion/ramp.py", "+ 0.5 * start * start", "+ 0.25 * start * start", _RAMP),
    "a frozen global": ("motion/ramp.py", "ROUNDING = 2.0**-50", "ROUNDING = 2.0**-49", _RAMP),
    "what it calls, in another file": ("motion/velocity.py", "amax > 0.0 and", "amax > 1.0 and", {"plan_velocity"}),
    "generated code": ("memory/atomics.py", '= load_of(64, "acquire")', '= load_of(64, "seq_cst")', {"load_acquire"}),
    "what generates code": ("memory/atomics.py", "order, bits // 8, typ=", "order, 8, typ=", {"load_acquire"}),
    "the compiler": ("native/compiled_forms.py", '"error_model": "numpy"', '"error_model": "python"', set(ALL)),
}


@pytest.mark.long
@pytest.mark.parametrize("what", HARMFUL)
def test_it_is_compiled_again_after_an_edit_of(what, warm, edit):
    name, old, new, expected = HARMFUL[what]
    edit(name, old, new)
    assert expected <= set(warm.compiled())


def test_it_is_compiled_again_after_fields_of_its_record_changed_places(warm, edit):
    lines = warm.file("motion/profile.py").read_text().splitlines()
    first, second = (next(line for line in lines if f'("{name}", "f8")' in line) for name in ("position", "velocity"))
    edit("motion/profile.py", f"{first}\n{second}\n", f"{second}\n{first}\n")
    assert warm.compiled() == ["plan_velocity"]


def test_settings_of_the_compiler_count(warm):
    assert warm.compiled(NUMBA_BOUNDSCHECK="1") == ALL


# --- the files -----------------------------------------------------------------------------------


def _three() -> int:
    return THREE


THREE = 3


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(code_cache, "_ROOT", tmp_path)
    return tmp_path


def test_by_address_it_is_loaded_the_second_time(folder):
    signature = numba.int64()
    first, second = compile_by_address(_three, signature), compile_by_address(_three, signature)
    assert (first.cache_hits, second.cache_hits) == (0, 1)
    assert (first.ctypes(), second.ctypes()) == (3, 3)


def test_a_global_is_looked_at_when_it_is_compiled(folder, monkeypatch):
    compile_by_address(_three, numba.int64())
    monkeypatch.setattr(sys.modules[__name__], "THREE", 4)
    changed = compile_by_address(_three, numba.int64())
    assert (changed.cache_hits, changed.ctypes()) == (0, 4)


def _entry() -> Any:
    entry: Any = CFunc(_three, normalize_signature(numba.int64()), locals={}, options={"nopython": True})
    entry._cache = CodeCache(_three, {"nopython": True})
    return entry


def _file_of(entry: Any) -> Path:
    file: Path = entry._cache.file(entry._sig, entry._targetdescr.target_context)
    return file


def test_while_another_compiles_it_waits_and_then_loads(folder):
    signature, first = numba.int64(), _entry()
    with ThreadPoolExecutor() as pool, alone(_file_of(first)):
        second = pool.submit(compile_by_address, _three, signature)
        first.compile()
        # It waits for the file, and not for the one that made it, which may still have other things to do.
        assert second.result(60.0).cache_hits == 1


def test_of_those_that_waited_for_one_that_failed_one_compiles_at_a_time(folder):
    file, inside, most = _file_of(_entry()), [0], [0]

    def compile_in_turn() -> None:
        with alone(file):
            inside[0] += 1
            most.append(inside[0])
            time.sleep(0.1)
            inside[0] -= 1

    with ThreadPoolExecutor() as pool:
        with alone(file):
            waiting = [pool.submit(compile_in_turn)]
            time.sleep(0.1)
        waiting += [pool.submit(compile_in_turn) for _ in range(2)]
        for one in waiting:
            one.result()
    assert len(most) == 4 and max(most) == 1


def test_it_does_not_wait_for_ever_for_one_that_stands_still(folder, monkeypatch):
    monkeypatch.setattr(code_cache, "PATIENCE_S", 0.05)
    with ThreadPoolExecutor() as pool, alone(_file_of(_entry())):
        assert pool.submit(compile_by_address, _three, numba.int64()).result().cache_hits == 0


@pytest.mark.parametrize("damage", [b"", b"\x80\x04"])
def test_a_damaged_file_is_replaced(folder, damage):
    compile_by_address(_three, numba.int64())
    (file,) = folder.rglob("*.nbc")
    file.write_bytes(damage)
    assert compile_by_address(_three, numba.int64()).cache_hits == 0
    assert pickle.loads(file.read_bytes())


def test_code_of_a_module_that_has_been_moved_is_compiled_again(folder, monkeypatch):
    compile_by_address(_three, numba.int64())
    (file,) = folder.rglob("*.nbc")
    module = _three.__module__.encode()
    assert module in file.read_bytes()
    file.write_bytes(file.read_bytes().replace(module, b"x" * len(module)))
    monkeypatch.setattr(Environment, "_memo", {})  # as in a new process
    assert compile_by_address(_three, numba.int64()).cache_hits == 0
    assert compile_by_address(_three, numba.int64()).cache_hits == 1


def test_files_of_long_ago_go_and_the_last_used_stay(folder):
    cache = CodeCache(_three, {})
    Path(cache.cache_path).mkdir()
    now = time.time()
    for i in range(code_cache.KEPT + 3):
        file = Path(cache.cache_path) / f"{i}.nbc"
        file.write_bytes(b"")
        age = 60.0 * i if i < code_cache.KEPT + 1 else 2 * code_cache.KEPT_S
        os.utime(file, (now - age, now - age))
    cache._prune()
    assert {f.name for f in cache._files()} == {f"{i}.nbc" for i in range(code_cache.KEPT + 1)}
    cache.flush()
    assert cache._files() == []


def test_a_disabled_cache_neither_loads_nor_saves(folder):
    cache = CodeCache(_three, {})
    cache.disable()
    entry = compile_by_address(_three, numba.int64())
    shutil.rmtree(folder / os.path.basename(cache.cache_path))
    cache.save_overload(entry._sig, entry)
    assert cache.load_overload(entry._sig, entry._targetdescr.target_context) is None
    assert list(folder.iterdir()) == []


def test_the_folder_is_the_given_one_or_the_user_s(monkeypatch):
    monkeypatch.setenv("ROBOT_RT_CONTROL_CACHE", "/somewhere")
    assert cache_root() == Path("/somewhere")
    monkeypatch.delenv("ROBOT_RT_CONTROL_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert cache_root() == Path("/caches/robot_rt_control")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_root() == Path.home() / ".cache" / "robot_rt_control"


class _Planted:
    """What an attacker would leave: unpickling it makes a file."""

    def __init__(self, proof):
        self.proof = proof

    def __reduce__(self):
        return os.mkdir, (str(self.proof),)


@pytest.mark.parametrize("what", ["file", "folder", "folder above"])
def test_K22_code_that_another_user_can_have_written_is_not_unpickled(tmp_path, monkeypatch, what):
    root, proof = tmp_path / "root", tmp_path / "proof"
    monkeypatch.setattr(code_cache, "_ROOT", root)
    monkeypatch.setattr(cache_folder, "_checked", set())
    entry = compile_by_address(_three, numba.int64())
    (file,) = root.rglob("*.nbc")
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    file.write_bytes(pickle.dumps(_Planted(proof)))
    {"file": file, "folder": file.parent, "folder above": root}[what].chmod(0o707)
    monkeypatch.setattr(cache_folder, "_checked", set())
    with pytest.raises(RobotControlError, match="could have been written by another user; .*mode 707.*. Delete"):
        entry._cache.load_overload(entry._sig, entry._targetdescr.target_context)
    assert not proof.exists()


NUMBA = """
import numba, sys
@numba.njit(cache=True)
def twice(x):
    return 2 * x
assert twice(3) == 6
print(twice._cache.cache_path)
"""


def test_K22_numba_keeps_what_users_cache_in_a_folder_that_is_checked(tmp_path, monkeypatch):
    monkeypatch.setenv("ROBOT_RT_CONTROL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    script = tmp_path / "script.py"
    script.write_text(NUMBA)
    done = subprocess.run([sys.executable, str(script)], env=environment(), capture_output=True, text=True, check=True)
    assert Path(done.stdout.strip()).is_relative_to(tmp_path / "cache" / "users")
    (index,) = (tmp_path / "cache").rglob("*.nbi")
    index.chmod(0o666)
    with pytest.raises(RobotControlError, match=f"Numba's cache {index} could have been written by another user"):
        environment()
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(shared))
    with pytest.raises(RobotControlError, match="NUMBA_CACHE_DIR. to a folder of your own"):
        environment()
    program = "import robot_rt_control.native.code_cache"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "could have been written by another user" in done.stderr
