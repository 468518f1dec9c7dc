"""The control server's node beside a real executor's, on mock hardware in simulated time: all services, and deaths."""

from __future__ import annotations

import functools
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pal_statistics_msgs.msg import StatisticsNames, StatisticsValues
from rclpy.qos import DurabilityPolicy, QoSProfile
from visualization_msgs.msg import MarkerArray

from robot_rt_control import action, msg, srv
from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.client.client import Client
from robot_rt_control.client.event import Event
from robot_rt_control.client.lease import longest_silence
from robot_rt_control.command_line.program import main as program_command
from robot_rt_control.definitions.action_type import ActionType, Parameter, Slot, StateVariable
from robot_rt_control.recording.fault_log import load_fault_log
from robot_rt_control.ros.goal_client import GoalClient
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import DefinitionError, Overtaken, RobotControlError, SessionError

pytestmark = pytest.mark.timeout(900)  # the first time, everything is compiled

WORKCELL = Path(__file__).parents[1] / "lockstep" / "server" / "workcell.yaml"
START_S = 900.0


class Process:
    """A node in a process of its own; its output is kept in a file."""

    def __init__(self, module: str, log: Path, *parameters: str) -> None:
        self.module, self.log = module, log
        self._parameters = [w for p in parameters for w in ("-p", p)]
        self.start()

    def start(self) -> None:
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", self.module, "--ros-args", *self._parameters], stdout=output, stderr=output
            )

    def wait_for(self, text: str, count: int = 1) -> None:
        """Wait until its output contains a text this number of times."""
        deadline = time.monotonic() + START_S
        while len(re.findall(re.escape(text), self.log.read_text())) < count:
            assert self.process.poll() is None, f"{self.module} ended:\n{self.log.read_text()}"
            assert time.monotonic() < deadline, f"{self.module} did not say {text!r}:\n{self.log.read_text()}"
            time.sleep(0.05)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(120)


def _workcell_for_clients_code(folder: Path) -> Path:
    """The workcell, with folders from which clients may load action types: this one, and those of the tests."""
    text = WORKCELL.read_text().replace("server_types.py:", f"{WORKCELL.parent}/server_types.py:")
    text = text.replace("../../../config", str(WORKCELL.parents[3] / "config"))
    file = folder / "workcell.yaml"
    file.write_text(f"{text}\naction_type_folders: [{Path(__file__).parent}, {folder.parent}]\n")
    return file


class Cell:
    """Both nodes, and a client."""

    def __init__(self, folder: Path) -> None:
        executor, server = "robot_rt_control.realtime.executor.node", "robot_rt_control.server.node.node"
        workcell, simulated = f"workcell:={_workcell_for_clients_code(folder)}", "use_sim_time:=true"
        self.executor = Process(executor, folder / "executor.log", workcell, "clock:=lockstep", simulated)
        self.server = Process(server, folder / "server.log", workcell, simulated, f"programs:={folder / 'programs'}")
        self.attached = 1
        self.secrets: dict[str, str] = {}
        self.executor.wait_for("ticking every")
        self.wait_until_attached()
        self.events: list[Event] = []
        self.connect()

    def connect(self) -> None:
        """A new client: for some seconds one from before would still see a server that was killed."""
        self.client = Client("test_control_server_node", timeout_s=120.0)
        self.client.add_listener(self.events.append)
        self.wait(lambda: self.client.node.count_publishers("/control_server/events") > 0)

    def wait_until_attached(self) -> None:
        self.server.wait_for("attached to the executor;", self.attached)

    def wait(self, condition: Callable[[], object], timeout_s: float = 120.0) -> None:
        deadline = time.monotonic() + timeout_s
        while not condition():
            assert time.monotonic() < deadline, "it did not happen in time"
            time.sleep(0.005)

    def call(self, path: str, /, **fields: Any) -> Any:
        service = getattr(srv, "".join(word.capitalize() for word in path.split("_")))
        backend: Any = self.client.backend
        if "session" in fields and hasattr(service.Request, "secret"):
            fields.setdefault("secret", self.secrets.get(fields["session"], ""))
        return backend.call(service, path, **fields)

    def open(self, *parts: str, lease: float = 0.0, detached: float = 0.0) -> str:
        wanted = list(parts or ("arm",))
        opened = self.call("open_session", name="test", parts=wanted, lease=lease, detached=detached)
        self.secrets[opened.session] = opened.secret
        return str(opened.session)

    def of(self, session: str, *kinds: str) -> list[Event]:
        return [e for e in self.events if e.session == session and (not kinds or e.kind in kinds)]


def wait_action(id: str, *reactions: msg.Reaction, **values: float) -> msg.ActionDefinition:
    parameters = [msg.ParameterValue(name=n, values=[float(v)]) for n, v in values.items()]
    return msg.ActionDefinition(id=id, type="wait", parts=["arm"], parameters=parameters, reactions=list(reactions))


