"""The executor of blueprints on the simulated bench: runs side by side, commands, busy parts, logs and state."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from robot_rt_control.blueprint.runs.armed import Take
from robot_rt_control.blueprint.runs.control_request import ControlRequest
from robot_rt_control.blueprint.runs.executor import Executor, same_but_time
from robot_rt_control.blueprint.runs.robot import Robot
from robot_rt_control.blueprint.runs.run import ExecutedRun, Start
from robot_rt_control.blueprint.runs.run_history import RunHistory
from robot_rt_control.blueprint.skills.skill_library import SkillLibrary
from robot_rt_control.blueprint.skills.store import SkillStore
from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.blueprint.text.schema import StartTopicKeys
from robot_rt_control.client.actions import parameter_values
from robot_rt_control.client.backend import RunRequest, SessionKey
from robot_rt_control.command_line.offline_catalogue import offline_catalogue
from robot_rt_control.program.file import ProgramTemplate
from robot_rt_control.testing.lockstep_client import LockstepClient
from robot_rt_control.validation.catalogue import Catalogue
from robot_rt_control.vocabulary.errors import (
    CapacityError,
    CommandRefused,
    DefinitionError,
    Overtaken,
    RobotControlError,
    SessionError,
)

BENCH = Path(__file__).parents[1] / "mock_bench.yaml"

ARM = """
name: swing
parameters: {far: {unit: m, default: 0.02}}
commands: [{say: ['swing {far}', swing]}, {gesture: wave}, {when: arm.tool.z < 0, cooldown: 5}]
nodes:
  out:  {skill: move_linear, parts: {arm: arm}, with: {offset: [0, 0, $far], speed: 0.1}, then: back}
  back: {skill: move_linear, parts: {arm: arm}, with: {offset: [0, 0, -$far], speed: 0.1}}
"""
HAND = """
name: open_hand
nodes: {open: {skill: move_gripper, parts: {gripper: gripper}, with: {opening: 1.0}}}
"""
ASKS = """
name: asks
nodes:
  ask: {ask: {text: Tea?, answers: [yes, no]}, then: [{on: yes, go: nap}, {on: no, end: done}]}
  nap: {wait: 0.02}
