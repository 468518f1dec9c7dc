"""The simulated robots of both engines: following, modes, determinism, gripper, what is refused."""

import hashlib
import math

import numpy as np
import pytest

from robot_rt_control.hardware.from_workcell import hardware_part
from robot_rt_control.hardware.plugin import HardwarePart, JointLimits, Pose
from robot_rt_control.model.robot.urdf import Mimic
from robot_rt_control.model.workcell.channels import Channel
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.testing.simulated_devices import gantry, iiwa, panda, panda_gripper
from robot_rt_control.vocabulary.enums import CommandMode, PartKind
from robot_rt_control.vocabulary.errors import HardwareError

DT = 0.001
FLOOR = {"name": "floor", "plane": True}


def cycle(lifecycle, n=1):
    for _ in range(n):
        lifecycle.write(0.0, DT)
        lifecycle.read(0.0, DT)


def sine(k, start):
    """Starts and ends at rest."""
    return np.asarray(start) + 0.3 * math.sin(math.pi * k * DT) ** 2


def test_it_starts_at_the_start_position(start):
    sim = start(iiwa())
    assert sim.state[0:21:3] == pytest.approx(iiwa().start_position, abs=1e-12)
    assert not sim.state[1:21:3].any()


def test_an_arm_follows_a_sine_of_positions(start):
    sim = start(iiwa(), world={"objects": [FLOOR]})
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


def test_a_command_that_has_jumped_is_caught_up_with_at_a_limited_speed(start):
    # As after the simulation has stood still for 30 periods, and the loop has not.
    arm = iiwa()
    sim = start(arm, world={"objects": [FLOOR]})
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
def test_I19_after_each_stall_of_its_driver_the_joint_is_held_to_its_limit(start, lost):
    # The loop went on while the driver stood still, again and again. What has been lost is left to catch up with.
    arm = iiwa()
    sim = start(arm, world={"objects": [FLOOR]})
    sim.switch_modes({"arm": CommandMode.POSITION})
    limits, fastest = np.asarray(arm.limits.velocity), np.zeros(7)
    goal = np.array(arm.start_position)
    for k in range(600):
        goal = goal + 0.8 * limits * min(k / 100, 1.0) * DT * (lost if k % 20 == 19 else 1)
        sim.command[0:21:3] = goal
        cycle(sim)
        fastest = np.maximum(fastest, np.abs(sim.state[1:21:3]))
    assert (fastest < 1.2 * limits).all(), fastest / limits


def test_I19_a_joint_that_was_pushed_away_comes_back_at_a_limited_speed(start):
    arm = iiwa()
    sim = start(arm)
    sim.switch_modes({"arm": CommandMode.POSITION})
    sim.command[0:21:3] = arm.start_position
    cycle(sim, 10)
    joint = 1
    sim.plugin.world.object_joint("arm", arm.joint_names[joint], "test").place(arm.start_position[joint] + 0.02)
    sim.read(0.0, DT)
    fastest = 0.0
    for _ in range(300):
        cycle(sim)
        fastest = max(fastest, abs(float(sim.state[3 * joint + 1])))
    assert fastest < 1.12 * arm.limits.velocity[joint]
    assert sim.state[3 * joint] == pytest.approx(arm.start_position[joint], abs=1e-4)


def test_without_a_mode_it_holds_against_gravity(start):
    sim = start(iiwa())
    cycle(sim, 500)
    # It gives way by 8e-7 rad in PyBullet, by 4e-8 rad in MuJoCo.
    assert sim.state[0:21:3] == pytest.approx(iiwa().start_position, abs=2e-6)
    assert sim.state[5] == pytest.approx(-29.9542, abs=1e-3), "the effort against gravity, the same in both"


def test_velocity_mode(start):
    sim = start(iiwa())
    sim.switch_modes({"arm": CommandMode.VELOCITY})
    sim.command[1:21:3] = 0.2
    cycle(sim, 500)
    assert sim.state[1:21:3] == pytest.approx([0.2] * 7, abs=2e-3)
    assert sim.state[0:21:3] == pytest.approx(np.add(iiwa().start_position, 0.1), abs=1e-3)


def test_effort_mode_is_newton_s_law(start, tmp_path):
    sim = start(gantry(tmp_path), world={"gravity": [0, 0, -10.0]})
    sim.switch_modes({"gantry": CommandMode.EFFORT})
    sim.command[2] = 3.0 * 10.0 + 6.0  # weight of 3 kg, and 2 m/s^2
    cycle(sim, 500)
    assert sim.state.tolist() == pytest.approx([0.25, 1.0, 36.0], rel=5e-3)