def refusal(call: Callable[[], object]) -> str:
    with pytest.raises(RobotControlError) as error:
        call()
    return str(error.value)


@pytest.fixture(scope="module")
def cell(tmp_path_factory: pytest.TempPathFactory, own_domain: None) -> Iterator[Cell]:
    made = Cell(tmp_path_factory.mktemp("cell"))
    yield made
    made.client.close()
    assert made.server.stop() == 0, made.server.log.read_text()
    assert made.executor.stop() == 0, made.executor.log.read_text()


@pytest.fixture
def session(cell: Cell) -> Iterator[str]:
    opened = cell.open()
    yield opened
    if not cell.of(opened, "session_ended"):
        cell.call("close_session", session=opened)


def test_lists_tell_parts_types_and_variables(cell: Cell, session: str) -> None:
    parts = {p.name: p for p in cell.client.parts()}
    assert list(parts) == ["arm", "gripper", "rangefinder"]
    arm = parts["arm"]
    assert (arm.kind, arm.device, arm.session) == ("arm", "sim", session)
    assert (arm.operational_state, arm.fault) == ("enabled", "")
    assert (arm.default_action, arm.safety_action, parts["gripper"].session) == ("still", "safe", "")
    assert len(arm.joint_names) == len(arm.position_lower) == len(arm.effort_limit) == 7
    assert arm.joint_units == ["rad"] * 7
    (info,) = cell.client.action_types("wait")
    assert info.description == "Hold still for a time; fail when asked to."
    first = info.parameters[0]
    assert (first.name, first.unit, first.default_value, first.required) == ("duration", "s", "0.01", False)
    assert [p.choices for p in info.parameters if p.name == "mode"] == [["plain", "crash"]]
    assert list(info.signals) == ["nudge", "pause"]
    assert [(s.name, s.kinds, s.moves) for s in info.slots] == [("part", ["arm", "gripper"], True)]
    assert "did you mean 'wait'" in refusal(lambda: cell.client.action_types("wiat"))
    assert {"move_joint", "hold", "stop", "wait"} <= {t.name for t in cell.client.action_types()}
    cell.call("define_actions", session=session, actions=[wait_action("a", duration=50.0)])
    cell.call("start_actions", session=session, actions=["a"])
    cell.wait(lambda: cell.client.state_variables("a.elapsed", session)[0].value > 0.0)
    names = [v.name for v in cell.client.state_variables("a.", session)]
    assert names == ["a.elapsed", "a.is_done", "a.limit", "a.pauses", "a.progress", "a.timed_out"]
    assert cell.client.value("arm.position[3]") == 0.0
    assert cell.client.state_variables("a.") == [], "only those of the session that is asked for"


def test_a_session_from_the_first_call_to_the_last(cell: Cell) -> None:
    session = cell.open(lease=5.0)
    cell.call("renew_session", session=session)
    reaction = msg.Reaction(condition="is_done", start="b", event="half", capture=["elapsed"])
    cell.call("define_actions", session=session, actions=[wait_action("a", reaction), wait_action("b", duration=50.0)])
    start = cell.call("start_actions", session=session, actions=["a"])
    cell.wait(lambda: cell.of(session, "reaction_fired"))
    (fired,) = cell.of(session, "reaction_fired")
    assert (fired.name, fired.tick, fired.previous_action, fired.current_action) == ("half", start.tick + 9, "a", "b")
    assert fired.values == pytest.approx({"elapsed": 0.01})
    assert fired.time == pytest.approx(fired.tick * 0.001), "simulated time"
    cell.call("raise_signal", session=session, action="b", signal="pause")
    value = msg.ParameterValue(name="duration", values=[20.0], unit="s")
    assert cell.call("set_action_parameters", session=session, action="b", parameters=[value]).tick > start.tick
    cell.wait(lambda: cell.client.state_variables("b.limit", session)[0].value == 20.0)
    assert cell.client.state_variables("b.pauses", session)[0].value == 1.0
    text = "actions: {c: {type: wait, parts: arm}, d: {type: wait, parts: arm}}"
    assert cell.call("upload_program", session=session, program=text).actions == ["c", "d"]
    cell.call("remove_actions", session=session, actions=["c"])
    cell.call("stop_actions", session=session)
    cell.call("close_session", session=session)
    cell.wait(lambda: cell.of(session, "session_ended"))
    assert cell.of(session, "session_ended")[0].reason == "closed by its client"
    sequence = [e.sequence for e in cell.events]
    assert sequence == list(range(sequence[0], sequence[0] + len(sequence))), "no event was lost"


BLINK = """\
name: blink
description: Waits twice.
roles: {waiter: {kinds: [arm]}}
parameters: {duration: {unit: s, default: 0.01, minimum: 0.001}}
start: one
actions:
  one:
    type: wait
    parts: waiter
    parameters: {duration: $duration}
    reactions: [{when: is_done, start: two, event: half, name: first_done}]
  two: {type: wait, parts: waiter, parameters: {duration: 0.5 * $duration}, final: true}
"""


