"""Robots, bodies, actuators and sensors that are in an MJCF: the workcell `table_arm`."""

import hashlib
import math

import numpy as np
import pytest

from robot_rt_control.hardware.plugin import Pose
from robot_rt_control.vocabulary.enums import CommandMode
from robot_rt_control.vocabulary.errors import HardwareError

DT = 0.001
START = (0.0, -0.6, 2.17)
POSITION, VELOCITY, EFFORT = CommandMode.POSITION, CommandMode.VELOCITY, CommandMode.EFFORT


def cycle(sim, n=1):
    for _ in range(n):
        sim.write(0.0, DT)
        sim.read(0.0, DT)


def value(sim, name):
    return float(sim.state[[interface.name for interface in sim.state_interfaces].index(name)])


def command(sim, name, value):
    sim.command[[interface.name for interface in sim.command_interfaces].index(name)] = value


def command_start(sim):
    for joint, position in zip(("yaw", "shoulder", "elbow"), START, strict=True):
        command(sim, f"arm/{joint}/position", position)


# --- joints and actuators --------------------------------------------------------------------------


def test_X9_joints_are_found_by_name_and_start_at_the_start_position(start_scene):
    sim = start_scene()
    assert [value(sim, f"arm/{joint}/position") for joint in ("yaw", "shoulder", "elbow")] == list(START)
    world = sim.plugin.world
    assert value(sim, "gripper/left_finger/position") == 0.03
    assert world.object_joint("gripper", "right_finger", "test").position() == pytest.approx(0.03), "it is tied to it"
    assert world.substeps == 2 and world.step_s == 0.0005, "the MJCF's time step"
    elbow = (0.35 * math.cos(0.6), 0.0, 0.45 + 0.35 * math.sin(0.6))
    assert world.part_link_pose("arm", "forearm", "test").position == pytest.approx(elbow)


def test_X10_a_position_servo_of_the_mjcf_keeps_its_model(start_scene):
    sim = start_scene(("    world:\n", "    world:\n      timestep: 0.001\n"))
    sim.switch_modes({"arm": POSITION})
    command_start(sim)
    command(sim, "arm/yaw/position", 0.002)
    cycle(sim)
    assert value(sim, "arm/yaw/effort") == pytest.approx(800 * 0.002), "its kp"
    assert 0.0 < value(sim, "arm/yaw/position") < 2e-4
    command(sim, "arm/yaw/position", 0.3)
    cycle(sim)
    assert value(sim, "arm/yaw/effort") <= 60.0, "its forcerange"
    cycle(sim, 2000)
    assert value(sim, "arm/yaw/position") == pytest.approx(0.3, abs=1e-4)
    sag = -value(sim, "arm/shoulder/effort") / 6000
    assert 5e-4 < sag < 2e-3, "it gives way, as a servo with this stiffness does"
    assert value(sim, "arm/shoulder/position") == pytest.approx(START[1] + sag, abs=1e-5)
    assert value(sim, "arm/elbow/position") == pytest.approx(START[2], abs=1e-6), "a motor holds nothing: ours does"


def test_X10_a_velocity_servo_and_our_own_drive(start_scene):
    sim = start_scene()
    sim.switch_modes({"arm": VELOCITY})
    for joint in ("yaw", "shoulder"):
        command(sim, f"arm/{joint}/velocity", 0.2)
    cycle(sim)
    assert value(sim, "arm/shoulder/velocity") == pytest.approx(0.2, abs=2e-3), "ours reaches it at once"
    assert 0.0 < value(sim, "arm/yaw/velocity") < 0.19
    cycle(sim, 300)
    assert value(sim, "arm/yaw/velocity") == pytest.approx(0.2, abs=2e-3)
    position = value(sim, "arm/yaw/position")
    assert position == pytest.approx(0.2 * 0.301, rel=0.15), "the position servo does not pull it back to 0"