"""
CALLER = "{name: caller, level: blueprint, nodes: {inner: {skill: swing, then: hand}, hand: {skill: open_hand}}}"


class Topics:
    """Messages of a recogniser that is not there."""

    def __init__(self) -> None:
        self.followed: dict[str, Take] = {}

    def follow(self, keys: StartTopicKeys, take: Take) -> Callable[[], None]:
        self.followed[keys.name] = take

        def end() -> None:
            del self.followed[keys.name]

        return end


class Bench:
    """The executor beside a cell."""

    def __init__(self, client: LockstepClient, workcell: Catalogue, folder: Path) -> None:
        self.client, self.said = client, list[str]()
        self.robot = Robot(client.backend, say=self.said.append)
        self.store = SkillStore(folder / "skills")
        self.library = SkillLibrary(self.store, workcell, client.backend)
        self.logs = folder / "logs"
        self.topics = Topics()
        self.executor = Executor(self.robot, self.library, self.logs, topics=self.topics)

    def step(self, ticks: int = 1) -> None:
        for _ in range(ticks):
            self.client.cell.step()
            self.executor.update()

    def finish(self, run: ExecutedRun, at_most: int = 3000) -> Any:
        for _ in range(at_most):
            if run.outcome is not None:
                return run.outcome
            self.step()
        raise AssertionError(f"the run did not end: {self.executor.state()}")

    def start(self, skill: str, **fields: Any) -> ExecutedRun:
        return self.executor.start(Start(skill=skill, source="test", **fields))

    def control(self, command: str, **fields: Any) -> str:
        return self.executor.control(ControlRequest(command=command, source="test", **fields))

    def views(self) -> dict[str, str]:
        """Path → state, of the only run."""
        return {view.path: view.state for view in self.executor.state().nodes}

    def at_rest(self) -> bool:
        return self.client.value("arm.at_rest") == 1.0


@pytest.fixture(scope="module")
def client() -> Iterator[LockstepClient]:
    with LockstepClient(BENCH, hardware="mock") as made:
        made.sleep(0.02)
        yield made


@pytest.fixture(scope="module")
def workcell() -> Catalogue:
    return offline_catalogue(BENCH)


@pytest.fixture
def bench(client: LockstepClient, workcell: Catalogue, tmp_path: Path) -> Iterator[Bench]:
    made = Bench(client, workcell, tmp_path)
    for text in (ARM, HAND, ASKS, CALLER):
        made.library.save(text)
    yield made
    made.executor.close()
    client.sleep(0.5)
    assert client.sessions() == []


def refused(error: type[RobotControlError], text: str) -> Any:
    return pytest.raises(error, match=text)


def test_N35_runs_on_disjoint_parts_go_side_by_side(bench: Bench) -> None:
    arm, hand = bench.start("swing"), bench.start("open_hand")
    bench.step(5)
    assert {s.name: list(s.parts) for s in bench.client.sessions()} == {
        "blueprint swing": ["arm"], "blueprint open_hand": ["gripper"]
    }  # fmt: skip
    assert [bench.finish(run).result for run in (arm, hand)] == ["done", "done"]
    assert bench.client.sessions() == []


def test_N35_taken_parts_refuse_wait_or_replace(bench: Bench) -> None:
    first = bench.start("swing")
    with refused(SessionError, rf"part 'arm' is held by run '{first.id}' of 'swing'"):
        bench.start("caller")
    waiting = bench.start("swing", busy="wait")
    assert bench.executor.state().waiting == (waiting.id,)
    bench.step(20)
    assert waiting.runner is None
    third = bench.start("swing", busy="replace")
    bench.finish(first)
    assert first.outcome is not None and first.outcome.result == "cancelled" and bench.at_rest()
    assert "replaced by run" in first.outcome.reason
    assert waiting.outcome is not None and waiting.outcome.result == "cancelled"
    assert bench.finish(third).result == "done"
    with refused(DefinitionError, "busy; expected one of: refuse, replace, wait; got 'later'"):
        bench.start("swing", busy="later")


def test_N35_what_waits_begins_when_the_parts_are_free(bench: Bench) -> None:
    first, waiting = bench.start("swing"), bench.start("swing", busy="wait")
    while first.outcome is None:
        assert waiting.runner is None
        bench.step()
    assert bench.at_rest() and bench.finish(waiting).result == "done"


def test_N36_a_start_is_refused_before_anything_moves(bench: Bench) -> None:
    client = bench.client
    with (
        client.session("gripper", name="someone"),
        refused(SessionError, r"part 'gripper' is held by session 's\d+' \(someone\)"),
    ):
        bench.start("caller")
    client.disable("gripper")
    client.sleep(0.1)
    with refused(CommandRefused, "part 'gripper' is disabled. Enable it first"):
        bench.start("caller")
    client.enable("gripper")
    client.sleep(0.1)
    client.protective_stop("a person")
    with refused(CommandRefused, "a protective stop holds the robot"):
        bench.start("caller")
    client.release(secret=client.backend.operator_secret())
    with refused(DefinitionError, "unknown skill 'swin'; .*did you mean 'swing'"):
        bench.start("swin")
    with refused(DefinitionError, "'far'"):
        bench.start("swing", parameters=parameter_values({"far": "much"}))
    with refused(DefinitionError, "unknown node 'nowhere'"):
        bench.start("swing", breakpoints=("nowhere",))
    with refused(DefinitionError, "unknown node 'nowhere'"):
        bench.start("swing", start_at="nowhere")
    with refused(DefinitionError, "did you mean 'gripper'; got 'griper'"):
        bench.start("move_gripper", parts={"gripper": "griper"}, parameters=parameter_values({"opening": 1.0}))
    assert client.sessions() == [] and not list(bench.logs.glob("*.jsonl"))


def test_N30_a_run_that_waited_and_cannot_begin_has_a_log(bench: Bench) -> None:
    first, waiting = bench.start("swing"), bench.start("caller", busy="wait")
    cancelled = bench.start("swing", busy="wait")
    bench.control("cancel", run=cancelled.id)
    bench.client.disable("gripper")
    bench.client.sleep(0.1)
    bench.finish(first)
    assert bench.finish(waiting).reason == "part 'gripper' is disabled. Enable it first"
    bench.client.enable("gripper")
    bench.client.sleep(0.1)
    history = bench.executor.history
    assert [(run.run, run.result, run.reason) for run in history.runs()] == [
        (cancelled.id, "cancelled", "by test"),
        (waiting.id, "failed", "part 'gripper' is disabled. Enable it first"),
        (first.id, "done", ""),
    ]
    assert [r["what"] for r in history.records(waiting.id)] == ["run", "end"]
    assert "caller" not in history.statistics() and history.statistics()["swing"].runs == 1


def test_N35_eight_runs_at_most(bench: Bench) -> None:
    runs = [bench.start("asks") for _ in range(8)]
    with refused(CapacityError, "too many runs side by side; expected at most 8"):
        bench.start("asks")
    assert "cancelled: " in bench.control("cancel")
    bench.step()
    assert {run.outcome.result for run in runs if run.outcome} == {"cancelled"}


def test_commands_and_the_state_as_data(bench: Bench) -> None:
    run = bench.start("caller", breakpoints=("hand",))
    bench.step(10)
    assert bench.views() == {"": "runs", "inner": "runs", "inner/out": "runs"}
    assert bench.control("pause") == ""
    (itself, *_) = bench.executor.state().nodes
    assert itself.will_pause and itself.parts == ("arm", "gripper") and itself.breakpoints == ("hand",)
    with refused(CommandRefused, "resume was refused: the run does not stand"):
        bench.control("resume")
    with refused(DefinitionError, "unknown command 'jmp'; .*did you mean 'jump'"):
        bench.control("jmp")
    while bench.views()[""] == "runs":
        bench.step()
    assert bench.views() == {"": "after", "inner": "runs", "inner/out": "after"}
    before = bench.executor.state()
    bench.client.cell.step(30)
    assert same_but_time(before, bench.executor.state())
    bench.control("resume")
    while bench.views()[""] != "before":
        bench.step()
    assert bench.views()["hand"] == "before"
    bench.control("jump", node="inner/back", now=True)
    bench.step(60)
    assert bench.views()["inner/back"] == "runs" and not bench.at_rest()
    bench.control("cancel", run=run.id)
    assert bench.finish(run).result == "cancelled" and bench.at_rest()
    with refused(CommandRefused, f"run '{run.id}' has ended as cancelled"):
        bench.control("pause", run=run.id)
    with refused(CommandRefused, "no run is under way"):
        bench.control("pause")


def test_a_cancel_does_not_wait_for_a_control_server_that_hangs(bench: Bench) -> None:
    run = bench.start("swing")
    bench.step(10)
    hanging, answered = threading.Event(), threading.Event()

    def hang() -> None:
        with bench.executor.lock:
            hanging.set()
            answered.wait(120.0)

    update = threading.Thread(target=hang, daemon=True)
    update.start()
    hanging.wait(120.0)
    assert bench.control("cancel").startswith("the control server keeps the executor waiting")
    bench.executor.cancel(run, "goal")
    answered.set()
    update.join(120.0)
    outcome = bench.finish(run)
    assert (outcome.result, outcome.reason) == ("cancelled", "by test") and bench.at_rest()


def test_a_question_is_answered(bench: Bench) -> None:
    run = bench.start("asks")
    bench.step()
    (view,) = [v for v in bench.executor.state().nodes if v.path]
    assert (view.state, view.question, view.answers) == ("asks", "Tea?", ("yes", "no"))
    with refused(CommandRefused, "expected one of: yes, no; got 'maybe'"):
        bench.control("answer", value="maybe")
    bench.control("answer", value="yes")
    assert bench.finish(run).result == "done"
    with refused(CommandRefused, "no run is under way"):
        bench.control("answer", value="yes")


def test_a_protective_stop_leaves_the_run_standing(bench: Bench) -> None:
    run = bench.start("swing")
    bench.step(20)
    bench.client.protective_stop("a person")
    bench.step(50)
    (itself, *_) = bench.executor.state().nodes
    assert bench.executor.state().protective_stop and itself.state == "cut" and itself.has_to_be_said
    bench.client.release(secret=bench.client.backend.operator_secret())
    bench.step(50)
    assert not bench.executor.state().protective_stop and bench.at_rest()
    bench.control("resume", how="again")
    assert bench.finish(run).result == "done"


def test_N38_sentences_and_gestures_start_and_stop(bench: Bench) -> None:
    name, run, _ = bench.executor.give_command("Swing 0.01!", source="speech")
    assert name == "swing" and run is not None and run.start.parameters[0].value == 0.01
    with refused(SessionError, "part 'arm' is held by run"):
        bench.executor.give_command("wave", gesture=True)
    other = bench.start("asks")
    assert bench.executor.give_command("Stop", gesture=True)[2] == f"cancelled: {run.id}, {other.id}"
    assert bench.finish(run).result == bench.finish(other).result == "cancelled"
    with refused(DefinitionError, "'sing' is no known phrase; expected one such as .*swing"):
        bench.executor.give_command("sing")
    with refused(DefinitionError, "gesture 'nod' is not known"):
        bench.executor.give_command("nod", gesture=True)
    lines = (bench.logs / "commands.log").read_text().splitlines()
    assert len(lines) == 5 and '"refused"' in lines[1] and '"source": "speech"' in lines[0]


def test_N52_a_stop_word_stops_all_and_what_was_asked_for_before_it_does_not_begin(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.control("arm", seconds=5)
    run = bench.start("asks")
    name, none, remark = bench.executor.give_command("Please stop that, now!", source="speech")
    assert (name, none) == ("", None) and remark == f"cancelled: {run.id}; sensors start no runs any more"
    assert "speech: 'Please stop that, now!'" in bench.finish(run).reason
    bench.step(50)
    assert bench.executor.is_idle and list(bench.executor.runs) == [run.id], "it was armed for 5 s"
    snapshot = bench.library.snapshot

    def said_meanwhile() -> SkillCatalogue:
        bench.executor.give_command("halt")
        return snapshot()

    monkeypatch.setattr(bench.library, "snapshot", said_meanwhile)
    for start in (lambda: bench.start("swing"), lambda: bench.executor.give_command("swing")):
        with refused(CommandRefused, "everything was stopped while this run was being started"):
            start()
    assert bench.client.sessions() == [] and bench.executor.is_idle
    bench.executor.give_command("stop " * 2000)  # of any length


def test_N39_the_robot_starts_by_itself_only_while_it_is_armed(bench: Bench) -> None:
    bench.library.save(
        "{name: early, roles: {one: {default: arm}},"
        " commands: [{when: one.tool.z > -10, cooldown: 10}], nodes: {a: {wait: 0.01}}}"
    )
    bench.step(20)
    assert not bench.executor.runs
    bench.control("arm", seconds=0.1)
    bench.step(5)
    (run,) = bench.executor.runs.values()
    assert run.skill == "early" and run.start.source == "sensor: one.tool.z > -10"
    assert 0.0 < bench.executor.state().armed < 0.1
    bench.step(100)
    assert bench.executor.state().armed == 0.0 and len(bench.executor.runs) == 1 and bench.executor.is_idle
    with refused(DefinitionError, "arm: seconds"):
        bench.control("arm")


def test_N55_a_value_of_the_robot_is_stored_and_said_in_a_run_and_in_a_rehearsal(bench: Bench) -> None:
    bench.library.save(
        "{name: measure, values: {d: {unit: m, default: 0.0}}, "
        "nodes: {look: {set: {d: arm.tool.z}, then: tell}, tell: {say: 'at ${d}, ${arm.at_rest}'}}}"
    )
    bench.finish(bench.start("measure"))
    assert bench.said == [f"at {bench.client.value('arm.tool.z'):g}, true"]
    assert bench.finish(bench.start("measure", rehearse=True)).result == "done", "samples stand for what is not there"
    assert len(bench.said) == 1


WELCOME = """
name: welcome
parameters: {guest: {type: text}}
commands: [{topic: {name: /face, type: std_msgs/msg/String, hold: 0.05, parameters: {guest: data}}, cooldown: 1}]
nodes: {greet: {say: 'Hello ${guest}'}}
"""


def test_N54_a_message_starts_a_run_once_for_each_appearance_while_it_is_armed(bench: Bench) -> None:
    bench.library.save(WELCOME)
    bench.step(5)
    assert not bench.topics.followed, "nobody has armed it"
    bench.control("arm", seconds=60)
    face = bench.topics.followed["/face"]

    def sees(*names: str | None) -> list[ExecutedRun]:
        before = set(bench.executor.runs)
        for name in names:
            face(name is not None, {} if name is None else {"guest": name})
            bench.step(20)
        return [run for id, run in bench.executor.runs.items() if id not in before]

    assert sees("Anna", None, "Anna", None) == [], "not for 0.05 s"
    (run,) = sees(*["Anna"] * 12)
    assert run.start.source == "topic: /face" and bench.said == ["Hello Anna"]
    assert sees(None, *["Ben"] * 6) == [], "cooldown"
    bench.step(1000)
    (run,) = sees(*["Ben"] * 6)
    assert bench.said[-1] == "Hello Ben"
    bench.step(1000)
    face(False, {})
    for value, refused_by in ((None, "the message has no value in 'data'"), ("x" * 100_000, "characters")):
        for _ in range(6):
            face(True, {"guest": value})
            bench.step(20)
        face(False, {})
        bench.step(1000)
        last = (bench.logs / "commands.log").read_text().splitlines()[-1]
        assert '"what": "topic"' in last and refused_by in last, last
    bench.control("disarm")
    assert not bench.topics.followed and bench.executor.is_idle


def test_N54_one_appearance_starts_once_also_if_its_messages_come_while_nobody_looks(bench: Bench) -> None:
    bench.library.save(WELCOME)
    bench.control("arm", seconds=60)
    face = bench.topics.followed["/face"]

    def sees(name: str, times: int) -> None:
        for _ in range(times):
            face(True, {"guest": name})
            bench.client.cell.step(20)

    def sees_and_looks(name: str, times: int) -> None:
        for _ in range(times):
            sees(name, 1)
            bench.executor.update()

    sees_and_looks("Anna", 6)
    assert len(bench.executor.runs) == 1
    sees("Anna", 150)  # a start that takes 3 s, longer than `gap` and `cooldown`
    sees_and_looks("Anna", 10)
    assert len(bench.executor.runs) == 1
    face(False, {})
    sees("Ben", 6)
    face(False, {})
    sees("Carl", 6)
    bench.step()
    assert bench.said == ["Hello Anna", "Hello Carl"], "of two appearances meanwhile, the last one"


def test_N54_where_no_topics_are_a_start_by_messages_cannot_be_armed(bench: Bench) -> None:
    bench.library.save(WELCOME)
    alone = Executor(bench.robot, bench.library, bench.logs)
    with refused(DefinitionError, "topics are followed by the node `blueprints` alone"):
        alone.control(ControlRequest(command="arm", source="test", seconds=5))
    assert alone.is_idle


def test_N28_what_was_asked_for_before_a_protective_stop_does_not_begin_after_it(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a run that waits for its parts, nor one that sensors start, nor one that was just being started."""

    def stop_and_release() -> None:
        bench.client.protective_stop("a person")
        bench.client.cell.step(5)  # nobody looks meanwhile
        bench.client.release(secret=bench.client.backend.operator_secret())

    bench.library.save("{name: early, commands: [{when: arm.tool.z > 10}], nodes: {a: {wait: 0.01}}}")
    bench.control("arm", seconds=60)
    first, waiting = bench.start("swing"), bench.start("swing", busy="wait")
    bench.step(20)
    stop_and_release()
    bench.step()
    assert waiting.outcome is not None
    assert (waiting.outcome.result, waiting.outcome.reason) == ("cancelled", "a protective stop came while it waited")
    assert bench.executor.state().armed == 0.0 and '"protective stop"' in (bench.logs / "commands.log").read_text()
    bench.control("cancel", run=first.id)
    assert bench.finish(first).result == "cancelled"
    bench.step(50)
    assert bench.executor.is_idle and bench.at_rest() and bench.client.sessions() == []

    first = bench.start("swing")
    bench.step(5)
    bench.client.protective_stop("a person")
    bench.step(50)
    with refused(CommandRefused, "a protective stop holds the robot. Release it first"):
        bench.start("swing", busy="wait")
    with refused(CommandRefused, "a protective stop holds the robot. Release it first"):
        bench.control("arm", seconds=60)
    bench.client.release(secret=bench.client.backend.operator_secret())
    bench.step()
    bench.control("cancel", run=first.id)
    bench.finish(first)
    snapshot = bench.library.snapshot

    def stopped_meanwhile() -> SkillCatalogue:
        stop_and_release()
        return snapshot()

    monkeypatch.setattr(bench.library, "snapshot", stopped_meanwhile)
    with refused(CommandRefused, "everything was stopped while this run was being started"):
        bench.start("swing")
    assert bench.client.sessions() == [] and bench.executor.is_idle