def test_introspection_names_a_running_action_and_its_values(cell: Cell, session: str) -> None:
    names: dict[int, list[str]] = {}
    last: list[StatisticsValues] = []
    node = cell.client.node
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    listening = (
        node.create_subscription(
            StatisticsNames,
            "control_server/introspection_data/names",
            lambda message: names.update({message.names_version: list(message.names)}),
            latched,
        ),
        node.create_subscription(StatisticsValues, "control_server/introspection_data/values", last.append, 10),
    )

    def seen() -> dict[str, float]:
        known = names.get(last[-1].names_version) if last else None
        return dict(zip(known, last[-1].values, strict=True)) if known else {}

    cell.wait(lambda: seen().get("tick", 0.0) > 0.0 and "arm.position[0]" in seen())
    before = last[-1].names_version
    cell.call("define_actions", session=session, actions=[wait_action("watched", duration=100.0)], reactions=[])
    cell.call("start_actions", session=session, actions=["watched"], target_tick=0)
    cell.wait(lambda: seen().get(f"{session}/watched.elapsed", 0.0) > 0.0)
    assert last[-1].names_version != before
    for subscription in listening:
        node.destroy_subscription(subscription)


def test_programs_are_kept_run_and_followed(cell: Cell, capsys: pytest.CaptureFixture[str]) -> None:
    programs = cell.client.programs
    with pytest.raises(DefinitionError, match="program:8: action 'one': unknown action type"):
        programs.check(BLINK.replace("type: wait\n", "type: wiat\n"))
    assert programs.check(BLINK.replace(", final: true", ""))[0].startswith("program:12: action 'two' has no exit")
    assert [programs.save(BLINK, based_on=version) for version in (0, 1)] == [(1, ()), (2, ())]
    with pytest.raises(Overtaken) as overtaken:
        programs.save(BLINK + "# mine\n", based_on=1)
    assert overtaken.value.text == BLINK
    (info,) = programs.list("blink")
    assert (info.version, list(info.versions), info.origin, info.description) == (2, [1, 2], "store", "Waits twice.")
    assert (list(info.parts), list(info.events)) == (["waiter"], ["half"])
    assert [(p.name, p.unit, p.default_value, p.minimum) for p in info.parameters] == [("duration", "s", "0.01", 0.001)]
    assert info.saved.sec > 1_700_000_000 and programs.text("blink@1") == BLINK
    assert {"blink", "move_until_contact"} <= {p.name for p in programs.list()}
    assert programs.copy("move_to_edge", "my_edge") == 1
    assert {p.name for p in programs.list(search="drops off", tags=["surface"])} == {"move_to_edge", "my_edge"}

    seen: list[str] = []
    outcome = programs.run("blink", {"waiter": "arm"}, duration=0.4, on_progress=lambda f: seen.append(f.active_action))
    assert (outcome.success, outcome.message, outcome.last_event) == (True, "", "half")
    assert outcome.ticks >= 598 and {"one", "two"} <= set(seen)
    with pytest.raises(DefinitionError, match=r"no part for role 'waiter' \(arm\)"):
        programs.run("blink", duration=0.4)
    cancelled = threading.Event()
    threading.Timer(0.3, cancelled.set).start()
    outcome = programs.run("blink@1", ["waiter=arm"], duration=50.0, cancelled=cancelled)
    assert (outcome.success, outcome.message) == (False, "cancelled")

    texts: list[list[str]] = []
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    listening = cell.client.node.create_subscription(
        MarkerArray,
        "control_server/state_markers",
        lambda message: texts.append([marker.text for marker in message.markers if marker.text]),
        latched,
    )
    with cell.client.session("arm") as session:
        assert session.upload("blink", {"waiter": "arm"}, duration=50.0) == ["one", "two"]
        with pytest.raises(DefinitionError, match="program:7: .*'one' exists"):
            session.upload(BLINK, {"waiter": "arm"})
        session.start("one")
        cell.wait(lambda: session.active == ("one",))
        session.start("two")
        cell.wait(lambda: session.active == ("two",))
        cell.wait(lambda: ["blink@2\ntwo"] in texts)
        with Client("late", timeout_s=120.0) as late:
            # The state may be published a moment later than the event from which `session` knows it.
            cell.wait(lambda: session.id in late.program_states and late.program_states[session.id].active == ("two",))
            state = late.program_states[session.id]
            assert (state.program, state.ended) == ("blink@2", None)
    cell.wait(lambda: cell.client.program_states[session.id].ended == "closed by its client")
    cell.wait(lambda: texts[-1] == [])
    cell.client.node.destroy_subscription(listening)

    assert program_command(["list", "blink"]) == 0 and "Waits twice." in capsys.readouterr().out
    assert program_command(["run", "blink", "--parts", "waiter=arm", "--set", "duration=0.02"]) == 0
    assert re.search(r"done after \d+ ticks; last event: half", capsys.readouterr().out)
    assert program_command(["run", "blink", "--parts", "waiter=arm", "--set", "duration=0"]) == 1
    assert "parameter 'duration': out of range; expected at least 0.001 s" in capsys.readouterr().err
    assert program_command(["delete", "blink@2"]) == 0 and capsys.readouterr().out == "deleted: version 2\n"
    assert program_command(["show", "blink"]) == 0 and capsys.readouterr().out == BLINK


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "part": ({"parts": ["amr"]}, "action 'bad': unknown part; expected one of the known names; did you mean 'arm'"),
    "taken part": ({"parts": ["gripper"]}, "action 'bad' moves part 'gripper'; expected a part of its session: arm"),
    "type": ({"type": "wiat"}, "action 'bad': unknown action type; expected one of the known names; did you mean"),
    "parameter": ({"parameters": [msg.ParameterValue(name="x", values=[1.0])]}, "action 'bad' has no parameter 'x'"),
    "unit": (
        {"parameters": [msg.ParameterValue(name="duration", values=[1.0], unit="h")]},
        "action 'bad': parameter 'duration': wrong unit; expected 's'; got 'h'",
    ),
    "length": (
        {"parameters": [msg.ParameterValue(name="duration", values=[1.0, 2.0])]},
        "action 'bad': parameter 'duration': wrong length",
    ),
    "NaN": (
        {"parameters": [msg.ParameterValue(name="duration", values=[float("nan")])]},
        "action 'bad': parameter 'duration': is not finite",
    ),
    "numbers and text": (
        {"parameters": [msg.ParameterValue(name="duration", values=[1.0], text="x")]},
        "parameter 'duration'; expected either `values` or `text`; got both",
    ),
    "unknown action": (
        {"reactions": [msg.Reaction(condition="is_done", start="nowhere")]},
        "reaction on 'is_done' of action 'bad' starts an action that is not defined",
    ),
    "unknown variable": (
        {"reactions": [msg.Reaction(condition="is_dnoe", event="e")]},
        "there is no such state variable",
    ),
    "grammar": ({"reactions": [msg.Reaction(condition="is_done and", event="e")]}, "is_done and\n"),
    "id": ({"id": "old"}, "action 'old' exists"),
    "name": ({"id": "a b"}, "id of an action is not valid"),
    "limits": (
        {"type": "goto", "parameters": [msg.ParameterValue(name="goal", values=[0.0] * 6 + [9.0])]},
        "action 'bad': goal of joint 'joint_7'",
    ),
    "exception": (
        {"parameters": [msg.ParameterValue(name="mode", text="crash")]},
        "prepare_parameters of action type 'wait' failed with ZeroDivisionError",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_S1_bad_input_is_refused_in_words_and_the_session_lives_on(cell: Cell, session: str, name: str) -> None:
    fields, text = BAD[name]
    cell.call("define_actions", session=session, actions=[wait_action("old", duration=50.0)])
    cell.call("start_actions", session=session, actions=["old"])
    bad = msg.ActionDefinition(**({"id": "bad", "type": "wait", "parts": ["arm"]} | fields))
    message = refusal(lambda: cell.call("define_actions", session=session, actions=[wait_action("good"), bad]))
    assert text in message
    assert "internal error" not in message
    assert [v.name for v in cell.client.state_variables("good.", session)] == [], "nothing of the request was done"
    cell.call("define_actions", session=session, actions=[wait_action("good", duration=50.0)])
    cell.call("start_actions", session=session, actions=["good"])


def test_S4_a_taken_part_is_refused_and_the_holder_named(cell: Cell, session: str) -> None:
    message = refusal(lambda: cell.open("gripper", "arm"))
    assert "part 'arm' is taken" in message
    assert f"got held by session '{session}' (test)" in message
    assert "unknown session" in refusal(lambda: cell.call("start_actions", session="s999", actions=["a"]))


def test_S5_a_session_that_nobody_renews_is_lost(cell: Cell) -> None:
    session = cell.open(lease=0.3)
    cell.call("define_actions", session=session, actions=[wait_action("a", duration=50.0)])
    cell.call("start_actions", session=session, actions=["a"])
    cell.wait(lambda: cell.of(session, "session_ended"))
    assert "did not renew it for its lease of 10 s" in cell.of(session, "session_ended")[0].reason
    assert "has ended: its client did not renew it" in refusal(lambda: cell.call("renew_session", session=session))
    cell.server.wait_for(f"session {session!r} (parts arm) has ended: ")


def test_L17_enabling_a_part_that_brakes_answers_when_it_is_at_rest_and_enabled(cell: Cell, session: str) -> None:
    secret = cell.secrets[session]
    velocity = msg.ParameterValue(name="velocity", values=[0.5, *[0.0] * 6])
    move = msg.ActionDefinition(id="a", type="velocity_move", parts=["arm"], parameters=[velocity])
    cell.call("define_actions", session=session, actions=[move])
    cell.call("start_actions", session=session, actions=["a"])
    cell.wait(lambda: cell.client.value("arm.commanded_velocity[0]") > 0.45)
    cell.call("set_motion", parts=["arm"], command="disable", secret=secret)
    assert cell.call("set_motion", parts=["arm"], command="enable", secret=secret).message == ""
    assert {p.name: p.operational_state for p in cell.client.parts()}["arm"] == "enabled"
    assert cell.client.value("arm.commanded_velocity[0]") == 0.0


def test_motion_and_speed(cell: Cell, session: str) -> None:
    secret = cell.secrets[session]
    cell.call("set_motion", parts=["arm"], command="disable", secret=secret)
    assert {p.name: p.operational_state for p in cell.client.parts()}["arm"] == "disabled"
    cell.call("define_actions", session=session, actions=[wait_action("a")])
    assert refusal(lambda: cell.call("start_actions", session=session, actions=["a"])) == (
        "start of 'a' was refused; expected parts whose motion is enabled; got part 'arm' is disabled. "
        "Enable the motion first"
    )
    assert cell.call("set_motion", command="enable", secret=secret).message == ""
    cell.call("start_actions", session=session, actions=["a"])
    cell.call("set_speed", speed=0.5)
    cell.wait(lambda: cell.client.value("speed") == 0.5)
    assert "it is faster than before; expected authority" in refusal(lambda: cell.call("set_speed", speed=1.0))
    cell.call("set_speed", speed=1.0, secret=secret)
    assert "speed override; expected 0" in refusal(lambda: cell.call("set_speed", speed=1.5))


def test_a_protective_stop_with_its_log(cell: Cell, session: str) -> None:
    cell.call("define_actions", session=session, actions=[wait_action("a")])
    cell.call("start_actions", session=session, actions=["a"])
    assert cell.client.protective_stop("the door is open") > 0  # asks the executor itself
    cell.wait(lambda: any(e.kind == "protective_stop" for e in cell.events))
    stop = next(e for e in cell.events if e.kind == "protective_stop")
    assert stop.reason.startswith("the door is open (") and stop.reason.endswith(")"), "and who asked"
    cell.wait(lambda: Path(stop.file).exists())
    assert load_fault_log(stop.file).about["tick"] == stop.tick
    assert refusal(lambda: cell.call("start_actions", session=session, actions=["a"])) == (
        "start of 'a' was refused: a protective stop holds all parts. "
        "Release it first: the service protective_stop with stop: false, or Client.release()"
    )
    assert cell.client.value("protective_stop") == 1.0
    assert "expected authority" in refusal(lambda: cell.call("protective_stop", stop=False))
    with Client("a_person", operator=True, namespace=cell.client.node.get_namespace()) as person:
        (latched,) = person.stops()
        assert (latched.source, latched.tick) == ("the door is open", stop.tick)
        person.release()  # with the operator's secret, which is a file of this user
    cell.wait(lambda: cell.client.value("protective_stop") == 0.0)
    assert "a protective stop has suspended the session" in refusal(
        lambda: cell.call("start_actions", session=session, actions=["a"])
    )
    cell.wait(lambda: cell.of(session, "session_suspended"))
    cell.call("resume_session", session=session)
    cell.wait(lambda: cell.of(session, "session_resumed"))
    cell.call("start_actions", session=session, actions=["a"])
    assert "nothing to recover" in refusal(lambda: cell.client.recover())
    Path(stop.file).unlink()


class Nudge(ActionType):
    """Tell the factor."""

    name = "nudge"
    slots = (Slot(name="part", kinds=(PartKind.ARM, PartKind.GRIPPER)),)
    parameters = (Parameter(name="factor", default=1.0),)
    state_variables = (StateVariable(name="told"),)

    @staticmethod
    def control(state, params, part):
        state.told = 2.0 * params.factor


def test_K6_code_of_the_application_is_loaded_while_the_loop_runs(
    cell: Cell, session: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell.call("define_actions", session=session, actions=[wait_action("a", duration=90.0)])
    start = cell.call("start_actions", session=session, actions=["a"]).tick
    with cell.client.session("gripper") as mine:
        mine.add(Action("first", Nudge, factor=2.0))  # a class of the application's own file
        mine.start("first")
        cell.wait(lambda: cell.client.state_variables("first.told", mine.id)[0].value == 4.0)
        text = Path(__file__).read_text()
        declaration = text[text.index("class Nudge(") : text.index("def test_K6")]
        imports = "from robot_rt_control.definitions.action_type import "
        imports += "ActionType, Parameter, Slot, StateVariable\n"
        imports += "from robot_rt_control.vocabulary.enums import PartKind\n\n\n"
        file = tmp_path / "nudge.py"
        file.write_text(imports + declaration.replace("2.0 *", "3.0 *"))
        message = refusal(lambda: cell.client.load_action_types(file, replace=False))
        assert "two action types have the name 'nudge'" in message
        monkeypatch.chdir(tmp_path)
        assert cell.client.load_action_types("nudge.py") == ["nudge"], "a relative path of the client's"
        mine.add(Action("second", "nudge", factor=2.0))
        assert "cannot be unloaded" in refusal(lambda: cell.client.unload_action_types("nudge"))
        mine.start("second")
        cell.wait(lambda: cell.client.state_variables("second.told", mine.id)[0].value == 6.0)
        (info,) = cell.client.action_types("nudge")
        assert info.source == str(file) and info.time_budget == pytest.approx(0.2 * 0.001)
        file.write_text(file.read_text().replace("state.told =", "print(1)\n        state.told ="))
        assert f"{file}:" in refusal(lambda: cell.client.load_action_types(file)), "with the user's line"
    cell.wait(lambda: "nudge" not in {t.name for t in cell.client.action_types()} or _unloaded(cell.client))
    assert "code from a client is not accepted" in refusal(lambda: cell.call("load_action_types", code="import os"))
    assert not cell.of(session, "action_stopped", "session_ended")
    assert cell.client.state_variables("a.elapsed", session)[0].value > 0.0 and start > 0


def _unloaded(client: Client) -> bool:
    """Whether the actions of the ended session are gone, so that their type can be unloaded."""
    try:
        client.unload_action_types("nudge")
    except RobotControlError:
        return False
    return True


class Goal:
    """A goal of one of the two actions, sent from a test."""

    def __init__(self, cell: Cell, kind: Any, name: str, **fields: Any) -> None:
        self._cell = cell
        self.feedback: list[Any] = []
        client: Any = GoalClient(cell.client.node, kind, f"/control_server/{name}")
        assert client.wait_for_server(300.0)
        sent = client.send_goal_async(kind.Goal(**fields), feedback_callback=lambda m: self.feedback.append(m.feedback))
        cell.wait(sent.done)
        self.handle: Any = sent.result()
        self._result: Any = self.handle.get_result_async()

    def result(self) -> tuple[int, Any]:
        self._cell.wait(self._result.done, 300.0)
        return self._result.result().status, self._result.result().result


UNKNOWN, SUCCEEDED, CANCELED, ABORTED = 0, 4, 5, 6


def test_S16_a_stranger_commands_no_session_of_the_client_library(cell: Cell) -> None:
    with cell.client.session("arm") as mine:
        mine.add(Action("a", "wait", duration=50.0))
        mine.start("a")
        for path in ("start_actions", "remove_actions", "close_session", "renew_session"):
            message = refusal(functools.partial(cell.call, path, session=mine.id))
            assert message.startswith(f"{path} was refused: session {mine.id!r} (python) belongs to somebody else")
        assert "belongs to somebody else" in refusal(lambda: cell.call("set_motion", parts=["arm"], command="disable"))
        assert mine.ended is None and not cell.of(mine.id, "action_stopped")
        assert cell.call("stop_actions", session=mine.id).success, "everybody may stop"
    cell.wait(lambda: cell.of(mine.id, "session_ended"))
    ticks = [e.tick for e in cell.of(mine.id)]
    assert ticks == sorted(ticks) and cell.of(mine.id)[-1].kind == "session_ended"


def test_run_action_gives_feedback_and_an_end(cell: Cell) -> None:
    duration = msg.ParameterValue(name="duration", values=[0.5])
    goal = Goal(cell, action.RunAction, "run_action", type="wait", parts=["arm"], parameters=[duration])
    status, result = goal.result()
    assert (status, result.success, result.message) == (SUCCEEDED, True, "")
    assert (result.ticks, result.last_event) == (499, "done")
    assert goal.feedback
    assert goal.feedback[-1].active_action == "wait"
    assert 0.0 < goal.feedback[-1].progress < 1.0
    assert goal.feedback[-1].progress == pytest.approx(goal.feedback[-1].elapsed / 0.5, abs=0.05)
    assert [p.session for p in cell.client.parts()] == ["", "", ""]


def test_run_action_is_cancelled_promptly(cell: Cell) -> None:
    duration = msg.ParameterValue(name="duration", values=[50.0])
    goal = Goal(cell, action.RunAction, "run_action", type="wait", parts=["part=arm"], parameters=[duration])
    cell.wait(lambda: goal.feedback)
    goal.handle.cancel_goal_async()
    status, result = goal.result()  # the action alone would take 50 s
    assert result.ticks < 45_000
    assert (status, result.success, result.message) == (CANCELED, False, "cancelled")
    assert [p.session for p in cell.client.parts()] == ["", "", ""]


def test_run_action_says_why_not(cell: Cell, session: str) -> None:
    status, result = Goal(cell, action.RunAction, "run_action", type="wait", parts=["arm"]).result()
    assert (status, result.success) == (ABORTED, False)
    assert f"got held by session '{session}'" in result.message


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"type": "both", "parts": ["arm"]}, "has no state variable 'is_done'"),
        ({"type": "wiat", "parts": ["arm"]}, "did you mean 'wait'"),
        ({"type": "wait", "parts": ["arm"], "timeout": -1.0}, "timeout; expected a time in seconds"),
        ({"type": "goto", "parts": ["arm"], "until": "true", "parameters": [
            msg.ParameterValue(name="goal", values=[0.0] * 6 + [9.0])]}, "goal of joint 'joint_7'"),
    ],
)  # fmt: skip
def test_an_invalid_goal_is_rejected_and_log_and_result_say_why(cell: Cell, fields: dict[str, Any], why: str) -> None:
    before = cell.server.log.read_text()
    goal = Goal(cell, action.RunAction, "run_action", **fields)
    assert not goal.handle.accepted
    status, result = goal.result()
    assert (status, result.success) == (UNKNOWN, False) and why in result.message and result.refusals
    cell.wait(lambda: "a goal of run_action was rejected: " in cell.server.log.read_text()[len(before) :])
    assert why in cell.server.log.read_text()[len(before) :]


