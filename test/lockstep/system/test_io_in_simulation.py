"""A clamp, a part sensor and a lamp in simulation, by the actions that users have."""

from __future__ import annotations

from pathlib import Path

import pytest

from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.testing.lockstep_cell import LockstepCell

CELL = """
name: clamp_cell
default_hardware: simulator
parts:
  io:
    kind: io
    device: sim
    inputs: {part_present: {}, clamped: {}}
    outputs: {clamp: {}, lamp: {safe: false}}
devices:
  sim:
    world:
      objects:
        - {name: table, box: {size: [0.4, 0.4, 0.2]}, pose: {position: [0, 0, 0.1]}, fixed: true}
        - {name: bracket, box: {size: [0.1, 0.1, 0.02]}, pose: {position: [0, 0, 0.4]}, mass: 0.3}
        - {name: lamp, sphere: {radius: 0.02}, pose: {position: [0.1, 0.1, 0.5]}, fixed: true}
      io:
        io:
          inputs:
            part_present: {type: zone, objects: [bracket], pose: {position: [0, 0, 0.21]}, size: [0.02, 0.02, 0.02]}
            clamped: {type: held, output: clamp}
          outputs:
            clamp: {type: grip, body: table, objects: [bracket], reach: 0.01}
            lamp: {type: color, object: lamp}
"""


@pytest.mark.filterwarnings("error")
def test_a_part_that_falls_into_place_is_clamped_and_the_lamp_tells(tmp_path: Path) -> None:
    (tmp_path / "cell.yaml").write_text(CELL)
    with LockstepCell(tmp_path / "cell.yaml", hardware="simulator") as cell:
        session = cell.session("io")
        session.add(
            Action(
                "wait",
                "wait_for_input",
                input="part_present",
                value=1,
                hold=0.1,
                timeout=2.0,
                reactions=[Reaction("is_done", start="clamp"), Reaction("timed_out", event="nothing_came")],
            ),
            Action(
                "clamp",
                "set_output",
                outputs="clamp, lamp",
                values=[1, 1],
                reactions=[Reaction("is_done and io.clamped", stop=True, event="clamped")],
            ),
        )
        session.start("wait")
        cell.step_until(lambda: bool(cell.fired("clamped") or cell.fired("nothing_came")), at_most=3000)
        (clamped,) = cell.fired("clamped")
        assert 0.2 < clamped.tick * 1e-3 < 1.0, "it falls 0.19 m in 0.2 s, then lies there for 0.1 s"
        cell.step(100)
        assert cell.active("io") == "none" and cell.part("io").outputs[:2].tolist() == [1.0, 1.0]
        session.close()
        cell.step(3)
        assert cell.part("io").outputs[:2].tolist() == [1.0, 0.0], "the clamp stays closed, the lamp goes out"
        assert cell.part("io").inputs[1] == 1.0


EYE = "  eye: {kind: rangefinder, device: sim, pose: {position: [0, 0.15, 1.0], orientation: [1, 0, 0, 0]}}\n"


def test_a_rangefinder_may_be_fixed_in_the_world(tmp_path: Path) -> None:
    sensors = "      sensors: {eye: {type: rangefinder}}\n"
    text = CELL.replace("devices:\n", f"{EYE}devices:\n").replace("      io:\n", f"{sensors}      io:\n", 1)
    (tmp_path / "cell.yaml").write_text(text)
    with LockstepCell(tmp_path / "cell.yaml", hardware="simulator") as cell:
        cell.step(5)
        assert cell.part("eye").distance == pytest.approx(0.8, abs=1e-3), "to the table's top"


SLIDE = """
<robot name="slide">
  <link name="rail"/>
  <link name="carriage">
    <inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="x" type="prismatic">
    <parent link="rail"/><child link="carriage"/><axis xyz="1 0 0"/>
    <limit lower="0" upper="1" velocity="1" effort="100"/>
  </joint>
</robot>
"""
SLIDE_CELL = """
name: slide_cell
default_hardware: simulator
parts:
  slide:
    kind: base
    device: sim
    urdf: slide.urdf
    joints: [x]
    states: {loaded: {signal: digital}}
    commands: {glow: {range: [0, 2], initial: 0.5}}
  far: {kind: base, device: sim, urdf: slide.urdf, joints: [x], base_pose: {position: [0, 2, 0]}}
devices:
  sim:
    world:
      objects:
        - {name: load, box: {size: [0.1, 0.1, 0.1]}, pose: {position: [0, 1, 0.05]}, fixed: true}
        - {name: lamp, sphere: {radius: 0.02}, pose: {position: [0.1, 1, 0.5]}, fixed: true}
      io:
        slide:
          inputs: {loaded: {type: zone, objects: [load], pose: {position: [0, 1, 0]}, size: [0.2, 0.2, 0.2]}}
          outputs: {glow: {type: color, object: lamp}}
"""


@pytest.mark.filterwarnings("error")
def test_own_interfaces_of_a_part_with_joints_go_beside_its_joints(tmp_path: Path) -> None:
    (tmp_path / "slide.urdf").write_text(SLIDE)
    (tmp_path / "cell.yaml").write_text(SLIDE_CELL)
    with LockstepCell(tmp_path / "cell.yaml", hardware="simulator") as cell:
        session = cell.session("slide", "far")
        session.add(
            Action(
                "glow",
                "set_output",
                parts="slide",
                outputs="glow",
                values=1.5,
                reactions=[Reaction("is_done", start="go")],
            ),
            Action("go", "move_joint", parts="slide", position=[0.2], reactions=[Reaction("is_settled", event="done")]),
            Action("other", "move_joint", parts="far", position=[0.1]),
            reactions=[Reaction("slide.loaded", event="loaded", capture=["slide.glow", "slide.position[0]"])],
        )
        cell.step()
        assert [e.values[0] for e in cell.fired("loaded")] == [0.5]
        session.start("glow", "other")
        cell.step_until(lambda: bool(cell.fired("done")), at_most=5000)
        slide, far = cell.part("slide"), cell.part("far")
        assert slide.outputs[0] == 1.5 and slide.position[0] == pytest.approx(0.2, abs=1e-3)
        assert far.position[0] == pytest.approx(0.1, abs=1e-3), "the next part's joints have their own places"