def test_X10_a_motor_takes_efforts_through_its_gear_and_within_its_range(start_scene):
    sim = start_scene()
    sim.switch_modes({"arm": [POSITION, POSITION, EFFORT]})
    command_start(sim)
    command(sim, "arm/elbow/effort", 2.0)
    cycle(sim)
    assert value(sim, "arm/elbow/effort") == pytest.approx(2.0)
    # 2 Nm and the weight of what is behind the elbow move about this inertia, armature included.
    assert value(sim, "arm/elbow/velocity") > 0.01
    command(sim, "arm/elbow/effort", 80.0)
    cycle(sim)
    assert value(sim, "arm/elbow/effort") == pytest.approx(50.0), "ctrlrange times gear"
    sim.switch_modes({"arm": POSITION})
    before = value(sim, "arm/elbow/position")
    command(sim, "arm/elbow/position", before)
    cycle(sim, 200)
    assert value(sim, "arm/elbow/position") == pytest.approx(before, abs=0.02)
    assert value(sim, "arm/elbow/velocity") == pytest.approx(0.0, abs=1e-3), "the motor is off"


def test_X10_a_tendon_moves_both_fingers(start_scene):
    sim = start_scene()
    sim.switch_modes({"gripper": POSITION})
    command(sim, "gripper/left_finger/position", 0.01)
    cycle(sim, 1000)
    assert value(sim, "gripper/left_finger/position") == pytest.approx(0.01, abs=2e-4)
    other = sim.plugin.world.object_joint("gripper", "right_finger", "test")
    assert other.position() == pytest.approx(0.01, abs=2e-4)
    actuator = sim.plugin.world.data.actuator("grip")
    assert float(actuator.ctrl[0]) == pytest.approx(0.01 * 2000 / 0.2353), "of 255"
    # Without the actuator, our own drive moves the finger, and the constraint takes the other one along.
    sim.switch_modes({"gripper": VELOCITY})
    command(sim, "gripper/left_finger/velocity", 0.05)
    cycle(sim, 200)
    assert value(sim, "gripper/left_finger/position") == pytest.approx(0.02, abs=5e-4)
    assert other.position() == pytest.approx(0.02, abs=5e-4)
    assert float(actuator.force[0]) == 0.0


@pytest.mark.parametrize("both", [True, False], ids=["two servos", "one servo, and a drive of ours"])
def test_X10_a_finger_that_only_the_urdf_lets_follow(start_scene, both):
    """Nothing in the MJCF ties the fingers: the follower has a servo of its own, or ours."""
    servo = '<position name="{0}" joint="{0}_finger" kp="2000" kv="40" forcerange="-40 40"/>'
    equality = '<joint joint1="right_finger" joint2="left_finger" polycoef="0 1 0 0 0" solref="0.005 1"/>'
    left, right = servo.format("left"), servo.format("right") if both else ""
    general = '<general name="grip" tendon="fingers" biastype="affine" ctrlrange="0 255"\n             '
    general += 'gainprm="0.2353" biasprm="0 -2000 -40" forcerange="-40 40"/>'
    sim = start_scene(scene=((equality, ""), (general, left + right)))
    sim.switch_modes({"gripper": POSITION})
    command(sim, "gripper/left_finger/position", 0.01)
    cycle(sim, 1000)
    other = sim.plugin.world.object_joint("gripper", "right_finger", "test")
    assert value(sim, "gripper/left_finger/position") == pytest.approx(0.01, abs=2e-4)
    assert other.position() == pytest.approx(0.01, abs=2e-4)
    sim.switch_modes({"gripper": VELOCITY})
    command(sim, "gripper/left_finger/velocity", 0.05)
    cycle(sim, 200)
    assert value(sim, "gripper/left_finger/position") == pytest.approx(0.02, abs=5e-4)
    assert other.position() == pytest.approx(0.02, abs=5e-4), "ours moves both"