def test_run_program_from_text_and_file(cell: Cell, tmp_path: Path) -> None:
    text = """
start: [one]
actions:
  one: {type: wait, parts: arm, parameters: {duration: 0.05}, reactions: [{when: is_done, start: two, event: half}]}
  two: {type: wait, parts: arm, parameters: {duration: 0.05}, reactions: [{when: is_done, event: full}]}
"""
    file = tmp_path / "program.yaml"
    file.write_text(text)
    for program, until, last in ((text, "", "full"), (str(file), "half", "half")):
        status, result = Goal(cell, action.RunProgram, "run_program", program=program, until_event=until).result()
        assert (status, result.success, result.message, result.last_event) == (SUCCEEDED, True, "", last)
    wrong = text.replace("start: two", "start: tow")
    assert not Goal(cell, action.RunProgram, "run_program", program=wrong).handle.accepted
    cell.wait(lambda: "a goal of run_program was rejected: program:4" in cell.server.log.read_text())


def test_B3_a_callback_answers_the_running_action_and_others_watch(cell: Cell) -> None:
    answered: list[Event] = []

    def think(event: Event) -> dict[str, float]:
        answered.append(event)
        return {"duration": 30.0 + event.values["a.elapsed"]}

    with cell.client.session("arm") as session, cell.client.watch() as watcher:
        when = Reaction("elapsed > 0.0505", call=think, reply_to="a", capture=["a.elapsed"], fire_once=True)
        session.add(Action("a", "wait", reactions=[when], duration=20.0))
        tick = session.start("a")
        cell.wait(lambda: cell.client.state_variables("a.limit", session.id)[0].value > 25.0)
        assert len(answered) == 1 and answered[0].tick == tick + 50
        assert cell.client.state_variables("a.limit", session.id)[0].value == 30.0 + answered[0].values["a.elapsed"]
        assert [(e.kind, e.session) for e in session.events[:1]] == [("session_opened", session.id)]  # B8
        assert watcher.wait_until("arm.at_rest", 5.0).session == watcher.id
        with pytest.raises(SessionError, match="is read-only and cannot start anything"):
            watcher.start("a")
        listed = {s.id: s for s in cell.client.sessions()}
        assert (list(listed[session.id].parts), list(listed[session.id].active)) == (["arm"], ["a"])
        assert listed[watcher.id].read_only and 0.0 < listed[session.id].remaining <= session.lease_s
        stopped = cell.client.stop_all()
        cell.wait(lambda: cell.of(session.id, "action_stopped"))
        assert [e.tick for e in cell.of(session.id, "action_stopped")] == [stopped]
        session.clear()
        assert not {s.id: s for s in cell.client.sessions()}[session.id].actions
    assert session.ended == "closed by the application"
    with cell.client.session("arm", deadline_s=0.3) as session:
        cell.wait(lambda: session.ended)
        assert session.ended == "its deadline of 0.3 s has come"


