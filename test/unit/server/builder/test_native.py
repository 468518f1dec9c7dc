"""The final word: what the machine code calls from outside."""

import pytest

from robot_rt_control.definitions import native_code
from robot_rt_control.server.builder.allowed_symbols import is_allowed, why_refused
from robot_rt_control.server.builder.build import build
from robot_rt_control.vocabulary.errors import CompileError


@pytest.mark.parametrize("name", ["sin", "sinf", "atan2", "pow", "numba_gamma", "memcpy", "llvm.sqrt.f64"])
def test_mathematics_and_memory_are_allowed(name):
    assert is_allowed(name)


@pytest.mark.parametrize(
    ("name", "operation"),
    [
        ("NRT_Allocate", "allocates memory (an array, list, container or text is made): NRT_Allocate"),
        ("malloc", "allocates memory"),
        ("numba_attempt_nocopy_reshape", "allocates memory"),
        ("numba_xxdot", "calls the linear algebra library: numba_xxdot"),
        ("numba_gil_ensure", "enters Python (printing, objects or exceptions)"),
        ("PyObject_Str", "enters Python"),
        ("numba_get_np_random_state", "draws random numbers"),
        ("clock_gettime", "calls a function from outside of mathematics: clock_gettime"),
        ("pthread_mutex_lock", "calls a function from outside of mathematics"),
        ("sinister", "calls a function from outside of mathematics"),
    ],
)
def test_everything_else_is_not(name, operation):
    assert not is_allowed(name)
    ((found, hint),) = why_refused([name])
    assert found.startswith(operation) and hint


def test_one_reason_names_all_its_symbols():
    assert [o for o, _ in why_refused(["NRT_Free", "NRT_Allocate"])] == [
        "allocates memory (an array, list, container or text is made): NRT_Allocate, NRT_Free"
    ]


def test_a_function_of_the_package_that_allocates_is_found_where_it_is_called(action_file, monkeypatch):
    """Functions marked @realtime of other files are not read, only compiled: the symbols must show it."""
    (action_file.folder / "installed_helper.py").write_text(
        "from robot_rt_control.native.realtime_code import realtime\n"
        "@realtime\n"
        "def smallest(values):\n"
        "    return values.min()\n"
    )
    monkeypatch.setattr("robot_rt_control.server.builder.syntax_check.is_package_file", lambda file: True)
    body = "x = 1.0\nstate.level = smallest(arm.position)  # HERE"
    spec = action_file.write(body, top="from installed_helper import smallest")
    with pytest.raises(CompileError) as refused:
        build(spec)
    assert str(refused.value).startswith(f"{action_file.here}: control allocates memory"), refused.value


def test_the_object_calls_only_what_is_allowed_and_shows_only_its_entries(action_file):
    top = "@realtime\ndef swing(x):\n    return math.sin(x) * math.atan2(x, 2.0) + math.gamma(x)"
    body = "state.level = swing(params.gain)\nfor x in arm.position[:3]:\n    state.level += x"
    built = build(action_file.write(body, top=top))
    metadata, code = native_code.read(built.key)
    assert set(metadata.needed) <= {"sin", "atan2", "numba_gamma", "memcpy", "memset"}
    assert {"sin", "atan2", "numba_gamma"} <= set(metadata.needed)
    assert b"NRT_" not in code
    assert list(metadata.symbols) == ["control"]
