"""What Numba and the typed code refuse: at the user's line, in few words."""

import numba
import numpy as np
import pytest

from robot_rt_control.server.builder.build import build
from robot_rt_control.server.builder.realtime_methods import python_function, source_of
from robot_rt_control.server.builder.type_check import OPTIONS, check_allocation, compile_function
from robot_rt_control.vocabulary.errors import CompileError

NOT_COMPILED = {
    "attribute": ("x = state.level.nothing  # HERE", "Unknown attribute 'nothing' of type float64", "functions"),
    "wrong argument": ("x = math.sin(arm)  # HERE", "No implementation of function", "use numbers, loops and math"),
    "two types": (
        "if state.level > 0.0:\n    x = 1.0\nelse:\n    x = arm\nstate.level = x.dt  # HERE",
        "Cannot unify part and float64 for 'x';",
        "the same kind of number on every path",
    ),
    "too few arguments": ("x = math.atan2(1.0)  # HERE", "No implementation of function", "numbers"),
}


@pytest.mark.parametrize("what", NOT_COMPILED)
def test_errors_of_the_compiler_in_the_words_of_the_user(what, action_file):
    body, message, hint = NOT_COMPILED[what]
    with pytest.raises(CompileError) as refused:
        build(action_file.write(body))
    text = str(refused.value)
    assert text.startswith(f"{action_file.here}: does not compile: "), text
    assert message in text and hint in text
    assert "Record(" not in text and len(text) < 600, "types of records are thousands of characters long"


def test_an_error_in_a_helper_is_at_its_line(action_file):
    top = "@realtime\ndef helper(x):\n    y = 2.0\n    return x.nothing  # HERE"
    with pytest.raises(CompileError) as refused:
        build(action_file.write("state.level = helper(1.0)", top=top))
    assert str(refused.value).startswith(f"{action_file.here}: does not compile: Unknown attribute 'nothing'")


def test_a_status_must_be_an_int(action_file):
    with pytest.raises(CompileError) as refused:
        build(action_file.write("return 0.5"))
    assert "control returns float64, expected nothing or an int status; Values leave an action in its records" in str(
        refused.value
    )


ALLOCATING = {
    "max of an array": ("x = 1.0\nstate.level = np.max(arm.position)  # HERE", "allocates memory"),
    "ufunc": ("q = np.sqrt(arm.position)  # HERE", "makes a new array"),
    "slice of a name": ("q = arm.position[:3]\nstate.values[:3] = q  # HERE", "copies the array arm.position[:3]"),
}


@pytest.mark.parametrize("what", ALLOCATING)
def test_what_allocates_is_refused_at_its_line(what, action_file):
    body, operation = ALLOCATING[what]
    with pytest.raises(CompileError) as refused:
        build(action_file.write(body))
    assert str(refused.value).startswith(f"{action_file.here}: "), refused.value
    assert operation in str(refused.value)


def doubled(values, more):
    return values + more


def copied(values, more):
    values[:] = more


def listed(values, more):
    x = [values[0]]
    return x[0]


def printed(values, more):
    print(values[0])


def raising(values, more):
    if values[0] > 0.0:
        raise ValueError("no")


@pytest.mark.parametrize(
    ("function", "operation"),
    [
        (doubled, "makes a new array; Write a loop over the elements"),
        (copied, "copies an array into a slice, which makes a new array on the way"),
        (listed, "makes a list; Use a tuple or a field of fixed size"),
        (printed, "prints; Make it a state variable"),
        (raising, "raises an exception; Return a non-zero status"),
    ],
)
def test_typed_code_by_itself_shows_what_it_makes(function, operation):
    array = numba.types.Array(numba.float64, 1, "C")
    compiled = numba.jit(**OPTIONS)(function)
    compiled.compile((array, array))
    with pytest.raises(CompileError) as refused:
        check_allocation([compiled])
    line = function.__code__.co_firstlineno + (2 if function is raising else 1)
    assert str(refused.value).startswith(f"{__file__}:{line}: {operation}")


def test_errors_of_other_kinds_are_told_too():
    def method(state, params):
        state.nothing = 1.0

    function = python_function(method)
    assert function is not None
    state = numba.from_dtype(np.dtype([("x", "f8")]))
    with pytest.raises(CompileError, match="does not compile: KeyError: 'nothing'"):
        compile_function(source_of(function), (state, state), {})