def test_S8_after_the_servers_death_parts_are_safe_and_a_new_server_takes_over(cell: Cell) -> None:
    session = cell.open()
    cell.call("define_actions", session=session, actions=[wait_action("a", duration=50.0)])
    cell.call("start_actions", session=session, actions=["a"])
    active: list[str] = []
    cell.client.node.create_subscription(
        msg.ExecutorStatus, "/realtime_executor/status", lambda m: active.append(m.parts[0].active_action), 10
    )
    cell.wait(lambda: active and active[-1] == "a")
    held = cell.client.session("gripper")
    told: list[Event] = []
    held.on("session_ended", told.append)
    cell.server.kill()
    cell.wait(lambda: active[-1] != "a")
    # B6: there was no server to report it
    cell.wait(lambda: told, longest_silence(held.lease_s, simulated=True) + 120.0)
    assert "the control server has not answered for" in told[0].reason == held.ended
    cell.client.close()
    cell.events.clear()
    cell.server.start()
    cell.attached += 1
    cell.wait_until_attached()
    cell.connect()
    assert "unknown session" in refusal(lambda: cell.call("start_actions", session=session, actions=["a"]))
    again = cell.open()
    assert again not in (session, "s1")
    cell.call("define_actions", session=again, actions=[wait_action("a", duration=50.0)])
    cell.call("start_actions", session=again, actions=["a"])
    cell.wait(lambda: cell.client.state_variables("a.elapsed", again)[0].value > 0.0)
    cell.call("close_session", session=again)


