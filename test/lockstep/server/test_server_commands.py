"""Commands: start, stop, signals, speed, motion; refusals name actions and parts."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from robot_rt_control.definitions.definitions import ActionDefinition, ReactionDefinition
from robot_rt_control.testing.server_bench import ServerBench
from robot_rt_control.vocabulary.enums import FaultReason, OperationalState
from robot_rt_control.vocabulary.errors import CommandRefused, RobotControlError

MakeAction = Callable[..., ActionDefinition]


def on(condition: str = "is_done", **fields: Any) -> ReactionDefinition:
    return ReactionDefinition(condition=condition, **({"event": "e"} | fields))


def refusal(call: Callable[[], object]) -> str:
    with pytest.raises(RobotControlError) as error:
        call()
    return str(error.value)


@pytest.fixture
def session(bench: ServerBench, wait: MakeAction) -> str:
    session = bench.server.open_session("", ["arm", "gripper"], 0.0)
    bench.server.define(
        session.id,
        [wait("a", duration=50.0), wait("b", duration=50.0), wait("c", "gripper", duration=50.0)],
    )
    return session.id


def test_A1_actions_start_in_one_tick(bench: ServerBench, session: str) -> None:
    tick = bench.server.start(session, ["a", "c"])
    events = [e for e in bench.kinds("action_started") if e.session == session]
    assert [(e.current_action, e.tick) for e in events] == [("a", tick), ("c", tick)]
    assert (bench.active("arm"), bench.active("gripper")) == ("a", "c")


def test_A1_starts_that_cannot_be_are_refused_by_name(bench: ServerBench, session: str) -> None:
    start = bench.server.start
    assert refusal(lambda: start(session, ["c", "a", "b"])) == (
        "actions 'a' and 'b' cannot start together; expected actions that share no part; got both move arm"
    )
    assert refusal(lambda: start(session, ["a", "d"])) == (
        f"unknown action in session '{session}'; expected one of: a, b, c; got 'd'"
    )
    assert refusal(lambda: start(session, [])) == "nothing to start; expected at least one action; got none"
    assert "is named twice" in refusal(lambda: start(session, ["a", "a"]))
    tick = bench.view.tick
    assert refusal(lambda: start(session, ["a"], target_tick=tick - 1)).startswith(
        "start of 'a' was refused; expected a tick after "
    )
    bench.server.set_motion(["arm"], "disable")
    assert refusal(lambda: start(session, ["c", "a"])) == (
        "start of 'c', 'a' was refused; expected parts whose motion is enabled; got part 'arm' is disabled. "
        "Enable the motion first"
    )
    assert bench.active("gripper") == "default", "all or none"
    bench.server.set_motion(["arm"], "enable")
    start(session, ["c", "a"])
    assert (bench.active("arm"), bench.active("gripper")) == ("a", "c")


def test_no_more_actions_start_in_one_tick_than_fit_into_a_command(
    bench: ServerBench, wait: MakeAction, session: str
) -> None:
    bench.server.define(session, [wait(f"n{i}") for i in range(65)])
    assert refusal(lambda: bench.server.start(session, [f"n{i}" for i in range(65)])) == (
        "too many actions to start in one tick; expected at most 64 (MAX_ACTIONS_PER_COMMAND); got 65"
    )


def test_a_start_waits_for_its_tick(bench: ServerBench, session: str) -> None:
    target = bench.view.tick + 20
    assert bench.server.start(session, ["a"], target_tick=target) == target
    assert [e.tick for e in bench.kinds("action_started") if e.current_action == "a"] == [target]


def test_A5_stopping_starts_the_default_action(bench: ServerBench, session: str) -> None:
    bench.server.start(session, ["a", "c"])
    bench.server.stop(session, ["a"])
    assert (bench.active("arm"), bench.active("gripper")) == ("default", "c")
    bench.server.stop(session, ["a"])  # it may have ended already
    bench.server.stop(session)
    assert (bench.active("arm"), bench.active("gripper")) == ("default", "default")
    assert "unknown action" in refusal(lambda: bench.server.stop(session, ["x"]))


def test_G1_a_signal_is_seen_once(bench: ServerBench, session: str) -> None:
    bench.server.start(session, ["a"])
    tick = bench.server.signal(session, "a", "pause")
    assert tick == bench.view.tick
    bench.step(3)
    assert bench.value(session, "a.pauses") == 1.0
    bench.server.signal(session, "a", "nudge")
    bench.step(3)
    assert bench.value(session, "a.pauses") == 1.0


def test_G2_a_signal_to_an_inactive_action_is_dropped_and_said(bench: ServerBench, session: str) -> None:
    assert refusal(lambda: bench.server.signal(session, "a", "pause")) == (
        "signal 'pause' was dropped; expected an active action; got action 'a', which is not active. Start it first"
    )
    (event,) = bench.kinds("signal_dropped")
    assert (event.session, event.current_action) == (session, "a")
    assert refusal(lambda: bench.server.signal(session, "a", "puase")) == (
        "action 'a' (type 'wait') has no signal 'puase'; expected one of the known names; did you mean 'pause'; "
        "got 'puase'"
    )
    bench.server.start(session, ["a"])
    bench.server.signal(session, "a", "pause")


def test_T3_the_speed_override_scales_time(bench: ServerBench, session: str) -> None:
    bench.server.start(session, ["a"])
    bench.server.set_speed(0.25)
    before = bench.value(session, "a.elapsed")
    bench.step(8)
    assert bench.value(session, "a.elapsed") == pytest.approx(before + 8 * 0.25e-3)
    assert bench.view.speed == 0.25
    for bad in (-0.1, 1.1, math.nan):
        with pytest.raises(
            RobotControlError, match=r"speed override; expected 0 \(standing still\) to 1 \(full speed\)"
        ):
            bench.server.set_speed(bad)


def test_L4_a_faulted_part_is_named_with_its_fault(bench: ServerBench, session: str) -> None:
    bench.server.start(session, ["a", "c"])
    arm = bench.executor.world.memory.parts_runtime[0]
    bench.server.set_motion(["arm"], "disable")
    arm.state, arm.fault, arm.fault_joint = int(OperationalState.FAULTED), int(FaultReason.POSITION_LIMIT), 2
    bench.executor.world.memory.parts[0].operational_state = float(OperationalState.FAULTED)
    bench.step()
    with pytest.raises(CommandRefused) as error:
        bench.server.start(session, ["a"])
    assert str(error.value) == (
        "start of 'a' was refused; expected parts whose motion is enabled; got part 'arm' is faulted (the measured "
        "position left its range). Clear the fault, then enable the motion"
    )
    assert refusal(lambda: bench.server.set_motion(["arm"], "enable")) == (
        "enable of part 'arm' was refused; got the measured position left its range. Remove the cause: "
            "move the joint back into its range by hand or by a recovery program, then "
        "clear_faults, then enable"
    )
    assert refusal(lambda: bench.server.set_motion([], "enable")) == (
        "enable was refused for 1 of 3 parts; expected parts without a fault; the others are enabled; got arm: "
        "the measured position left its range. Remove the cause, then clear_faults, then enable"
    )
    assert bench.view.operational_state(0) == OperationalState.FAULTED
    bench.server.set_motion(["arm"], "clear_faults")
    bench.server.set_motion(["arm"], "enable")
    bench.server.start(session, ["a"])
    assert (bench.active("arm"), bench.active("gripper")) == ("a", "c")


def test_motion_commands_are_checked(bench: ServerBench) -> None:
    assert "unknown part; expected one of the known names; did you mean 'arm'" in refusal(
        lambda: bench.server.set_motion(["amr"], "enable")
    )
    assert "motion command; expected one of the known names; did you mean 'enable'" in refusal(
        lambda: bench.server.set_motion(["arm"], "enabel")
    )
    bench.server.set_motion([], "disable")
    bench.step()
    assert {bench.view.operational_state(i) for i in range(2)} == {OperationalState.DISABLED}
    bench.server.set_motion([], "enable")
    assert {e.part for e in bench.kinds("part_enabled")} >= {"arm", "gripper"}


def test_R12_a_firing_tells_tick_time_reaction_actions_and_values(bench: ServerBench, wait: MakeAction) -> None:
    session = bench.server.open_session("", ["arm"], 0.0)
    bench.server.define(
        session.id,
        [
            wait(
                "a",
                "arm",
                on("is_done", name="go_on", start="b", capture=("elapsed", "arm.age", "b.elapsed")),
                duration=0.003,
            ),
            wait("b"),
        ],
    )
    tick = bench.server.start(session.id, ["a"])
    bench.step(5)
    (event,) = bench.fired("e")
    assert (event.session, event.reaction, event.previous_action, event.current_action) == (
        session.id,
        "go_on",
        "a",
        "b",
    )
    assert (event.tick, event.time_ns) == (tick + 2, (tick + 2) * 1_000_000)
    assert event.names == ("elapsed", "arm.age", "b.elapsed")
    assert event.values[:2] == (pytest.approx(0.003), 0.0)
    assert math.isnan(event.values[2]), "b was not active"
    assert [e.sequence for e in bench.events] == list(range(1, len(bench.events) + 1))


def test_R6_a_dropped_switch_is_reported_by_name(bench: ServerBench, wait: MakeAction) -> None:
    session = bench.server.open_session("", ["arm"], 0.0)
    bench.server.define(
        session.id,
        [
            wait("a", "arm", on(name="first", start="b"), on(name="second", start="c"), duration=0.002),
            wait("b"),
            wait("c"),
        ],
    )
    bench.server.start(session.id, ["a"])
    bench.step(4)
    (event,) = bench.kinds("switch_dropped")
    assert (event.reaction, event.current_action, event.reason) == ("second", "c", "two actions use the same part")
    assert len(bench.fired("e")) == 2
    assert bench.active("arm") == "b"


def test_R11_an_action_that_keeps_its_owner_runs_beside_it(bench: ServerBench, wait: MakeAction) -> None:
    session = bench.server.open_session("", ["arm", "gripper"], 0.0)
    bench.server.define(
        session.id, [wait("a", "arm", on(start="g", keep_owner=True), duration=0.002), wait("g", "gripper")]
    )
    bench.server.start(session.id, ["a"])
    bench.step(4)
    assert (bench.active("arm"), bench.active("gripper")) == ("a", "g")


def test_R13_a_free_standing_stop_ends_all_of_its_session(bench: ServerBench, session: str) -> None:
    bench.server.define(session, [], [on("a.elapsed > 0.0015", stop=True, signal="c.pause")])
    bench.server.start(session, ["a", "c"])
    bench.step(3)
    assert (bench.active("arm"), bench.active("gripper")) == ("default", "default")
