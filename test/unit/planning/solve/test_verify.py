"""Plans rolled out again, as planned and in worlds that differ; made by hand, without the planner."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robot_rt_control.model.pose import Pose
from robot_rt_control.planning.optimise.dynamics import Dynamics
from robot_rt_control.planning.plan.plan import FORMAT, Plan
from robot_rt_control.planning.scene.scene import build_scene
from robot_rt_control.planning.solve.perturbation import PERTURBATIONS
from robot_rt_control.planning.solve.verify import verify
from robot_rt_control.planning.task import PairGroup, Task
from robot_rt_control.vocabulary.errors import DefinitionError

TASK = Task(
    workcell=Path(__file__).parents[4] / "config" / "pusher.yaml",
    body="slider",
    target=Pose(position=(0.18, 0.0, 0.05)),
    pairs=(PairGroup(robot="pusher.tip", faces=("back",)),),
    time=1.0,
    steps=20,
)


@pytest.fixture(scope="module")
def scene():
    return build_scene(TASK)


def make(scene, task=TASK):
    """The ball speeds up for half of the time, and slows down in the other: it goes 10 cm, the slider 5 cm."""
    dynamics = Dynamics(scene, task, np.ones(1))
    dynamics.scale = np.ones(1)
    inputs = np.zeros((20, 2))
    inputs[:10, 0], inputs[10:, 0] = 0.4, -0.4
    found = dynamics.roll_out(inputs)
    dynamics.close()
    header = {
        "format": FORMAT, "workcell": scene.digest, "body": task.body, "joints": ["pusher.slide"], "time": 1.0,
        "velocity_driven": [task.controls.get("pusher") != "effort"], "pairs": [scene.pairs[0].name], "steps": 20,
        "target": [list(task.target.position), list(task.target.orientation)],
    }  # fmt: skip
    return Plan(
        header=header,
        position=found.joint_position,
        velocity=found.joint_velocity,
        inputs=inputs[:, :1],
        body_position=found.body_position,
        body_rotation=found.body_rotation,
        distance=found.phi,
        stiffness=inputs[:, 1:],
        virtual_force=found.gamma,
        virtual_distance=found.phi,
    )


def test_V19_the_same_bits_again_and_how_far_other_worlds_lead(scene):
    plan = make(scene)
    found = verify(plan, TASK, scene=scene)
    assert found["mujoco"]["repeated"] and found["mujoco"]["position_error"] < 0.015
    assert "peak" not in found["at_rest"], "of a contact that is soft so that it can be differentiated"
    rows = {row["name"]: row for row in found["perturbed"]}
    assert [name for name, row in rows.items() if row["world"]] == [by.name for by in PERTURBATIONS]
    assert len(rows) == 13 and {"speed 0.5", "friction -30 %", "start turned +2 deg"} <= set(rows)
    assert found["spread"] == max(row["moved"] for name, row in rows.items() if name != "speed 0.5")
    assert rows["start x -5 mm"]["moved"] < 0.002, "it is pushed to where the ball ends"
    assert 0.004 < rows["start y +5 mm"]["moved"] < 0.015
    saved = plan.with_verification(json.loads(json.dumps(found)))
    assert saved.header["verification"] == found


def test_V19_errors_are_without_the_depth_by_which_the_body_is_pressed_into_the_ground(scene):
    plan = make(scene)
    sunk = replace(plan, header={**plan.header, "offset": [0.01, 0.0, 0.0]})
    one, other = (verify(its, TASK, (), scene=scene)["mujoco"]["position_error"] for its in (plan, sunk))
    moved = plan.error_of(plan.body_position[-1] - np.array([0.01, 0.0, 0.0]), np.eye(3)).position
    assert other == pytest.approx(moved, abs=1e-9) and other != pytest.approx(one, abs=1e-3)


def test_V19_a_verification_can_be_broken_off(scene):
    def stop():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        verify(make(scene), TASK, scene=scene, check=stop)


def test_V19_other_inputs_do_not_repeat(scene):
    plan = make(scene)
    found = verify(replace(plan, inputs=plan.inputs * (1.0 + 1e-9)), TASK, (), scene=scene)
    assert not found["mujoco"]["repeated"] and found["perturbed"] == [] and found["spread"] == 0.0


def test_V19_a_plan_by_efforts_has_no_speed(scene):
    task = replace(TASK, controls={"pusher": "effort"})
    scene = build_scene(task)
    found = verify(make(scene, task), task, scene=scene)
    assert found["mujoco"]["repeated"]
    assert "speed 0.5" not in [row["name"] for row in found["perturbed"]]


def test_V19_another_task_is_refused(scene):
    plan = make(scene)
    with pytest.raises(DefinitionError, match="expected the task and the workcell of the plan"):
        verify(replace(plan, header={**plan.header, "workcell": 1}), TASK, scene=scene)