def test_effort_holds_over_all_steps_of_a_period(start, tmp_path):
    sim = start(gantry(tmp_path), world={"gravity": [0, 0, -10.0], "timestep": 0.00025})
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


def test_V25_a_joint_of_no_part_swings_free(start, tmp_path):
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
    sim = start(part, world={"gravity": [0, 0, -10.0]})
    swing = sim.plugin.world.object_joint("slide", "swing", "test")
    cycle(sim, 99)
    before = swing.position()
    cycle(sim)
    assert swing.position() == pytest.approx(0.5 * 20.0 * 0.1**2, rel=0.02), "g over its length"
    assert (swing.position() - before) / DT == pytest.approx(20.0 * 0.1, rel=0.02)
    assert sim.state[0] == pytest.approx(0.0, abs=1e-3), "the driven one is held"


def test_V25_a_joint_of_an_object_swings_free_until_io_drives_it(start, tmp_path):
    (tmp_path / "pendulum.urdf").write_text(PENDULUM)
    thing = {"name": "pendulum", "urdf": str(tmp_path / "pendulum.urdf"), "fixed": True}
    held = {"type": "joint", "body": "pendulum", "joint": "slide", "rest": 0.0, "force": 50.0}
    io = HardwarePart(name="io", index=0, kind=PartKind.IO, inputs=(Channel(name="there", type="bool"),))
    world = {"gravity": [0, 0, -10.0], "objects": [thing], "io": {"io": {"inputs": {"there": held}}}}
    sim = start(io, world=world)
    cycle(sim, 100)
    swing, slide = (sim.plugin.world.object_joint("pendulum", name, "test") for name in ("swing", "slide"))
    assert swing.position() == pytest.approx(0.5 * 20.0 * 0.1**2, rel=0.02), "g over its length"
    assert slide.position() == pytest.approx(0.0, abs=1e-3)


def test_joints_in_different_modes_do_not_disturb_each_other(start):
    sim = start(iiwa())
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


def test_a_joint_stops_at_the_end_of_its_way(start):
    """20 N on a finger of 0.1 kg, 40 mm before its end."""
    sim = start(panda(), panda_gripper(fingers=1, supported_modes=frozenset({CommandMode.EFFORT})))
    sim.switch_modes({"gripper": CommandMode.EFFORT})
    sim.command[23] = -20.0
    farthest = 0.0
    for _ in range(500):
        cycle(sim)
        farthest = min(farthest, sim.state[21])
    # It arrives with 4 m/s and goes on for half a step, 2.0 mm in both; then MuJoCo's stop gives way by 0.05 mm.
    assert -4.0e-3 < farthest < 0.0
    # In PyBullet a finger pressed on its stop swings with the arm behind it, here with 8e-5 m/s.
    assert sim.state[21] == pytest.approx(0.0, abs=1e-4) and abs(sim.state[22]) < 1e-3


def test_back_from_effort_to_hold_where_it_is(start, tmp_path):
    sim = start(gantry(tmp_path))
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


def test_two_runs_are_bit_identical(start):
    world = {
        "objects": [
            FLOOR,
            {"name": "cube", "box": {"size": [0.1] * 3}, "pose": {"position": [0.5, 0.1, 0.3]}, "mass": 0.2},
        ],
    }
    sim = start(iiwa(), world=world)
    first = run_hash(sim)
    sim.deactivate()
    sim.cleanup()
    sim.configure()
    sim.activate()
    sim.read(0.0, DT)
    assert run_hash(sim) == first, "configured again it begins anew"
    assert run_hash(start(iiwa(), world=world)) == first
    other = {**world, "gravity": [0, 0, -9.82]}
    assert run_hash(start(iiwa(), world=other)) != first, "the digest sees the motion"


def hand_pose(sim):
    return sim.plugin.world.part_link_pose("arm", "panda_grasptarget", "test").position


@pytest.mark.parametrize("fingers", [2, 1])
def test_the_gripper_closes_on_a_cube_and_holds_it(start, fingers):
    edge = 0.05
    objects = [FLOOR, {"name": "cube", "box": {"size": [edge] * 3}, "mass": 0.1, "friction": 1.0}]
    sim = start(panda(), panda_gripper(fingers=fingers), world={"objects": objects})
    # Between the fingers and on nothing: it falls until they have closed, and then no more.
    sim.plugin.move_object("cube", Pose(position=hand_pose(sim)))
    sim.switch_modes({"gripper": CommandMode.POSITION})
    n = 21 + 3 * fingers
    for k in range(300):
        sim.command[21:n:3] = max(0.04 - 0.2 * (k + 1) * DT, 0.0)
        cycle(sim)
    # The finger's mesh: 0.45 mm before it in PyBullet, which keeps a margin around it, 0.1 mm in MuJoCo.
    assert sim.state[21:n:3] == pytest.approx([edge / 2] * fingers, abs=1e-3)
    caught_at = sim.plugin.object_pose("cube").position[2]
    cycle(sim, 500)
    assert (np.abs(sim.state[23:n:3]) > 5.0).all(), "the fingers press"
    assert caught_at > 0.2
    # In 0.5 s it creeps by less than 0.001 mm in PyBullet, by 0.005 mm in MuJoCo, whose friction is a damper at rest.
    assert sim.plugin.object_pose("cube").position[2] == pytest.approx(caught_at, abs=2e-5)
    pressed = sim.plugin.world.contact_force("cube", "gripper")
    assert pressed == pytest.approx(2 * 20.0, rel=0.01), "each finger with its effort limit"


