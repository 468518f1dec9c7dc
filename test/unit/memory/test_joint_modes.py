"""The modes of a part's joints in one word, compiled and as plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from robot_rt_control.memory import joint_modes
from robot_rt_control.memory.joint_modes import pack_modes, unpack_modes
from robot_rt_control.memory.layout import part_dtype
from robot_rt_control.vocabulary.capacities import MAX_JOINTS
from robot_rt_control.vocabulary.enums import CommandMode

MODES = [CommandMode(j % 4) for j in range(MAX_JOINTS)]


def plain(name: str) -> Any:
    function = getattr(joint_modes, name)
    return getattr(function, "py_func", function)


@pytest.fixture(params=["compiled", "plain"])
def take(request: pytest.FixtureRequest) -> Any:
    return (lambda name: getattr(joint_modes, name)) if request.param == "compiled" else plain


def part(mode: CommandMode, dof: int = MAX_JOINTS) -> Any:
    made: Any = np.zeros(1, part_dtype)[0]
    made.dof, made.command_mode = dof, int(mode)
    return made


def test_each_joint_has_its_place(take: Any) -> None:
    word = pack_modes(MODES)
    assert [take("mode_of")(word, j) for j in range(MAX_JOINTS)] == MODES
    assert unpack_modes(word, MAX_JOINTS) == tuple(MODES)
    word = take("with_mode")(word, MAX_JOINTS - 1, int(CommandMode.POSITION))
    assert unpack_modes(word, MAX_JOINTS) == (*MODES[:-1], CommandMode.POSITION)


def test_what_has_no_mode_of_its_own_has_that_of_the_part(take: Any) -> None:
    arm = part(CommandMode.VELOCITY)
    assert unpack_modes(take("commanded_modes")(arm), MAX_JOINTS) == (CommandMode.VELOCITY,) * MAX_JOINTS
    for j, mode in enumerate(MODES[:-1]):
        take("override_mode")(arm, j, int(mode))
    assert unpack_modes(take("commanded_modes")(arm), MAX_JOINTS) == (*MODES[:-1], CommandMode.VELOCITY)


@pytest.mark.parametrize("mode", [-1, 4, 1 << 40])
def test_a_mode_that_is_none_is_not_taken_for_another_one(take: Any, mode: int) -> None:
    arm = part(CommandMode.POSITION)
    take("override_mode")(arm, 1, mode)
    modes = take("commanded_modes")(arm)
    assert [take("mode_of")(modes, j) for j in range(3)] == [CommandMode.POSITION, 6, CommandMode.POSITION]
    with pytest.raises(ValueError, match="6 is not a valid CommandMode"):
        unpack_modes(modes, 2)
