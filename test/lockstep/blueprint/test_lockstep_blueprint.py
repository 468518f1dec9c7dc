"""Blueprints on the simulated bench: programs of the library and actions in one session, twice with the same bits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from robot_rt_control.blueprint.graph import events
from robot_rt_control.blueprint.runs.run_log import RunLog, outputs_of, present_nodes, read_log, was_interrupted
from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.blueprint.text.check import check_skill
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.command_line.offline_catalogue import offline_catalogue
from robot_rt_control.program.file import library_template
from robot_rt_control.program.library import library_programs
from robot_rt_control.testing.lockstep_blueprint import LockstepBlueprint
from robot_rt_control.testing.lockstep_client import LockstepClient
from robot_rt_control.vocabulary.errors import SessionError

BENCH = Path(__file__).parents[3] / "config" / "bench.yaml"

TOUR = """
name: tour
parameters: {speed: {unit: m/s, default: 0.05}}
outputs: {push: {unit: N, value: $touch.watch.push}}
start: touch
nodes:
  touch:
    skill: move_until_contact
    with: {way: [0, 0, -0.1], speed: $speed}
    then: [{on: contact, when: touch.count < 2 and $touch.watch.push > 1 N and arm.tool.z < 0.2, go: lift},
           {on: contact, go: clear}]
  lift:
    skill: move_linear
    parts: {arm: arm}
    with: {offset: [0.0, 0.0, 0.014], speed: $speed}
    until: is_settled
    then: touch
  clear:  # on the table, its friction would push as walls do
    skill: move_linear
    parts: {arm: arm}
    with: {offset: [0.0, 0.0, 0.014], speed: $speed}
    until: is_settled
    then: corner
  corner:
    skill: move_to_corner
    with: {speed: 2 * $speed}
    then: [{on: in_corner, end: done}]
"""


def catalogue(*texts: str) -> SkillCatalogue:
    found = SkillCatalogue(
        offline_catalogue(BENCH), {name: library_template(name) for name in library_programs()}, {}
    )
    for text in texts:
        template = SkillTemplate(text)
        check_skill(template, found)
        found = found.with_skill(template)
    return found


@pytest.fixture(scope="module")
def skills() -> SkillCatalogue:
    return catalogue(TOUR)


def tour(skills: SkillCatalogue, folder: Path | None = None) -> tuple[list[Any], int]:
    with LockstepClient(BENCH, hardware="simulator") as client:
        client.sleep(0.02)
        log = RunLog(folder, "1") if folder is not None else None
        run = LockstepBlueprint(client, skills, "tour", log=log)
        (session,) = client.sessions()
        assert set(session.parts) == {"arm", "wrist"}, "one session for the run"
        outcome = run.run()
        push = outcome.outputs["push"]
        assert outcome.result == "done" and isinstance(push, float) and push > 1.0
        return run.records, client.cell.tick


def test_N33_programs_and_actions_in_one_session_with_the_same_bits_twice(
    skills: SkillCatalogue, tmp_path: Path
) -> None:
    first, ticks = tour(skills, tmp_path)
    assert [r["path"] for r in first if r["what"] == "start"] == ["touch", "lift", "touch", "clear", "corner"]
    decided = [r for r in first if r["what"] == "decided"][0]
    assert decided["go"] == "lift" and decided["judged"][0]["values"]["touch.count"] == 1.0
    assert tour(skills) == (first, ticks)
    records = read_log(tmp_path / "1.jsonl")
    assert records == first and not was_interrupted(records) and present_nodes(records) == ()
    assert outputs_of(records)["touch.watch.push"] > 1.0


def test_N24_a_jump_while_the_arm_moves(skills: SkillCatalogue) -> None:
    with LockstepClient(BENCH, hardware="simulator") as client:
        client.sleep(0.02)
        run = LockstepBlueprint(client, skills, "tour")
        run.step(150)
        assert client.value("arm.at_rest") == 0.0
        assert run.give(events.Jump(target=("lift",), now=True, source="test")) == ""
        run.step(100)
        (executed,) = [r for r in run.records if r["what"] == "jump"]
        (ended,) = [r for r in run.records if r["what"] == "ended"]
        assert (ended["result"], ended["cut"]) == ("cancelled", "jump") and executed["tick"] == ended["tick"]
        assert [r["path"] for r in run.records if r["what"] == "start"] == ["touch", "lift"]
        run.give(events.Cancel(source="test"))
        assert run.run(500).result == "cancelled" and client.value("arm.at_rest") == 1.0
        assert client.sessions() == []


def test_N28_a_protective_stop_leaves_the_run_standing(skills: SkillCatalogue) -> None:
    with LockstepClient(BENCH, hardware="simulator") as client:
        client.sleep(0.02)
        run = LockstepBlueprint(client, skills, "tour")
        run.step(150)
        client.protective_stop("a person")
        run.step(300)
        assert run.runner.engine.control.standing is not None and client.value("arm.at_rest") == 1.0
        client.release(secret=client.backend.operator_secret())
        run.step(50)
        assert [r["path"] for r in run.records if r["what"] == "start"] == ["touch"]
        assert run.give(events.Resume(how="again", source="test")) == ""
        run.step(20)
        assert [r["path"] for r in run.records if r["what"] == "start"] == ["touch", "touch"]
        run.give(events.Cancel(source="test"))
        assert run.run(500).result == "cancelled"


GRASPING = """
name: grasping
nodes:
  grip: {skill: grasp, parts: {gripper: gripper}, with: {effort: 10}, until: is_missed or is_grasped, then: lift}
  lift:
    skill: move_linear
    parts: {arm: arm}
    with: {offset: [0.0, 0.0, 0.02], speed: 0.1}
    until: is_settled
    then: [{on: failed, go: lift}, {on: done, go: open}]
  open: {skill: move_gripper, parts: {gripper: gripper}, with: {opening: 1.0}, then: [{on: any, end: done}]}
