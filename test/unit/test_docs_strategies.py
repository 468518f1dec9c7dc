"""The law in docs/strategies.md works as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from robot_rt_control.server.code.source import load_action_type
from robot_rt_control.testing.action_harness import ActionHarness
from robot_rt_control.testing.fake_arm import FakePart
from robot_rt_control.vocabulary.enums import PartKind

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "strategies.md").read_text(encoding="utf-8")
IMPORTS = """
import math
from robot_rt_control.actions.following import POSITION
from robot_rt_control.definitions.action_type import ActionType, Input, Parameter, Slot
from robot_rt_control.vocabulary.enums import PartKind

"""


def test_the_law_of_ones_own(tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(class .*?)```", PAGE, re.DOTALL)
    (tmp_path / "law.py").write_text(IMPORTS + code)
    law = load_action_type(f"{tmp_path}/law.py:GiveWay").action_type
    axis = FakePart(name="arm.elbow", kind=PartKind.AXIS, dof=1)
    harness = ActionHarness(law, parts={"axis": axis}, parameters={"damping": 20.0})
    harness.start()
    shown = harness.part("axis")
    for pushed in (4.0, float("nan")):
        before = float(shown.commanded_position[0])
        shown.inputs[0] = pushed
        harness.step(100)
        expected = 0.0 if pushed != pushed else 0.2 * 100 * harness.period
        assert shown.commanded_position[0] - before == pytest.approx(expected)
