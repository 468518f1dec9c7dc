"""Tools on springs, against the law of the spring."""

import pybullet
import pytest

from robot_rt_control.hardware.lifecycle import HardwareLifecycle
from robot_rt_control.hardware.plugin import HardwareInfo
from robot_rt_control.hardware.pybullet.plugin import PyBulletPlugin
from robot_rt_control.testing.simulated_devices import iiwa
from robot_rt_control.vocabulary.errors import HardwareError

DT = 0.001
SPRING = {"way": [0, 0, -0.02], "stiffness": 400.0, "stop": 4000.0, "preload": 1.0, "damping": 20.0}


def at_rest(substeps=1, **changes):
    """[m] How far a tool of 0.5 kg has sunk at rest; the arm points straight up, gravity is 10 m/s^2."""
    tool = {"name": "digit", "part_of": "arm", "link": "lbr_iiwa_link_7", "sphere": {"radius": 0.01}, "mass": 0.5}
    tool |= {"pose": {"position": [0, 0, 0.1]}, "spring": SPRING | changes}
    world = {"gravity": [0, 0, -10.0], "tools": [tool], "timestep": DT / substeps}
    info = HardwareInfo(name="sim", parts=(iiwa(start_position=(0.0,) * 7),), parameters={"world": world})
    plugin = PyBulletPlugin()
    lifecycle = HardwareLifecycle(plugin, info)
    try:
        lifecycle.configure()
        lifecycle.activate()
        for _ in range(400):
            lifecycle.read(0.0, DT)
            lifecycle.write(0.0, DT)
        robot = plugin.world.robot("arm", "test")
        joint = robot.joints["digit_joint"]
        return pybullet.getJointState(robot.body, joint, physicsClientId=plugin.world.client)[0]
    finally:
        lifecycle.shutdown()


@pytest.mark.parametrize("substeps", [1, 2])
def test_it_gives_way_as_stiffness_and_preload_say(substeps):
    assert at_rest(substeps) == pytest.approx((5.0 - 1.0) / 400.0, rel=0.01)


def test_a_push_below_the_preload_does_not_move_it():
    assert at_rest(preload=6.0) == pytest.approx(0.0, abs=1e-4)


def test_at_its_stop_it_is_stiff():
    assert at_rest(way=[0, 0, -0.005]) == pytest.approx((5.0 - 1.0 + 4000.0 * 0.005) / 4400.0, rel=0.01)


def test_a_spring_that_leads_nowhere_is_refused():
    with pytest.raises(HardwareError, match=r"way; expected a way that is not zero"):
        at_rest(way=[0, 0, 0])