def test_programs_and_action_types_run_alone(bench: Bench) -> None:
    run = bench.start("move_gripper", parts={"gripper": "gripper"}, parameters=parameter_values({"opening": 1.0}))
    assert bench.finish(run).result == "done"
    run = bench.start(
        "move_until_contact", parameters=parameter_values({"way": [0.0, 0.0, -0.005], "speed": (0.1, "m/s")})
    )
    outcome = bench.finish(run)
    assert outcome.result == "not_found", outcome
    assert outcome.reason == "program 'move_until_contact' ended with its event 'not_found'"
    assert bench.executor.history.runs()[0].reason == outcome.reason


def test_N5_a_program_that_fails_says_why(bench: Bench) -> None:
    touch = "skill: move_until_contact, with: {way: [0.0, 0.0, -0.5], speed: 0.02, max_time: 0.1}"
    run = bench.start(f"{{name: touching, nodes: {{touch: {{{touch}}}}}}}")
    assert bench.finish(run).result == "failed"
    (ended,) = [r for r in bench.executor.history.records(run.id) if r["what"] == "ended"]
    found = r"watch.push = \S+, watch.peak = \S+, watch.elapsed = 0.1"
    assert re.match(rf"program 'move_until_contact' ended with its event 'failed': {found}", ended["reason"]), ended
    (view,) = [view for view in bench.executor.state().nodes if view.run == run.id]
    assert view.reason == f"node 'touch' ended as failed: {ended['reason']}" == bench.executor.history.runs()[0].reason
    run = bench.start("swing")
    bench.step(20)
    (session,) = bench.client.cell.server.sessions()
    bench.client.cell.server.close_session(session.id)  # as a failed action does (A6)
    assert bench.finish(run).reason == "node 'out' ended as failed: closed by its client"


