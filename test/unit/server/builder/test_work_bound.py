"""How long a tick may take at most, by its loops and branches."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from robot_rt_control.server.builder.syntax_check import check_syntax
from robot_rt_control.server.builder.work_bound import PACKAGE_CALL_S, Work
from robot_rt_control.server.code.source import load_action_type

HEAD = """
import math
from robot_rt_control.actions.authoring import ActionType, Parameter, PartKind, Slot, StateVariable, realtime
from robot_rt_control.motion.profile import advance

@realtime
def helper(state, n):
    for i in range(n):
        state.x += 1.0

class Made(ActionType):
    name = "made"
    slots = (Slot(name="part", kinds=(PartKind.ARM,)),)
    parameters = (Parameter(name="n", type="int", default=1, minimum=0, maximum=500),)
    state_variables = (StateVariable(name="x"),)

    @staticmethod
    def control(state, params, part):
"""


def work(tmp_path: Path, *lines: str, sense: str = "") -> Work:
    text = HEAD + "".join(f"        {line}\n" for line in lines)
    if sense:
        text += f"\n    @staticmethod\n    def sense(state, params, part):\n        {sense}\n"
    file = tmp_path / "made.py"
    file.write_text(text)
    return check_syntax(load_action_type(f"{file}:Made")).work


def test_nested_loops_multiply_and_those_one_after_the_other_add_up(tmp_path: Path) -> None:
    once = work(tmp_path, "state.x = state.x + 1.0").seconds
    assert 1e-9 <= once <= 10e-9
    loop = work(tmp_path, "for i in range(1000):", "    state.x = state.x + 1.0")
    assert loop.seconds == pytest.approx(1000 * (once + 1e-9), rel=0.01)
    nested = work(tmp_path, "for k in range(params.n):", "    for i in range(1000):", "        state.x = state.x + 1.0")
    assert nested.seconds == pytest.approx(500 * loop.seconds, rel=0.01)
    assert nested.longest.endswith(": loops over range(params.n), up to 500 rounds")
    short = "for _ in range(10): state.x = 1.0"
    two = work(tmp_path, "for i in range(1000):", "    state.x = state.x + 1.0", sense=short)
    assert loop.seconds < two.seconds < 1.1 * loop.seconds and two.longest == loop.longest


def test_of_two_branches_the_longer_one_counts_however_rarely_it_is_taken(tmp_path: Path) -> None:
    body = ["if state.x > 1e9:", "    for i in range(1000):", "        state.x += 1.0", "else:", "    state.x = 0.0"]
    longer = work(tmp_path, *body).seconds
    both = work(tmp_path, *body[:3], *body[3:4], *body[1:3]).seconds
    assert longer == pytest.approx(both, rel=0.01) and longer > 1.9e-6


def test_a_function_counts_as_often_as_it_is_called(tmp_path: Path) -> None:
    one = work(tmp_path, "helper(state, params.n)")
    assert one.longest.endswith(": loops over range(n), up to 500 rounds") and one.seconds > 500e-9
    three = work(tmp_path, *3 * ["helper(state, params.n)"])
    assert three.seconds == pytest.approx(3 * one.seconds)
    looped = work(tmp_path, "for _ in range(100):", "    helper(state, params.n)")
    assert looped.seconds == pytest.approx(100 * one.seconds, rel=0.01)
    assert "range(100)" in looped.longest


def test_functions_of_math_and_of_the_package_have_their_price(tmp_path: Path) -> None:
    assert math.isclose(work(tmp_path, "state.x = math.sin(1.0)").seconds, 12e-9, rel_tol=0.3)
    called = work(tmp_path, "q, v, a = advance(0.0, 1.0, 0.0, 0.0, part.dt)", "state.x = q")
    assert called.seconds == pytest.approx(PACKAGE_CALL_S, rel=0.1)
