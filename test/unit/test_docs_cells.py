"""The groups in docs/cells.md work as they stand there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from robot_rt_control.client import MotionCommand, MotionGroup, Reaction
from robot_rt_control.testing import LockstepCell

ROOT = Path(__file__).resolve().parents[2]


def test_the_groups_move_both_arms_together() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "cells.md").read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {"MotionCommand": MotionCommand, "MotionGroup": MotionGroup, "Reaction": Reaction}
    exec(code, names)
    with LockstepCell(ROOT / "config" / "six_arms.yaml") as cell:
        session = cell.session("arm_1", "arm_2")
        names["define"](session)
        session.start("reach")
        cell.step_until(lambda: bool(cell.kinds("reaction_fired")), at_most=20_000)
        (reached,) = cell.kinds("reaction_fired")
        assert (reached.previous_action, reached.current_action) == ("reach", "home")
        cell.step_until(lambda: bool(cell.kinds("reaction_fired", event="at_home")), at_most=20_000)
        assert not cell.kinds("command_refused", "action_failed")