@pytest.mark.parametrize(("multiplier", "offset"), [(1.0, 0.0), (0.5, 0.01)])
def test_a_mimic_joint_follows_its_leader(start, multiplier, offset):
    mimic = Mimic(name="panda_finger_joint2", joint="panda_finger_joint1", multiplier=multiplier, offset=offset)
    sim = start(panda(), panda_gripper(fingers=1, followers=(mimic,)))
    sim.switch_modes({"gripper": CommandMode.POSITION})
    for k in range(150):
        sim.command[21] = 0.04 - 0.2 * (k + 1) * DT
        cycle(sim)
    second = sim.plugin.world.object_joint("gripper", "panda_finger_joint2", "test").position()
    assert sim.state[21] == pytest.approx(0.01, abs=1e-4)
    assert second == pytest.approx(0.01 * multiplier + offset, abs=1e-4)


def test_fingers_that_are_coupled_hold_still_with_all_their_effort(start):
    """Else, both press as hard as they can wherever the thing is between them, and it drifts."""
    objects = [FLOOR, {"name": "cube", "box": {"size": [0.05] * 3}, "mass": 0.1, "friction": 1.0}]
    sim = start(panda(), panda_gripper(fingers=1), world={"objects": objects})
    # 2 mm nearer to one finger, which comes to it first.
    x, y, z = hand_pose(sim)
    sim.plugin.move_object("cube", Pose(position=(x, y + 0.002, z)))
    sim.switch_modes({"gripper": CommandMode.POSITION})
    for k in range(800):
        sim.command[21] = max(0.04 - 0.2 * (k + 1) * DT, 0.0)
        cycle(sim)
        if k == 299:
            held_at = sim.plugin.object_pose("cube").position[1]
    second = sim.plugin.world.object_joint("gripper", "panda_finger_joint2", "test").position()
    # Their gear gives way a little while the drives pull it apart, as the finger that came first did.
    assert second == pytest.approx(sim.state[21], abs=2e-4)
    assert sim.plugin.object_pose("cube").position[1] == pytest.approx(held_at, abs=1e-4)


def test_two_arms_side_by_side_move_by_themselves(start):
    left = iiwa("left", 0, base=Pose(position=(0.0, 1.0, 0.0)))
    sim = start(left, iiwa("right", 1))
    sim.switch_modes({"left": CommandMode.VELOCITY})
    sim.command[1] = 0.5
    cycle(sim, 200)
    assert sim.state[0] == pytest.approx(0.1, abs=1e-3)
    assert sim.state[21] == pytest.approx(0.0, abs=1e-4)


def test_a_base_link_that_is_not_the_root_stands_at_the_base_pose(start, tmp_path):
    base = Pose(position=(1.0, 2.0, 3.0), orientation=(0.0, 0.0, math.sqrt(0.5), math.sqrt(0.5)))
    sim = start(gantry(tmp_path, base=base, base_link="carriage"))
    pose = sim.plugin.world.part_link_pose("gantry", "carriage", "test")
    assert pose.position == pytest.approx(base.position)
    assert pose.orientation == pytest.approx(base.orientation)


def test_objects_move_and_fall(start):
    ball = {"name": "ball", "sphere": {"radius": 0.05}, "pose": {"position": [0, 0, 1.0]}}
    sim = start(iiwa(base=Pose(position=(2.0, 0.0, 0.0))), world={"objects": [FLOOR, ball]})
    cycle(sim, 100)
    assert sim.plugin.object_pose("ball").position[2] == pytest.approx(1.0 - 9.81 / 2 * 0.01, abs=1e-3)
    sim.plugin.move_object("ball", Pose(position=(0.5, 0.0, 0.05)))
    cycle(sim, 100)
    assert sim.plugin.object_pose("ball").position == pytest.approx((0.5, 0.0, 0.05), abs=2e-3)