"""


def test_N33_an_action_goes_on_until_another_node_uses_its_part_and_a_lost_session_is_replaced() -> None:
    with LockstepClient(BENCH, hardware="simulator") as client:
        client.sleep(0.02)
        run = LockstepBlueprint(client, catalogue(GRASPING), "grasping")
        while not any(r["what"] == "start" and r["path"] == "lift" for r in run.records):
            assert run.step() is None
        run.step(20)
        (session,) = client.cell.server.sessions()
        assert client.program_states[session.id].active == ("n1__grasp", "n2__move_linear")
        client.cell.server.close_session(session.id)  # as a failed action does (A6)
        assert run.run().result == "done"
        assert [r["path"] for r in run.records if r["what"] == "start"] == ["grip", "lift", "lift", "open"]


PARALLEL = """
name: parallel
nodes:
  both:
    all_of:
      lift: {skill: lift}
      open: {skill: move_gripper, parts: {gripper: gripper}, with: {opening: 0.2}}
    then: race
  race:
    first_of:
      move: {skill: move_linear, parts: {arm: arm}, with: {offset: [0.0, 0.0, 0.05], speed: 0.02}, until: is_settled}
      late: {wait: 0.3}
    then: [{on: late, end: done}]
"""
LIFT = """
name: lift
level: motion_skill
start: up
nodes:
  up:
    {skill: move_linear, parts: {arm: arm}, with: {offset: [0.0, 0.0, 0.05], speed: 0.2}, until: is_settled, then: down}
  down: {skill: move_linear, parts: {arm: arm}, with: {offset: [0.0, 0.0, -0.05], speed: 0.2}, until: is_settled}
"""


def test_N16_branches_side_by_side_paused_and_done_again() -> None:
    with LockstepClient(BENCH, hardware="simulator") as client:
        client.sleep(0.02)
        run = LockstepBlueprint(client, catalogue(LIFT, PARALLEL), "parallel")
        run.step(150)
        assert client.value("arm.at_rest") == 0.0
        run.give(events.Pause(now=True, source="test"))
        run.step(300)
        standing = run.runner.engine.control.standing
        assert standing is not None and standing.when == "cut" and standing.path == ("both",)
        assert client.value("arm.at_rest") == 1.0 and client.value("gripper.at_rest") == 1.0
        run.give(events.Resume(source="test"))
        assert run.run().result == "done"
        started = [r["path"] for r in run.records if r["what"] == "start"]
        assert started == [*["both/open", "both/lift/up"] * 2, "both/lift/down", "race/move"]
        ended = {r["path"]: r["result"] for r in run.records if r["what"] == "ended"}
        assert ended["race/move"] == "cancelled" and ended["race"] == "late"


REACTING = """
name: reacting
nodes:
  wait: {wait_until: 'arm.tool.z < 0', then: [{on: any, end: done}]}
  say: {say: hello, then: touch}
  touch: {skill: move_until_contact, with: {way: [0, 0, 0.1]}, then: [{on: any, end: done}]}
