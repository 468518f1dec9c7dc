"""Simulated sensors against what mechanics and geometry say."""

import math

import numpy as np
import pytest

from robot_rt_control.hardware.info import HardwarePart
from robot_rt_control.model.pose import Pose
from robot_rt_control.model.workcell.channels import numbered_channels
from robot_rt_control.model.workcell.mount import Mount
from robot_rt_control.testing.simulated_devices import gantry, iiwa
from robot_rt_control.vocabulary.enums import CommandMode, PartKind
from robot_rt_control.vocabulary.errors import HardwareError

DT = 0.001
FLOOR = {"name": "floor", "plane": True}
DOWN = {"position": [0, 0, -0.25], "orientation": [1, 0, 0, 0]}
"""Below the gantry's tool, looking down: 0.75 m above the floor when the lift is at 0."""


@pytest.fixture
def simulate(tmp_path, start):
    """Make an active simulation of a gantry and one sensor."""

    def make(kind, sensor, *, robot=None, world=None, objects=(FLOOR,), n_inputs=0, **described):
        inputs = numbered_channels("input", n_inputs)
        parts = (
            robot or gantry(tmp_path),
            HardwarePart(name="sensor", index=1, kind=kind, inputs=inputs, **described),
        )
        sensors = {} if sensor is None else {"sensor": sensor}
        world = {"gravity": [0, 0, -10.0], "objects": list(objects), "sensors": sensors, **(world or {})}
        return start(*parts, world=world)

    return make


def cycle(lifecycle, n=1):
    for _ in range(n):
        lifecycle.write(0.0, DT)
        lifecycle.read(0.0, DT)


def lower_to(sim, goal, speed=0.2):
    """Move the gantry at constant speed."""
    sim.switch_modes({"gantry": CommandMode.POSITION})
    position = sim.state[0]
    while abs(goal - position) > 1e-9:
        position += max(-speed * DT, min(speed * DT, goal - position))
        sim.command[0] = position
        cycle(sim)


# --- rangefinder -----------------------------------------------------------------------------------


def rangefinder(**changes):
    return {"type": "rangefinder", "part_of": "gantry", "link": "tool", "pose": DOWN, **changes}


def test_the_distance_above_a_plane(simulate):
    sim = simulate(PartKind.RANGEFINDER, rangefinder())
    assert sim.state[3] == pytest.approx(0.75, abs=1e-5)
    lower_to(sim, -0.5)
    assert sim.state[3] == pytest.approx(0.25, abs=2e-4)


def test_what_lies_in_between_is_seen(simulate):
    box = {"name": "box", "box": {"size": [0.2, 0.2, 0.1]}, "pose": {"position": [0, 0, 0.05]}, "fixed": True}
    sim = simulate(PartKind.RANGEFINDER, rangefinder(), objects=(FLOOR, box))
    assert sim.state[3] == pytest.approx(0.65, abs=1e-5)
    sim.plugin.move_object("box", Pose(position=(1.0, 0.0, 0.05)))
    cycle(sim)
    assert sim.state[3] == pytest.approx(0.75, abs=1e-4)


def test_an_arm_s_rangefinder_agrees_with_its_pose(simulate):
    start = (0.3, 0.5, -0.2, -1.3, 0.1, 1.2, 0.0)
    sensor = rangefinder(part_of="arm", link="lbr_iiwa_link_7", pose={"position": [0.01, 0, 0.06]})
    sim = simulate(PartKind.RANGEFINDER, sensor, robot=iiwa(start_position=start))
    X_WL = sim.plugin.world.part_link_pose("arm", "lbr_iiwa_link_7", "test").matrix
    axis, origin = X_WL[:3, 2], (X_WL @ (0.01, 0.0, 0.06, 1.0))[:3]
    assert axis[2] < -0.5, "it looks down"
    assert sim.state[-1] == pytest.approx(-origin[2] / axis[2], abs=1e-4)


