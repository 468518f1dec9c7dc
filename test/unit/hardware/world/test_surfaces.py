"""Contacts: friction, and surfaces that give way where they are touched."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from robot_rt_control.hardware.lifecycle import HardwareLifecycle
from robot_rt_control.hardware.world.simulator import SimulatorPlugin
from robot_rt_control.model.pose import Pose
from robot_rt_control.testing.simulated_devices import iiwa
from robot_rt_control.vocabulary.errors import HardwareError

DT = 0.001
BOX = {"name": "box", "box": {"size": [0.1, 0.1, 0.1]}, "pose": {"position": [1.5, 0.0, 0.05]}, "mass": 20.0}


Height = Callable[..., float]


@pytest.fixture
def height_at_rest(start: Callable[..., HardwareLifecycle]) -> Height:
    """[m] where a box of 20 kg rests on the floor."""

    def found(*surfaces: dict[str, object]) -> float:
        sim = start(iiwa(), world={"objects": [{"name": "floor", "plane": True}, BOX], "surfaces": list(surfaces)})
        for _ in range(2000):
            sim.write(0.0, DT)
        assert isinstance(sim.plugin, SimulatorPlugin)
        return sim.plugin.object_pose("box").position[2]

    return found


def test_a_soft_surface_gives_way_in_proportion_to_the_force(engine: str, height_at_rest: Height) -> None:
    hard = height_at_rest()
    soft = height_at_rest({"body": "box", "stiffness": 2.0e4, "damping": 500.0})
    softer = height_at_rest({"body": "box", "stiffness": 1.0e4, "damping": 500.0})
    assert hard == pytest.approx(0.05, abs=2e-5), "it sinks by 10 um in PyBullet, by 0.5 um in MuJoCo"
    # PyBullet gives the stiffness to each of the four points of contact; in MuJoCo they share it.
    points = {"pybullet": 4, "mujoco": 1}[engine]
    assert hard - soft == pytest.approx(20.0 * 9.81 / (points * 2.0e4), rel=0.002)
    assert hard - softer == pytest.approx(2.0 * (hard - soft), rel=0.002)


def test_an_unknown_body_or_link_is_refused(height_at_rest: Height) -> None:
    with pytest.raises(HardwareError, match="surface of 'bax'.*did you mean 'box'"):
        height_at_rest({"body": "bax", "stiffness": 1e4, "damping": 50.0})
    with pytest.raises(HardwareError, match="surface of 'arm'.*link 'lbr_iiwa_link_8'"):
        height_at_rest({"body": "arm", "link": "lbr_iiwa_link_8", "stiffness": 1e4, "damping": 50.0})


@pytest.mark.parametrize("stiffness", [1000.0, 20000.0])
def test_a_soft_surface_gives_way_as_hooke_says(start: Callable[..., HardwareLifecycle], stiffness: float) -> None:
    mat = {"name": "mat", "box": {"size": [1, 1, 0.1]}, "fixed": True, "pose": {"position": [0, 0, 0.05]}}
    ball = {"name": "ball", "sphere": {"radius": 0.05}, "mass": 2.0, "pose": {"position": [0.3, 0, 0.15]}}
    surface = {"body": "mat", "stiffness": stiffness, "damping": 100.0}
    base = Pose(position=(2.0, 0.0, 0.0))
    world = {"gravity": [0, 0, -10.0], "objects": [mat, ball], "surfaces": [surface]}
    sim = start(iiwa(base=base), world=world)
    for _ in range(3000):
        sim.write(0.0, DT)
    assert isinstance(sim.plugin, SimulatorPlugin)
    sunk = 0.15 - sim.plugin.object_pose("ball").position[2]
    assert sunk == pytest.approx(2.0 * 10.0 / stiffness, rel=0.02)


def test_on_a_slope_it_stays_up_to_the_angle_of_friction(engine: str, start: Callable[..., HardwareLifecycle]) -> None:
    def speed(angle_deg: float) -> float:
        """[m/s] of a box on a ramp, after 0.5 s; the friction coefficient is 0.5, so its angle is 26.6 degrees."""
        a = math.radians(angle_deg)
        turned = {"orientation": [0.0, math.sin(a / 2), 0.0, math.cos(a / 2)]}
        above = {"position": [0.15 * math.sin(a), 0.0, 0.15 * math.cos(a)]}
        ramp = {"name": "ramp", "box": {"size": [4, 4, 0.2]}, "pose": turned, "fixed": True, "friction": 1.0}
        box = {"name": "box", "box": {"size": [0.1, 0.1, 0.1]}, "pose": turned | above, "friction": 0.5}
        sim = start(iiwa(base=Pose(position=(9.0, 0.0, 0.0))), world={"objects": [ramp, box]})
        assert isinstance(sim.plugin, SimulatorPlugin)
        places = []
        for _ in range(2):
            for _ in range(500):
                sim.write(0.0, DT)
            places.append(sim.plugin.object_pose("box").position)
        return math.dist(*places) / 0.5

    # It creeps: 0.031 mm/s at 20 degrees in PyBullet, 0.005 mm/s in MuJoCo.
    assert speed(20.0) < {"pybullet": 1e-4, "mujoco": 1e-5}[engine]
    assert speed(30.0) > 0.1
