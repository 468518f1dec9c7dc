from __future__ import annotations

from pathlib import Path

from robot_rt_control.controllers.hardware import components
from robot_rt_control.model.workcell.workcell import load_workcell

CONFIG = Path(__file__).parents[3] / "config"


def test_a_device_has_the_interfaces_of_its_parts() -> None:
    found = components(load_workcell(CONFIG / "arm7.yaml"))
    sim = found["sim"]
    assert list(found) == ["sim"] and (sim.type, sim.plugin) == ("system", "mock")
    assert sim.parts == ("arm", "gripper", "rangefinder", "wrist", "io")
    commands = list(sim.command_interfaces)
    assert commands[:3] == ["joint_1/position", "joint_1/velocity", "joint_1/effort"]
    assert commands[-5:] == ["finger_2/effort", "io/output_0", "io/output_1", "io/output_2", "io/output_3"]
    assert sim.command_interfaces["finger_1/position"] == "gripper"
    assert {"joint_7/effort", "rangefinder/distance", "wrist/force.x", "io/input_3"} < set(sim.state_interfaces)


def test_joints_have_the_modes_that_they_take_and_names_of_their_own(tmp_path: Path) -> None:
    text = (CONFIG / "arm7.yaml").read_text().replace("robots/", f"{CONFIG}/robots/")
    file = tmp_path / "cell.yaml"
    file.write_text(text.replace("    base_link: base", "    command_modes: [position]\n    base_link: base"))
    commands = components(load_workcell(file))["sim"].command_interfaces
    assert [name for name, part in commands.items() if part == "arm"] == [f"joint_{i}/position" for i in range(1, 8)]
    two = components(load_workcell(CONFIG / "two_arms.yaml", "mock"))
    names = [name for component in two.values() for name in (*component.command_interfaces,)]
    assert len(names) == len(set(names)) and "arm_b_panda_joint1/position" in names


def test_a_device_that_takes_no_commands_is_a_sensor(tmp_path: Path) -> None:
    file = tmp_path / "cell.yaml"
    file.write_text(
        "name: cell\nparts:\n  eye: {kind: rangefinder, device: laser}\ndevices:\n  laser: {mock: {}}\n"
    )
    laser = components(load_workcell(file))["laser"]
    assert (laser.type, laser.command_interfaces, laser.state_interfaces) == ("sensor", {}, ("eye/distance",))