def test_X10_without_a_mode_each_joint_is_held(start_scene):
    sim = start_scene()
    cycle(sim, 1000)
    assert value(sim, "arm/yaw/position") == pytest.approx(0.0, abs=1e-4)
    assert value(sim, "arm/shoulder/position") == pytest.approx(START[1], abs=2e-3)
    assert value(sim, "arm/elbow/position") == pytest.approx(START[2], abs=1e-6)
    sim.switch_modes({"arm": EFFORT})
    cycle(sim, 50)
    sim.switch_modes({"arm": CommandMode.NONE})
    fallen = value(sim, "arm/shoulder/position")
    assert fallen > START[1] + 1e-3
    cycle(sim, 500)
    assert value(sim, "arm/shoulder/position") == pytest.approx(fallen, abs=0.02), "where it was when it was taken over"


def test_X10_servos_with_a_state_begin_without_a_jump(start_scene):
    """A position servo with a filter, and a velocity servo that adds its control up to a position."""
    scene = (
        ('name="yaw_servo"', 'name="yaw_servo" timeconst="0.05"'),
        (
            '<velocity name="yaw_speed" joint="yaw" kv="80"',
            '<intvelocity name="yaw_speed" joint="yaw" kp="800" kv="60" actrange="-3 3"',
        ),
    )
    sim = start_scene(("start_position: [0.0, -0.6, 2.17]", "start_position: [1.0, -0.6, 2.17]"), scene=scene)
    fastest = 0.0
    for mode in (POSITION, VELOCITY, CommandMode.NONE):
        sim.switch_modes({"arm": [mode, POSITION, POSITION]})
        command_start(sim)
        command(sim, "arm/yaw/position", 1.0)
        for _ in range(200):
            cycle(sim)
            fastest = max(fastest, abs(value(sim, "arm/yaw/velocity")))
    assert fastest < 0.02
    assert value(sim, "arm/yaw/position") == pytest.approx(1.0, abs=1e-3)
    sim.switch_modes({"arm": [VELOCITY, POSITION, POSITION]})
    command(sim, "arm/yaw/velocity", 0.3)
    cycle(sim, 1000)
    assert value(sim, "arm/yaw/velocity") == pytest.approx(0.3, abs=1e-3)


def test_X10_friction_of_the_mjcf_stays_beside_our_motors(start_scene):
    """Rows of a joint's own friction are between those of our motors."""
    scene = (('<joint name="shoulder" axis="0 1 0"', '<joint name="shoulder" frictionloss="30" axis="0 1 0"'),)
    sim = start_scene(scene=scene)
    sim.switch_modes({"arm": [VELOCITY, EFFORT, VELOCITY]})
    command(sim, "arm/elbow/velocity", 0.1)
    cycle(sim, 200)
    assert value(sim, "arm/elbow/velocity") == pytest.approx(0.1, abs=1e-3)
    assert value(sim, "arm/shoulder/velocity") == pytest.approx(0.0, abs=0.05), "less than 30 Nm: MuJoCo lets it creep"


def test_X9_a_gripper_without_a_urdf_and_a_path_in_a_package(start_scene):
    finger = "{name: left_finger, type: prismatic, position_lower: 0, position_upper: 0.03, velocity: 0.2}"
    sim = start_scene(
        ("    mounted_on: arm\n    joints: [left_finger]", f"    joints: [{finger}]"),
        ("mjcf: scenes/table_arm.xml", "mjcf: package://robot_rt_control/config/scenes/table_arm.xml"),
    )
    sim.switch_modes({"gripper": POSITION})
    command(sim, "gripper/left_finger/position", 0.01)
    cycle(sim, 1000)
    assert value(sim, "gripper/left_finger/position") == pytest.approx(0.01, abs=2e-4)


# --- sensors -----------------------------------------------------------------------------------------


def test_X11_forces_and_torques_at_a_site(start_scene):
    sim = start_scene(("start_position: [0.0, -0.6, 2.17]", "start_position: [0.0, 0.0, 0.0]"))
    cycle(sim, 500)
    weight = 9.81 * (0.3 + 2 * 0.05)
    force = [value(sim, f"wrist/force.{axis}") for axis in "xyz"]
    assert force == pytest.approx([0.0, 0.0, -weight], abs=0.02)
    assert value(sim, "wrist/torque.y") == pytest.approx(0.05 * 9.81 * 0.1, rel=0.02), "the fingers, 50 mm before it"


