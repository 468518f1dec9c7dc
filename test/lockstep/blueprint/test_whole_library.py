"""A blueprint with all programs of the library and all that a graph can do, on the simulated bench."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from robot_rt_control.blueprint.graph import events
from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.blueprint.text.check import check_skill
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.command_line.offline_catalogue import offline_catalogue
from robot_rt_control.program.file import library_template
from robot_rt_control.program.library import library_programs
from robot_rt_control.testing.lockstep_blueprint import LockstepBlueprint
from robot_rt_control.testing.lockstep_client import LockstepClient

BENCH = Path(__file__).parents[3] / "config" / "bench.yaml"

HOME = """
name: home
level: motion_skill
start: up
nodes:
  up: {skill: move_linear, parts: {arm: arm}, with: {offset: [0, 0, 0.05], speed: 0.3}, until: is_settled, then: over}
  over:
    skill: move_linear
    parts: {arm: arm}
    with: {position: [0.48, 0.0, 0.16], speed: 0.5}
    until: is_settled
    then: at
  at: {skill: move_linear, parts: {arm: arm}, with: {position: [0.48, 0.0, 0.122], speed: 0.3}, until: is_settled}
"""
DAY = """
name: day
start: touch
nodes:
  touch:
    skill: move_until_contact
    with: {way: [0, 0, -0.1], speed: 0.05}
    then: [{on: contact, when: touch.count < 2 and $touch.watch.push > 1 N, go: rise}, {on: contact, go: lost}]
  rise: {skill: move_linear, parts: {arm: arm}, with: {offset: [0, 0, 0.014], speed: 0.1}, until: is_settled, then: touch}

  # The test ends its session on the way, as a failed action does, and once more when it is tried again.
  lost:
    skill: move_linear
    parts: {arm: arm}
    with: {offset: [0, 0, 0.04], speed: 0.05}
    until: is_settled
    retry: 1
    then: [{on: failed, go: home_1}, {on: done, end: failed}]
  home_1: {skill: home, then: peg}
  peg:  # there is no hole
    skill: peg_in_hole
    with: {speed: 0.02, radius: 0.001, search_speed: 0.008}
    then: [{on: not_found, go: home_2}]
  home_2: {skill: home, then: edge}
  edge:
    skill: move_to_edge
    with: {speed: 0.1}
    then: [{on: collided, end: failed}, {on: dropped_off, go: home_3}]
  home_3: {skill: home, then: corner}
  corner:
    skill: move_to_corner
    with: {speed: 0.1, slow_speed: 0.02, near: 0.03}
    then: [{on: in_corner, when: arm.tool.x > 0.7, end: failed}, {on: in_corner, go: home_4}]
  home_4: {skill: home, then: press}
  press: {skill: act_on_object, with: {speed: 0.05, force: 10, hold_time: 0.1}, then: take}
  take: {skill: move_object, with: {speed: 0.4, slow_speed: 0.1, height: 0.05}, then: close}
  close:
    all_of:
      away: {skill: move_linear, parts: {arm: arm}, with: {offset: [0, 0, 0.02], speed: 0.3}, until: is_settled}
      shut: {skill: move_gripper, parts: {gripper: gripper}, with: {opening: 0}}
    then: home_5
  home_5: {skill: home, then: trace}
  trace: {skill: trace_edge, with: {across: 0.08, acceleration: 1, length: 0.05, speed: -0.08}, then: climb}
  climb: {skill: move_linear, parts: {arm: arm}, with: {offset: [0, 0, 0.3], speed: 0.1}, until: is_settled, then: [{end: failed}]}
  down: {skill: home, then: [{end: done}]}
