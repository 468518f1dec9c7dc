"""Rule Z12 of docs/semantics/tools.md: simulated arms weigh what the loop has put on them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robot_rt_control.client.actions import Action, Strategy
from robot_rt_control.model.workcell.simulators import SIMULATORS
from robot_rt_control.testing.lockstep_cell import LockstepCell

ROBOTS = Path(__file__).parents[3] / "config" / "robots"
WORKCELL = f"""
name: two_tools
period: 0.001
parts:
  arm:
    kind: arm
    device: sim
    urdf: {ROBOTS}/iiwa.urdf
    base_link: lbr_iiwa_link_0
    tip_link: lbr_iiwa_link_7
    command_modes: [position, effort]
    start_position: [0.0, 0.2948, 0.0, -1.6094, 0.0, 1.2374, 0.0]
    external_effort: true
    tools:
      none: {{}}
      light: {{mass: 0.5, center_of_mass: [0, 0, 0.05]}}
      heavy: {{mass: 3.0, center_of_mass: [0.1, 0.02, 0.1], inertia: [0.02, 0.003, 0.001, 0.03, 0, 0.01]}}
    start_tool: light
  wrist: {{kind: force_torque_sensor, device: sim, mounted_on: arm, link: lbr_iiwa_link_7}}
devices:
  sim:
    world: {{sensors: {{wrist: {{type: force_torque}}}}}}
"""
WEIGHT = {"none": 0.0, "light": 0.5 * 9.81, "heavy": 3.0 * 9.81}


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_Z12_a_simulated_arm_carries_the_tool_that_is_on(simulator: str, tmp_path: Path) -> None:
    file = tmp_path / "two_tools.yaml"
    file.write_text(WORKCELL)
    carry = {f"joint[{j}]": [Strategy("carry", "torque", effort=0.0, gravity=True)] for j in range(7)}
    with LockstepCell(file, hardware=simulator) as cell:
        session, arm = cell.session("arm"), cell.part("arm")
        session.add(Action("stay", "hold"), Action("float", "hold", strategies=carry))
        weights = []
        for tool in ("light", "heavy", "none", "heavy"):
            if arm.tool_number != list(WEIGHT).index(tool):
                session.start("stay")
                cell.step(300)
                session.stop()
                cell.step(300)
                session.change_tool("arm", tool)
            cell.step(300)
            assert np.abs(arm.external_effort[:7]).max() < 0.2, f"{tool}: nothing but its weight is carried"
            weights.append((float(cell.part("wrist").force_norm), WEIGHT[tool]))
            before = arm.position[:7].copy()
            session.start("float")
            cell.step(500)
            assert np.abs(arm.position[:7] - before).max() < 0.01, f"{tool}: it does not sink"
            assert (arm.commanded_effort[:7] != 0.0).any() and not cell.kinds("action_failed", "part_faulted")
        offset = weights[2][0]
        assert [found - offset for found, _ in weights] == pytest.approx([weight for _, weight in weights], abs=0.1)
