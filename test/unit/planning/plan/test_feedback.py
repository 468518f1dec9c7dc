"""Feedback in a plan: its file, its action, and the way back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robot_rt_control.planning.plan.feedback import NAMES, Feedback
from robot_rt_control.planning.plan.plan import FORMAT, LED_TOLERANCE, Plan
from robot_rt_control.planning.plan.program_export import program_of
from robot_rt_control.vocabulary.errors import DefinitionError

STEPS = 4


def made(**changes: np.ndarray) -> Plan:
    """A body that is moved by 0.4 m along x, and turned by 0.4 rad beyond π."""
    random = np.random.default_rng(1)
    tables = {
        "gains": random.normal(size=(STEPS, 2, 7)), "model": random.normal(size=(STEPS, 3, 7)),
        "lead": random.normal(size=(STEPS + 1, 2, 2)), "bounds": np.array([0.02, 0.1, 1.0]),
    }  # fmt: skip
    turn = 3.0 + 0.1 * np.arange(STEPS + 1)
    R = np.zeros((STEPS + 1, 3, 3))
    R[:, 0, 0] = R[:, 1, 1] = np.cos(turn)
    R[:, 1, 0], R[:, 0, 1], R[:, 2, 2] = np.sin(turn), -np.sin(turn), 1.0
    position = np.zeros((STEPS + 1, 3))
    position[:, 0] = 0.1 * np.arange(STEPS + 1)
    return Plan(
        header={
            "format": FORMAT, "joints": ["a.j", "a.k"], "pairs": [], "steps": STEPS, "time": 0.4, "success": True,
            "velocity_driven": [True, True], "offset": [-0.004, 0.0, -0.001], "body": "box",
            "target": [[0.4, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]],
        },
        position=np.cumsum(random.normal(size=(STEPS + 1, 2)), axis=0), velocity=np.zeros((STEPS + 1, 2)),
        inputs=np.zeros((STEPS, 2)), body_position=position, body_rotation=R,
        distance=np.zeros((STEPS + 1, 0)), stiffness=np.zeros((STEPS, 0)), virtual_force=np.zeros((STEPS, 0)),
        virtual_distance=np.zeros((STEPS + 1, 0)), feedback=Feedback(**{**tables, **changes}),
    )  # fmt: skip


def test_V14_feedback_is_kept_in_the_file_and_other_formats_are_refused(tmp_path: Path) -> None:
    plan, file = made(), tmp_path / "a.plan"
    plan.save(file)
    loaded = Plan.load(file)
    assert loaded.feedback is not None and plan.feedback is not None
    for name in NAMES:
        np.testing.assert_array_equal(getattr(loaded.feedback, name), getattr(plan.feedback, name))
    replace(plan, feedback=None).save(file)
    assert Plan.load(file).feedback is None
    replace(plan, header={**plan.header, "format": 1}).save(file)
    with pytest.raises(DefinitionError, match=f"expected format {FORMAT}; got 1. Plan again"):
        Plan.load(file)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"gains": np.zeros((STEPS - 1, 2, 7))}, "gains: shape"),
        ({"model": np.full((STEPS, 3, 7), np.nan)}, "model: numbers that are not finite"),
        ({"bounds": np.array([0.02, -0.1, 1.0])}, "bounds: negative ones"),
    ],
)
def test_V14_feedback_that_does_not_fit_is_refused(tmp_path: Path, changes: dict[str, np.ndarray], said: str) -> None:
    made(**changes).save(tmp_path / "a.plan")
    with pytest.raises(DefinitionError, match=said):
        Plan.load(tmp_path / "a.plan")


def test_V33_with_a_pose_it_is_one_action_that_reads_it_and_without_it_the_motion_alone() -> None:
    plan = made()
    (led,) = plan.actions("push", "camera")
    assert led.type == "track_with_pose" and led.parts == {"part": "a", "pose": "camera"}
    for found in (plan.actions("push"), replace(plan, feedback=None).actions("push", "camera")):
        assert [action.type for action in found] == ["track_trajectory"]
    assert plan.rest(0.2).feedback is None, "tables of the whole motion do not go with a part of it"


def test_V33_the_body_is_led_to_its_target_not_to_where_the_planners_engine_leaves_it() -> None:
    (led,) = made().actions("push", "camera")
    body = np.array(next(p.value for p in led.parameters if p.name == "body")).reshape(-1, 3)
    np.testing.assert_allclose(body[:, 0], 0.101 * np.arange(STEPS + 1), atol=1e-12)
    np.testing.assert_allclose(body[:, 2], 3.0 + 0.1 * np.arange(STEPS + 1), atol=1e-12)


def test_V33_a_program_is_led_by_its_sensor_unless_told_otherwise() -> None:
    types = []
    for feedback in (True, False):
        found = program_of(confirmed(made()), sensor="camera", feedback=feedback)
        types += [action.type for action in found.actions if action.id == "push"]
        (push,) = [action for action in found.actions if action.id == "push"]
        assert any("judge" in reaction.start for reaction in push.reactions)
        assert push.time_limit is not None
    assert types == ["track_with_pose", "track_trajectory"]


def test_V15_a_body_that_feedback_leads_back_may_be_farther_off() -> None:
    plan = made()
    body = plan.start_pose.model_copy(update={"position": (0.0, 0.9 * LED_TOLERANCE, 0.0)})
    plan.check_start(body=body, led=True)
    with pytest.raises(DefinitionError, match="within 5 mm"):
        plan.check_start(body=body)


def test_V33_the_way_back_begins_where_feedback_has_led_the_robot() -> None:
    plan = made()
    end = (plan.position[-1] + [0.1, -0.2]).tolist()
    (back,) = plan.retreat("back", {"a": end})
    values: Mapping[str, object] = {p.name: p.value for p in back.parameters}
    q, v = (np.array(values[name]).reshape(-1, 2) for name in ("positions", "velocities"))
    np.testing.assert_allclose(q[0], end, atol=1e-12)
    np.testing.assert_allclose(q[-1], plan.position[0], atol=1e-12)
    assert not v[0].any() and not v[-1].any() and v[2].any()


def confirmed(plan: Plan) -> Plan:
    """As if another engine had played it."""
    row = {"speed": 1.0, "rests": True, "error_to_target": 0.0, "orientation_error": 0.0}
    return plan.with_verification({"replays": [row], "perturbed": [], "speeds": [1.0]})
