"""The node of blueprints over DDS, beside a workcell on mock hardware: each is a process of its own."""

from __future__ import annotations

import json
import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import rclpy
from rclpy.action import ActionServer, CancelResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.context import Context
from rclpy.executors import MultiThreadedExecutor
from rclpy.node import Node
from robot_rt_control.action import RunBlueprint
from std_msgs.msg import String

from robot_rt_control.blueprint.remote import Blueprints, StartRequest
from robot_rt_control.client import Client
from robot_rt_control.client.backend import RunRequest, SessionKey
from robot_rt_control.command_line.blueprints.main import main as command_line
from robot_rt_control.demo.demo_workcell import DemoWorkcell
from robot_rt_control.ros.spinning import spin
from robot_rt_control.vocabulary.errors import CommandRefused, DefinitionError, Overtaken, SessionError

from .policy import check_policy

BENCH = Path(__file__).resolve().parents[2] / "config" / "bench.yaml"
PATIENCE_S = 300.0
REST_S = 1.5
"""[s] The executor has died: so soon the parts are at rest,"""
BUSY_S = 10.0
"""and this is what a busy machine may add."""

SWING = """
name: swing
parameters: {far: {unit: m, default: 0.02}, speed: {unit: m/s, default: 0.1}}
commands: [{say: swing}, {gesture: wave}]
results: {reached: {}}
outputs: {asked: {unit: m, value: $far}}
nodes:
  out:   {skill: move_linear, parts: {arm: arm}, with: {offset: [0, 0, $far], speed: $speed}, then: back}
  back:  {skill: move_linear, parts: {arm: arm}, with: {offset: [0, 0, -$far], speed: $speed}, then: tell}
  tell:  {say: back again, then: [{end: reached}]}
"""
FAR = {"far": (0.1, "m")}
CODE = """
import ctypes
from robot_rt_control.blueprint.makers import Handle, skill

@skill(outputs={"z": "m"}, roles={"arm": {"kinds": ["arm"], "default": "arm"}})
def lift(handle: Handle) -> object:
    handle.progress("ready")
    if handle.ask("Now?") == "no":
        return "failed"
    before = handle.view.value("arm.tool.z")
    handle.view.run("move_linear", offset=[0.0, 0.0, 0.01], speed=0.1)
    return {"z": handle.view.value("arm.tool.z") - before}

@skill()
def holds(handle: Handle) -> None:
    handle.ask("Hold?")
    ctypes.PyDLL(None).sleep(5)  # several times the lease, with the interpreter's lock: no thread of this process runs
"""
FOREIGN = """
name: foreign
is: {ros_action: {name: elsewhere, type: robot_rt_control/action/RunBlueprint, fields: {skill: rest}}}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("blueprints")


@pytest.fixture(scope="module")
def cell(own_domain: None, folder: Path) -> Iterator[DemoWorkcell]:
    (folder / "own_skills.py").write_text(CODE)
    (folder / "broken_skills.py").write_text("import nothing_there\n\n\n@skill()\ndef lost(handle): pass\n")
    (folder / "bench.yaml").write_text(f"{BENCH.read_text()}\ncapabilities: [own_skills.py, broken_skills.py]\n")
    file = str(folder / "bench.yaml")
    arguments = ["--workcell", file, "--hardware", "mock", "--controllers", "false", "--no-frames"]
    with DemoWorkcell(
        [*arguments, "--blueprints", "--restart", "on-failure"],
        folder / "workcell.log",
        environment={"XDG_DATA_HOME": str(folder)},
    ) as made:
        with Client("starting", timeout_s=60.0) as starting:
            made.wait_until_ready(starting, lambda _: None)
            with Blueprints(starting, timeout_s=60.0) as blueprints:
                blueprints.save_skill(SWING, source="test")
        yield made


@pytest.fixture
def client(cell: DemoWorkcell) -> Iterator[Client]:
    with Client("test", timeout_s=60.0) as made:
        yield made


@pytest.fixture
def blueprints(client: Client) -> Iterator[Blueprints]:
    with Blueprints(client, timeout_s=60.0) as made:
        made.wait_for_state(lambda state: not state.problem, PATIENCE_S)
        yield made
        made.control("cancel")
        made.wait_for_state(lambda state: all(n.path or n.state == "ended" for n in state.nodes), PATIENCE_S)


@pytest.fixture
def elsewhere(own_domain: None) -> Iterator[list[str]]:
    """A foreign action server whose goals end when they are cancelled; what happened to them."""
    happened: list[str] = []
    closing = threading.Event()

    def execute(goal: Any) -> Any:
        happened.append(goal.request.skill)
        while not goal.is_cancel_requested and not closing.wait(0.02):
            pass
        happened.append("cancelled")
        goal.canceled() if goal.is_cancel_requested else goal.abort()
        return RunBlueprint.Result()

    context = Context()
    rclpy.init(context=context)
    node = Node("foreign", context=context)
    server = ActionServer(
        node,
        RunBlueprint,
        "elsewhere",
        execute,
        cancel_callback=lambda _: CancelResponse.ACCEPT,
        callback_group=ReentrantCallbackGroup(),
    )
    executor = MultiThreadedExecutor(num_threads=3, context=context)
    executor.add_node(node)
    spinning = threading.Thread(target=spin, args=(executor, print), daemon=True)
    spinning.start()
    yield happened
    closing.set()
    executor.shutdown(timeout_sec=10.0)
    server.destroy()
    node.destroy_node()
    context.shutdown()
    spinning.join(60.0)


def wait_for(happens: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + PATIENCE_S
    while not (found := happens()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return found


def start(blueprints: Blueprints, **fields: Any) -> Any:
    return blueprints.run(StartRequest(**{"skill": "swing", "parameters": FAR, "source": "test", **fields}))


def node_of(state: Any, run: str, path: str = "") -> Any:
    return next((n for n in state.nodes if n.run == run and n.path == path), None)


def wait_for_node(blueprints: Blueprints, run: str, path: str, word: str) -> Any:
    def there(state: Any) -> bool:
        node = node_of(state, run, path)
        return node is not None and node.state == word

    return node_of(blueprints.wait_for_state(there, PATIENCE_S), run, path)


def test_a_run_is_watched_from_another_node_and_gives_its_outputs(client: Client, blueprints: Blueprints) -> None:
    said: list[str] = []
    client.node.create_subscription(String, "blueprints/say", lambda message: said.append(message.data), 10)
    with Client("watcher") as other, Blueprints(other) as watching:
        watching.wait_for_state(lambda _: True, PATIENCE_S)  # it is connected: the arm waits for nobody
        run = start(blueprints)
        fed = wait_for(lambda: run.feedback)
        assert run.id == fed.run and fed.nodes[0].parts == ["arm"] and fed.nodes[0].source == "test"
        wait_for_node(watching, run.id, "out", "runs")
        wait_for_node(watching, run.id, "back", "runs")
        end = run.wait(PATIENCE_S)
        assert end is not None and (end.result, end.success, end.message) == ("reached", True, "")
        assert end.outputs == {"asked": 0.1}
        assert wait_for_node(watching, run.id, "", "ended").result == "reached"
    wait_for(lambda: said == ["back again"])
    records, total = blueprints.read_runs(run.id)
    assert total == len(records) and [r["path"] for r in records if r["what"] == "start"] == ["out", "back", "tell"]
    assert blueprints.read_runs(blueprint="swing")[0][0]["result"] == "reached"
    (info,) = blueprints.list_skills("swing", with_text=True)
    assert info.text.strip() == SWING.strip() and info.runs >= 1 and info.moves == ["arm"] and info.duration > 0.5


def test_pause_resume_jump_and_cancel(client: Client, blueprints: Blueprints) -> None:
    run = start(blueprints)
    wait_for_node(blueprints, run.id, "out", "runs")
    blueprints.control("pause", now=True)
    wait_for_node(blueprints, run.id, "", "cut")
    assert client.value("arm.at_rest") == 1.0, "it stands when it is at rest"
    with pytest.raises(CommandRefused, match="pause was refused: the run stands already"):
        blueprints.control("pause", now=True)
    blueprints.control("jump", node="back")
    wait_for_node(blueprints, run.id, "back", "runs")
    run.cancel()
    end = run.wait(PATIENCE_S)
    assert end is not None and end.result == "cancelled" and client.value("arm.at_rest") == 1.0
    assert [part.session for part in client.parts() if part.name == "arm"] == [""]


def test_a_protective_stop_leaves_the_run_standing(client: Client, blueprints: Blueprints) -> None:
    run = start(blueprints)
    wait_for_node(blueprints, run.id, "out", "runs")
    client.protective_stop("a person")
    try:
        assert wait_for_node(blueprints, run.id, "", "cut").has_to_be_said
        assert blueprints.state.protective_stop
        with pytest.raises(CommandRefused, match="a protective stop holds the robot"):
            blueprints.control("resume", how="again")
    finally:
        client.release(secret=client.backend.operator_secret())
    blueprints.wait_for_state(lambda state: not state.protective_stop, PATIENCE_S)
    with pytest.raises(CommandRefused, match="say how to go on: again, next, a jump, or cancel"):
        blueprints.control("resume")
    blueprints.control("resume", how="again")
    assert wait_for(run.poll).result == "reached"


def test_what_is_wrong_is_raised_as_what_it_is(client: Client, blueprints: Blueprints, folder: Path) -> None:
    with client.session("arm", name="someone"), pytest.raises(SessionError, match=r"part 'arm' is held by .*someone"):
        start(blueprints).wait(PATIENCE_S)
    with pytest.raises(DefinitionError, match="unknown skill 'swin'.*did you mean 'swing'"):
        start(blueprints, skill="swin", parameters={}).wait(PATIENCE_S)
    wrong = SWING.replace("skill: move_linear", "skill: move_lin").replace("back again", "$nothing")
    answer = blueprints.try_to_save(wrong, check_only=True)
    assert [node for _, node in answer.mistakes] == ["out", "back", "tell"] and answer.version == 0
    assert answer.mistakes[0][0].line == 8  # type: ignore[attr-defined]
    with pytest.raises(Overtaken) as overtaken:
        blueprints.save_skill(SWING, based_on=7)
    assert overtaken.value.text.strip() == SWING.strip()
    with pytest.raises(DefinitionError, match="unknown command 'jmp'"):
        blueprints.control("jmp")
    noted = [json.loads(line) for line in (folder / "robot_rt_control" / "runs" / "commands.log").open()]
    assert (noted[0]["what"], noted[0]["source"], noted[0]["content"]) == ("save", "test", "swing@1")
    assert any(line["what"] == "start" and "held by" in line["refused"] for line in noted)


def test_N51_a_start_with_nan_is_refused_and_locks_no_part(client: Client, blueprints: Blueprints) -> None:
    before = [session.id for session in client.sessions()]
    with pytest.raises(DefinitionError, match="'far'.* is not finite"):
        start(blueprints, parameters={"far": math.nan}).wait(PATIENCE_S)
    assert [session.id for session in client.sessions()] == before
    assert start(blueprints).id, "the arm is free"


def test_N53_a_deleted_skill_is_in_the_bin_and_comes_back(blueprints: Blueprints) -> None:
    text = "name: nap\nnodes: {a: {wait: 1}}\n"
    blueprints.save_skill(text, source="test")
    assert "in the bin for 30 days" in blueprints.delete_skill("nap", source="test")
    (found,) = blueprints.list_skills(deleted=True, with_text=True)
    assert (found.name, list(found.versions), found.text) == ("nap", [1], text) and found.saved.sec > 0
    assert blueprints.restore_skill("nap", source="test") == "restored: version 1"
    assert blueprints.list_skills("nap")[0].version == 1 and blueprints.list_skills(deleted=True) == []
    with pytest.raises(DefinitionError, match="the bin has no skill 'nap'"):
        blueprints.restore_skill("nap")


def test_E16_the_state_is_said_again_while_nothing_happens(blueprints: Blueprints) -> None:
    beats: list[float] = []
    blueprints.add_state_listener(lambda _: beats.append(time.monotonic()))
    wait_for(lambda: len(beats) > 5)


def test_N41_python_functions_of_the_workcell_are_skills(client: Client, blueprints: Blueprints) -> None:
    (lift,) = blueprints.list_skills("lift")
    assert (lift.origin, lift.problem, list(lift.moves)) == ("capability", "", ["arm"])
    assert "broken_skills.py:1" in blueprints.list_skills("lost")[0].problem
    before = client.value("arm.tool.z")
    run = start(blueprints, skill="lift", parameters={})
    blueprints.wait_for_state(lambda state: any(n.question == "Now?" for n in state.nodes), PATIENCE_S)
    assert [n.reason for n in blueprints.state.nodes if n.run == run.id and n.path] == ["ready"], "how far it is"
    blueprints.control("answer", value="yes")
    end = run.wait(PATIENCE_S)
    assert end is not None and (end.result, end.message) == ("done", "")
    assert end.outputs["z"] == pytest.approx(0.01, abs=1e-3)
    assert client.value("arm.tool.z") == pytest.approx(before + 0.01, abs=1e-3)


def test_N40_a_python_skill_that_holds_the_interpreter_brings_the_parts_to_rest(
    client: Client, blueprints: Blueprints, folder: Path
) -> None:
    """No thread of the executor's process runs meanwhile: the lease of the run's session ends it."""
    swings = "{name: swings, nodes: {a: {skill: swing, with: {far: 0.1, speed: 0.03}, repeat: 1000}}}"
    blueprints.save_skill(swings, source="test")
    both = "{all_of: {move: {skill: swings}, hold: {skill: holds}}}"
    run = start(blueprints, skill=f"{{name: held, nodes: {{both: {both}}}}}", parameters={})
    blueprints.wait_for_state(lambda state: any(n.question == "Hold?" for n in state.nodes), PATIENCE_S)
    wait_for(lambda: client.value("arm.at_rest") == 0.0)
    blueprints.control("answer", value="yes")
    wait_for(lambda: client.value("arm.at_rest") == 1.0 and not any(p.session for p in client.parts()))
    end = run.wait(PATIENCE_S)
    assert end is not None and end.result == "failed" and "branch 'move' ended as failed" in end.message
    assert "did not renew it for its lease" in (folder / "workcell.log").read_text()


def test_N34_only_who_knows_the_secret_runs_programs_in_a_session(client: Client, blueprints: Blueprints) -> None:
    way: dict[str, Any] = {"way": [0.0, 0.0, -0.005], "speed": (0.1, "m/s")}
    with client.session(["arm", "wrist"]) as session:
        for _ in range(2):
            outcome = client.programs.run("move_until_contact", session=session, prefix="touch", keep=True, **way)
            assert (outcome.success, outcome.last_event) == (True, "not_found")
        session.remove("touch__*")
        wrong = RunRequest(
            program="move_until_contact", parts=(), parameters=(), session=SessionKey(session.id, "guessed")
        )
        with pytest.raises(SessionError, match="belongs to somebody else"):
            client.backend.run_program(wrong)
        assert session.ended is None


def test_commands_by_topic(client: Client, blueprints: Blueprints) -> None:
    publisher = client.node.create_publisher(String, "blueprints/commands", 10)
    wait_for(lambda: publisher.get_subscription_count())
    publisher.publish(String(data="Swing!"))
    state = blueprints.wait_for_state(lambda s: any(n.source == "topic commands" for n in s.nodes), PATIENCE_S)
    (run,) = [n.run for n in state.nodes if n.source == "topic commands" and not n.path]
    publisher.publish(String(data="Stop! Please stop!"))
    assert wait_for_node(blueprints, run, "", "ended").result == "cancelled"
    with pytest.raises(DefinitionError, match="'sving' is no known phrase.*swing"):
        blueprints.give_command("sving")


def test_it_may_do_what_it_does_and_no_more(client: Client, blueprints: Blueprints) -> None:
    check_policy(client.node, "blueprints")
    check_policy(client.node, "blueprints_client")


def executor_process() -> int:
    for folder in Path("/proc").iterdir():
        try:
            words = (folder / "cmdline").read_bytes().decode().split("\0")
            domain = f"ROS_DOMAIN_ID={os.environ['ROS_DOMAIN_ID']}" in (folder / "environ").read_bytes().decode()
        except (OSError, UnicodeDecodeError):
            continue
        if domain and "robot_rt_control.blueprint.node.node" in words:
            return int(folder.name)
    return 0


def test_N40_the_death_of_the_executor_brings_the_parts_to_rest_and_its_run_is_listed(
    client: Client, blueprints: Blueprints, elsewhere: list[str]
) -> None:
    blueprints.save_skill(FOREIGN, source="test")
    start(blueprints, skill="foreign", parameters={})
    begun = start(blueprints, parameters={**FAR, "speed": (0.03, "m/s")})
    wait_for(lambda: elsewhere == ["rest"])
    wait_for_node(blueprints, begun.id, "out", "runs")
    wait_for(lambda: client.value("arm.at_rest") == 0.0)
    first = executor_process()
    os.kill(first, signal.SIGKILL)
    killed = time.monotonic()
    wait_for(lambda: client.value("arm.at_rest") == 1.0 and not any(p.session for p in client.parts()))
    assert time.monotonic() - killed < REST_S + BUSY_S
    wait_for(lambda: executor_process() not in (0, first))
    # The latched state of the dead node stays; the new one has no runs.
    blueprints.wait_for_state(lambda state: not state.problem and not state.nodes, PATIENCE_S)
    listed = {line["run"]: line for line in blueprints.read_runs()[0]}
    assert listed[begun.id]["interrupted_at"] in ("out", "back") and listed[begun.id]["result"] == ""
    assert client.sessions() == [], "nothing goes on by itself"
    wait_for(lambda: elsewhere == ["rest", "cancelled"])  # N44: a goal that nobody follows, once and for all
    wait_for(lambda: blueprints.read_runs(begun.id)[0][-1]["what"] == "interrupted")
    again = start(blueprints, start_at="tell", outputs_of=begun.id, parameters={})
    assert wait_for(lambda: again.poll()).result == "reached"


def test_the_command_line_runs_a_skill_and_reads_its_log(
    blueprints: Blueprints, capsys: pytest.CaptureFixture[str]
) -> None:
    # So slow that its first node is seen on the busiest machine: feedback tells what goes on once a second.
    assert command_line(["run", "swing", "far=0.01", "speed=0.002", "--timeout", "60"]) == 0
    shown = capsys.readouterr()
    assert shown.out == "reached, asked = 0.01\n" and "out (move_linear, runs)" in shown.err
    assert command_line(["log", "--blueprint", "swing", "--at-most", "1", "--timeout", "60", "--json"]) == 0
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert run["result"] == "reached"
    assert command_line(["log", run["run"], "--timeout", "60"]) == 0
    assert "ended: reached" in capsys.readouterr().out
    assert command_line(["list", "swing", "--robots", "--timeout", "60", "--json"]) == 0
    (robot,) = json.loads(capsys.readouterr().out)["robots"]
    assert robot["robot"] == "/" and robot["skills"][0]["name"] == "swing"
    assert command_line(["jump", "back", "--timeout", "60"]) == 1 and "no run" in capsys.readouterr().err