def test_N34_an_application_runs_programs_in_its_session(bench: Bench) -> None:
    client = bench.client
    with client.session(["arm", "wrist"]) as session:
        way: dict[str, Any] = {"way": [0.0, 0.0, -0.005], "speed": (0.1, "m/s")}
        for _ in range(2):
            outcome = client.programs.run("move_until_contact", session=session, prefix="touch", keep=True, **way)
            assert outcome.last_event == "not_found" and outcome.success and session.ended is None
        (info,) = client.sessions()
        assert info.actions and all(id.startswith("touch__") for id in info.actions)
        session.remove("touch__*")
        assert client.sessions()[0].actions == []
        ids = session.upload("move_until_contact", prefix="touch", **way)
        assert ids and all(id.startswith("touch_2__") for id in ids), "ids are never used again (P6)"
        wrong = RunRequest(
            program="move_until_contact", parts=(), parameters=(), session=SessionKey(session.id, "guessed")
        )
        with refused(SessionError, "run_program was refused: .* belongs to somebody else"):
            client.backend.run_program(wrong)


def test_a_run_that_cannot_be_driven_ends_alone(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    broken, other = bench.start("swing"), bench.start("open_hand")
    assert broken.runner is not None

    def fail() -> None:
        raise ValueError("a bug")

    monkeypatch.setattr(broken.runner, "update", fail)
    bench.step(2)
    assert broken.outcome is not None and broken.outcome.reason == "internal error: ValueError: a bug"
    assert bench.finish(other).result == "done"
    assert "a bug" in bench.executor.state().problem and bench.executor.history.runs()[1].result == "failed"


def test_a_text_runs_without_being_kept_and_a_rehearsal_moves_nothing(bench: Bench) -> None:
    run = bench.start(re.sub("commands: .*", "", ARM).replace("swing", "other"), rehearse=True)
    bench.start("swing", rehearse=True)
    bench.step(10)
    assert bench.client.sessions() == [] and run.start.rehearse
    bench.control("skip", run=run.id, value="failed")
    assert bench.finish(run).result == "failed" and bench.at_rest()


def test_N40_the_history_has_ends_interruptions_statistics_and_outputs(bench: Bench) -> None:
    first = bench.start("caller")
    bench.finish(first)
    second = bench.start("swing")
    bench.step(10)
    history = RunHistory(bench.logs)  # of an executor that began after the other one died
    (interrupted, done) = history.runs()
    assert (interrupted.run, interrupted.interrupted_at, interrupted.result) == (second.id, "out", "")
    assert (done.run, done.interrupted_at, done.result, done.source) == (first.id, "", "done", "test")
    assert bench.executor.history.runs(bench.executor.under_way())[0].interrupted_at == ""
    statistics = history.statistics()
    assert (statistics["swing"].runs, statistics["swing"].succeeded) == (1, 1), "called by the other one"
    assert statistics["move_linear"].runs == 2 and statistics["move_linear"].duration > 0.1
    assert history.records(first.id)[0]["versions"] == {"swing": 1, "open_hand": 1, "caller": 1}
    with refused(DefinitionError, "unknown run 'x'"):
        bench.start("swing", outputs_of="x")


def test_N37_a_run_keeps_the_versions_that_it_began_with(bench: Bench) -> None:
    run = bench.start("caller", paused=True)
    bench.library.save(ARM.replace("back:", "again:").replace("then: back", "then: again"))
    bench.control("resume")
    bench.finish(run)
    paths = [r["path"] for r in bench.executor.history.records(run.id) if r["what"] == "start"]
    assert paths == ["inner/out", "inner/back", "hand/open"]
    assert bench.start("swing", start_at="again").versions == {"swing": 2}
    assert bench.library.entries("swing@1")[0].versions == (1, 2)


def test_after_a_change_of_programs_only_those_that_changed_are_read_again_and_a_start_waits_for_no_list(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.library.read_ahead()
    read: list[str] = []
    read_one = SkillCatalogue.of_program

    def counted(catalogue: SkillCatalogue, name: str, template: ProgramTemplate) -> Any:
        read.append(name)
        return read_one(catalogue, name, template)

    monkeypatch.setattr(SkillCatalogue, "of_program", counted)
    action = "{type: hold, parts: arm, reactions: [{when: time > 0, stop: true}]}"
    bench.client.programs.save(f"name: nap\nstart: [hold]\nactions: {{hold: {action}}}\n")
    bench.library.read_ahead()
    assert read == ["nap"]
    listing, listed = threading.Event(), threading.Event()

    def lists() -> None:
        with bench.library.lock:  # as while all skills are checked to be listed
            listing.set()
            assert listed.wait(120.0)

    thread = threading.Thread(target=lists)
    thread.start()
    assert listing.wait(120.0)
    run = bench.start("nap")
    listed.set()
    thread.join()
    assert bench.finish(run).result == "done"
    bench.client.programs.delete("nap")


INNER = """
name: nudge
roles: {robot: {kinds: [arm], default: arm}}
start: [go]
actions:
  go:
    {type: move_linear, parts: robot, parameters: {offset: [0.0, 0.0, 0.005], speed: 0.1},
     reactions: [{when: is_done, start: there}]}
  there: {type: stop, parts: robot, final: true, reactions: [{when: is_done, stop: true, event: OLD}]}
"""
OUTER = """
name: OUTER
roles: {robot: {kinds: [arm], default: arm}}
start: [it]
actions:
  it: {use: USED, parts: {robot: robot}, exits: {EXIT: end}}
  end:
    {type: stop, parts: robot, final: true,
     reactions: [{when: is_done, stop: true, event: arrived, capture: [robot.tool.z]}]}
"""


def test_N37_programs_that_pinned_programs_use_are_pinned(bench: Bench) -> None:
    """A new version comes while the run is under way, which has another exit."""
    programs, outer = bench.client.programs, OUTER.replace("OUTER", "outer").replace("USED", "nudge")
    programs.save(INNER)
    programs.save(outer.replace("EXIT", "OLD"))
    text = "{name: using, nodes: {a: {skill: outer, then: {on: arrived, go: b}}, b: {log: '${a.robot.tool.z}'}}}"
    try:
        run = bench.start(text, paused=True)
        assert run.versions == {"outer": 1, "nudge": 1}
        programs.save(INNER.replace("OLD", "other"))
        bench.control("resume", run=run.id)
        assert bench.finish(run).shown == "done"
        (said,) = [r["text"] for r in bench.executor.history.records(run.id) if r["what"] == "log"]
        assert float(said) == pytest.approx(bench.client.value("arm.tool.z"), abs=1e-3)
        assert bench.library.entries("outer")[0].text == outer.replace("EXIT", "OLD"), "shown as it was saved"
        with refused(DefinitionError, "state 'it' uses 'nudge@2': it has no exit 'OLD'"):
            bench.start(text)
    finally:
        for name in ("outer", "nudge"):
            programs.delete(name)


def test_the_library_says_what_is_wrong_and_who_calls(bench: Bench) -> None:
    entries = {entry.name: entry for entry in bench.library.entries()}
    assert entries["caller"].calls == ("swing", "open_hand") and entries["caller"].moves == ("arm", "gripper")
    assert entries["move_linear"].origin == "action_type" and entries["move_until_contact"].origin == "library"
    with refused(DefinitionError, "skill 'swing' is called by others; expected none; got caller"):
        bench.library.delete("swing")
    with refused(DefinitionError, "the name 'hold' belongs to an action type"):
        bench.library.save(HAND.replace("open_hand", "hold"))
    bad = HAND.replace("skill: move_gripper", "skill: move_griper")
    with refused(DefinitionError, r"unknown skill 'move_griper'"):
        bench.library.save(bad)
    saved = bench.library.save(bad, draft=True)
    assert saved.version == 2 and [node for _, node in saved.mistakes] == ["open"]
    assert re.search("unknown skill 'move_griper'", bench.library.entries("open_hand")[0].problem)
    with refused(DefinitionError, "unknown skill 'move_griper'"):
        bench.start("caller")
    with refused(Overtaken, "was saved by somebody else"):
        bench.library.save(HAND, based_on=1)
    bench.library.delete("open_hand@2")
    assert bench.library.entries("open_hand")[0].problem == ""
    assert bench.library.delete("caller") == [1] and bench.library.changes >= 3
