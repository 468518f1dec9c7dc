"""Inputs and outputs of the simulated world, without a loop."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from robot_rt_control.hardware.info import HardwarePart
from robot_rt_control.hardware.lifecycle import HardwareLifecycle
from robot_rt_control.hardware.world.simulator import SimulatorPlugin
from robot_rt_control.model.pose import Pose
from robot_rt_control.model.workcell.channels import Channel, numbered_channels
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import HardwareError

VISE = """<robot name="vise">
  <link name="bed"><inertial><mass value="5"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
    <collision><geometry><box size="0.4 0.1 0.02"/></geometry></collision></link>
  <joint name="mount" type="fixed"><parent link="bed"/><child link="slide"/></joint>
  <link name="slide"><inertial><mass value="1"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <joint name="jaw" type="prismatic"><parent link="slide"/><child link="jaw_link"/><axis xyz="1 0 0"/>
    <limit lower="-0.05" upper="0.2" effort="500" velocity="1"/></joint>
  <link name="jaw_link"><inertial><mass value="0.2"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>
</robot>
"""


Simulate = Callable[..., HardwareLifecycle]


def simulation(
    start: Simulate, folder: Path, inputs: dict, outputs: dict, *, analog: tuple[str, ...] = ()
) -> HardwareLifecycle:
    def channels(names: Any) -> tuple[Channel, ...]:
        return tuple(Channel(name=name, type="float" if name in analog else "bool") for name in names)

    (folder / "vise.urdf").write_text(VISE)
    objects = [
        {"name": "floor", "plane": True},
        {"name": "table", "box": {"size": [0.2, 0.2, 0.2]}, "pose": {"position": [0, 0, 0.1]}, "fixed": True},
        {"name": "cube", "box": {"size": [0.04, 0.04, 0.04]}, "pose": {"position": [0, 0, 0.22]}, "mass": 0.1},
        {"name": "far", "box": {"size": [0.04, 0.04, 0.04]}, "pose": {"position": [1, 0, 0.02]}, "mass": 0.1},
        {"name": "vise", "urdf": str(folder / "vise.urdf"), "pose": {"position": [0, 1, 0.5]}, "fixed": True},
        {"name": "lamp", "sphere": {"radius": 0.05}, "pose": {"position": [0, -1, 0.5]}, "fixed": True},
    ]
    part = HardwarePart(
        name="io",
        index=0,
        kind=PartKind.IO,
        inputs=channels(inputs),
        outputs=channels(outputs),
    )
    return start(part, world={"objects": objects, "io": {"io": {"inputs": inputs, "outputs": outputs}}})


@pytest.fixture
def simulate(tmp_path: Path, start: Simulate) -> Simulate:
    return partial(simulation, start, tmp_path)


def run(lifecycle: HardwareLifecycle, cycles: int, *commands: float) -> list[float]:
    """Cycle with these commands; the states after that."""
    lifecycle.command[: len(commands)] = commands
    for _ in range(cycles):
        lifecycle.read(0.0, 0.001)
        lifecycle.write(0.0, 0.001)
    lifecycle.read(0.0, 0.001)
    return lifecycle.state.tolist()


def plugin(lifecycle: HardwareLifecycle) -> SimulatorPlugin:
    assert isinstance(lifecycle.plugin, SimulatorPlugin)
    return lifecycle.plugin


GRIP = {"type": "grip", "body": "table", "objects": ["cube", "far"], "reach": 0.01}


def test_a_grip_holds_what_is_in_reach_and_lets_go(simulate: Simulate) -> None:
    sim = simulate({"holding": {"type": "held", "output": "clamp"}}, {"clamp": GRIP})
    assert run(sim, 50, 0.0) == [0.0, 0.0]
    assert run(sim, 2, 1.0) == [1.0, 1.0]
    before = plugin(sim).object_pose("cube").position
    for _ in range(300):  # somebody pulls with 20 N: far more than the cube's weight of 1 N
        plugin(sim).world.push("cube", (0.0, 0.0, 20.0), before)
        run(sim, 1)
    assert math.dist(plugin(sim).object_pose("cube").position, before) < 2e-3
    assert run(sim, 1, 0.0) == [0.0, 0.0]
    for _ in range(300):
        plugin(sim).world.push("cube", (0.0, 0.0, 20.0), plugin(sim).object_pose("cube").position)
        run(sim, 1)
    assert plugin(sim).object_pose("cube").position[2] > before[2] + 0.5, "free again: it flies off"


def test_a_grip_holds_up_to_its_force_and_loses_what_slips_by_its_reach(simulate: Simulate) -> None:
    def rise(force: float) -> tuple[float, float]:
        """[m] of the cube, pulled with 20 N less its weight for 0.3 s; and whether it is still held."""
        sim = simulate({"holding": {"type": "held", "output": "clamp"}}, {"clamp": GRIP | {"force": force}})
        run(sim, 50, 1.0)
        before = plugin(sim).object_pose("cube").position
        for _ in range(300):
            plugin(sim).world.push("cube", (0.0, 0.0, 20.0), plugin(sim).object_pose("cube").position)
            run(sim, 1)
        return plugin(sim).object_pose("cube").position[2] - before[2], sim.state[0]

    # 0.000 mm in PyBullet, 0.008 mm in MuJoCo
    assert rise(25.0) == (pytest.approx(0.0, abs=5e-5), 1.0)
    mass, pull, reach, t = 0.1, 20.0 - 0.1 * 9.81, 0.01, 0.3
    for force in (10.0, 18.0):
        slow, free = (pull - force) / mass, pull / mass
        slipping = math.sqrt(2.0 * reach / slow)
        flight = t - slipping
        expected = reach + slow * slipping * flight + free * flight**2 / 2.0
        assert rise(force) == (pytest.approx(expected, rel=0.02), 0.0)


def test_a_grip_that_is_on_takes_what_comes_into_reach_later(simulate: Simulate) -> None:
    sim = simulate({"holding": {"type": "held", "output": "clamp"}}, {"clamp": GRIP})
    plugin(sim).move_object("cube", Pose(position=(0.5, 0.5, 0.02)))
    assert run(sim, 20, 1.0) == [0.0, 1.0]
    plugin(sim).move_object("cube", Pose(position=(0.0, 0.0, 0.225)))
    assert run(sim, 5)[0] == 1.0


def test_zones_and_contacts(simulate: Simulate) -> None:
    touched = {"type": "contact", "body": "cube", "other": "table"}
    zone = {"type": "zone", "objects": ["cube", "far"], "pose": {"position": [0, 0, 0.25]}, "size": [0.1, 0.1, 0.1]}
    sim = simulate(
        {"there": zone, "many": zone, "touched": touched, "force": touched},
        {},
        analog=("many", "force"),
    )
    assert run(sim, 100) == [1.0, 1.0, 1.0, pytest.approx(0.1 * 9.81, rel=0.05)]  # the cube's weight
    plugin(sim).move_object("far", Pose(position=(0.0, 0.04, 0.28)))
    assert run(sim, 0)[:2] == [1.0, 2.0]
    plugin(sim).move_object("far", Pose(position=(1.0, 0.0, 0.02)))
    plugin(sim).move_object("cube", Pose(position=(0.06, 0.0, 0.4)))
    assert run(sim, 1) == [0.0, 0.0, 0.0, 0.0]


def test_a_joint_is_driven_by_an_output_and_read_by_an_input(simulate: Simulate) -> None:
    jaw = {"type": "joint", "body": "vise", "joint": "jaw"}
    sim = simulate(
        {"position": jaw, "closed": jaw | {"above": 0.039}},
        {"clamp": jaw | {"off": 0.0, "on": 0.04, "speed": 0.2}},
        analog=("position",),
    )
    assert run(sim, 20, 0.0)[:2] == [pytest.approx(0.0, abs=1e-4), 0.0]
    halfway = run(sim, 100, 1.0)[0]
    assert 0.005 < halfway < 0.025, "at most 0.2 m/s for 0.1 s"
    position, closed, read_back = run(sim, 400)
    assert position == pytest.approx(0.04, abs=1e-3) and (closed, read_back) == (1.0, 1.0)


def test_a_button_is_pushed_back(simulate: Simulate) -> None:
    button = {"type": "joint", "body": "vise", "joint": "jaw", "above": 0.01, "force": 5.0}
    sim = simulate({"button": button}, {})
    assert run(sim, 10) == [0.0]
    for _ in range(300):
        plugin(sim).world.push("vise", (8.0, 0.0, 0.0), (0.0, 1.0, 0.5), link="jaw_link")
        run(sim, 1)
    assert run(sim, 0) == [1.0]
    assert run(sim, 1500) == [0.0], "with nobody pushing any more"


def color_of_lamp(plugin: SimulatorPlugin) -> tuple[float, ...]:
    """What is drawn."""
    world: Any = plugin.world
    if plugin.engine == "pybullet":
        import pybullet

        return pybullet.getVisualShapeData(world.objects["lamp"], physicsClientId=world.client)[0][7]
    return tuple(world.model.geom("lamp").rgba.tolist())


def test_a_lamp_is_painted(simulate: Simulate) -> None:
    sim = simulate({}, {"lamp": {"type": "color", "object": "lamp", "off": [0, 0, 0], "on": [0, 1, 0]}})
    assert color_of_lamp(plugin(sim)) == (0.0, 0.0, 0.0, 1.0)
    run(sim, 1, 1.0)
    assert color_of_lamp(plugin(sim)) == (0.0, 1.0, 0.0, 1.0)
    run(sim, 1, 0.0)
    assert color_of_lamp(plugin(sim)) == (0.0, 0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("inputs", "outputs", "text"),
    [
        ({"a": {"type": "held", "output": "b"}}, {}, "inputs.a: output; expected a known output of type grip, but"),
        ({}, {"a": GRIP | {"objects": ["cub"]}}, "outputs.a: objects; expected .*'cube'.*; got 'cub'"),
        ({}, {"a": GRIP | {"body": "tabel"}}, "outputs.a: 'tabel'; expected .*'table'"),
        ({}, {"a": GRIP | {"link": "hand"}}, "outputs.a: link of 'table'"),
        (
            {},
            {"a": {"type": "joint", "body": "vise", "joint": "mount", "on": 1}},
            "joint of 'vise'; expected one of: jaw",
        ),
        (
            {},
            {"a": {"type": "joint", "body": "vise", "joint": "jaw"}},
            r"outputs.a.joint.on; expected this key; got nothing",
        ),
        ({}, {"a": {"type": "laser"}}, "world.io.io.outputs.a.*'laser'"),
        ({"a": {"type": "zone", "objects": ["x"], "size": [1, 1, 1]}}, {}, "inputs.a: objects; expected .*; got 'x'"),
        ({}, {"a": {"type": "color", "object": "lmp"}}, "outputs.a: object; expected .*'lamp'.*; got 'lmp'"),
    ],
)
def test_what_is_wrong_is_named(simulate: Simulate, inputs: dict, outputs: dict, text: str) -> None:
    with pytest.raises(HardwareError, match=text):
        simulate(inputs, outputs)


def test_unknown_channels_and_parts_are_refused(start: Simulate) -> None:
    part = HardwarePart(name="io", index=0, kind=PartKind.IO, outputs=numbered_channels("output", 1))
    paint = {"type": "color", "object": "lamp"}
    for io, text in (
        ({"io": {"outputs": {"lamp": paint}}}, "world.io.io.outputs.lamp; expected .*output_0"),
        ({"oi": {}}, "world.io.oi; expected one of: io; got 'oi'"),
    ):
        with pytest.raises(HardwareError, match=text):
            start(part, world={"io": io})
