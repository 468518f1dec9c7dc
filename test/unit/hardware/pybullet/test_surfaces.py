"""Surfaces that give way where they are touched."""

from __future__ import annotations

import pytest

from robot_rt_control.hardware.lifecycle import HardwareLifecycle
from robot_rt_control.hardware.plugin import HardwareInfo
from robot_rt_control.hardware.pybullet.plugin import PyBulletPlugin
from robot_rt_control.testing.simulated_devices import iiwa
from robot_rt_control.vocabulary.errors import HardwareError

DT = 0.001
BOX = {"name": "box", "box": {"size": [0.1, 0.1, 0.1]}, "pose": {"position": [1.5, 0.0, 0.05]}, "mass": 20.0}


def height_at_rest(*surfaces: dict[str, object]) -> float:
    """[m] where a box of 20 kg rests on the floor."""
    world = {"objects": [{"name": "floor", "plane": True}, BOX], "surfaces": list(surfaces)}
    info = HardwareInfo(name="sim", parts=(iiwa(),), parameters={"world": world})
    plugin = PyBulletPlugin()
    lifecycle = HardwareLifecycle(plugin, info)
    try:
        lifecycle.configure()
        lifecycle.activate()
        for _ in range(2000):
            lifecycle.read(0.0, DT)
            lifecycle.write(0.0, DT)
        return plugin.object_pose("box").position[2]
    finally:
        lifecycle.shutdown()


def test_a_soft_surface_gives_way_in_proportion_to_the_force() -> None:
    hard = height_at_rest()
    soft = height_at_rest({"body": "box", "stiffness": 2.0e4, "damping": 500.0})
    softer = height_at_rest({"body": "box", "stiffness": 1.0e4, "damping": 500.0})
    assert hard == pytest.approx(0.05, abs=2e-4)
    # The simulator gives each of the four points of contact the stiffness.
    assert hard - soft == pytest.approx(20.0 * 9.81 / (4 * 2.0e4), rel=0.3)
    assert hard - softer == pytest.approx(2.0 * (hard - soft), rel=0.2)


def test_an_unknown_body_or_link_is_refused() -> None:
    with pytest.raises(HardwareError, match="surface of 'bax'.*did you mean 'box'"):
        height_at_rest({"body": "bax", "stiffness": 1e4, "damping": 50.0})
    with pytest.raises(HardwareError, match="surface of 'arm'.*link 'lbr_iiwa_link_8'"):
        height_at_rest({"body": "arm", "link": "lbr_iiwa_link_8", "stiffness": 1e4, "damping": 50.0})
