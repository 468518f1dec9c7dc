"""The simulated robots: following, modes, determinism, gripper, what is refused."""

import dataclasses
import hashlib
import math

import numpy as np
import pybullet
import pytest

from robot_rt_control.hardware.from_workcell import hardware_part
from robot_rt_control.hardware.lifecycle import HardwareLifecycle, load_plugin
from robot_rt_control.hardware.plugin import HardwareInfo, HardwarePart, JointLimits, Pose
from robot_rt_control.model.workcell import load_workcell
from robot_rt_control.testing.simulated_devices import GANTRY_URDF, gantry, iiwa, panda, panda_gripper
from robot_rt_control.vocabulary.enums import CommandMode, PartKind
from robot_rt_control.vocabulary.errors import HardwareError

DT = 0.001
FLOOR = {"name": "floor", "plane": True}


@pytest.fixture
def simulate():
    """Make an active simulation of parts; all are shut down at the end."""
    running = []

    def make(*parts, world=None, **parameters):
        info = HardwareInfo(name="sim", parts=parts, parameters={"world": world or {}, **parameters})
        lifecycle = HardwareLifecycle(load_plugin("pybullet")(), info)
        running.append(lifecycle)
        lifecycle.configure()
        lifecycle.activate()
        lifecycle.read(0.0, DT)
        return lifecycle

    yield make
    for lifecycle in running:
        lifecycle.shutdown()


def cycle(lifecycle, n=1):
    for _ in range(n):
        lifecycle.write(0.0, DT)
        lifecycle.read(0.0, DT)


def sine(k, start):
    """Starts and ends at rest."""
    return np.asarray(start) + 0.3 * math.sin(math.pi * k * DT) ** 2


def test_it_starts_at_the_start_position(simulate):
    sim = simulate(iiwa())
    assert sim.state[0:21:3] == pytest.approx(iiwa().start_position, abs=1e-12)
    assert not sim.state[1:21:3].any()


def test_an_arm_follows_a_sine_of_positions(simulate):
    sim = simulate(iiwa(), world={"objects": [FLOOR]})
    sim.switch_modes({"arm": CommandMode.POSITION})
    error = speed_error = 0.0
    for k in range(1000):
        before, goal = sine(k - 1, iiwa().start_position), sine(k, iiwa().start_position)
        sim.command[0:21:3] = goal
        cycle(sim)
        error = max(error, np.abs(sim.state[0:21:3] - goal).max())
        speed_error = max(speed_error, np.abs(sim.state[1:21:3] - (goal - before) / DT).max())
    assert error < 1e-5
    assert speed_error < 5e-3


def test_a_command_that_has_jumped_is_caught_up_with_at_a_limited_speed(simulate):
    # As after the simulation has stood still for 30 periods, and the loop has not.
    arm = iiwa()
    sim = simulate(arm, world={"objects": [FLOOR]})
    sim.switch_modes({"arm": CommandMode.POSITION})
    limits, fastest = np.asarray(arm.limits.velocity), np.zeros(7)
    goal = np.array(arm.start_position)
    for k in range(400):
        speed = 0.9 * limits * min(k / 100, 1.0)
        goal = goal + speed * DT * (31 if k == 300 else 1)
        sim.command[0:21:3] = goal
        cycle(sim)
        fastest = np.maximum(fastest, np.abs(sim.state[1:21:3]))
    assert (fastest < 1.2 * limits).all(), fastest / limits
    for _ in range(400):
        cycle(sim)
    assert sim.state[0:21:3] == pytest.approx(goal, abs=1e-4)


@pytest.mark.parametrize("lost", [2, 4, 6, 12])
def test_I19_after_each_stall_of_its_driver_the_joint_is_held_to_its_limit(simulate, lost):
    # The loop went on while the driver stood still, again and again. What has been lost is left to catch up with.
    arm = iiwa()
    sim = simulate(arm, world={"objects": [FLOOR]})
    sim.switch_modes({"arm": CommandMode.POSITION})
    limits, fastest = np.asarray(arm.limits.velocity), np.zeros(7)
    goal = np.array(arm.start_position)
    for k in range(600):
        goal = goal + 0.8 * limits * min(k / 100, 1.0) * DT * (lost if k % 20 == 19 else 1)
        sim.command[0:21:3] = goal
        cycle(sim)
        fastest = np.maximum(fastest, np.abs(sim.state[1:21:3]))
    assert (fastest < 1.2 * limits).all(), fastest / limits


