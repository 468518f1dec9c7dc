"""Guides that hold the body between opposing faces, and patches on a link: whole guesses in the engine, V6."""

from pathlib import Path

import numpy as np
import pytest

from robot_rt_control.model.pose import Pose
from robot_rt_control.planning.files.task_file import read_task
from robot_rt_control.planning.guess.grip_guide import grips
from robot_rt_control.planning.guess.gripping import Gripping
from robot_rt_control.planning.guess.guides import guides_of
from robot_rt_control.planning.optimise.dynamics import Dynamics
from robot_rt_control.planning.optimise.problem import Problem
from robot_rt_control.planning.optimise.settings import Settings
from robot_rt_control.planning.scene.scene import build_scene
from robot_rt_control.planning.solve.planner import plan
from robot_rt_control.planning.task import PairGroup, Patch, Task

CONFIG = Path(__file__).parents[4] / "config"


def problem(name, **parameters):
    file = read_task(name, parameters)
    return Problem(file.task, file.settings, build_scene(file.task))


def guessed(its):
    """The rollout of its last guide."""
    name, make = guides_of(its)[-1]
    dynamics = its.dynamics(1)
    try:
        return name, dynamics.roll_out(make(dynamics, 0.9))
    finally:
        dynamics.close()


@pytest.mark.parametrize("way", [{"left": 0.15}, {"right": 0.1, "left": 0.0}, {"up": 0.1, "left": 0.05, "time": 1.5}])
def test_V6_two_fingers_carry_a_cube_by_friction_also_along_their_faces_and_up(way):
    its = problem("pinch_cube", **way)
    name, found = guessed(its)
    assert name == "grip arm.left_finger cube.left, arm.right_finger cube.right"
    assert its.error(found).normalized < 0.05 and its.error(found).orientation < 0.05
    assert (found.phi[-1] < 1e-3).all(), "it is still held"


@pytest.mark.parametrize("up", [0.15, -0.15])
def test_V6_limbs_that_oppose_each_other_push_a_torso_and_brake_it(up):
    its = problem("move_torso", up=up)
    name, found = guessed(its)
    for pair in ("left_hand brick_1.top", "right_hand brick_2.top", "left_foot brick_3.bottom"):
        assert pair in name, "each takes the face that is nearest"
    assert its.error(found).normalized < 0.1 and its.error(found).orientation < 0.05


def test_what_is_too_heavy_for_the_fingers_is_not_gripped():
    its = Gripping(problem("pinch_cube", up=0.1, left=0.0))
    [grip] = grips(its._contacts(), its.way, its.pull)
    assert its._strong_enough(grip)
    its.pull = 20.0 * its.pull
    assert not its._strong_enough(grip)


def test_without_friction_nothing_is_carried_across_the_axis():
    its = Gripping(problem("move_torso", right=0.1, up=0.0))
    assert not [grip for grip in grips(its._contacts(), its.way, its.pull) if abs(grip.axis[2]) > 0.5]


def drawer(tmp_path):
    """A drawer that no part drives, in the pusher's URDF; its patch is its back."""
    drawer = """
  <joint name="runner" type="prismatic">
    <parent link="guide"/><child link="drawer"/><origin xyz="0.13 0 0"/><axis xyz="1 0 0"/>
    <limit lower="-0.5" upper="0.5" effort="20" velocity="2"/><dynamics damping="5" friction="0"/>
  </joint>
  <link name="drawer">
    <inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision>
  </link>
</robot>"""
    urdf = (CONFIG / "robots" / "pusher.urdf").read_text().replace("</robot>", drawer)
    (tmp_path / "pusher.urdf").write_text(urdf)
    text = (CONFIG / "pusher.yaml").read_text().replace("[0.13, 0, 0.05]", "[2.0, 0, 0.05]")
    shipped = "package://robot_rt_control/config/robots/pusher.urdf"
    (tmp_path / "cell.yaml").write_text(text.replace(shipped, "pusher.urdf"))
    back = Pose(position=(-0.05, 0.0, 0.0), orientation=(0.0, 0.0, 1.0, 0.0))
    return Task(
        name="drawer",
        workcell=tmp_path / "cell.yaml",
        body="pusher.drawer",
        target=Pose(position=(0.23, 0.0, 0.05)),
        patches=(Patch(name="handle", pose=back, size=(0.08, 0.08)),),
        pairs=(PairGroup(robot="pusher.tip", faces=("handle",)),),
        time=1.0,
        steps=20,
    )


def test_a_patch_of_a_link_moves_with_it_and_is_pushed_into_it(tmp_path):
    task = drawer(tmp_path)
    scene = build_scene(task)
    [pair] = scene.pairs
    model = scene.model
    pairs = zip(model.pair_geom1, model.pair_geom2, strict=True)
    touching = {frozenset((model.geom(int(a)).name, model.geom(int(b)).name)) for a, b in pairs}
    assert frozenset(("pusher.tip/0", "pusher.drawer/0")) in touching, "links of one robot"
    assert pair.name == "pusher.tip pusher.drawer.handle" and pair.push(np.eye(3)) == pytest.approx((1, 0, 0))
    dynamics = Dynamics(scene, task, np.ones(1))
    u = np.zeros((task.steps, dynamics.inputs))
    u[:, 0], u[:10, 1] = 0.001, 5.0
    found = dynamics.roll_out(u)
    dynamics.close()
    moved = found.body_position[-1, 0] - found.body_position[0, 0]
    tip = found.joint_position[-1, 0] - found.joint_position[0, 0]
    assert moved > 0.01 and found.phi[-1, 0] - found.phi[0, 0] == pytest.approx(moved - tip, abs=1e-4)


@pytest.mark.long
def test_a_drawer_is_pushed_at_its_patch(tmp_path):
    result = plan(drawer(tmp_path), Settings(search="single", threads=1))
    assert result.success and result.error is not None and result.error.normalized < 0.02, result.message
    assert result.plan is not None and result.plan.distance.min() < 1e-3, "it was touched"
