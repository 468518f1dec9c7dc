"""A joint that follows another one, by <mimic>, moves as that does, in all that the planner computes."""

from pathlib import Path

import numpy as np
import pytest

from robot_rt_control.model.pose import Pose
from robot_rt_control.planning.optimise.dynamics import TIME, Dynamics
from robot_rt_control.planning.scene.scene import build_scene
from robot_rt_control.planning.task import PairGroup, Task
from robot_rt_control.vocabulary.errors import DefinitionError

CONFIG = Path(__file__).parents[4] / "config"
RATIO, OFFSET = 0.5, 0.03


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    """The pinching gripper with one motor: its right finger moves by half of the left one's way."""
    folder = tmp_path_factory.mktemp("mimic")
    urdf = (CONFIG / "robots" / "gantry_gripper.urdf").read_text()
    start = urdf.index('<joint name="right"')
    end = urdf.index("</joint>", start)
    mimic = f'<mimic joint="left" multiplier="{RATIO}" offset="{OFFSET}"/>'
    (folder / "robot.urdf").write_text(urdf[:end] + mimic + urdf[end:])
    text = (CONFIG / "pinch.yaml").read_text()
    text = text.replace("package://robot_rt_control/config/robots/gantry_gripper.urdf", "robot.urdf")
    text = text.replace("joints: [left, right]", "joints: [left]").replace("[0.07, 0.07]", "[0.07]")
    text = text.replace("acceleration: [4.0, 4.0]  #", "acceleration: [4.0]  #")
    (folder / "cell.yaml").write_text(text)
    pairs = PairGroup(robot="arm.left_finger", faces=("left",)), PairGroup(robot="arm.right_finger", faces=("right",))
    return Task(workcell=folder / "cell.yaml", body="cube", target=Pose(position=(0, 0.1, 0.04)), pairs=pairs,
                time=0.3, steps=6)  # fmt: skip


@pytest.fixture(scope="module")
def dynamics(task):
    made = Dynamics(build_scene(task), task, np.ones(2))
    yield made
    made.close()


def fingers(dynamics, state):
    model = dynamics.scene.model
    return [state[TIME + int(model.joint(f"arm.{name}").qposadr[0])] for name in ("left", "right")]


def test_the_task_drives_the_leader_alone_and_the_follower_starts_with_it(dynamics):
    assert dynamics.scene.actuated.names == ("arm.x", "arm.y", "arm.z", "gripper.left")
    assert dynamics.scene.model.nu == 5, "each finger has a drive"
    assert fingers(dynamics, dynamics.start()[0]) == pytest.approx([0.07, 0.07 * RATIO + OFFSET])


def test_it_follows_in_a_rollout(dynamics):
    u = np.zeros((6, dynamics.inputs))
    u[:, 3] = 0.2
    left, right = fingers(dynamics, dynamics.roll_out(u).knots[-1])
    assert left == pytest.approx(0.07 + 0.5 * 0.2 * 4.0 * 0.3**2, abs=1e-3)
    assert right == pytest.approx(left * RATIO + OFFSET, abs=1e-4)


def test_derivatives_count_what_follows(dynamics):
    geom, joints, h = dynamics.scene.pairs[1].geom, dynamics.scene.actuated.start, 1e-6
    moved = joints + [0.0, 0.0, 0.0, h]
    rate = (dynamics.placement(geom, moved).center - dynamics.placement(geom, joints).center) / h
    assert rate == pytest.approx([0.0, -RATIO, 0.0], abs=1e-6)
    assert dynamics.placement(geom, joints).linear[:, 3] == pytest.approx(rate, abs=1e-6)
    state, _ = dynamics.start()
    z = np.zeros((1, dynamics.states))
    z[0, 3] = h
    assert fingers(dynamics, dynamics.moved(state, z)[0]) == pytest.approx([0.07 + h, (0.07 + h) * RATIO + OFFSET])
    M = dynamics.scene.actuated.inertia(np.eye(dynamics.scene.model.nv))
    assert np.diag(M) == pytest.approx([1.0, 1.0, 1.0, 1.0 + RATIO**2])


def test_efforts_do_not_drive_what_follows(task):
    by_effort = Task(**{**vars(task), "controls": {"gripper": "effort"}})
    with pytest.raises(DefinitionError, match="part 'gripper': control; expected velocity, .*got effort, .*'right'"):
        build_scene(by_effort)
