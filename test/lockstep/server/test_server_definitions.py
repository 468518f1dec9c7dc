"""Bad input is refused in words, nothing is half done, and the session works on (S1, S3); good input is installed."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from robot_rt_control.definitions.definitions import ActionDefinition, ParameterValue, ReactionDefinition
from robot_rt_control.realtime.executor.table_check import check_tables
from robot_rt_control.testing.server_bench import ServerBench
from robot_rt_control.vocabulary.capacities import MAX_REACTIONS
from robot_rt_control.vocabulary.errors import (
    CapacityError,
    ConditionError,
    DefinitionError,
    RobotControlError,
    SessionError,
)

MakeAction = Callable[..., ActionDefinition]


def act(
    type: str = "wait",
    parts: tuple[str, ...] | dict[str, str] = ("arm",),
    *reactions: ReactionDefinition,
    **values: Any,
) -> ActionDefinition:
    parameters = tuple(
        value if isinstance(value, ParameterValue) else ParameterValue(name=name, value=value)
        for name, value in values.items()
    )
    return ActionDefinition(id="bad", type=type, parts=parts, parameters=parameters, reactions=reactions)


def on(condition: str = "is_done", **fields: Any) -> ReactionDefinition:
    return ReactionDefinition(condition=condition, **({"event": "e"} | fields))


GOAL = (0.0,) * 7

BAD = {
    "unknown part": (
        lambda: act(parts=("amr",)),
        "action 'bad': unknown part; expected one of the known names; did you mean 'arm'; got 'amr'",
    ),
    "part of another session": (
        lambda: act(parts=("gripper",)),
        "action 'bad' moves part 'gripper'; expected a part of its session: arm; got a part that the session does not "
        "hold. Open the session with this part too",
    ),
    "unknown type": (
        lambda: act("wiat"),
        "action 'bad': unknown action type; expected one of the known names; did you mean 'wait'; got 'wiat'",
    ),
    "too many parts": (
        lambda: act(parts=("arm", "gripper")),
        "action 'bad': wrong number of parts; expected 1, in the order of the slots of 'wait': part (arm or gripper); "
        "got 2 (arm, gripper)",
    ),
    "unknown slot": (
        lambda: act(parts={"prat": "arm"}),
        "action 'bad': type 'wait' has no slot 'prat'; expected one of the known names; did you mean 'part'; "
        "got 'prat'",
    ),
    "slot without part": (
        lambda: act("both", {"arm": "arm", "eye": "rangefinder"}),
        "action 'bad': a part is missing; expected a part in each slot: arm (arm), tool (gripper), eye (rangefinder); "
        "got none for 'tool'",
    ),
    "kind does not fit": (
        lambda: act("goto", ("rangefinder",), goal=GOAL),
        "action 'bad': part 'rangefinder' does not fit slot 'arm' of type 'goto'; expected a part of kind arm; "
        "got rangefinder",
    ),
    "unknown parameter": (
        lambda: act(duratoin=1.0),
        "action 'bad' has no parameter 'duratoin'; expected one of the known names; did you mean 'duration'; "
        "got 'duratoin'",
    ),
    "wrong unit": (
        lambda: act(duration=ParameterValue(name="duration", value=1.0, unit="ms")),
        "action 'bad': parameter 'duration': wrong unit; expected 's'; got 'ms'. Units are not converted: give the "
        "value in the declared unit",
    ),
    "wrong length": (
        lambda: act("goto", goal=(0.0,) * 6),
        "action 'bad': parameter 'goal': wrong length; expected 7 numbers (one for each joint) in rad; got 6 values",
    ),
    "missing": (
        lambda: act("goto"),
        "action 'bad': parameter 'goal' is missing; expected 7 numbers (one for each joint) in rad; got no value",
    ),
    "not a number": (
        lambda: act("goto", goal=(0.0, math.nan, 0.0, 0.0, 0.0, 0.0, 0.0)),
        "action 'bad': parameter 'goal': element [1] is not finite; expected a finite number; got nan",
    ),
    "out of range": (
        lambda: act(duration=-1.0),
        "action 'bad': parameter 'duration': out of range; expected 0 to 100 s; got -1.0",
    ),
    "joint target outside limits": (
        lambda: act("goto", goal=(0.0, 0.0, 0.0, 9.0, 0.0, 0.0, 0.0)),
        "action 'bad': goal of joint 'joint_4'; expected ",
    ),
    "reaction to an unknown action": (
        lambda: act("wait", ("arm",), on(start="odl")),
        "reaction on 'is_done' of action 'bad' starts an action that is not defined; expected one of the known names; "
        "did you mean 'old'; got 'odl'",
    ),
    "unknown variable": (
        lambda: act("wait", ("arm",), on("is_dnoe", name="stop_it")),
        "condition of reaction 'stop_it' of action 'bad'",
    ),
    "unknown variable of another action": (
        lambda: act("wait", ("arm",), on("old.is_dnoe")),
        "did you mean 'old.is_done'",
    ),
    "unknown captured variable": (
        lambda: act("wait", ("arm",), on(capture=("elapsde",))),
        "reaction on 'is_done' of action 'bad' captures an unknown state variable; expected one of the known names; "
        "did you mean 'elapsed' or 'old.elapsed' or 'bad.elapsed'; got 'elapsde'",
    ),
    "unknown signal": (
        lambda: act("wait", ("arm",), on(signal="puase")),
        "reaction on 'is_done' of action 'bad' raises a signal that action 'bad' (type 'wait') does not have; expected "
        "one of the known names; did you mean 'pause'; got 'puase'",
    ),
    "signal of an unknown action": (
        lambda: act("wait", ("arm",), on(signal="new.pause")),
        "reaction on 'is_done' of action 'bad' signals an action that is not defined; expected one of: bad, good, old; "
        "got 'new'",
    ),
    "keep_owner with its own part": (
        lambda: act("wait", ("arm",), on(start="old", keep_owner=True)),
        "reaction on 'is_done' of action 'bad' keeps its owner, but starts an action that takes a part from it; "
        "expected an action that does not move arm; got 'old', which moves arm. Leave keep_owner out, or start an "
        "action with other parts",
    ),
    "exception of the author's code": (
        lambda: act(mode="crash"),
        "action 'bad': prepare_parameters of action type 'wait' failed with ZeroDivisionError: float division by zero; "
        "got the exception at ",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_S1_a_bad_action_is_refused_and_nothing_of_the_request_is_done(
    bench: ServerBench, wait: MakeAction, name: str
) -> None:
    make, text = BAD[name]
    session = bench.server.open_session("t", ["arm"], 0.0)
    bench.server.define(session.id, [wait("old")])
    bench.server.start(session.id, ["old"])
    store = bench.store
    before = (store.action_slots.in_use, store.reaction_slots.in_use, store.parameters.used, store.state.used)
    version = int(bench.executor.channel.memory.staging.tables.version)

    with pytest.raises(DefinitionError) as error:
        bench.server.define(session.id, [wait("good", "arm", on()), make()], [on("time > 1")])

    assert text in str(error.value)
    assert before == (store.action_slots.in_use, store.reaction_slots.in_use, store.parameters.used, store.state.used)
    assert int(bench.executor.channel.memory.staging.tables.version) == version, "nothing was installed"
    assert list(bench.server.contents(session).actions) == ["old"]
    bench.step()
    assert bench.active("arm") == "old", "what was active goes on"
    bench.server.define(session.id, [wait("good"), wait("bad")])
    bench.server.start(session.id, ["bad"])
    assert bench.active("arm") == "bad", "the session lives on, and even the ids are free"


def test_the_place_of_an_exception_is_the_line_of_the_author(bench: ServerBench, wait: MakeAction) -> None:
    session = bench.server.open_session("t", ["arm"], 0.0)
    with pytest.raises(DefinitionError) as error:
        bench.server.define(session.id, [act(mode="crash")])
    source = (bench.executor.workcell.path.parent / "server_types.py").read_text().splitlines()
    line = 1 + next(i for i, text in enumerate(source) if "1.0 / (len" in text)
    assert f"server_types.py:{line}. Correct the action type's code" in str(error.value)


def test_a_condition_on_an_unknown_variable_points_at_it(bench: ServerBench, wait: MakeAction) -> None:
    session = bench.server.open_session("t", ["arm"], 0.0)
    with pytest.raises(ConditionError) as error:
        bench.server.define(session.id, [], [on("rangefinder.distence < 0.2")])
    text = str(error.value)
    assert "there is no such state variable" in text
    assert "did you mean 'rangefinder.distance'" in text
    assert text.endswith("  rangefinder.distence < 0.2\n  ^")


def refusal(call: Callable[[], object]) -> str:
    with pytest.raises(RobotControlError) as error:
        call()
    return str(error.value)


def test_S3_ids_are_used_once_in_a_session(bench: ServerBench, wait: MakeAction) -> None:
    server = bench.server
    session = server.open_session("weld", ["arm"], 0.0)
    server.define(session.id, [wait("a")])
    assert refusal(lambda: server.define(session.id, [wait("a")])) == (
        "action 'a' exists; expected an id that session 's1' (weld) has not used yet. Ids are never used "
        "again within a session: choose another one"
    )
    assert refusal(lambda: server.define(session.id, [wait("b"), wait("b")])) == (
        "action 'b' is given twice; expected each once; got ['b', 'b']"
    )
    server.remove(session.id, ["a"])
    assert "action 'a' existed before and was removed" in refusal(lambda: server.define(session.id, [wait("a")]))
    assert refusal(lambda: server.define(session.id, [wait("gripper")])).startswith(
        "action 'gripper' has the name of a part"
    )
    other = server.open_session("", ["gripper"], 0.0)
    server.define(other.id, [wait("a", "gripper")])  # another session may use it
    server.define(session.id, [wait("b")])


def test_free_standing_reactions_have_names_of_their_own(bench: ServerBench, wait: MakeAction) -> None:
    server = bench.server
    session = server.open_session("", ["arm"], 0.0)
    server.define(session.id, [], [on("time > 1", name="late"), on("time > 2")])
    assert "reaction 'late' exists" in refusal(
        lambda: server.define(session.id, [], [on("time > 3", name="late")])
    )
    server.define(session.id, [], [on("time > 3")])
    assert list(server.contents(session).reactions) == ["late", "reaction_2", "reaction_3"]
    assert "keep_owner" in refusal(lambda: server.define(session.id, [], [on("time > 1", start="a", keep_owner=True)]))
    server.remove(session.id, [], ["late", "reaction_3"])
    assert list(server.contents(session).reactions) == ["reaction_2"]
    assert "free-standing reaction 'late' cannot be removed: there is none" in refusal(
        lambda: server.remove(session.id, [], ["late"])
    )


def test_C4_names_are_the_owners_then_of_actions_then_of_parts(bench: ServerBench, wait: MakeAction) -> None:
    server = bench.server
    session = server.open_session("", ["arm"], 0.0)
    server.define(
        session.id,
        [
            wait("a", "arm", on("elapsed > 0.0025 and b.is_done == false", event="never"), duration=5.0),
            wait("b", "arm", duration=5.0),
        ],
        [
            on(
                "a.elapsed > 0.0015 and gripper.at_rest and speed > 0.5 and time > 0",
                event="seen",
                capture=("a.elapsed",),
            )
        ],
    )
    server.start(session.id, ["a"])
    bench.step(5)
    (event,) = bench.fired("seen")
    assert event.values == pytest.approx((0.002,))
    assert event.names == ("a.elapsed",)
    assert bench.fired("never") == [], "b is not active, so its variables are unknown (C3)"
    assert "there is no such state variable" in refusal(lambda: server.define(session.id, [], [on("is_done")]))


def test_S7_removing_an_action_that_others_refer_to_is_refused(bench: ServerBench, wait: MakeAction) -> None:
    server = bench.server
    session = server.open_session("", ["arm"], 0.0)
    server.define(session.id, [wait("a", "arm", on("is_done", start="b", name="go_on")), wait("b")], [on("b.is_done")])
    assert refusal(lambda: server.remove(session.id, ["b"])) == (
        "action 'b' cannot be removed: reaction 'go_on' of action 'a' refers to it; expected an action that no "
        "remaining reaction or strategy refers to. Remove what refers to it in the same request"
    )
    assert "reaction 'reaction_1' (free-standing) refers to it" in refusal(
        lambda: server.remove(session.id, ["a", "b"])
    )
    assert "action 'x' cannot be removed: there is none in session 's1'" in refusal(
        lambda: server.remove(session.id, ["a", "x"])
    )
    server.start(session.id, ["b"])
    server.remove(session.id, ["a", "b"], ["reaction_1"])
    assert bench.active("arm") == "default"
    stop = bench.kinds("action_stopped")[-1]
    assert (stop.session, stop.previous_action, stop.reason) == (session.id, "b", "the action was removed")


def test_S2_definitions_change_while_an_action_goes_on(bench: ServerBench, wait: MakeAction) -> None:
    server = bench.server
    session = server.open_session("", ["arm"], 0.0)
    server.define(session.id, [wait("other"), wait("a", "arm", on("elapsed > 0.001", event="once"), duration=1.0)])
    server.start(session.id, ["a"])
    bench.step(3)
    elapsed = bench.value(session.id, "a.elapsed")
    for i in range(20):
        server.define(session.id, [wait(f"new_{i}", "arm", on(), on("time > 1"))], [on("time > 2")])
        if i % 3 == 0:
            server.remove(session.id, [f"new_{i}"])
    server.remove(session.id, ["other"])
    ticks = bench.view.tick - bench.kinds("action_started")[-1].tick
    bench.server.poll()
    assert bench.value(session.id, "a.elapsed") == pytest.approx((ticks + 1) * 0.001)
    assert bench.value(session.id, "a.elapsed") > elapsed
    assert len(bench.fired("once")) == 1, "its reaction keeps its memory"
    w = bench.executor.world.memory
    check_tables(w.tables[int(w.active_tables)], n_parts=int(w.n_parts))


def test_A9_new_parameters_reach_the_active_action_at_once_and_the_others_stay(
    bench: ServerBench, wait: MakeAction
) -> None:
    server = bench.server
    session = server.open_session("", ["arm"], 0.0)
    server.define(session.id, [wait("a", duration=5.0, status=3)])
    server.start(session.id, ["a"])
    bench.step(2)
    tick = server.set_parameters(session.id, "a", [ParameterValue(name="duration", value=7.0, unit="s")])
    assert bench.value(session.id, "a.limit") == 7.0
    assert bench.view.tick == tick
    assert server.contents(session).actions["a"].prepared.values["status"] == 3
    for value, text in (
        (ParameterValue(name="duration", value=math.inf), "is not finite"),
        (ParameterValue(name="duraton", value=1.0), "did you mean 'duration'"),
        (ParameterValue(name="duration", value=1.0, unit="h"), "wrong unit"),
        (ParameterValue(name="mode", value="fast"), "not a valid choice"),
    ):
        with pytest.raises(DefinitionError, match=text):
            server.set_parameters(session.id, "a", [value])
    assert "unknown action in session 's1'" in refusal(lambda: server.set_parameters(session.id, "b", []))
    bench.step(2)
    assert bench.value(session.id, "a.limit") == 7.0
    assert bench.active("arm") == "a"


def test_parameter_memory_does_not_grow_with_changes(bench: ServerBench, wait: MakeAction) -> None:
    server = bench.server
    session = server.open_session("", ["arm"], 0.0)
    server.define(session.id, [wait("a")])
    arena = bench.store.parameters
    for i in range(50):
        server.set_parameters(session.id, "a", [ParameterValue(name="duration", value=float(i))])
    assert arena.used <= 8 + 8 + 40 * 3


@pytest.mark.long
def test_capacities_are_named_with_limit_and_need(bench: ServerBench, wait: MakeAction) -> None:
    server = bench.server
    session = server.open_session("", ["arm"], 0.0)
    reactions = [on("time > 1e6")] * (MAX_REACTIONS // 2)
    server.define(session.id, [], reactions)
    with pytest.raises(CapacityError) as error:
        server.define(session.id, [wait("a")], [*reactions, on("time > 1e6")])
    assert str(error.value) == (
        f"too many reactions; expected at most {MAX_REACTIONS} (MAX_REACTIONS); got {MAX_REACTIONS + 1} needed. Remove "
        "those that are not needed any more, or close sessions"
    )
    assert not server.contents(session).actions
    server.define(session.id, [wait("a")], reactions)
    server.start(session.id, ["a"])
    assert bench.active("arm") == "a"


def test_a_call_on_a_closed_session_is_refused(bench: ServerBench, wait: MakeAction) -> None:
    server = bench.server
    session = server.open_session("weld", ["arm"], 0.0)
    server.define(session.id, [wait("a")])
    server.close_session(session.id)
    for call in (
        lambda: server.define(session.id, [wait("b")]),
        lambda: server.remove(session.id, ["a"]),
        lambda: server.start(session.id, ["a"]),
        lambda: server.stop(session.id),
        lambda: server.signal(session.id, "a", "pause"),
        lambda: server.set_parameters(session.id, "a", []),
        lambda: server.renew_session(session.id),
        lambda: server.close_session(session.id),
    ):
        with pytest.raises(SessionError) as error:
            call()
        assert str(error.value).startswith("session 's1' (weld) has ended: closed by its client.")


def test_a_program_in_yaml_is_added_as_a_whole(bench: ServerBench, wait: MakeAction) -> None:
    server = bench.server
    session = server.open_session("", ["arm"], 0.0)
    text = """