BRICK_URDF = """<robot name="brick">
  <link name="brick">
    <inertial> <mass value="0.1"/> <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/> </inertial>
    <collision> <geometry> <box size="0.05 0.05 0.05"/> </geometry> </collision>
  </link>
</robot>
"""


def test_a_cylinder_stands_and_a_fixed_box_does_not_fall(start, tmp_path):
    (tmp_path / "brick.urdf").write_text(BRICK_URDF)
    brick = str(tmp_path / "brick.urdf")
    objects = [
        FLOOR,
        {"name": "can", "cylinder": {"radius": 0.05, "height": 0.2}, "pose": {"position": [0.5, 0, 0.1]}},
        {"name": "shelf", "box": {"size": [0.1] * 3}, "pose": {"position": [0.5, 1, 1]}, "fixed": True},
        {"name": "brick", "urdf": brick, "pose": {"position": [0.5, -1, 0.5]}, "mass": 3.0},
    ]
    sim = start(iiwa(), world={"objects": objects})
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
        ({"objects": [{**FLOOR, "name": "arm"}]}, "world.objects: 'arm'; expected a name that no part with joints has"),
        ({"timestep": 0.0003}, "world.timestep; expected the period 0.001 s or a whole fraction of it; got 0.0003 s"),
        ({"camera": {"eye": [0, 0, 1], "target": [0, 0, 0]}}, "camera; expected an eye that is not above or below"),
        ({"sensors": {"io": {"type": "radar"}}}, "world.sensors.io.type; expected .*; got 'radar'"),
    ],
)
def test_a_wrong_world_is_explained(start, world, text):
    with pytest.raises(HardwareError, match=text):
        start(iiwa(), world=world)


def test_a_wrong_joint_or_file_is_explained(start, tmp_path):
    wrong = iiwa(joint_names=(*iiwa().joint_names[:6], "lbr_iiwa_joint_8"))
    with pytest.raises(HardwareError, match="part 'arm': joint 'lbr_iiwa_joint_8'; expected .*did you mean"):
        start(wrong)
    with pytest.raises(HardwareError, match="base_link: link 'lbr_iiwa_link_9'; expected .*did you mean"):
        start(iiwa(base_link="lbr_iiwa_link_9"))
    (tmp_path / "broken.urdf").write_text("<robot")
    with pytest.raises(HardwareError, match="broken.urdf"):
        start(iiwa(urdf=str(tmp_path / "broken.urdf")))


def test_who_pushes_what_there_is_not_is_told(start):
    world = start(iiwa(), world={"objects": [FLOOR]}).plugin.world
    for name, link, text in (
        ("flor", None, "hardware 'sim', push: 'flor'; expected .*'floor'"),
        ("arm", "lbr_iiwa_link_9", "push: link .*; expected .*did you mean 'lbr_iiwa_link_"),
    ):
        with pytest.raises(HardwareError, match=text):
            world.push(name, (0.0, 0.0, 1.0), (0.0, 0.0, 0.0), link)


def test_a_gripper_on_one_of_two_arms_must_say_which(start):
    other = panda("other", 2, base=Pose(position=(0.0, 1.0, 0.0)))
    with pytest.raises(HardwareError, match="expected one robot that has its joints panda_finger_joint1.*; got 2"):
        start(panda(), panda_gripper(), other)
    sim = start(panda(), panda_gripper(mounted_on="other"), other)
    assert sim.plugin.world.robots["gripper"] is sim.plugin.world.robots["other"]


PREFIXED = """name: c
parts:
  left:
    {kind: arm, device: sim, urdf: package://robot_rt_control/config/robots/iiwa.urdf, prefix: left_,
     start_position: [0, 0, 0, 0, 0, 0, 0.3], base_link: left_lbr_iiwa_link_0,
     tip_link: left_lbr_iiwa_link_7}
devices: {sim: {world: {}}}
"""


def n_of_shapes(plugin):
    """Of all robots."""
    if plugin.engine == "pybullet":
        import pybullet

        return len(pybullet.getVisualShapeData(0, physicsClientId=plugin.world.client))
    return len(plugin.world.seen_as("left"))


def test_a_robot_with_a_prefix_is_loaded_with_its_meshes(start, tmp_path, monkeypatch):
    monkeypatch.setenv("ROBOT_RT_CONTROL_CACHE", str(tmp_path))
    (tmp_path / "cell.yaml").write_text(PREFIXED)
    sim = start(hardware_part(load_workcell(tmp_path / "cell.yaml", "simulator").part("left")))
    names = [interface.name for interface in sim.state_interfaces]
    assert sim.state[names.index("left/left_lbr_iiwa_joint_7/position")] == pytest.approx(0.3, abs=1e-6)
    assert n_of_shapes(sim.plugin) == 16