def test_nothing_within_the_range_is_inf(simulate):
    assert simulate(PartKind.RANGEFINDER, rangefinder(range=[0.0, 0.7])).state[3] == math.inf
    assert simulate(PartKind.RANGEFINDER, rangefinder(), objects=()).state[3] == math.inf
    assert simulate(PartKind.RANGEFINDER, rangefinder(range=[0.0, 0.75])).state[3] == pytest.approx(0.75, abs=1e-5)


def test_nearer_than_the_range_is_minus_inf(simulate):
    assert simulate(PartKind.RANGEFINDER, rangefinder(range=[0.8, 2.0])).state[3] == -math.inf


def test_noise_has_its_deviation_and_repeats(simulate):
    def samples(**world):
        sim = simulate(PartKind.RANGEFINDER, rangefinder(noise=0.01), world=world)
        distances = []
        for _ in range(400):
            sim.read(0.0, DT)
            distances.append(sim.state[3])
        return np.array(distances)

    first = samples()
    assert first.mean() == pytest.approx(0.75, abs=0.003)
    assert first.std() == pytest.approx(0.01, rel=0.15)
    assert (samples() == first).all()
    assert (samples(seed=1) != first).all()


# --- force and torque ------------------------------------------------------------------------------


def force_torque(**changes):
    return {"type": "force_torque", "part_of": "gantry", "joint": "flange", **changes}


def test_a_hanging_mass_pulls_down(simulate):
    sim = simulate(PartKind.FORCE_TORQUE_SENSOR, force_torque(), objects=())
    cycle(sim, 200)
    assert sim.state[3:] == pytest.approx([0, 0, -20.0, 0, 0, 0], abs=1e-2)


@pytest.mark.parametrize("roll", [0.0, 0.7])
def test_a_mass_beside_the_axis_gives_a_torque(simulate, tmp_path, roll):
    robot = gantry(tmp_path, center=(0.1, 0.2), roll=roll)
    sim = simulate(PartKind.FORCE_TORQUE_SENSOR, force_torque(), robot=robot, objects=())
    cycle(sim, 300)
    # c x F with c = (0.1, 0.2, -0.1), F = (0, 0, -20)
    assert sim.state[3:] == pytest.approx([0, 0, -20.0, -4.0, 2.0, 0], abs=2e-2)


def test_the_wrench_is_in_the_sensor_frame(simulate, tmp_path):
    # Turned by 90 degrees about x (its y is the link's z), and 0.5 m beside the link along x.
    pose = {"position": [0.5, 0, 0], "orientation": [math.sqrt(0.5), 0, 0, math.sqrt(0.5)]}
    robot = gantry(tmp_path, center=(0.1, 0.2))
    sim = simulate(PartKind.FORCE_TORQUE_SENSOR, force_torque(pose=pose), robot=robot, objects=())
    cycle(sim, 300)
    # In link axes: F = (0, 0, -20), c - s = (-0.4, 0.2, -0.1), T = (-4, -8, 0)
    assert sim.state[3:] == pytest.approx([0, -20.0, 0, -4.0, 0, 8.0], abs=3e-2)


@pytest.mark.parametrize("mode", [CommandMode.POSITION, CommandMode.EFFORT])
def test_a_driven_joint_can_be_the_sensor_and_carries_what_is_behind_it(simulate, tmp_path, mode):
    robot = gantry(tmp_path, center=(0.1, 0.2))
    sim = simulate(PartKind.FORCE_TORQUE_SENSOR, force_torque(joint="lift"), robot=robot, objects=())
    sim.switch_modes({"gantry": mode})
    sim.command[2] = 30.0
    cycle(sim, 300)
    assert sim.state[3:] == pytest.approx([0, 0, -30.0, -4.0, 2.0, 0.0], abs=3e-2)


def test_the_last_joint_of_an_arm_feels_its_own_torque(simulate):
    # Joint 6 is horizontal: it holds the weight of link 7 and what is behind.
    start = (0.0, 0.0, 0.0, -math.pi / 2, 0.0, 0.0, 0.0)
    sensor = force_torque(part_of="arm", joint="lbr_iiwa_joint_6")
    sim = simulate(PartKind.FORCE_TORQUE_SENSOR, sensor, robot=iiwa(start_position=start), objects=())
    cycle(sim, 300)
    drive = sim.state[3 * 5 + 2]
    assert abs(drive) > 0.1
    # About the joint's axis (z of its link) the drive alone balances the weight.
    assert sim.state[-1] == pytest.approx(-drive, rel=0.01)