def test_U5_a_detached_session_ends_by_itself_while_a_new_server_waits_and_a_protective_stop_ends_another(
    cell: Cell,
) -> None:
    arm, gripper = cell.open("arm", detached=600.0), cell.open("gripper", detached=600.0)
    on = msg.Reaction(condition="is_done", start="b")
    end = msg.Reaction(condition="is_done", stop=True)
    assert {s.id: s.detached for s in cell.call("list_sessions").sessions} == {arm: 600.0, gripper: 600.0}
    # Long enough for a busy machine to see each of them.
    actions = [wait_action("a", on, duration=3.0), wait_action("b", end, duration=4.0)]
    cell.call("define_actions", session=arm, actions=actions)
    hold = msg.ActionDefinition(id="keep", type="hold", parts=["gripper"])
    cell.call("define_actions", session=gripper, actions=[hold])
    seen: list[tuple[str, str, bool]] = []

    def see(status: msg.ExecutorStatus) -> None:
        now = (status.parts[0].active_action, status.parts[1].active_action, status.server_attached)
        if now not in seen[-1:]:
            seen.append(now)

    cell.client.node.create_subscription(msg.ExecutorStatus, "/realtime_executor/status", see, 100)
    cell.call("start_actions", session=gripper, actions=["keep"])
    cell.call("start_actions", session=arm, actions=["a"])
    cell.wait(lambda: seen and seen[-1] == ("a", "keep", True))
    cell.server.kill()
    cell.wait(lambda: seen[-1] == ("", "keep", False))
    assert ("b", "keep", False) in seen, f"it has switched by itself: {seen}"
    cell.server.start()
    cell.server.wait_for(f"session {gripper!r} goes on without a control server")
    assert seen[-1] == ("", "keep", False)
    cell.client.protective_stop("door")  # asks the executor
    cell.attached += 1
    cell.wait_until_attached()
    cell.client.release()
    cell.client.close()
    cell.events.clear()
    cell.connect()
    again = cell.open("arm", "gripper")
    cell.call("define_actions", session=again, actions=[wait_action("a", duration=50.0)])
    cell.call("start_actions", session=again, actions=["a"])
    cell.call("close_session", session=again)


