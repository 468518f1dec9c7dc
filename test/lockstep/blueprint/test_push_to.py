"""The skill `push_to`, in lockstep: rule N57. What plans is made up, except in the last test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from robot_rt_control.blueprint.graph import events
from robot_rt_control.blueprint.makers.capability_files import Capabilities, capabilities_of
from robot_rt_control.blueprint.makers.makers import Makers
from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.blueprint.text.check import check_skill
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.planner import pushing
from robot_rt_control.server.offline_catalogue import offline_catalogue
from robot_rt_control.testing.lockstep_blueprint import LockstepBlueprint
from robot_rt_control.testing.lockstep_client import LockstepClient

from .push_solver import ELSEWHERE, ENDLESS, NOTHING, UNVERIFIED

PUSHER = Path(__file__).parents[3] / "config" / "pusher.yaml"


@pytest.fixture
def capabilities(monkeypatch: pytest.MonkeyPatch) -> Capabilities:
    found = capabilities_of(PUSHER)
    solver = str(Path(__file__).with_name("push_solver.py"))
    monkeypatch.setattr(pushing, "SOLVER", solver)
    return found


@pytest.fixture
def client() -> Iterator[LockstepClient]:
    with LockstepClient(PUSHER, hardware="mock") as made:
        made.sleep(0.02)
        yield made


def pushed(client: LockstepClient, capabilities: Capabilities, **given: Any) -> LockstepBlueprint:
    """A run of one node."""
    values = {"object": "slider", "x": 0.132, "y": 0.0, "pose": "camera"} | given
    words = ", ".join(f"{name}: {value}" for name, value in values.items())
    template = SkillTemplate(
        f"{{name: main, nodes: {{a: {{skill: push_to, parts: {{robot: pusher}}, with: {{{words}}}}}}}}}"
    )
    catalogue = SkillCatalogue(offline_catalogue(PUSHER), {}, {}, made=capabilities.templates)
    check_skill(template, catalogue)
    makers = Makers(capabilities, workcell=PUSHER)
    return LockstepBlueprint(client, catalogue.with_skill(template), "main", makers=makers)


def ended(run: LockstepBlueprint) -> dict[str, Any]:
    """The node's end. Ticks pass while another process plans."""
    run.run(at_most=1_000_000)
    (its,) = [record for record in run.records if record["what"] == "ended" and record["path"] == "a"]
    return dict(its)


def joint(client: LockstepClient) -> float:
    return client.backend.state_values(["pusher.position[0]"], "")["pusher.position[0]"]


def test_N57_an_object_that_is_measured_at_its_target_is_done(
    client: LockstepClient, capabilities: Capabilities
) -> None:
    """The sensor of the mock has it 2 mm away, as does its target: within the 3 mm of what is measured."""
    its = ended(pushed(client, capabilities))
    assert its["result"] == "done", its
    assert its["outputs"] == {"measured": True, "x": 0.13, "y": 0.0, "peak": 3.0, "time": 1.0}
    assert joint(client) == pytest.approx(0.02, abs=1e-4)


def test_N57_without_a_sensor_it_says_that_nothing_measured_the_end(
    client: LockstepClient, capabilities: Capabilities
) -> None:
    run = pushed(client, capabilities, x=0.33, pose='""')
    its = ended(run)
    assert its["result"] == "done" and its["outputs"]["measured"] is False, its
    assert [r["text"] for r in run.records if r["what"] == "progress"][-1] == "nothing measures where 'slider' ended"


@pytest.mark.parametrize(
    ("given", "result", "reason", "moves"),
    [
        ({"x": 0.33}, "missed", "the object is at (0.1300, 0.0000, 0.0500) m: 200.0 mm and 0.000 rad from its", True),
        ({"at_most": ELSEWHERE}, "object_moved", "the object is at (0.1300, 0.0000, 0.0500) m", False),
        ({"at_most": UNVERIFIED}, "not_verified", "in another engine the body ends 9.0 mm away", False),
        ({"at_most": NOTHING}, "not_solved", "not solved: 50 % of the way are left", False),
        ({"x": 0.13}, "impossible", "expected another pose than that at the start; got 0.00 mm", False),
        ({"x": 9.0}, "impossible", "expected within reach", False),
        ({"object": "slidr"}, "failed", "slider", False),
        ({"tool": "pusher.tipp"}, "failed", "pusher.tip", False),
        ({"pose": "camra"}, "failed", "camera", False),
    ],
)
def test_N57_each_other_end_has_a_result_with_its_reason(
    client: LockstepClient, capabilities: Capabilities, given: dict[str, Any], result: str, reason: str, moves: bool
) -> None:
    """Only what is verified moves the robot."""
    its = ended(pushed(client, capabilities, **given))
    assert its["result"] == result and reason in its["reason"], its
    assert joint(client) == pytest.approx(0.02 if moves else 0.0, abs=1e-4)


def test_N57_a_cancel_while_it_plans_ends_that(client: LockstepClient, capabilities: Capabilities) -> None:
    run = pushed(client, capabilities, at_most=ENDLESS)
    for _ in range(100):
        run.step()
    run.give(events.Cancel(source="test"))
    its = ended(run)
    assert its["result"] == "cancelled" and joint(client) == 0.0


@pytest.mark.long
def test_N57_a_slider_is_pushed_in_simulation_as_it_was_planned() -> None:
    pytest.importorskip("mujoco")
    with LockstepClient(PUSHER, hardware="simulator") as client:
        client.sleep(0.1)
        its = ended(pushed(client, capabilities_of(PUSHER), x=0.18))
        assert its["result"] == "done", its
        assert its["outputs"]["x"] == pytest.approx(0.18, abs=0.003) and its["outputs"]["measured"] is True