reactions: [{when: arm.tool.z > 0.25, go: down, at: once}]
"""  # noqa: E501


def skills() -> SkillCatalogue:
    found = SkillCatalogue(
        offline_catalogue(BENCH), {name: library_template(name) for name in library_programs()}, {}
    )
    for text in (HOME, DAY):
        template = SkillTemplate(text)
        check_skill(template, found)
        found = found.with_skill(template)
    return found


class Day:
    """A run with a person who pauses, resumes and jumps at the same ticks of its nodes each time."""

    def __init__(self, catalogue: SkillCatalogue) -> None:
        commands = hashlib.sha256()
        with LockstepClient(BENCH, hardware="simulator") as client:
            client.sleep(0.02)
            self.run = LockstepBlueprint(client, catalogue, "day")
            self._client, self._commands = client, commands
            for _ in range(2):
                starts = self._starts("lost")
                while self._starts("lost") == starts:
                    self._step(1)
                self._step(150)
                (session,) = (s for s in client.cell.server.sessions() if s.parts)  # another one watches the reaction
                client.cell.server.close_session(session.id)
            # In the corner's way the arm is stopped and goes on.
            self._until_started("corner")
            self._step(400)
            self._moving_then(events.Pause(now=True, source="person"))
            self.run.give(events.Resume(how="again", source="person"))
            # While it presses, it is told to do that afterwards, and home first: home comes back to the pressing.
            self._until_started("press")
            self._step(200)
            self._moving_then(events.Jump(target=("home_4",), now=True, source="person"))
            while self.run.runner.engine.outcome is None and client.cell.tick < 200_000:
                self._step(1)
            self.outcome = self.run.runner.engine.outcome
            self.ticks = client.cell.tick
            self.left = client.sessions()
            self.at_rest = client.value("arm.at_rest")
        self.digest = commands.hexdigest()

    def _step(self, ticks: int) -> None:
        for _ in range(ticks):
            self.run.step()
            self._commands.update(self._client.cell.part("arm").position.tobytes())

    def _until_started(self, path: str) -> None:
        while not self._starts(path):
            self._step(1)

    def _starts(self, path: str) -> int:
        assert self.run.runner.engine.outcome is None, self.run.records[-5:]
        return self.started().count(path)

    def _moving_then(self, command: events.Command) -> None:
        assert self._client.value("arm.at_rest") == 0.0
        assert self.run.give(command) == ""
        self._step(300)

    def started(self) -> list[Any]:
        return [r["path"] for r in self.run.records if r["what"] == "start"]


@pytest.fixture(scope="module")
def catalogue() -> SkillCatalogue:
    return skills()


def test_N33_a_blueprint_with_all_programs_and_all_that_a_graph_can_do(catalogue: SkillCatalogue) -> None:
    day = Day(catalogue)
    records = day.run.records
    assert day.outcome is not None and day.outcome.result == "done"
    assert day.left == [] and day.at_rest == 1.0
    ends = [(r["path"], r["result"]) for r in records if r["what"] == "ended" and "/" not in r["path"]]
    assert ends == [
        ("touch", "contact"), ("rise", "done"), ("touch", "contact"),  # a loop, by result and state
        ("lost", "failed"), ("lost", "failed"), ("home_1", "done"),  # a retry, twice with a new session
        ("peg", "not_found"), ("home_2", "done"), ("edge", "dropped_off"), ("home_3", "done"),
        ("corner", "cancelled"), ("corner", "in_corner"), ("home_4", "done"),  # a pause now, and again
        ("press", "cancelled"), ("home_4", "done"), ("press", "done"),  # a jump while it moves
        ("take", "done"), ("close", "done"), ("home_5", "done"), ("trace", "done"),
        ("climb", "cancelled"), ("down", "done"),  # a reaction
    ]  # fmt: skip
    (jump,) = [r for r in records if r["what"] == "jump"]
    (reaction,) = [r for r in records if r["what"] == "reaction"]
    assert jump["outcome"] == "executed" and reaction["go"] == "down"
    called = {r["skill"].partition("@")[0] for r in records if r["what"] == "start"}
    assert set(library_programs()) <= called


@pytest.mark.long
def test_N33_the_whole_library_with_the_same_bits_twice(catalogue: SkillCatalogue) -> None:
    first, second = Day(catalogue), Day(catalogue)
    assert (first.run.records, first.digest, first.ticks) == (second.run.records, second.digest, second.ticks)
