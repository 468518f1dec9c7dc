"""A plan that is run on a workcell, in simulated time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lost_events import losing

from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.planner.execution import Cancelled, measured, retreat, run_plan
from robot_rt_control.planning.plan.feedback import Feedback
from robot_rt_control.planning.plan.plan import Plan
from robot_rt_control.testing.lockstep_client import LockstepClient
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError

from .solvers import a_plan

PUSHER = load_workcell(Path(__file__).parents[3] / "config" / "pusher.yaml", "mock")


@pytest.fixture
def client() -> Iterator[LockstepClient]:
    with LockstepClient(PUSHER) as made:
        yield made


def moving(**header: Any) -> Plan:
    """5 cm forward in a second, from 2 cm after the start of the workcell."""
    plan = a_plan()
    header = {"workcell": PUSHER.digest, "velocity_driven": [True]} | header
    position = np.array([[0.02], [0.045], [0.07]])
    return replace(plan, header=plan.header | header, position=position, velocity=np.array([[0.0], [0.05], [0.0]]))


def test_V16_it_approaches_runs_and_comes_back(client: LockstepClient) -> None:
    phases: list[str] = []
    found = run_plan(client, moving(), PUSHER, pose="camera", phase=phases.append)
    tick = found.tick
    assert phases == ["approach", "motion"] and 0 < tick <= client.cell.tick - 1000
    assert measured(client, PUSHER, ["pusher"]).joints["pusher"][0] == pytest.approx(0.07, abs=1e-4)
    retreat(client, moving())
    back = measured(client, PUSHER, ["pusher"], "camera")
    assert back.joints["pusher"][0] == pytest.approx(0.02, abs=1e-4)
    assert back.body is not None and back.body.position == pytest.approx((0.13, 0.0, 0.05))
    assert client.sessions() == []


def led() -> Plan:
    """The pusher goes where the body is, along x."""
    gains = np.zeros((2, 2, 7))
    gains[:, 0, 0], gains[:, 0, 2], gains[:, 0, 4] = 100.0, 20.0, -100.0
    lead = np.zeros((3, 2, 1))
    lead[:, 0] = 1.0
    feedback = Feedback(gains=gains, model=np.zeros((2, 3, 7)), lead=lead, bounds=np.array([0.01, 0.05, 0.5]))
    return replace(moving(), feedback=feedback)


def test_V33_a_plan_with_feedback_is_led_by_the_pose_and_comes_back(client: LockstepClient) -> None:
    """The mock's slider stays behind the plan: so does the pusher, by as much as it may."""
    run_plan(client, led(), PUSHER, pose="camera")
    assert measured(client, PUSHER, ["pusher"]).joints["pusher"][0] == pytest.approx(0.06, abs=2e-3)
    retreat(client, led())
    assert measured(client, PUSHER, ["pusher"]).joints["pusher"][0] == pytest.approx(0.02, abs=1e-4)


@pytest.mark.parametrize("given", [{"pose": "camera", "feedback": False}, {}])
def test_V33_without_a_pose_and_told_so_it_is_the_plan_alone(client: LockstepClient, given: dict[str, Any]) -> None:
    run_plan(client, led(), PUSHER, **given)
    assert measured(client, PUSHER, ["pusher"]).joints["pusher"][0] == pytest.approx(0.07, abs=1e-4)


def test_V15_it_looks_where_the_body_ended(client: LockstepClient) -> None:
    """Nothing moves the slider of the mock: it stays 20 cm from its target."""
    found = run_plan(client, moving(), PUSHER, pose="camera")
    assert found.end is not None and found.end.position == pytest.approx(0.2)
    with pytest.raises(RobotControlError, match=r"'slider' after the plan; expected within 4.0 mm .* got 200.0 mm"):
        found.check_arrived(moving())
    unknown = run_plan(client, moving(), PUSHER)
    assert unknown.end is None
    unknown.check_arrived(moving())


@pytest.mark.parametrize(
    ("changes", "unverified", "text"),
    [
        ({"verification": {}}, False, "expected a verified one; got planned, not verified: no other engine has played"),
        ({"success": False}, False, "expected one that reaches its target; got not solved"),
        ({"success": False}, True, "expected one that reaches its target; got not solved"),
    ],
)
def test_V29_what_is_not_verified_does_not_move(
    client: LockstepClient, changes: dict[str, Any], unverified: bool, text: str
) -> None:
    with pytest.raises(DefinitionError, match=text):
        run_plan(client, moving(**changes), PUSHER, unverified=unverified, phase=lambda _: pytest.fail("it moved"))


def test_V29_it_may_be_told_to_move_what_is_not_verified(client: LockstepClient) -> None:
    assert run_plan(client, moving(verification={}), PUSHER, unverified=True).tick > 0


@pytest.mark.parametrize(
    ("plan", "speed", "text"),
    [
        (moving(workcell=0xABC), 1.0, f"that of the plan, digest abc; got another one, digest {PUSHER.digest:x}"),
        (moving(), 0.5, "plan, speed override; expected at least 1"),
        (replace(moving(), body_position=np.ones((3, 3))), 1.0, "body 'slider' at the start; expected within 5 mm"),
    ],
)
def test_V15_what_does_not_fit_is_refused_before_anything_moves(
    client: LockstepClient, plan: Plan, speed: float, text: str
) -> None:
    client.set_speed(speed)
    before = measured(client, PUSHER, ["pusher"])
    with pytest.raises(DefinitionError) as caught:
        run_plan(client, plan, PUSHER, pose="camera", phase=lambda _: pytest.fail("it moved"))
    assert text in str(caught.value)
    assert measured(client, PUSHER, ["pusher"]) == before


def test_a_cancel_ends_its_session(client: LockstepClient) -> None:
    phases: list[str] = []
    with pytest.raises(Cancelled):
        run_plan(client, moving(), PUSHER, cancelled=lambda: "motion" in phases, phase=phases.append)
    assert client.sessions() == []


def test_what_is_stopped_by_somebody_else_was_not_run_to_its_end(client: LockstepClient) -> None:
    phases: list[str] = []

    def stop() -> bool:
        if "motion" in phases:
            client.stop_all()
        return False

    with pytest.raises(RobotControlError, match="not run to its end: motion: stopped by a command"):
        run_plan(client, moving(), PUSHER, cancelled=stop, phase=phases.append)
    assert client.sessions() == []


def test_an_end_that_came_while_events_were_lost_is_not_waited_for_in_vain(client: LockstepClient) -> None:
    phases: list[str] = []
    asked = 0

    def lose() -> bool:
        nonlocal asked
        if "motion" in phases and not asked:
            with losing(client):
                client.step(2000)
        asked += "motion" in phases
        assert asked < 10
        return False

    assert run_plan(client, moving(), PUSHER, cancelled=lose, phase=phases.append).tick > 0
