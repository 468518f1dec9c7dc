"""Rules T1 to T4 of docs/semantics/tick.md: the tick."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable

import numpy as np
import pytest

from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.definitions.definitions import ParameterValue
from robot_rt_control.model.workcell.workcell import Workcell
from robot_rt_control.testing.lockstep_cell import LockstepCell

NEAR = "rangefinder.distance < 0.3"


def fingerprint(cell: LockstepCell) -> bytes:
    """Digest of all commands, parts, states of actions, and events so far."""
    w = cell.executor.world.memory
    digest = hashlib.sha256()
    for device in w.devices[: int(w.n_devices)]:
        digest.update(device["command"].tobytes() + device["mode"].tobytes())
    digest.update(w.parts[: int(w.n_parts)].tobytes())
    digest.update(np.nan_to_num(w.state_arena[:8192], nan=1e300).tobytes())
    digest.update(
        repr([(e.kind, e.tick, e.time_ns, e.event, e.part, e.reason, e.values) for e in cell.events]).encode()
    )
    return digest.digest()


def test_T1_a_value_that_changes_before_a_tick_changes_the_command_of_that_tick(cell: LockstepCell) -> None:
    session = cell.session("left")
    session.add(
        Action("forth", "probe", speed=0.002, reactions=[Reaction(NEAR, start="back", event="near")]),
        Action("back", "probe", speed=-0.002),
    )
    session.start("forth")
    cell.step(10)
    before = cell.written("left")["left/x/position"]
    cell.step()
    assert cell.written("left")["left/x/position"] == pytest.approx(before + 2e-6)
    cell.set_sensor("rangefinder/distance", 0.29)
    tick = cell.step()
    assert [(e.tick, e.previous_action, e.current_action) for e in cell.fired("near")] == [(tick, "forth", "back")]
    assert cell.written("left")["left/x/position"] == pytest.approx(before), "the new action's command leaves"


def test_T1_steps_come_in_their_order(cell: LockstepCell) -> None:
    session = cell.session("left", "right")
    session.add(
        Action("look", "watch", parts={"part": "left", "eye": "rangefinder"}),
        # the state variable that this one waits for is set by sense in the very same tick
        Action("count", "probe", parts="right", reactions=[Reaction("senses >= 1", start="jump", event="counted")]),
        Action("jump", "writer", parts="right", value=0.9),
    )
    session.start("look", "count")
    cell.set_sensor("rangefinder/distance", 0.7)
    tick = cell.step()
    # read before commands and on_enter, sense before react, react before control
    for variable in ("at_entry", "at_sense", "at_control"):
        assert session.value(f"look.{variable}") == 0.7, variable
    assert [e.tick for e in cell.fired("counted")] == [tick]
    # control before limits, limits before write: the jump leaves as one step that the joint's limits allow
    (acceleration,) = cell.workcell.part("right").system_limits.acceleration[:1]
    assert cell.written("right")["right/y/position"] == pytest.approx(acceleration * 1e-6)
    # record comes last: the snapshot shows all of this
    assert (cell.view.tick, cell.active("right")) == (tick, "jump")


Log = list[tuple[int, Callable[[LockstepCell], object]]]


def random_log(seed: int, ticks: int) -> Log:
    """(tick, command): starts, stops, signals, parameters, speeds, motion commands, and what the sensors see."""
    rng = random.Random(seed)
    log: Log = []
    for tick in range(ticks):
        log += [(tick, random_command(rng)) for _ in range(rng.choice([0, 0, 1, 2]))]
    return log


def random_command(rng: random.Random) -> Callable[[LockstepCell], object]:
    name, signalled = rng.choice("abcd"), rng.choice("abc")
    distance, speed = rng.choice([0.1, 0.25, 0.5, float("nan")]), rng.choice([0.0, 0.5, 1.0])
    later, motion = rng.randrange(1, 20), rng.choice(["disable", "enable", "enable"])
    commands: list[Callable[[LockstepCell], object]] = [
        lambda cell: cell.server.start("s1", [name]),
        lambda cell: cell.server.start("s1", [name], cell.tick + later),
        lambda cell: cell.server.stop("s1", [name]),
        lambda cell: cell.server.signal("s1", signalled, "ping"),
        lambda cell: cell.server.set_parameters("s1", "c", [ParameterValue(name="level", value=speed)]),
        lambda cell: cell.server.set_speed(speed),
        lambda cell: cell.server.set_motion([], motion),
        lambda cell: cell.set_sensor("rangefinder/distance", distance),
        lambda cell: cell.set_sensor("rangefinder/distance", distance),
    ]
    return rng.choice(commands)


def replay(workcell: Workcell, log: Log, ticks: int) -> list[bytes]:
    """The fingerprint after each tick."""
    with LockstepCell(workcell) as cell:
        session = cell.session("left", "right", "tool")
        near, far = Reaction(NEAR, start="b", event="near", capture=["elapsed"]), Reaction("not " + NEAR, start="a")
        session.add(
            Action("a", "probe", parts="left", speed=0.3, reactions=[near]),
            Action("b", "probe", parts="left", speed=-0.3, reactions=[far]),
            Action("c", "pair", parts={"one": "right", "two": "tool"}, reactions=[Reaction("heard > 1", start="d")]),
            Action("d", "move_joint", parts="right", position=[0.5], reactions=[Reaction("is_done", stop=True)]),
            reactions=[Reaction("not left.at_rest", start="d", event="moving", capture=["rangefinder.distance"])],
        )
        after, marks = 0, []
        for tick in range(ticks):
            while after < len(log) and log[after][0] == tick:
                log[after][1](cell)
                after += 1
            cell.step()
            marks.append(fingerprint(cell))
        assert cell.fired("near") and cell.fired("moving") and cell.kinds("command_refused")
        return marks


@pytest.mark.parametrize("seed", range(2))
def test_T2_the_same_log_gives_the_same_commands_events_and_variables(workcell: Workcell, seed: int) -> None:
    log = random_log(seed, 400)
    assert replay(workcell, log, 400) == replay(workcell, log, 400)


def test_T2_a_command_sent_early_for_its_tick_does_the_same_as_one_sent_in_time(workcell: Workcell) -> None:
    def run(early: int) -> list[bytes]:
        marks = []
        with LockstepCell(workcell) as cell:
            session = cell.session("left")
            session.add(Action("a", "move_joint", position=[0.1, 0.2]))
            target = cell.tick + 30
            for _ in range(60):
                if cell.tick + 1 == target - early:
                    session.start("a", at_tick=target)
                cell.step()
                cell.events[:] = [e for e in cell.events if e.kind != "command_done"]
                marks.append(fingerprint(cell))
            assert [e.tick for e in cell.kinds("action_started", current_action="a")] == [target]
        return marks

    in_time = run(0)
    assert run(1) == in_time
    assert run(25) == in_time


@pytest.mark.parametrize("speed", [1.0, 0.5, 0.125, 0.0])
def test_T3_actions_see_the_period_times_the_speed(cell: LockstepCell, speed: float) -> None:
    session = cell.session("left")
    session.add(Action("a", "probe", speed=0.004))
    session.start("a")
    cell.server.set_speed(speed)
    first = cell.step()
    elapsed = session.value("a.elapsed")
    start = cell.part("left").commanded_position[0]
    cell.step(100)
    assert session.value("a.elapsed") - elapsed == pytest.approx(100 * speed * 1e-3)
    assert cell.part("left").commanded_position[0] - start == pytest.approx(100 * speed * 4e-6)
    assert session.value("a.controls") == 101, "the loop itself does not slow down"
    assert cell.view.time == pytest.approx((first + 100) * 1e-3), "nor does time"


def test_T4_what_is_too_old_is_unknown_and_faults_its_parts(hosted_cell: LockstepCell) -> None:
    cell = hosted_cell
    session = cell.session("left", "right")
    session.add(
        Action("a", "probe", parts="left", speed=0.2),
        Action("b", "probe", parts="right", speed=0.2),
        reactions=[
            Reaction("rangefinder.age > 2", event="old", capture=["rangefinder.age", "rangefinder.distance"]),
            Reaction("is_unknown(rangefinder.distance)", event="unknown", capture=["rangefinder.age"]),
            Reaction("right.age > 0", event="never"),
        ],
    )
    cell.set_sensor("rangefinder/distance", 0.5)
    session.start("a", "b")
    cell.step(100)
    assert cell.part("rangefinder").age == 0.0
    cell.silence("first")
    last = cell.tick  # of the last state
    cell.step(3)  # max_age_ticks
    assert (cell.active("left"), cell.part("rangefinder").distance) == ("a", 0.5)
    assert [(e.tick, e.values) for e in cell.fired("old")] == [(last + 3, (3.0, 0.5))]
    speed = cell.part("left").commanded_velocity[0]
    cell.step()
    assert [(e.tick, e.values) for e in cell.fired("unknown")] == [(last + 4, (4.0,))]
    faults = {(e.part, e.tick, e.reason) for e in cell.kinds("part_faulted")}
    assert faults == {(p, last + 4, "the hardware's data is too old") for p in ("left", "tool", "io")}
    assert np.isnan(cell.part("left").position[:2]).all()
    assert 0.0 < cell.part("left").commanded_velocity[0] < speed, "it brakes in that tick"
    cell.step(500)
    assert cell.part("rangefinder").age == 504.0, "the age stays known"
    assert (cell.active("left"), cell.active("right")) == ("none", "b")
    assert cell.fired("never") == []