def test_I19_a_joint_that_was_pushed_away_comes_back_at_a_limited_speed(simulate):
    arm = iiwa()
    sim = simulate(arm)
    sim.switch_modes({"arm": CommandMode.POSITION})
    sim.command[0:21:3] = arm.start_position
    cycle(sim, 10)
    body, joint = sim.plugin.world.robot("arm", "").body, 1
    pybullet.resetJointState(body, joint, arm.start_position[joint] + 0.02, physicsClientId=sim.plugin.world.client)
    sim.read(0.0, DT)
    fastest = 0.0
    for _ in range(300):
        cycle(sim)
        fastest = max(fastest, abs(float(sim.state[3 * joint + 1])))
    assert fastest < 1.12 * arm.limits.velocity[joint]
    assert sim.state[3 * joint] == pytest.approx(arm.start_position[joint], abs=1e-4)


def test_without_a_mode_it_holds_against_gravity(simulate):
    sim = simulate(iiwa())
    cycle(sim, 500)
    assert sim.state[0:21:3] == pytest.approx(iiwa().start_position, abs=1e-4)
    assert abs(sim.state[5]) > 10.0, "the effort against gravity is reported"


def test_velocity_mode(simulate):
    sim = simulate(iiwa())
    sim.switch_modes({"arm": CommandMode.VELOCITY})
    sim.command[1:21:3] = 0.2
    cycle(sim, 500)
    assert sim.state[1:21:3] == pytest.approx([0.2] * 7, abs=2e-3)
    assert sim.state[0:21:3] == pytest.approx(np.add(iiwa().start_position, 0.1), abs=1e-3)


def test_effort_mode_is_newton_s_law(simulate, tmp_path):
    sim = simulate(gantry(tmp_path), world={"gravity": [0, 0, -10.0]})
    sim.switch_modes({"gantry": CommandMode.EFFORT})
    sim.command[2] = 3.0 * 10.0 + 6.0  # weight of 3 kg, and 2 m/s^2
    cycle(sim, 500)
    assert sim.state.tolist() == pytest.approx([0.25, 1.0, 36.0], rel=5e-3)


def test_effort_holds_over_all_steps_of_a_period(simulate, tmp_path):
    sim = simulate(gantry(tmp_path), world={"gravity": [0, 0, -10.0], "timestep": 0.00025})
    sim.switch_modes({"gantry": CommandMode.EFFORT})
    sim.command[2] = 36.0
    cycle(sim, 500)
    assert sim.state.tolist() == pytest.approx([0.25, 1.0, 36.0], rel=5e-3)


PENDULUM = """<robot name="pendulum">
  <link name="ground"/>
  <joint name="mount" type="fixed"><parent link="ground"/><child link="stand"/></joint>
  <link name="stand"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="swing" type="revolute">
    <parent link="stand"/><child link="rod"/><axis xyz="0 1 0"/>
    <limit lower="-3" upper="3" effort="100" velocity="10"/>
  </joint>
  <link name="rod"><inertial><origin xyz="0.5 0 0"/><mass value="2"/>
    <inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="slide" type="prismatic">
    <parent link="stand"/><child link="carriage"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="100" velocity="2"/>
  </joint>
  <link name="carriage"><inertial><mass value="1"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
</robot>"""


def test_V25_a_joint_of_no_part_swings_free(simulate, tmp_path):
    """Of the two joints of a robot only the slide is driven: the other one falls as a pendulum does."""
    path = tmp_path / "pendulum.urdf"
    path.write_text(PENDULUM)
    one = JointLimits(
        position_lower=(-1.0,), position_upper=(1.0,), velocity=(2.0,), acceleration=(10.0,), effort=(100.0,)
    )
    part = HardwarePart(
        name="slide", index=0, kind=PartKind.ARM, joint_names=("slide",), joint_types=("prismatic",), urdf=str(path),
        limits=one, supported_modes=frozenset({CommandMode.POSITION}),
    )  # fmt: skip
    sim = simulate(part, world={"gravity": [0, 0, -10.0]})
    robot = sim.plugin.world.robot("slide", "test")
    swing, client = robot.joints["swing"], sim.plugin.world.client
    cycle(sim, 100)
    angle, speed = pybullet.getJointState(robot.body, swing, physicsClientId=client)[:2]
    assert angle == pytest.approx(0.5 * 20.0 * 0.1**2, rel=0.02), "g over its length"
    assert speed == pytest.approx(20.0 * 0.1, rel=0.02)
    assert sim.state[0] == pytest.approx(0.0, abs=1e-3), "the driven one is held"


