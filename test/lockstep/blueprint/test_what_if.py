"""What if: a blueprint goes on from a moment of a past run, on simulated hardware."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.command_line.offline_catalogue import offline_catalogue
from robot_rt_control.processes.call import call
from robot_rt_control.recording.tick_reader import TickFile
from robot_rt_control.testing import what_if as what_if_module
from robot_rt_control.testing.lockstep_blueprint import LockstepBlueprint
from robot_rt_control.testing.lockstep_client import LockstepClient
from robot_rt_control.testing.what_if import Moment, moment_of, recorded_values, what_if
from robot_rt_control.vocabulary.errors import DefinitionError, ProgramError, RobotControlError

BENCH = Path(__file__).parents[3] / "config" / "bench.yaml"
REAL_BENCH = Path(__file__).parents[1] / "mock_bench.yaml"
"""Its file knows no simulator."""
TWO_MOVES = """
name: two_moves
parameters: {far: {unit: m, default: 0.01}}
nodes:
  up: {skill: move_linear, parts: {arm: arm}, with: {offset: [0, 0, $far], speed: 0.1}, until: is_settled, then: side}
  side: {skill: move_linear, parts: {arm: arm}, with: {offset: [0, 0.04, 0], speed: 0.1}, until: is_settled}
"""


@dataclass(frozen=True)
class Past:
    """A run that was recorded; `middle`: a tick while its second node ran."""

    recording: Path
    records: list[Any]
    middle: int


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Past:
    recording = tmp_path_factory.mktemp("past") / "past.mcap"
    with LockstepClient(BENCH, hardware="simulator", record=recording) as client:
        client.sleep(0.02)
        skills = SkillCatalogue(offline_catalogue(BENCH), {}, {}).with_skill(SkillTemplate(TWO_MOVES))
        run = LockstepBlueprint(client, skills, "two_moves", far=0.03)
        assert run.run().result == "done"
    (begun,) = (r["tick"] for r in run.records if r["what"] == "node" and r["path"] == "side")
    begin = {"what": "run", "tick": run.records[0]["tick"], "roles": {}, "parameters": {"far": 0.03}}
    return Past(recording, [begin, *run.records], begun + 150)


def positions(recording: Path) -> np.ndarray:
    """[rad] of the arm in all ticks."""
    return TickFile(recording).arrays()["arm.position"]


def then(past: Past, **more: Any) -> Moment:
    found = moment_of(past.records, past.middle)
    return Moment(**{**vars(found), "values": recorded_values(past.recording, past.middle), **more})


def test_it_goes_on_from_where_the_robot_was_and_a_changed_node_changes_what_comes(past: Past, tmp_path: Path) -> None:
    moment = then(past)
    assert (moment.node, moment.parameters) == ("side", {"far": 0.03})
    found = what_if(BENCH, TWO_MOVES, moment, record=tmp_path / "same.mcap")
    assert (found.result, found.failure) == ("done", False)
    assert [r["path"] for r in found.records if r["what"] == "node"] == ["side"]
    begins = positions(tmp_path / "same.mcap")[0]
    was = [moment.values[f"arm.position[{i}]"] for i in range(len(begins))]
    assert np.allclose(begins, was, atol=1e-3), "[rad]"
    changed = TWO_MOVES.replace("[0, 0.04, 0]", "[0, -0.04, 0]")
    other = what_if(BENCH, changed, moment, record=tmp_path / "other.mcap")
    assert other.result == "done"
    moved = [positions(tmp_path / f"{name}.mcap")[-1] - was for name in ("same", "other")]
    assert np.dot(*moved) < 0, "the other way"
    assert any("Objects begin where" in note for note in found.notes)
    assert any("'side' begins anew" in note for note in found.notes)
    again = what_if(BENCH, changed, moment, record=tmp_path / "again.mcap")
    assert again == other, "the same, to the record"


WAITING = """
name: waiting
nodes:
  look: {wait_until: below.distance < 0.4, then: ask}
  ask: {ask: {text: 'Go on?', answers: [yes_, no_]}, then: [{on: yes_, go: move}, {on: no_, end: done}]}
  move: {skill: move_linear, parts: {arm: arm}, with: {offset: [0, 0, 0.01], speed: 0.1}, until: is_settled}