reactions: [{when: time > 0.1, go: say, at: once}]
"""


def test_N17_reactions_are_judged_by_the_loop() -> None:
    with LockstepClient(BENCH, hardware="simulator") as client:
        run = LockstepBlueprint(client, catalogue(REACTING), "reacting")
        run.step(200)
        (reaction,) = [r for r in run.records if r["what"] == "reaction"]
        assert reaction["time"] == pytest.approx(0.101, abs=0.003)
        assert run.said == ["hello"]
        assert [r["path"] for r in run.records if r["what"] == "start"] == ["wait", "say", "touch"]


TWICE = """
name: twice
values: {far: {type: float, unit: m, default: 0.01}}
nodes:
  up: {skill: move_linear, parts: {arm: arm}, with: {offset: [0, 0, $far], speed: 0.1}, until: is_settled, then: more}
  more: {set: {far: $far + 0.01}, then: [{when: $far > 0.03, end: done}, {when: arm.tool.z < -1, go: open}, {go: up}]}
  open: {skill: move_gripper, parts: {gripper: gripper}, with: {opening: 0.2}}
"""


def test_N34_what_may_come_next_is_installed_while_a_program_runs() -> None:
    with LockstepClient(BENCH, hardware="mock") as client:
        client.sleep(0.02)
        run = LockstepBlueprint(client, catalogue(TWICE), "twice", begin={"paused": True})
        run.performer.prepares = 3  # as where time passes while a program is read
        assert run.give(events.Resume()) == ""
        run.step(10)
        (session,) = client.cell.server.sessions()
        ahead = client.cell.server.contents(session).actions
        assert sorted(ahead) == ["n1__move_linear", "n2__move_gripper", "n3__move_linear"]
        while sum(r["what"] == "start" for r in run.records) < 2:
            assert run.step() is None
        run.step(2)
        assert client.cell.server.contents(session).actions["n3__move_linear"] is ahead["n3__move_linear"]
        assert client.program_states[session.id].active == ("n3__move_linear",)
        assert run.run().result == "done"


def test_a_part_that_another_session_holds_is_named_before_anything_moves(skills: SkillCatalogue) -> None:
    with LockstepClient(BENCH, hardware="simulator") as client:
        with client.session("arm", name="holder"), pytest.raises(SessionError, match="'arm'.*holder"):
            LockstepBlueprint(client, skills, "tour")
        assert client.sessions() == []


LEAVING = """
name: leaving
nodes:
  touch: {skill: move_until_contact, with: {way: [0, 0, -0.1], speed: 0.05}, then: [{on: contact, go: up}]}
  up: {skill: move_linear, parts: {arm: arm}, with: {offset: [0, 0, 0.02], speed: 0.05}, until: is_settled}
"""


def test_what_follows_a_contact_leaves_it_at_once(simulator: str) -> None:
    """The arm brakes hard for the contact, and the next node takes over at that moment: 317 N came of that once."""
    with LockstepClient(BENCH, hardware="simulator") as client:
        client.sleep(0.02)
        run = LockstepBlueprint(client, catalogue(LEAVING), "leaving")
        lowest, pushes = 1.0, []
        while run.step() is None:
            lowest = min(lowest, client.value("arm.tool.z"))
            pushes.append(client.value("wrist.force.z"))
        assert pushes[0] - min(pushes) < 35.0, "[N]"
        assert lowest > 0.1055 and client.value("arm.tool.z") > 0.125, "[m] the table is felt at 0.1076"
