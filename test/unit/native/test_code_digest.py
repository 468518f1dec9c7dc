"""What decides native code changes its digest; what does not, does not."""

import enum
import importlib
import importlib.util
import pkgutil
from types import FunctionType, SimpleNamespace
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

import robot_rt_control
from robot_rt_control.native.code_digest import code_digest, undigested
from robot_rt_control.native.realtime_code import MARKED


class Color(enum.IntEnum):
    RED = 1
    BLUE = 2


class Dark(enum.IntEnum):
    RED = 1
    BLUE = 3


class Pair(NamedTuple):
    left: int
    right: int


def _reader(value: Any, name: str = "value") -> FunctionType:
    """A function that reads a global."""
    scope = {"value": value, "__name__": __name__}
    exec(f"def read():\n    return {name}\n", scope)
    return scope["read"]


DIFFERENT: dict[str, tuple[Any, Any]] = {
    "a number": (1.0, 1.5),
    "the type of a number": (1, 1.0),
    "the sign of zero": (0.0, -0.0),
    "a tuple": ((1, (2, 3)), ((1, 2), 3)),
    "an enum's member": (Color.RED, Color.BLUE),
    "an enum": (Color, Dark),
    "a scalar's type": (np.float32(1), np.float64(1)),
    "an array": (np.array([1.0, 2.0]), np.array([1.0, 3.0])),
    "an array's shape": (np.zeros((2, 3)), np.zeros((3, 2))),
    "an array's type": (np.zeros(2, "i8"), np.zeros(2, "f8")),
    "the order of fields": (np.dtype([("a", "i8"), ("b", "i8")]), np.dtype([("b", "i8"), ("a", "i8")])),
    "the place of a field": (np.dtype([("a", "i4"), ("b", "i8")]), np.dtype([("a", "i4"), ("b", "i8")], align=True)),
    "a field in a field": (np.dtype([("a", [("b", "i8")])]), np.dtype([("a", [("b", "f8")])])),
    "a field's shape": (np.dtype([("a", "i8", (2,))]), np.dtype([("a", "i8", (3,))])),
    "a compiler's type": (numba.int64, numba.int32),
    "a set": (frozenset((1, 2)), frozenset((1, 3))),
    "a dictionary": ({1: 2}, {1: 3}),
    "a range": (range(3), range(4)),
    "a function": (_reader(1), _reader(1, "0")),
    "a compiled function": (numba.njit(_reader(1)), numba.njit(_reader(2))),
    "an option of the compiler": (numba.njit(_reader(1)), numba.njit(error_model="numpy")(_reader(1))),
    "a ufunc": (np.sin, np.cos),
    "a built-in": (min, max),
}


@pytest.mark.parametrize("what", DIFFERENT)
def test_it_tells_apart(what):
    first, second = DIFFERENT[what]
    if what == "a function":  # plain: not compiled itself, its name and module say what becomes of a call
        second.__qualname__ = "another"
    assert code_digest(_reader(first)) == code_digest(_reader(first))
    assert code_digest(_reader(first)) != code_digest(_reader(second))
    assert undigested(_reader(first)) == []


def _enclosed(value: Any) -> Any:
    @numba.njit
    def inner(x: float = 1.0) -> Any:
        return value + x

    def outer() -> Any:
        return inner()

    return outer


def test_variables_of_enclosing_functions_count():
    assert code_digest(_enclosed(1)) == code_digest(_enclosed(1)) != code_digest(_enclosed(2))


def test_defaults_count():
    def made(default: float) -> Any:
        def inner(x: float = default) -> float:
            return x

        return inner

    assert code_digest(made(1.0)) == code_digest(made(1.0)) != code_digest(made(2.0))


def test_attributes_count_each_by_itself():
    """Of a module or an enum, only what is read."""
    read, other = _reader(Color, "value.RED"), _reader(Dark, "value.RED")
    assert code_digest(read) != code_digest(other)
    make: Any = enum.IntEnum
    wider = make("Color", {"RED": 1, "BLUE": 2, "GREEN": 3}, module=__name__, qualname="Color")
    assert code_digest(read) == code_digest(_reader(wider, "value.RED")) != code_digest(_reader(wider, "value.BLUE"))
    assert code_digest(_reader(np, "value.pi")) == code_digest(_reader(np, "value.pi"))
    assert code_digest(_reader(np, "value.pi")) != code_digest(_reader(np, "value.e"))


def test_functions_that_call_each_other_end():
    scope: dict[str, Any] = {"__name__": __name__, "njit": numba.njit}
    exec("@njit\ndef even(n):\n    return n == 0 or odd(n - 1)\n@njit\ndef odd(n):\n    return even(n - 1)\n", scope)
    assert code_digest(scope["even"]) == code_digest(scope["even"]) != code_digest(scope["odd"])


def test_line_numbers_and_docstrings_do_not_count():
    one: dict[str, Any] = {"__name__": __name__}
    two: dict[str, Any] = {"__name__": __name__}
    exec('def f(x):\n    """Text."""\n    return x + 1 if x else None\n', one)
    exec('\n\n\ndef f(x):\n    """Another text."""\n    return x + 1 if x else None\n', two)
    assert code_digest(one["f"]) == code_digest(two["f"])


def test_a_value_that_cannot_be_digested_stands_for_its_whole_module(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    digests = []
    for number, factor in enumerate((2, 2, 3)):
        name = f"odd_values_{number}"
        (tmp_path / f"{name}.py").write_text(
            "from types import SimpleNamespace\n"
            f"thing = SimpleNamespace(factor={factor})\ndef f():\n    return thing.factor\n"
        )
        module = importlib.import_module(name)
        assert undigested(module.f) == [f"{name}.f reads a value of types.SimpleNamespace"]
        module.f.__module__ = name
        digests.append(code_digest(module.f))
    assert digests[0] != digests[2]


def test_a_value_of_nowhere_is_refused():
    scope: dict[str, Any] = {"__name__": "module_without_a_file", "value": SimpleNamespace(x=1)}
    exec("def f():\n    return value.x\n", scope)
    with pytest.raises(TypeError) as caught:
        code_digest(scope["f"])
    assert str(caught.value) == (
        "module_without_a_file.f depends on module 'module_without_a_file', which has no Python source file: "
        "nothing would show when its native code is outdated"
    )


def test_all_that_this_package_compiles_is_digested():
    without = importlib.util.find_spec("pybullet") is None
    for module in pkgutil.walk_packages(robot_rt_control.__path__, "robot_rt_control."):
        if without and module.name.startswith("robot_rt_control.hardware.pybullet."):
            continue
        if module.name.split(".")[1] in ("actions", "conditions", "hardware", "memory", "model", "motion", "realtime"):
            importlib.import_module(module.name)
    ours = [f for f in MARKED if f.__module__.startswith("robot_rt_control.")]
    assert len(ours) > 150
    assert undigested(*ours) == []