def test_X11_the_distance_of_a_rangefinder(start_scene):
    sim = start_scene()
    world = sim.plugin.world
    x, y, z = world.part_link_pose("arm", "hand", "test").position
    assert value(sim, "eye/distance") == pytest.approx(z - 0.03 - 0.25, abs=1e-3), "down to the box"
    sim.plugin.move_object("box", Pose(position=(0.5, 0.2, 0.225)))
    sim.read(0.0, DT)
    assert value(sim, "eye/distance") == pytest.approx(z - 0.03 - 0.2, abs=1e-3), "down to the table"
    sim = start_scene(("range: [0.0, 2.0]", "range: [0.0, 0.1]"))
    assert value(sim, "eye/distance") == math.inf
    sim = start_scene(("start_position: [0.0, -0.6, 2.17]", "start_position: [0.0, -0.6, 0.0]"))
    assert value(sim, "eye/distance") == math.inf, "nothing there"


def test_X11_a_pose_has_its_quaternion_in_our_order(start_scene):
    sim = start_scene()
    turned = Pose(position=(0.5, 0.1, 0.4), orientation=(0.0, 0.0, math.sin(0.3), math.cos(0.3)))
    sim.plugin.move_object("box", turned)
    sim.read(0.0, DT)
    read = [value(sim, f"box/{name}") for name in ("x", "y", "z", "qx", "qy", "qz", "qw")]
    assert read == pytest.approx([*turned.position, *turned.orientation])
    assert [value(sim, f"box/{name}_age") for name in ("x", "qw")] == [0.0, 0.0]


def test_X11_inputs_are_sensors_and_outputs_are_actuators(start_scene):
    cell = (
        ("    inputs: {touched:", "    outputs: {flap: {signal: analog}}\n    inputs: {touched:"),
        ("mjcf: scenes/table_arm.xml", "mjcf: scenes/table_arm.xml\n      keyframe: box_aside"),
    )
    flap = '<body name="flap" pos="0.6 -0.2 0.3"><joint name="flap" axis="0 0 1"/><geom size="0.02" mass="0.1"/></body>'
    scene = (
        ('<body name="box"', flap + '<body name="box"'),
        ("</actuator>", '<position name="flap" joint="flap" kp="10"/></actuator>'),
        ('qpos="0 0 0 0 0 0.5', 'qpos="0 0 0 0 0 0.2 0.5'),
    )
    sim = start_scene(*cell, scene=scene)
    flap = sim.plugin.world.object_joint("flap", "flap", "test")
    assert flap.position() == 0.2, "as in the keyframe"
    assert sim.plugin.object_pose("box").position == pytest.approx((0.5, 0.2, 0.225))
    assert value(sim, "arm/shoulder/position") == START[1], "the parts are where the workcell says"
    command(sim, "io/flap", 0.7)
    cycle(sim, 1500)
    assert flap.position() == pytest.approx(0.7, abs=1e-2) and value(sim, "io/flap") == 0.7
    assert value(sim, "io/opening") == value(sim, "gripper/left_finger/position") and value(sim, "io/touched") == 0.0


def test_X11_fingers_feel_what_they_hold(start_scene):
    sim = start_scene(("start_position: [0.0, -0.6, 2.17]", "start_position: [0.0, -0.28, 1.85]"))
    x, _, z = sim.plugin.world.part_link_pose("arm", "hand", "test").position
    sim.plugin.move_object("box", Pose(position=(x, 0.0, z - 0.075)))
    sim.switch_modes({"gripper": POSITION})
    command(sim, "gripper/left_finger/position", 0.0)
    sim.plugin.world.model.opt.gravity[:] = 0.0  # it stays there until it is held
    cycle(sim, 400)
    assert value(sim, "io/touched") == 1.0
    assert value(sim, "gripper/left_finger/position") == pytest.approx(0.02, abs=2e-3)
    between = sim.plugin.world.contact_force("box", "gripper")
    assert between == pytest.approx(2 * 2000 * 0.5 * 0.02, rel=0.1), "on both sides"


