"""Mistakes and programs that a client over ROS and one in simulated time must answer alike."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robot_rt_control.client import (
    Action,
    Client,
    Ending,
    Event,
    Reaction,
    RobotControlError,
    Session,
    Strategy,
    variable,
)

HOME = [0.0, 0.5236, 0.0, 1.5708, 0.0, 1.0472, 0.0]
NEAR = [0.1, *HOME[1:]]
FAR = [1.0, *HOME[1:]]
"""On the way there a slow machine has seconds to ask for something."""

PUSH = Path(__file__).with_name("push_type.py")
WRONG = Path(__file__).with_name("wrong_type.py")
"""Files of action types whose text the client sends."""

TWO_MISTAKES = """\
name: bad
actions:
  one: {type: hodl, parts: arm}
  two: {type: move_joint, parts: amr, parameters: {position: [0]}}
start: one
"""
ROLES = """\
name: there_and_back
roles: {mover: {kinds: [arm]}}
parameters: {turn: {unit: rad, default: 0.05, maximum: 0.2}}
start: there
actions:
  there:
    type: move_joint
    parts: mover
    parameters: {position: [$turn, 0.5236, 0, 1.5708, 0, 1.0472, 0]}
    reactions: [{when: is_done, start: back, event: turned, name: turn}]
  back:
    type: move_joint
    parts: mover
    parameters: {position: [0, 0.5236, 0, 1.5708, 0, 1.0472, 0]}
    final: true