def test_S25_a_second_server_offers_nothing_until_it_is_attached_itself(cell: Cell, tmp_path: Path) -> None:
    names = ("open_session", "save_program", "protective_stop", "list_parts")

    def servers() -> set[int]:
        counts = {cell.client.node.count_services(f"/control_server/{name}") for name in names}
        counts.add(cell.client.node.count_publishers("/control_server/events"))
        return counts | {cell.client.node.count_subscribers("/control_server/stream_input")}

    cell.wait(lambda: servers() == {1})
    parameters = [cell.server._parameters[i] for i in range(1, len(cell.server._parameters), 2)]
    second = Process(cell.server.module, tmp_path / "second.log", *parameters)
    try:
        second.wait_for("not attached to an executor yet: a control server is attached to this executor already")
        deadline = time.monotonic() + 3.0
        while time.monotonic() < deadline:  # it would be seen by now
            assert servers() == {1}
            time.sleep(0.05)
        opened = cell.open()
        cell.call("close_session", session=opened)
        cell.server.kill()
        second.wait_for("attached to the executor;")  # it takes over
        cell.client.close()
        cell.events.clear()
        cell.connect()
        cell.call("close_session", session=cell.open())
        cell.server.start()
        cell.server.wait_for("not attached to an executor yet: a control server is attached")
        cell.wait(lambda: servers() == {1})
    finally:
        second.stop()
    cell.attached += 1
    cell.wait_until_attached()
    cell.client.close()
    cell.events.clear()
    cell.connect()


def test_after_the_executors_death_sessions_have_ended_and_a_new_executor_is_used(cell: Cell) -> None:
    session = cell.open()
    cell.call("define_actions", session=session, actions=[wait_action("a", duration=50.0)])
    cell.executor.kill()
    cell.wait(lambda: cell.of(session, "session_ended"))
    assert cell.of(session, "session_ended")[0].reason == "the executor has ended"
    assert "there is no executor" in refusal(lambda: cell.open())
    assert cell.call("list_parts").message == "there is no executor: states are not known"
    cell.executor.start()
    cell.attached += 1
    cell.wait_until_attached()
    again = cell.open()
    cell.call("define_actions", session=again, actions=[wait_action("a", duration=50.0)])
    cell.call("start_actions", session=again, actions=["a"])
    cell.wait(lambda: cell.client.state_variables("a.elapsed", again)[0].value > 0.0)
    cell.call("close_session", session=again)
