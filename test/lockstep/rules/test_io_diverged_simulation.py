"""A simulation that has diverged faults its parts with a reason; the workcell goes on."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest

from robot_rt_control.client.actions import Action
from robot_rt_control.hardware.world.simulator import SimulatorPlugin
from robot_rt_control.testing.lockstep_cell import LockstepCell

CELL = """
name: two_devices
default_hardware: simulator
parts:
  arm:
    kind: arm
    device: sim
    urdf: package://robot_rt_control/config/robots/iiwa.urdf
    base_link: lbr_iiwa_link_0
    tip_link: lbr_iiwa_link_7
    start_position: [0.0, 0.2948, 0.0, -1.6094, 0.0, 1.2374, 0.0]
  axis:
    kind: base
    device: drive
    joints: [{name: x, type: prismatic, position_lower: -1, position_upper: 1, velocity: 0.5}]
devices:
  sim: {world: {objects: [{name: ball, sphere: {radius: 0.05}, pose: {position: [1, 0, 0.5]}}]}}
  drive: {plugin: mock, mock: {}}
"""


UNKNOWN = "a measured position or velocity is not a number (lbr_iiwa_joint_3)"


def lost_joint(plugin: SimulatorPlugin) -> None:
    plugin.world.object_joint("arm", "lbr_iiwa_joint_3", "test").place(math.nan)


def lost_ball(plugin: SimulatorPlugin) -> None:
    plugin.world.push("ball", (math.nan, 0.0, 0.0), (1.0, 0.0, 0.5))


@pytest.mark.parametrize(
    ("simulator", "disturb", "reason", "failure"),
    [
        # PyBullet goes on with what is not a number, and with a ball that is nowhere.
        ("pybullet", lost_joint, UNKNOWN, ""),
        ("mujoco", lost_joint, UNKNOWN, "the simulation has diverged"),
        ("mujoco", lost_ball, "the hardware reports an error", "the simulation has diverged"),
    ],
)
def test_I24_the_part_of_a_diverged_simulation_is_faulted_and_the_other_one_goes_on(
    tmp_path: Path, simulator: str, disturb: Callable[[SimulatorPlugin], None], reason: str, failure: str
) -> None:
    (tmp_path / "cell.yaml").write_text(CELL)
    with LockstepCell(tmp_path / "cell.yaml", hardware="simulator", simulator=simulator) as cell:
        session = cell.session("arm", "axis")
        session.add(
            Action("up", "move_joint", parts="arm", position=[0.3, 0.3, 0.0, -1.6, 0.0, 1.2, 0.0]),
            Action("go", "move_joint", parts="axis", position=[0.5]),
        )
        session.start("up", "go")
        cell.step(100)
        assert float(cell.part("axis").position[0]) < 0.4
        host = cell.executor.devices.hosts["sim"]
        assert isinstance(host.plugin, SimulatorPlugin)
        disturb(host.plugin)
        cell.step(3)
        assert [(e.part, e.reason) for e in cell.kinds("part_faulted")] == [("arm", reason)]
        assert failure in str(host.failure)
        assert [e.previous_action for e in cell.kinds("action_stopped")][-1] == "up"
        cell.step(3000)
        assert cell.part("axis").position[0] == pytest.approx(0.5, abs=1e-6)
        assert len(cell.kinds("part_faulted")) == 1 and cell.active("axis") == "go"
