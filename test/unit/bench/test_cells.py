"""The workcells that are measured."""

from __future__ import annotations

import pytest

from bench.cells import JOINTS, arms_cell, motions, never_firing
from robot_rt_control.conditions.compiler import compile_condition
from robot_rt_control.conditions.types import VariableRef
from robot_rt_control.vocabulary.enums import PartKind


@pytest.mark.parametrize(("n", "devices"), [(1, 1), (3, 3), (32, 8)])
def test_each_arm_has_a_rangefinder_on_its_device(n: int, devices: int):
    cell = arms_cell(n, period=0.0001)
    assert cell.period == 0.0001
    arms = [p for p in cell.parts if p.kind == PartKind.ARM]
    assert [p.name for p in arms] == [f"arm_{i}" for i in range(n)] and {p.dof for p in arms} == {JOINTS}
    device_of = {p.name: p.device for p in cell.parts}
    assert all(device_of[f"arm_{i}"] == device_of[f"rangefinder_{i}"] for i in range(n))
    assert len(cell.devices) == devices


def test_conditions_have_three_terms_each():
    reactions = never_firing(20, arm=2)
    assert len({r.condition for r in reactions}) == 20
    for reaction in reactions:
        condition = compile_condition(str(reaction.condition), lambda name: VariableRef(8))
        assert len(condition.instructions) == 3
        assert all(name.endswith(("_2.distance",)) or name.startswith("arm_2.") for name in condition.variables)


def test_a_group_goes_there_and_the_other_one_back_whatever_is_between():
    there, back = motions(3, profile="async", duration=2.0, repeat=True)
    assert there.parts == back.parts == ("arm_0", "arm_1", "arm_2")
    for one, other in ((there, back), (back, there)):
        assert [c.position for c in one.commands] == [c.start for c in other.commands]
        assert [c.duration for c in one.commands] == [2.0, None, None]
        assert [r.start for r in one.reactions] == [(other.id,)]