def test_accelerating_upwards_weighs_more(simulate):
    sim = simulate(PartKind.FORCE_TORQUE_SENSOR, force_torque(), objects=())
    sim.switch_modes({"gantry": CommandMode.EFFORT})
    sim.command[2] = 3.0 * 10.0 + 3.0 * 4.0  # weight, and 4 m/s^2
    cycle(sim, 50)
    assert sim.state[5] == pytest.approx(-2.0 * (10.0 + 4.0), rel=0.01)


def test_pressing_on_the_floor_pushes_up(simulate):
    sim = simulate(PartKind.FORCE_TORQUE_SENSOR, force_torque(), objects=({**FLOOR, "friction": 0.0},))
    lower_to(sim, -0.79)
    sim.switch_modes({"gantry": CommandMode.EFFORT})
    sim.command[2] = 3.0 * 10.0 - 50.0  # 50 N more than the weight goes into the floor
    cycle(sim, 1000)
    assert abs(sim.state[1]) < 1e-3
    assert sim.state[5] == pytest.approx(-20.0 + 50.0, rel=0.02)


# --- contact ---------------------------------------------------------------------------------------


def test_contacts_are_inputs(simulate):
    box = {"name": "box", "box": {"size": [0.1] * 3}, "pose": {"position": [1, 0, 0.05]}}
    inputs = [
        {"body": "gantry", "link": "tool", "other": "floor"},
        {"body": "box"},
        {"body": "gantry", "other": "box"},
    ]
    sim = simulate(PartKind.IO, {"type": "contact", "inputs": inputs}, objects=(FLOOR, box), n_inputs=4)
    cycle(sim, 300)
    assert sim.state[3:].tolist() == [0.0, 1.0, 0.0, 0.0]
    lower_to(sim, -0.802)
    cycle(sim, 100)
    assert sim.state[3:].tolist() == [1.0, 1.0, 0.0, 0.0]


# --- pose ------------------------------------------------------------------------------------------


def test_V25_the_pose_of_a_body_that_moves(simulate):
    box = {"name": "box", "box": {"size": [0.2, 0.2, 0.1]}, "pose": {"position": [2, 0, 1.0]}, "mass": 1.0}
    sim = simulate(PartKind.SENSOR, {"type": "pose", "body": "box"}, objects=(FLOOR, box), n_inputs=7)
    assert sim.state[3:].tolist() == [2.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, *[0.0] * 7], "then the ages"
    cycle(sim, 100)
    assert sim.state[5] == pytest.approx(1.0 - 0.5 * 10.0 * 0.1**2, abs=1e-3), "it falls"
    turned = Pose(position=(1.0, 2.0, 3.0), orientation=(0.6, 0.0, 0.0, 0.8))
    sim.plugin.move_object("box", turned)
    sim.read(0.0, DT)
    assert sim.state[3:10] == pytest.approx([*turned.position, *turned.orientation])


def test_V25_the_pose_of_a_link_is_that_of_its_frame(simulate):
    sim = simulate(PartKind.SENSOR, {"type": "pose", "body": "gantry", "link": "tool"}, n_inputs=7)
    lower_to(sim, -0.25)
    pose = sim.plugin.world.part_link_pose("gantry", "tool", "test")
    assert sim.state[3:10] == pytest.approx([*pose.position, *pose.orientation])
    assert sim.state[5] == pytest.approx(1.0 - 0.25, abs=1e-3)


def test_V25_a_sensor_part_without_an_entry_stays_unknown(simulate):
    assert np.isnan(simulate(PartKind.SENSOR, None, n_inputs=7).state[3:10]).all()