start: [down]
actions:
  down: {type: wait, parts: arm, parameters: {duration: 0.002}, reactions: [{when: is_done, start: up}]}
  up: {type: wait, parts: [arm]}
reactions:
  - {when: up.is_done, event: finished}
"""
    program = server.upload_program(session.id, text)
    assert [a.id for a in program.actions] == ["down", "up"]
    server.start(session.id, program.start)
    bench.step(20)
    assert len(bench.fired("finished")) == 1
    bad = "actions:\n  left: {type: wait, parts: arm}\n  right:\n    type: wait\n    parts: arm\n    speed: 1\n"
    assert "program:6" in refusal(lambda: server.upload_program(session.id, bad))
    foreign = "parts: [gripper]\nactions: {left: {type: wait, parts: arm}}\n"
    assert "the program moves part 'gripper'" in refusal(lambda: server.upload_program(session.id, foreign))
    assert list(server.contents(session).actions) == ["down", "up"]


@pytest.mark.long
def test_10000_reactions_are_installed_and_judged(bench: ServerBench, wait: MakeAction) -> None:
    server = bench.server
    session = server.open_session("", ["arm"], 0.0)
    many = tuple(on(f"elapsed > {0.001 * i + 0.0005:g}", event=f"e{i}") for i in range(10_000))
    server.define(session.id, [wait("a", "arm", *many, duration=50.0)])
    server.start(session.id, ["a"])
    bench.step(9)
    assert [len(bench.fired(f"e{i}")) for i in range(11)] == [1] * 10 + [0]
    w = bench.executor.world.memory
    assert np.count_nonzero(w.tables[int(w.active_tables)].reactions["identity"]) >= 10_000


def test_the_authors_code_sees_limits_and_the_state_last_seen(bench: ServerBench) -> None:
    server = bench.server
    session = server.open_session("", ["arm"], 0.0)
    start = server.parts["arm"].record
    server.define(session.id, [act("goto", goal=(0.05,) + (0.0,) * 6)])
    server.start(session.id, ["bad"])
    bench.step(200)
    now = server.parts["arm"].record
    assert 0.018 < now.position[0] - start.position[0] < 0.0201
    assert now.commanded_position[0] - now.position[0] == pytest.approx(1e-4), "measured is one tick behind"
    assert (now.velocity_limit == start.velocity_limit).all()
    assert now.dof == 7
