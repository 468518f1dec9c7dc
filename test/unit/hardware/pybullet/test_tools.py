"""Tools on simulated robots: where they are, what they weigh, what they touch, what is refused."""

from pathlib import Path

import pytest

from robot_rt_control.hardware.lifecycle import HardwareLifecycle, load_plugin
from robot_rt_control.hardware.plugin import HardwareInfo, HardwarePart
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
def simulate():
    running = []

    def make(*tools, objects=()):
        sensor = {"type": "force_torque", "part_of": "arm", "joint": "probe_joint"}
        world = {"gravity": [0, 0, -10], "tools": list(tools), "objects": list(objects), "sensors": {"wrist": sensor}}
        parts = (iiwa(), HardwarePart(name="wrist", index=1, kind=PartKind.FORCE_TORQUE_SENSOR))
        info = HardwareInfo(name="sim", parts=parts, parameters={"world": world})
        lifecycle = HardwareLifecycle(load_plugin("pybullet")(), info)
        running.append(lifecycle)
        lifecycle.configure()
        lifecycle.activate()
        for _ in range(50):
            lifecycle.read(0.0, DT)
            lifecycle.write(0.0, DT)
        return lifecycle

    yield make
    for lifecycle in running:
        lifecycle.shutdown()


def test_it_is_a_part_of_the_robot_and_the_sensor_before_it_feels_its_weight(simulate):
    sim = simulate(PROBE, {**TIP, "mass": 0.3})
    robot = sim.plugin.world.robot("arm", "test")
    flange, orientation = sim.plugin.world.link_pose(robot.body, robot.links["lbr_iiwa_link_7"])
    tip, _ = sim.plugin.world.link_pose(robot.body, robot.links["tip"])
    x, y, z, w = orientation
    axis = (2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y))
    assert tip == pytest.approx([f + 0.15 * a for f, a in zip(flange, axis, strict=True)], abs=1e-5)
    assert sim.state[23] == pytest.approx(-8.0 * axis[2], rel=1e-3), "along the probe"
    assert sum(f * f for f in sim.state[21:24]) ** 0.5 == pytest.approx(8.0, rel=1e-3)


def test_its_orientation_is_that_of_its_pose(simulate):
    quaternion = [0.1, -0.3, 0.5, 0.8062258]
    sim = simulate({**PROBE, "pose": {"orientation": quaternion}})
    robot = sim.plugin.world.robot("arm", "test")
    found = sim.plugin.world.link_pose(robot.body, robot.links["probe"])[1]
    parent = sim.plugin.world.link_pose(robot.body, robot.links["lbr_iiwa_link_7"])[1]
    length = sum(v * v for v in quaternion) ** 0.5
    ax, ay, az, aw = parent
    bx, by, bz, bw = (v / length for v in quaternion)
    product = (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )
    assert abs(sum(p * f for p, f in zip(product, found, strict=True))) == pytest.approx(1.0, abs=1e-6)


def test_it_touches(simulate):
    sim = simulate(PROBE)
    robot = sim.plugin.world.robot("arm", "test")
    below = [*sim.plugin.world.link_pose(robot.body, robot.links["probe"])[0]]
    assert sum(f * f for f in sim.state[21:24]) ** 0.5 == pytest.approx(5.0, rel=1e-3), "its weight"
    ball = {"name": "ball", "sphere": {"radius": 0.03}, "pose": {"position": below}, "fixed": True}
    sim = simulate(PROBE, objects=[ball])
    assert sum(f * f for f in sim.state[21:24]) ** 0.5 > 50.0, "it is pushed out of the ball"


def test_its_file_goes_with_the_simulation(simulate):
    sim = simulate(PROBE)
    folder = Path(sim.plugin.world._folder.name)
    assert [f.name for f in folder.iterdir()] == ["arm.urdf"]
    sim.shutdown()
    assert not folder.exists()


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
