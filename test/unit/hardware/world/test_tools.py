"""Tools on simulated robots: where they are, what they weigh, what they touch, what is refused."""

import pytest

from robot_rt_control.hardware.info import HardwarePart
from robot_rt_control.model.pose import Pose
from robot_rt_control.testing.simulated_devices import iiwa
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import HardwareError

DT = 0.001
PROBE = {
    "name": "probe",
    "part_of": "arm",
    "link": "lbr_iiwa_link_7",
    "cylinder": {"radius": 0.01, "height": 0.1},
    "pose": {"position": [0, 0, 0.1]},
    "mass": 0.5,
}
TIP = {"name": "tip", "part_of": "arm", "link": "probe", "sphere": {"radius": 0.01}, "pose": {"position": [0, 0, 0.05]}}


@pytest.fixture
def simulate(start):
    def make(*tools, objects=()):
        sensor = {"type": "force_torque", "part_of": "arm", "joint": "probe_joint"}
        world = {"gravity": [0, 0, -10], "tools": list(tools), "objects": list(objects), "sensors": {"wrist": sensor}}
        sim = start(iiwa(), HardwarePart(name="wrist", index=1, kind=PartKind.FORCE_TORQUE_SENSOR), world=world)
        for _ in range(50):
            sim.read(0.0, DT)
            sim.write(0.0, DT)
        return sim

    return make


def link_pose(sim, link):
    """(4, 4) in the world."""
    return sim.plugin.world.part_link_pose("arm", link, "test").matrix


def test_it_is_a_part_of_the_robot_and_the_sensor_before_it_feels_its_weight(simulate):
    sim = simulate(PROBE, {**TIP, "mass": 0.3})
    flange, tip = link_pose(sim, "lbr_iiwa_link_7"), link_pose(sim, "tip")
    axis = flange[:3, 2]
    assert tip[:3, 3] == pytest.approx(flange[:3, 3] + 0.15 * axis, abs=1e-5)
    assert sim.state[23] == pytest.approx(-8.0 * axis[2], rel=1e-3), "along the probe"
    assert sum(f * f for f in sim.state[21:24]) ** 0.5 == pytest.approx(8.0, rel=1e-3)


def test_its_orientation_is_that_of_its_pose(simulate):
    orientation = [0.1, -0.3, 0.5, 0.8062258]
    sim = simulate({**PROBE, "pose": {"orientation": orientation}})
    length = sum(v * v for v in orientation) ** 0.5
    turn = Pose(orientation=tuple(v / length for v in orientation)).matrix
    found, flange = link_pose(sim, "probe"), link_pose(sim, "lbr_iiwa_link_7")
    assert found[:3, :3] == pytest.approx((flange @ turn)[:3, :3], abs=2e-6)


def test_it_touches(simulate):
    sim = simulate(PROBE)
    below = link_pose(sim, "probe")[:3, 3].tolist()
    assert sum(f * f for f in sim.state[21:24]) ** 0.5 == pytest.approx(5.0, rel=1e-3), "its weight"
    ball = {"name": "ball", "sphere": {"radius": 0.03}, "pose": {"position": below}, "fixed": True}
    sim = simulate(PROBE, objects=[ball])
    assert sum(f * f for f in sim.state[21:24]) ** 0.5 > 50.0, "it is pushed out of the ball"


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"link": "lbr_iiwa_link_8"}, "tool 'probe': link 'lbr_iiwa_link_8'; expected .*did you mean 'lbr_iiwa_link_"),
        ({"name": "lbr_iiwa_link_6"}, "its name; expected none of the robot's links; got lbr_iiwa_link_6"),
        ({"part_of": "arn"}, "tool 'probe': part_of; expected .*did you mean 'arm'"),
        ({"box": {"size": [1, 1, 1]}}, "expected exactly one of box, sphere, cylinder; got box, cylinder"),
    ],
)
def test_a_wrong_tool_is_explained(simulate, changes, text):
    with pytest.raises(HardwareError, match=text):
        simulate({**PROBE, **changes})


def test_two_tools_of_one_name_are_refused(simulate):
    with pytest.raises(HardwareError, match="world.tools; expected each name once; got two called 'probe'"):
        simulate(PROBE, PROBE)