# --- what is refused ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "sensor", "text"),
    [
        (PartKind.RANGEFINDER, rangefinder(link="tol"), "sensor 'sensor': link 'tol'; expected .*did you mean 'tool'"),
        (PartKind.RANGEFINDER, rangefinder(part_of="arm"), "part_of: part 'arm'; expected one of: gantry"),
        (PartKind.RANGEFINDER, rangefinder(range=[2, 1]), "range; expected .least, greatest. with least < greatest"),
        (PartKind.RANGEFINDER, force_torque(), "world.sensors.sensor.type; expected 'rangefinder'; got 'force_torque'"),
        (PartKind.FORCE_TORQUE_SENSOR, force_torque(joint="flang"), "joint 'flang'; expected .*did you mean 'flange'"),
        (PartKind.IO, {"type": "contact", "inputs": [{"body": "bx"}]}, "input 0: 'bx'; expected one of: floor, gantry"),
        (PartKind.IO, {"type": "contact", "inputs": [{"body": "floor"}] * 5}, "inputs; expected at most 4; got 5"),
        (PartKind.SENSOR, {"type": "pose", "body": "floor"}, "values; expected seven: position x, y, z, and .*; got 4"),
        (PartKind.SENSOR, {"type": "contact"}, "world.sensors.sensor.type; expected 'pose'; got 'contact'"),
    ],
)
def test_a_wrong_sensor_is_explained(simulate, kind, sensor, text):
    with pytest.raises(HardwareError, match=text):
        simulate(kind, sensor, n_inputs=4)


@pytest.mark.parametrize(
    ("sensor", "got"), [(None, "nothing"), ({"type": "rangefinder", "link": "tool"}, "'tool' of no part")]
)
def test_a_sensor_that_is_nowhere_is_explained(simulate, sensor, got):
    text = f"'sensor': where it is mounted; expected part_of, and link or joint.*or mounted_on.*; got {got}"
    with pytest.raises(HardwareError, match=text):
        simulate(PartKind.RANGEFINDER, sensor)


def test_a_wrench_needs_a_joint(simulate):
    with pytest.raises(HardwareError, match="expected mounted_on and link in the workcell file; got a place"):
        simulate(PartKind.FORCE_TORQUE_SENSOR, None, mount=Mount(part=None, link=None, pose=Pose()))
    with pytest.raises(HardwareError, match="link 'frame'; expected a joint's child link; got the root link"):
        simulate(PartKind.FORCE_TORQUE_SENSOR, None, mount=Mount(part="gantry", link="frame", pose=Pose()))


def test_a_sensor_is_where_its_part_says(simulate):
    down = Pose.model_validate(DOWN)
    told = simulate(PartKind.RANGEFINDER, rangefinder()).state[3]
    assert told == pytest.approx(0.75, abs=1e-5)
    assert simulate(PartKind.RANGEFINDER, None, mount=Mount(part="gantry", link="tool", pose=down)).state[3] == told
    above = Pose(position=(2.0, 0.0, 0.6), orientation=down.orientation)
    fixed = Mount(part=None, link=None, pose=above)
    assert simulate(PartKind.RANGEFINDER, None, mount=fixed).state[3] == pytest.approx(0.6, abs=1e-5)
    assert simulate(PartKind.RANGEFINDER, None, mount=fixed, range=(0.0, 0.5)).state[3] == math.inf
    assert simulate(PartKind.RANGEFINDER, {"range": [0, 2], "type": "rangefinder"}, mount=fixed).state[3] < 1.0
    mount = Mount(part="gantry", link="tool", pose=Pose())
    by_joint, by_link = (
        simulate(PartKind.FORCE_TORQUE_SENSOR, sensor, mount=mount, objects=()) for sensor in (force_torque(), None)
    )
    assert by_link.state.tobytes() == by_joint.state.tobytes()


def test_an_entry_without_sensor_part_is_explained(simulate):
    sensors = {"sensor": rangefinder(), "wrist": force_torque()}
    with pytest.raises(HardwareError, match="world.sensors.wrist; expected one of: sensor"):
        simulate(PartKind.RANGEFINDER, rangefinder(), world={"sensors": sensors})