"""


def test_sensors_that_are_not_simulated_keep_what_they_measured_and_questions_get_their_answers() -> None:
    moment = Moment(tick=5, node="look", values={"below.distance": 0.3}, answers={"ask": "yes_"})
    mock = what_if(REAL_BENCH, WAITING, moment)
    assert mock.result == "done"
    assert [r["path"] for r in mock.records if r["what"] == "node"] == ["look", "ask", "move"]
    assert "below keeps what it measured then: it is not simulated." in mock.notes
    assert "What ahead measured is not known." in mock.notes
    assert "Where arm was is not known: it begins where the workcell file says." in mock.notes
    far = what_if(REAL_BENCH, WAITING, Moment(tick=5, node="look", values={"below.distance": 0.5}), seconds=0.2)
    assert far.result == "" and 200 <= far.last - far.first + 1 <= 210, "it still waits"
    asks = what_if(REAL_BENCH, WAITING, Moment(tick=5, node="ask"))
    assert asks.result == "" and "ask asks, and nobody answered it then: it ends there." in asks.notes


def test_it_says_texts_and_what_it_does_not_call_may_be_unreadable() -> None:
    text = "name: says\nnodes:\n  a: {say: hello}\n"
    found = what_if(REAL_BENCH, text, Moment(tick=5, node="a"), skills=["nodes: ["], programs=["name: y\nactions: 3\n"])
    assert (found.result, found.said) == ("done", ["hello"])


def test_a_question_gets_the_next_answer_that_it_got_then_else_the_last_one() -> None:
    records: list[dict[str, Any]] = [
        {"what": "run", "tick": 1, "roles": {}, "parameters": {}},
        {"what": "node", "tick": 1, "path": "ask"},
        {"what": "question", "tick": 1, "path": "ask"},
        {"what": "ended", "tick": 2, "path": "ask", "result": "no_", "outputs": {}},
        {"what": "node", "tick": 3, "path": "look"},
        {"what": "ended", "tick": 9, "path": "ask", "result": "yes_", "outputs": {}},
        {"what": "ended", "tick": 12, "path": "ask", "result": "no_", "outputs": {}},
    ]
    for tick, answer in ((1, "no_"), (5, "yes_"), (10, "no_"), (13, "no_")):
        assert moment_of(records, tick).answers == {"ask": answer}, tick


def test_records_without_end_end_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(what_if_module, "MOST_WHAT_IF_RECORDS", 100)
    text = "name: runs_on\nnodes:\n  a: {log: x, then: b}\n  b: {wait: 0.001, then: a}\n"
    found = what_if(REAL_BENCH, text, Moment(tick=5, node="a"), seconds=30.0)
    assert found.result == "" and "It ends after 100 records." in found.notes and len(found.records) < 1000


@pytest.mark.parametrize(
    ("text", "node", "problem"),
    [
        (TWO_MOVES.replace("side", "beside_it"), "side", "'side', which ran at that moment.*has to be there"),
        (TWO_MOVES.replace("move_linear", "move_linaer"), "side", "move_linaer"),
        ("name: x\nnodes: [", "side", "x|nodes"),
    ],
)
def test_a_text_with_mistakes_is_refused_before_anything_is_simulated(text: str, node: str, problem: str) -> None:
    with pytest.raises((DefinitionError, ProgramError), match=problem):
        what_if(BENCH, text, Moment(tick=5, node=node))


CALLS_OUT = "name: calls_out\nnodes:\n  out: {skill: beyond}\n"
BEYOND = """
name: beyond
level: capability
is: {publish: {name: /door, type: std_msgs/msg/String, fields: {data: open}}}
"""


def test_what_reaches_beyond_the_simulation_is_refused() -> None:
    with pytest.raises(RobotControlError, match="not simulated"):
        what_if(BENCH, CALLS_OUT, Moment(tick=5, node="out"), skills=[BEYOND])


def test_times_and_moments_without_a_node_are_refused(past: Past) -> None:
    for seconds in (0.0, 61.0, float("nan")):
        with pytest.raises(DefinitionError, match="seconds"):
            what_if(BENCH, TWO_MOVES, Moment(tick=5, node="up"), seconds=seconds)
    for tick in (0, past.records[-1]["tick"] + 1):
        with pytest.raises(DefinitionError, match=f"tick {tick}"):
            moment_of(past.records, tick)
    with pytest.raises(RobotControlError, match="a recording without it"):
        recorded_values(past.recording, 10**6)


def test_as_a_process_it_answers_in_json(past: Past, tmp_path: Path) -> None:
    log = tmp_path / "run.jsonl"
    log.write_text("".join(json.dumps(record) + "\n" for record in past.records))
    question = {"recording": str(past.recording), "log": str(log), "tick": past.middle, "text": TWO_MOVES,
                "record": str(tmp_path / "process.mcap")}  # fmt: skip
    found = call("robot_rt_control.testing.what_if", question, limit=600.0)
    assert (found["result"], found["failure"]) == ("done", False)
    ticks = TickFile(tmp_path / "process.mcap").arrays()["tick"]
    assert ticks[0] < found["first"] < found["last"] <= ticks[-1]