def test_joints_in_different_modes_do_not_disturb_each_other(simulate):
    sim = simulate(iiwa())
    start, error = np.array(iiwa().start_position), 0.0
    for k in range(1500):
        if k % 500 == 0:
            last = (CommandMode.POSITION, CommandMode.EFFORT, CommandMode.VELOCITY)[k // 500]
            sim.switch_modes({"arm": [CommandMode.POSITION] * 6 + [last]})
        goal = sine(k, start)
        sim.command[0:18:3] = goal[:6]
        sim.command[18:21] = (start[6], 0.3, 0.2)
        cycle(sim)
        error = max(error, np.abs(sim.state[0:18:3] - goal[:6]).max())
        if k == 499:
            assert sim.state[18] == pytest.approx(start[6], abs=1e-4)
        elif k == 999:
            assert sim.state[20] == 0.2 and sim.state[19] > 0.1
    assert error < 2e-4
    assert sim.state[19] == pytest.approx(0.3, abs=2e-3)


def test_back_from_effort_to_hold_where_it_is(simulate, tmp_path):
    sim = simulate(gantry(tmp_path))
    sim.switch_modes({"gantry": CommandMode.EFFORT})
    cycle(sim, 100)
    fallen = sim.state[0]
    assert fallen < -0.04
    sim.switch_modes({"gantry": CommandMode.NONE})
    cycle(sim, 200)
    assert sim.state[0] == pytest.approx(fallen, abs=2e-3)
    assert sim.state[1] == pytest.approx(0.0, abs=1e-3)


def run_hash(sim):
    digest = hashlib.sha256()
    sim.switch_modes({"arm": CommandMode.POSITION})
    for k in range(400):
        sim.command[0:21:3] = sine(2 * k, iiwa().start_position)
        cycle(sim)
        digest.update(sim.state.tobytes())
        digest.update(repr(sim.plugin.object_pose("cube")).encode())
    return digest.hexdigest()


def test_two_runs_are_bit_identical(simulate):
    world = {
        "objects": [
            FLOOR,
            {"name": "cube", "box": {"size": [0.1] * 3}, "pose": {"position": [0.5, 0.1, 0.3]}, "mass": 0.2},
        ],
    }
    first = run_hash(simulate(iiwa(), world=world))
    assert run_hash(simulate(iiwa(), world=world)) == first
    other = {**world, "gravity": [0, 0, -9.82]}
    assert run_hash(simulate(iiwa(), world=other)) != first, "the digest sees the motion"


def hand_pose(sim):
    robot = sim.plugin.world.robot("arm", "test")
    return sim.plugin.world.link_pose(robot.body, robot.links["panda_grasptarget"])[0]


@pytest.mark.parametrize("fingers", [2, 1])
def test_the_gripper_closes_on_a_cube_and_holds_it(simulate, fingers):
    edge = 0.05
    objects = [FLOOR, {"name": "cube", "box": {"size": [edge] * 3}, "mass": 0.1, "friction": 1.0}]
    sim = simulate(panda(), panda_gripper(fingers=fingers), world={"objects": objects})
    # Between the fingers and on nothing: it falls until they have closed, and then no more.
    sim.plugin.move_object("cube", Pose(position=hand_pose(sim)))
    sim.switch_modes({"gripper": CommandMode.POSITION})
    n = 21 + 3 * fingers
    for k in range(300):
        sim.command[21:n:3] = max(0.04 - 0.2 * (k + 1) * DT, 0.0)
        cycle(sim)
    assert sim.state[21:n:3] == pytest.approx([edge / 2] * fingers, abs=2e-3)
    caught_at = sim.plugin.object_pose("cube").position[2]
    cycle(sim, 500)
    assert (np.abs(sim.state[23:n:3]) > 5.0).all(), "the fingers press"
    assert caught_at > 0.2
    assert sim.plugin.object_pose("cube").position[2] == pytest.approx(caught_at, abs=2e-3)


def test_a_mimic_joint_follows_its_leader(simulate):
    sim = simulate(panda(), panda_gripper(fingers=1))
    sim.switch_modes({"gripper": CommandMode.POSITION})
    for k in range(150):
        sim.command[21] = 0.04 - 0.2 * (k + 1) * DT
        cycle(sim)
    import pybullet

    robot = sim.plugin.world.robot("gripper", "test")
    second = pybullet.getJointState(
        robot.body, robot.joints["panda_finger_joint2"], physicsClientId=sim.plugin.world.client
    )
    assert sim.state[21] == pytest.approx(0.01, abs=1e-4)
    assert second[0] == pytest.approx(0.01, abs=1e-4)


def test_two_arms_side_by_side_move_by_themselves(simulate):
    left = iiwa("left", 0, base=Pose(position=(0.0, 1.0, 0.0)))
    sim = simulate(left, iiwa("right", 1))
    sim.switch_modes({"left": CommandMode.VELOCITY})
    sim.command[1] = 0.5
    cycle(sim, 200)
    assert sim.state[0] == pytest.approx(0.1, abs=1e-3)
    assert sim.state[21] == pytest.approx(0.0, abs=1e-4)


def test_a_base_link_that_is_not_the_root_stands_at_the_base_pose(simulate, tmp_path):
    base = Pose(position=(1.0, 2.0, 3.0), orientation=(0.0, 0.0, math.sqrt(0.5), math.sqrt(0.5)))
    sim = simulate(gantry(tmp_path, base=base, base_link="carriage"))
    robot = sim.plugin.world.robot("gantry", "test")
    position, orientation = sim.plugin.world.link_pose(robot.body, robot.links["carriage"])
    assert position == pytest.approx(base.position)
    assert orientation == pytest.approx(base.orientation)


def test_objects_move_and_fall(simulate):
    ball = {"name": "ball", "sphere": {"radius": 0.05}, "pose": {"position": [0, 0, 1.0]}}
    sim = simulate(iiwa(base=Pose(position=(2.0, 0.0, 0.0))), world={"objects": [FLOOR, ball]})
    cycle(sim, 100)
    assert sim.plugin.object_pose("ball").position[2] == pytest.approx(1.0 - 9.81 / 2 * 0.01, abs=1e-3)
    sim.plugin.move_object("ball", Pose(position=(0.5, 0.0, 0.05)))
    cycle(sim, 100)
    assert sim.plugin.object_pose("ball").position == pytest.approx((0.5, 0.0, 0.05), abs=2e-3)


def test_a_cylinder_stands_and_a_fixed_box_does_not_fall(simulate):
    objects = [
        FLOOR,
        {"name": "can", "cylinder": {"radius": 0.05, "height": 0.2}, "pose": {"position": [0.5, 0, 0.1]}},
        {"name": "shelf", "box": {"size": [0.1] * 3}, "pose": {"position": [0.5, 1, 1]}, "fixed": True},
        {"name": "brick", "urdf": "pybullet_data://cube_small.urdf", "pose": {"position": [0.5, -1, 0.5]}, "mass": 3.0},
    ]
    sim = simulate(iiwa(), world={"objects": objects})
    cycle(sim, 300)
    assert sim.plugin.object_pose("can").position[2] == pytest.approx(0.1, abs=1e-3)
    assert sim.plugin.object_pose("shelf").position[2] == 1.0
    assert sim.plugin.object_pose("brick").position[2] < 0.1


@pytest.mark.parametrize(
    ("world", "text"),
    [
        ({"gravty": 1}, r"world.gravty: unknown key; expected .*did you mean 'gravity'"),
        ({"gravity": [0, 0]}, "world.gravity.2.; expected this element; got nothing"),
        ({"objects": [{"name": "x"}]}, "world.objects.0.; expected exactly one of urdf, box, sphere, .*; got none"),
        ({"objects": [{"name": "x", "plane": True, "sphere": {"radius": 1}}]}, "; got sphere, plane"),
        ({"objects": [FLOOR, FLOOR]}, "world.objects; expected each name once; got two called 'floor'"),
        ({"objects": [{"name": "x", "sphere": {"radius": -1}}]}, "radius; expected greater than 0; got -1"),
        ({"objects": [{"name": "x", "urdf": "no/such.urdf"}]}, "object 'x': 'no/such.urdf'; expected a file; got noth"),
        ({"objects": [{"name": "x", "urdf": "http://a/b"}]}, "got the scheme 'http'"),
        ({"timestep": 0.0003}, "world.timestep; expected the period 0.001 s or a whole fraction of it; got 0.0003 s"),
        ({"camera": {"eye": [0, 0, 1], "target": [0, 0, 0]}}, "camera; expected an eye that is not above or below"),
        ({"sensors": {"io": {"type": "radar"}}}, "world.sensors.io.type; expected .*; got 'radar'"),
    ],
)
def test_a_wrong_world_is_explained(simulate, world, text):
    with pytest.raises(HardwareError, match=text):
        simulate(iiwa(), world=world)


def test_a_wrong_joint_or_file_is_explained(simulate, tmp_path):
    wrong = iiwa(joint_names=(*iiwa().joint_names[:6], "lbr_iiwa_joint_8"))
    with pytest.raises(HardwareError, match="part 'arm': joint 'lbr_iiwa_joint_8'; expected .*did you mean"):
        simulate(wrong)
    with pytest.raises(HardwareError, match="base_link: link 'lbr_iiwa_link_9'; expected .*did you mean"):
        simulate(iiwa(base_link="lbr_iiwa_link_9"))
    (tmp_path / "broken.urdf").write_text("<robot")
    with pytest.raises(HardwareError, match="part 'arm': PyBullet cannot load .*broken.urdf"):
        simulate(iiwa(urdf=str(tmp_path / "broken.urdf")))


def test_a_robot_that_would_pass_through_everything_is_refused(simulate, tmp_path):
    part = gantry(tmp_path)
    path = tmp_path / "short.urdf"
    text = GANTRY_URDF.format(x=0, y=0, roll=0)
    start, end = text.index('  <joint name="mount"'), text.index('  <joint name="lift"')
    path.write_text((text[:start] + text[end:]).replace('"rail"', '"frame"'))
    with pytest.raises(HardwareError, match="link 'tool' would touch nothing; expected a fixed joint before 'lift'"):
        simulate(dataclasses.replace(part, urdf=str(path)))


def test_a_gripper_on_one_of_two_arms_must_say_which(simulate):
    other = panda("other", 2, base=Pose(position=(0.0, 1.0, 0.0)))
    with pytest.raises(HardwareError, match="expected one robot that has its joints panda_finger_joint1.*; got 2"):
        simulate(panda(), panda_gripper(), other)
    sim = simulate(panda(), panda_gripper(mounted_on="other"), other)
    assert sim.plugin.world.robot("gripper", "test") is sim.plugin.world.robot("other", "test")


def test_a_failed_configuration_leaves_no_client_behind(simulate):
    import pybullet

    before = [pybullet.isConnected(client) for client in range(8)]
    with pytest.raises(HardwareError):
        simulate(iiwa(), world={"objects": [{"name": "x", "urdf": "no/such.urdf"}]})
    assert [pybullet.isConnected(client) for client in range(8)] == before


PREFIXED = """name: c
parts:
  left:
    {kind: arm, device: sim, urdf: pybullet_data://kuka_iiwa/model.urdf, prefix: left_,
     start_position: [0, 0, 0, 0, 0, 0, 0.3], base_link: left_lbr_iiwa_link_0,
     tip_link: left_lbr_iiwa_link_7}
devices: {sim: {pybullet: {}}}
"""


def test_a_robot_with_a_prefix_is_loaded_with_its_meshes(simulate, tmp_path, monkeypatch):
    monkeypatch.setenv("ROBOT_RT_CONTROL_CACHE", str(tmp_path))
    (tmp_path / "cell.yaml").write_text(PREFIXED)
    sim = simulate(hardware_part(load_workcell(tmp_path / "cell.yaml").part("left")))
    names = [interface.name for interface in sim.state_interfaces]
    assert sim.state[names.index("left/left_lbr_iiwa_joint_7/position")] == pytest.approx(0.3, abs=1e-6)
    assert len(pybullet.getVisualShapeData(0, physicsClientId=sim.plugin.world.client)) == 8