"""

Mistake = Callable[[Client, Session], object]


def _react(*reactions: Any) -> Action:
    return Action("new", "hold", reactions=reactions)


KEEP = Strategy("keep", "hold")


def _governed(**strategies: Any) -> Action:
    return Action("new", "hold", strategies=strategies)


def _write(session: Session, *values: Any, **fields: Any) -> None:
    with session.stream("follow", "goal") as stream:
        stream.write(*values, **fields)


def _write_removed(session: Session) -> None:
    stream = session.stream("follow", "goal")
    session.remove("follow")
    stream.write(HOME)


def _write_replaced(session: Session) -> None:
    stream = session.stream("follow", "goal")
    session.replace(Action("follow", "follow_joint_stream"))
    stream.write(HOME)


def _replace_by_too_far(session: Session) -> None:
    """Its start is refused in the tick, and the old definition is valid again."""
    far = Action("stay", "track_trajectory", times=[0.0, 1.0], positions=[*NEAR, *HOME])
    try:
        session.replace([far, Action("new", "hold")], start="stay")
    finally:
        assert session.active == ("stay",)
        session.start("stay")


def _prepare_uploaded(client: Client, session: Session) -> None:
    client.load_action_types(PUSH, upload=True)
    session.add(Action("new", "push", trouble="prepare"))


def _after_close(session: Session) -> None:
    session.close()
    session.start("stay")


def _while_stopped(client: Client, session: Session) -> None:
    client.protective_stop("door")
    try:
        session.start("stay")
    finally:
        client.release()
        session.resume()


def _while_disabled(client: Client, session: Session) -> None:
    client.disable("arm")
    try:
        session.start("stay")
    finally:
        client.clear_faults("arm")
        client.enable("arm")


MISTAKES: dict[str, Mistake] = {
    # tools
    "tool of a part that lists none": lambda c, s: s.change_tool("arm", "gripper"),
    "tool of an unknown part": lambda c, s: s.change_tool("amr", "gripper"),
    "action for a tool that is not there": lambda c, s: s.add(Action("new", "change_tool", parts="arm", tool="pen")),
    # sessions
    "unknown part": lambda c, s: c.session("amr"),
    "no part": lambda c, s: c.session(()),
    "part twice": lambda c, s: c.session(["gripper", "gripper"]),
    "taken part": lambda c, s: c.session(["gripper", "arm"]),
    "parts of a watcher": lambda c, s: c.session("gripper", read_only=True),
    "deadline": lambda c, s: c.session("gripper", deadline_s=-1.0),
    "detached for too long": lambda c, s: c.session("gripper", detached_s=601.0),
    "watcher starts": lambda c, s: _with(c.watch(), lambda w: w.start("stay")),
    "watcher defines": lambda c, s: _with(c.watch(), lambda w: w.add(Action("x", "hold", parts="arm"))),
    "closed session": lambda c, s: _after_close(s),
    # definitions
    "unknown type": lambda c, s: s.add(Action("new", "hodl")),
    "id twice": lambda c, s: s.add(Action("stay", "hold")),
    "id": lambda c, s: s.add(Action("a b", "hold")),
    "unknown part of an action": lambda c, s: s.add(Action("new", "hold", parts="amr")),
    "part of nobody's": lambda c, s: s.add(Action("new", "move_gripper", parts="gripper", position=0.01)),
    "kind of part": lambda c, s: s.add(Action("new", "move_gripper", parts="arm", position=0.01)),
    "unknown parameter": lambda c, s: s.add(Action("new", "move_joint", positoin=HOME)),
    "missing parameter": lambda c, s: s.add(Action("new", "move_joint")),
    "length": lambda c, s: s.add(Action("new", "move_joint", position=[0.0, 1.0])),
    "unit": lambda c, s: s.add(Action("new", "move_joint", position=(HOME, "deg"))),
    "range": lambda c, s: s.add(Action("new", "move_joint", position=[9.0, *HOME[1:]])),
    "not finite": lambda c, s: s.add(Action("new", "move_joint", position=[float("nan"), *HOME[1:]])),
    "value": lambda c, s: s.add(Action("new", "move_joint", position={"joint_1": 0.0})),
    "grammar": lambda c, s: s.add(_react(Reaction("arm.position[0] <", event="e"))),
    "unknown variable": lambda c, s: s.add(_react(Reaction("arm.positoin[0] < 1", event="e"))),
    "no response": lambda c, s: s.add(_react(Reaction("time > 1"))),
    "start and stop": lambda c, s: s.add(_react(Reaction("time > 1", start="stay", stop=True))),
    "several to start": lambda c, s: s.add(_react(Reaction("time > 1", start=["stay", 3]))),  # type: ignore[list-item]
    "unknown action to start": lambda c, s: s.add(_react(Reaction("time > 1", start="nowhere"))),
    "unknown signal": lambda c, s: s.add(_react(Reaction("time > 1", signal="stay.ping"))),
    "capture": lambda c, s: s.add(_react(Reaction("time > 1", event="e", capture=["arm.nothing"]))),
    "reply without callback": lambda c, s: Reaction("time > 1", reply_to="stay"),
    "reaction's name twice": lambda c, s: s.add(
        _react(Reaction("time > 1", event="e", name="r"), Reaction("time > 2", event="e", name="r"))
    ),
    "truth of a condition": lambda c, s: bool(variable("time") < 1.0),
    "no default": lambda c, s: s.add(_governed(joint_1=[Strategy("a", "hold", when="time > 1")])),
    "no strategy": lambda c, s: s.add(_governed(joint_1=[])),
    "strategy's condition": lambda c, s: s.add(_governed(joint_1=[Strategy("a", "hold", when="tme > 1"), KEEP])),
    "strategy twice": lambda c, s: s.add(_governed(joint_1=[KEEP, KEEP])),
    "two lists for one joint": lambda c, s: s.add(_governed(**{"joint_1": [KEEP], "joint[0]": [KEEP]})),
    "degree of freedom": lambda c, s: s.add(_governed(jiont_1=[KEEP])),
    "unknown law": lambda c, s: s.add(_governed(joint_1=[Strategy("a", "velocty", velocity=0.1)])),
    "no law": lambda c, s: s.add(_governed(joint_1=[Strategy("a", "grasp")])),
    "law's parameter": lambda c, s: s.add(_governed(joint_1=[Strategy("a", "velocity", velocity=9.0)])),
    "law's input": lambda c, s: s.add(_governed(joint_1=[Strategy("a", "force", force=1.0)])),
    "law's input's name": lambda c, s: s.add(_governed(joint_1=[Strategy("a", "hold", inputs={"b=c": "time"})])),
    "law's input's variable": lambda c, s: s.add(_governed(joint_1=[Strategy("a", "hold", inputs={"b": "time"})])),
    "strategy's capture": lambda c, s: s.add(_governed(joint_1=[Strategy("a", "hold", capture=["tmie"])])),
    "several mistakes of strategies": lambda c, s: s.add(_governed(joint_1=[Strategy("a", "hlod")], tool=[KEEP])),
    "nothing to replace": lambda c, s: s.replace([]),
    "replacement": lambda c, s: s.replace([Action("stay", "hodl"), _react(Reaction("time > 1", start="typo"))]),
    "replacement that starts another action": lambda c, s: s.replace(Action("stay", "hold"), start="typo"),
    "replacement that cannot start": lambda c, s: _replace_by_too_far(s),
    "removal": lambda c, s: s.remove("nowhere"),
    "several mistakes": lambda c, s: s.upload(TWO_MISTAKES),
    "not YAML": lambda c, s: s.upload("actions: [\n"),
    # runs: over ROS they are goals, which are rejected
    "run without a part": lambda c, s: c.programs.run(ROLES),
    "run of an unknown part": lambda c, s: c.programs.run(ROLES, {"mover": "amr"}),
    "run with a value": lambda c, s: c.programs.run(ROLES, {"mover": "arm"}, turn=9.0),
    "run with an unknown parameter": lambda c, s: c.programs.run(ROLES, {"mover": "arm"}, trun=0.1),
    "run until nothing": lambda c, s: c.programs.run(ROLES, {"mover": "arm"}, until_event="turnde"),
    "run for a negative time": lambda c, s: c.programs.run(ROLES, {"mover": "arm"}, timeout_s=-1.0),
    "run detached for too long": lambda c, s: c.programs.run(ROLES, {"mover": "arm"}, detached_s=601.0),
    "run with several mistakes": lambda c, s: c.programs.run(TWO_MISTAKES),
    "run of an unknown program": lambda c, s: c.programs.run("nothing"),
    "run with a part of another session": lambda c, s: c.programs.run(ROLES, {"mover": "arm"}),
    "role": lambda c, s: s.upload(ROLES, {"mvoer": "arm"}),
    "program's parameter": lambda c, s: s.upload(ROLES, {"mover": "arm"}, turn=0.5),
    # commands
    "start of an unknown action": lambda c, s: s.start("typo"),
    "nothing to start": lambda c, s: s.start(),
    "start twice": lambda c, s: s.start("stay", "stay"),
    "start of one part": lambda c, s: s.start("stay", "go"),
    "start in the past": lambda c, s: s.start("stay", at_tick=1),
    "start in a protective stop": _while_stopped,
    "start of a disabled part": _while_disabled,
    "stop of an unknown action": lambda c, s: s.stop("typo"),
    "signal": lambda c, s: s.signal("stay", "ping"),
    "new value": lambda c, s: s.set("go", position=[9.0, *HOME[1:]]),
    "speed": lambda c, s: c.set_speed(1.5),
    "motion of an unknown part": lambda c, s: c.enable("amr"),
    # looking, streams, programs
    "value of nothing": lambda c, s: s.value("arm.positoin[0]"),
    "client's value of nothing": lambda c, s: c.value("arm.positoin[0]"),
    "record of nothing": lambda c, s: s.record("arm.positoin[0]"),
    "no such type": lambda c, s: c.action_types("hodl"),
    "no such stream": lambda c, s: s.stream("follow", "gaol"),
    "stream of an unknown action": lambda c, s: s.stream("typo", "goal"),
    "short sample": lambda c, s: _write(s, [1.0]),
    "sample that is not finite": lambda c, s: _write(s, [float("inf")] * 7),
    "sample for a removed action": lambda c, s: _write_removed(s),
    "sample for a replaced action": lambda c, s: _write_replaced(s),
    "no such program": lambda c, s: c.programs.text("nothing_of_the_kind"),
    "check of a program": lambda c, s: c.programs.check(TWO_MISTAKES),
    "removal of a library program": lambda c, s: c.programs.delete("move_until_contact"),
    "no such action type to unload": lambda c, s: c.unload_action_types("hodl"),
    "unload of a built-in type": lambda c, s: c.unload_action_types("hold"),
    "upload of code that prints": lambda c, s: c.load_action_types(WRONG, upload=True),
    "upload of a part of a file": lambda c, s: c.load_action_types(f"{PUSH}:Push", upload=True),
    "uploaded type that fails to prepare": _prepare_uploaded,
    "file of action types": lambda c, s: c.load_action_types("/nowhere/types.py"),
    "event that does not come": lambda c, s: s.wait_for("never", 0.05),
    "condition that does not hold": lambda c, s: s.wait_until("arm.position[0] > 2.9", 0.05),
}


def _with(session: Session, do: Callable[[Session], object]) -> None:
    with session:
        do(session)


@dataclass(frozen=True)
class Answer:
    """What became of a mistake."""

    error: str
    text: str
    fields: tuple[object, ...]


def answer(client: Client, name: str) -> Answer:
    """Make the mistake of this name in a session that is at work. Only what differs by chance is left out."""
    with client.session("arm", lease_s=0.0, name="table") as session:
        session.add(
            Action("stay", "hold"),
            Action("go", "move_joint", position=HOME),
            Action("follow", "follow_joint_stream"),
        )
        session.start("stay")
        try:
            MISTAKES[name](client, session)
        except (RobotControlError, TimeoutError) as error:
            kept = ("what", "expected", "got", "hint", "line", "text", "position", "reason")
            fields = tuple(_same(getattr(error, field, None)) for field in kept)
            mistakes = tuple(_same(str(mistake)) for mistake in getattr(error, "mistakes", ()))
            return Answer(type(error).__name__, str(_same(str(error))), (*fields, mistakes))
    raise AssertionError(f"{name}: nothing was refused")


def _same(value: object) -> object:
    """Without ids of sessions and numbers of ticks, which count what has happened before."""
    if not isinstance(value, str):
        return value
    return re.sub(r"a tick after \d+", "a tick after N", re.sub(r"'s\d+(_\d+)?'", "'sN'", value))


# --- programs ------------------------------------------------------------------------------------


def chained(client: Client) -> list[Event]:
    with client.session("arm", lease_s=0.0, name="chained") as session:
        session.add(
            Action("go", "move_joint", position=NEAR, reactions=[Reaction("is_done", start="back", event="there")]),
            Action(
                "back", "move_joint", position=HOME, reactions=[Reaction("is_done", event="done", capture=["progress"])]
            ),
        )
        session.start("go")
        session.wait_for("done", 60.0)
        return session.events


def followed(client: Client) -> list[Event]:
    """Ends of motions: a chain, a condition that holds already, a cancel, somebody else, the session."""
    ends: list[Ending] = []
    called = threading.Event()

    def call(ending: Ending) -> None:
        ends.append(ending)
        called.set()

    with client.session("arm", lease_s=0.0, name="followed") as session:
        go = Action("go", "move_joint", position=NEAR, reactions=[Reaction("is_done", start="back")])
        back = Action("back", "move_joint", position=HOME)
        whole = session.follow("go", add=[go, back], until="back.is_settled", on_end=call)
        ends.append(whole.wait(60.0))
        session.wait_until("time > 0", 60.0)  # in simulated time, this is when the callback comes
        assert called.wait(60.0) and whole.at_rest and whole.active == ("back",)
        ends.append(session.follow("back").wait(60.0))
        session.replace(Action("go", "move_joint", position=FAR, velocity_scale=0.1))
        ends.append(session.follow("go", until={"near": "arm.position[0] < 0.05", "far": "false"}).wait(60.0))
        moving = session.follow("go", until="false")  # a slow client may come after the motion
        session.wait_until("go.elapsed > 0.1", 60.0)
        ends.append(moving.cancel(60.0))
        assert moving.at_rest
        moving = session.follow("go", until="false")
        client.stop_all()
        ends.append(moving.wait(60.0))
        moving = session.follow("go", until="false")
        while not moving.active:  # over ROS, the news of its start is on its way
            client.sleep(0.01)
        events = session.events
    ends.append(moving.wait(60.0))
    assert [e.end for e in ends] == [*["reached"] * 4, "cancelled", "preempted", "session_lost"]
    assert ends[3].name == "near" and [e.action for e in ends] == [*[""] * 4, "go", "go", ""]
    return [e for e in events if e.kind in ("reaction_fired", "action_started", "action_stopped")]


def uploaded(client: Client) -> list[Event]:
    with client.session("arm", lease_s=0.0, name="uploaded") as session:
        assert session.upload(ROLES, ["mover=arm"], turn=0.1) == ["there", "back"]
        session.start("there")
        session.wait_until("back.is_done", 60.0)
        assert session.active == ("back",)
        return session.events


def called_back(client: Client) -> list[Event]:
    """A callback answers, a second one fails; an action is changed, stopped and removed."""

    def answer_it(event: Event) -> dict[str, Any]:
        return {"velocity": [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.01 if event.values["time"] > 0.0 else 0.0]}

    def fail(event: Event) -> None:
        raise ValueError("my mistake")

    with client.session("arm", lease_s=0.0, name="called back") as session:
        turn = Reaction(
            "arm.velocity[6] > 0.02", event="turns", call=answer_it, reply_to="turn", fire_once=True, capture=["time"]
        )
        session.add(Action("turn", "velocity_move", velocity=[0, 0, 0, 0, 0, 0, 0.05], reactions=[turn]))
        session.start("turn")
        session.wait_for("command_done", 60.0)
        session.wait_for("turns", 60.0)
        session.wait_for("command_done", 60.0)  # the answer's
        session.add(reactions=[Reaction("time > 0", event="later", call=fail, fire_once=True)])
        failed = session.wait_for("callback_failed", 60.0)
        assert "callback for 'later': ValueError: my mistake (same_answers.py:" in failed.reason
        session.stop("turn")
        session.wait_for("action_stopped", 60.0)
        session.wait_for("command_done", 60.0)
        session.clear()
        session.add(Action("home", "move_joint", position=HOME))
        session.start("home")
        session.wait_until("home.is_done", 60.0)
        return session.events


def past_its_deadline(client: Client) -> list[Event]:
    with client.session("arm", lease_s=0.0, name="short", deadline_s=0.5) as session:
        session.add(Action("stay", "hold"))
        session.start("stay")
        try:
            session.wait_for("never", 60.0)
        except RobotControlError as error:
            assert "its deadline of 0.5 s has come" in str(error)
        try:
            session.start("stay")
        except RobotControlError as error:
            assert type(error).__name__ == "SessionEnded" and "(short) has ended: its deadline" in str(error)
        events = session.events
        return events[: 1 + [e.kind for e in events].index("session_ended")]


def watched(client: Client) -> list[Event]:
    with (
        client.session("arm", lease_s=0.0, name="mover") as mover,
        client.session(read_only=True, lease_s=0.0, name="watcher") as watcher,
    ):
        watcher.add(reactions=[Reaction("arm.position[0] > 0.05", event="passed")])
        mover.add(Action("go", "move_joint", position=NEAR), Action("back", "move_joint", position=HOME))
        mover.start("go")
        watcher.wait_for("passed", 60.0)
        mover.wait_until("go.is_done", 60.0)
        mover.start("back")
        mover.wait_until("back.is_done", 60.0)
        return [*mover.events, *watcher.events]


def run_whole(client: Client) -> list[Event]:
    outcome = client.programs.run(ROLES, {"mover": "arm"}, turn=0.02)
    assert (outcome.success, outcome.message, outcome.last_event) == (True, "", "turned")
    return []


def governed(client: Client) -> list[Event]:
    """Two laws on a joint; which one governs is seen in events, state variables and states."""
    seen = ["time", "joint_1.strategy"]
    slow = Strategy("slow", "velocity", when="arm.position[0] > 0.05", velocity=0.05, capture=seen)
    turn = {"joint_1": [slow, Strategy("fast", "velocity", velocity=0.2)], "joint[6]": [KEEP]}
    with client.session("arm", lease_s=0.0, name="governed") as session:
        there = Reaction("arm.position[0] > 0.06", start="back", event="there", capture=["joint_1.strategy"])
        session.add(
            Action("turn", "hold", strategies=turn, reactions=[there]),
            Action("back", "hold", strategies={"joint_1": [KEEP]}),
        )
        session.start("turn")
        change = next(e for e in iter(lambda: session.wait_for("strategy_changed", 60.0), None) if e.from_strategy)
        assert (change.current_action, change.degree_of_freedom, change.from_strategy, change.to_strategy) == (
            "turn", "joint_1", "fast", "slow",
        )  # fmt: skip
        assert change.values["joint_1.strategy"] == 1.0 and change.values["time"] > 0.0
        assert session.wait_for("there", 60.0).values == {"joint_1.strategy": 0.0}
        while session.active != ("back",):  # states have a topic of their own, and may come later than events
            client.sleep(0.01)
        (state,) = client.program_states[session.id].strategies
        assert (state.action, state.degree_of_freedom, state.strategy) == ("back", "joint_1", "keep")
        assert session.value("back.joint_1.strategy") == 0.0 and session.value("back.joint_1.ticks") >= 0.0
        session.add(Action("home", "move_joint", position=HOME))
        session.start("home")
        session.wait_until("home.is_done", 60.0)
        return session.events


def replaced(client: Client) -> list[Event]:
    """A motion gets a new goal under its id, without standstill; a callback belongs to its definition."""

    def go(goal: list[float], name: str) -> Action:
        done = Reaction("is_done", event=name, name="done", call=lambda _: called.append(name))
        return Action("go", "move_joint", position=goal, velocity_scale=0.1, reactions=[done])

    called: list[str] = []
    with client.session("arm", lease_s=0.0, name="replaced") as session:
        session.add(go(FAR, "there"), reactions=[Reaction("arm.position[0] > 0.05", event="passed")])
        session.start("go")
        session.wait_for("passed", 60.0)
        before = client.value("arm.velocity[0]")
        session.replace(go(HOME, "home"))
        session.wait_for("action_stopped", 60.0)
        assert before > 0.01
        deadline = client.backend.now() + 60.0
        while session.active != ("go",):  # states have a topic of their own, and may come later than events
            assert client.backend.now() < deadline
            client.sleep(0.01)
        session.wait_for("home", 60.0)
        while not called:
            assert client.backend.now() < deadline
            client.sleep(0.01)
        assert called == ["home"]
        return session.events


def streamed(client: Client) -> list[Event]:
    """Streams of vectors to an action type whose text was sent: one is resampled outside the loop."""
    assert client.load_action_types(PUSH, upload=True) == ["push"]
    with client.session("arm", lease_s=0.0, name="streamed") as session:
        pushed = Reaction("force > 45", event="pushed", fire_once=True, capture=["wrench_missed"])
        session.add(Action("push", "push", reactions=[pushed], trouble="raise"))
        session.start("push")
        wrench = session.stream("push", "wrench")
        deadline = client.backend.now() + 60.0
        while not any(event.name == "pushed" for event in session.events):
            assert client.backend.now() < deadline
            wrench.write([0.0, 0.0, 70.0, 0.0, 0.0, 0.0])
            client.sleep(0.02)
        assert session.value("push.wrench_clamped") > 0.0
        session.stream("push", "acceleration").write([0.0] * 6 + [9.0])
        assert "value 6 of a sample is beyond its range" in session.wait_for("stream_refused", 60.0).reason
        wrench.write([-1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
        assert f"ValueError: no model of a pull; got the exception at {PUSH}:" in session.wait_for(
            "stream_refused", 60.0
        ).reason
        return session.events


PROGRAMS: dict[str, Callable[[Client], list[Event]]] = {
    "chained": chained,
    "followed": followed,
    "uploaded": uploaded,
    "called back": called_back,
    "past its deadline": past_its_deadline,
    "watched": watched,
    "run whole": run_whole,
    "governed": governed,
    "replaced": replaced,
    "streamed": streamed,
}


def told(client: Client, name: str) -> list[tuple[object, ...]]:
    """The events of a program, in their order, without what differs by chance: ids, ticks and times."""
    return [
        (
            e.kind,
            e.name,
            e.reaction,
            e.previous_action,
            e.current_action,
            e.degree_of_freedom,
            e.from_strategy,
            e.to_strategy,
            e.part,
            e.reason,
            tuple(e.values),
            e.missed,
            bool(e.file),
        )
        for e in PROGRAMS[name](client)
        if e.session  # what concerns the whole workcell comes when others do something
    ]