# --- bodies ------------------------------------------------------------------------------------------


def test_X12_bodies_that_belong_to_no_robot_are_objects(start_scene):
    sim = start_scene()
    assert list(sim.plugin.world.objects) == ["table", "box", "ball"]
    cycle(sim, 600)
    assert sim.plugin.object_pose("box").position[2] == pytest.approx(0.225, abs=1e-3)
    assert sim.plugin.object_pose("ball").position[2] == pytest.approx(0.23, abs=1e-3), "beside the scene, and on it"
    assert sim.plugin.world.contact_force("ball", "table") == pytest.approx(0.05 * 9.81, rel=0.01)
    assert sim.plugin.world.contact_force("box", "table") == pytest.approx(0.1 * 9.81, rel=0.01)
    text = "'table' cannot be put elsewhere; expected a body with a free joint.*; got one that is fixed in the world"
    with pytest.raises(HardwareError, match=text):
        sim.plugin.move_object("table", Pose())
    sim.plugin.world.push("box", (0.0, 0.0, 200.0), (0.3, 0.0, 0.225))
    cycle(sim, 20)
    assert sim.plugin.object_pose("box").position[2] == pytest.approx(0.225 + 0.02 * (1.0 - 0.01 * 9.81), abs=2e-3)


def test_X12_a_grip_of_the_world_holds_a_body_of_the_mjcf(start_scene):
    suction = "{type: grip, body: arm, link: hand, objects: [box], reach: 0.2, force: 50}"
    sim = start_scene(
        ("    inputs: {touched:", "    outputs: {suction: {}}\n    inputs: {touched:"),
        ("    world:\n", f"    world:\n      io: {{io: {{outputs: {{suction: {suction}}}}}}}\n"),
    )
    sim.switch_modes({"arm": VELOCITY})
    command(sim, "io/suction", 1.0)
    command(sim, "arm/shoulder/velocity", -0.2)
    cycle(sim, 1000)
    assert sim.plugin.object_pose("box").position[2] > 0.26, "it goes up with the hand"
    command(sim, "io/suction", 0.0)
    command(sim, "arm/shoulder/velocity", 0.0)
    cycle(sim, 1000)
    assert sim.plugin.object_pose("box").position[2] < 0.24


def test_X12_forces_of_pyramidal_contacts(start_scene):
    sim = start_scene(scene=((' cone="elliptic"', ""),))
    cycle(sim, 600)
    assert sim.plugin.world.contact_force("box", "table") == pytest.approx(0.1 * 9.81, rel=0.01)
    assert sim.plugin.world.contact_force("ball", "table") == pytest.approx(0.05 * 9.81, rel=0.01)


def test_X12_two_runs_are_bit_identical(start_scene):
    digests = set()
    for _ in range(2):
        sim, digest = start_scene(), hashlib.sha256()
        sim.switch_modes({"arm": POSITION, "gripper": POSITION})
        for k in range(300):
            command_start(sim)
            command(sim, "arm/yaw/position", 0.3 * math.sin(k / 100) ** 2)
            command(sim, "gripper/left_finger/position", 0.03 - k * 1e-4)
            cycle(sim)
            digest.update(sim.state.tobytes())
        digests.add(digest.hexdigest())
    assert len(digests) == 1


def test_the_camera_of_the_mjcf(start_scene, tmp_path):
    sim = start_scene()
    pixels, bodies = sim.plugin.picture_and_bodies(sim.plugin.parameters.world.camera)
    for name in ("arm", "box", "ball", "table"):
        assert np.isin(bodies, sim.plugin.world.seen_as(name)).sum() > 100, name
    box = pixels[np.isin(bodies, sim.plugin.world.seen_as("box"))].mean(axis=0)
    assert box[0] > 1.5 * box[2], "red"
