"""Rules K9 to K12, K17 and K18 of docs/semantics: what real-time code may do, and how long it may take."""

from __future__ import annotations

import dataclasses
import inspect
import math
from pathlib import Path

import pytest
from loaded_types import MOVING, POSITION, Busy, Drift

from robot_rt_control.client.actions import Action
from robot_rt_control.definitions.action_type import ActionType, Parameter, Slot, StateVariable
from robot_rt_control.model.workcell.workcell import Workcell
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.realtime.executor.executor import Executor, ExecutorOptions
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.errors import CompileError, DefinitionError

# --- K9, K10: what real-time code may do ---------------------------------------------------------


def test_K9_all_violations_are_told_at_once_with_line_and_hint(cell: LockstepCell, drift: Drift) -> None:
    # One of each kind; test/unit/server/builder/test_syntax_check.py has them all.
    lines = {
        "x = [1.0]": "builds a list; ",
        "y = part.position + 0.1 * part.dt": "computes with the whole array part.position, which makes a new array; ",
        "print(state.speed)": "prints; ",
        "raise ValueError": "raises an exception; ",
        "helper.LOCK.acquire()": "may wait (.acquire()); ",
        "params.factor = 2.0": "writes params.factor, which an action may only read; ",
        "part.velocity[0] = 1.0": "writes part.velocity[0], which an action may only read; ",
        "while state.speed > 0.0: state.speed *= 0.5": "loops without a bound that can be seen; ",
    }
    drift.helper.write_text("import threading\nSCALE = 1.0\nLOCK = threading.Lock()\n")
    path = Path(drift.write(0.1))
    path.write_text(path.read_text() + "".join(f"        {line}\n" for line in lines))
    with pytest.raises(CompileError) as refused:
        cell.server.load_action_types(str(path))
    first = len(path.read_text().splitlines()) - len(lines) + 1
    told = str(refused.value).splitlines()
    assert len(told) == len(lines)
    for number, (text, operation) in enumerate(zip(told, lines.values(), strict=True), first):
        assert text.startswith(f"{path}:{number}: {operation}")
        assert len(text.partition("; ")[2]) > 10, "a hint"


class Sums(ActionType):
    """Arithmetic at its edges."""

    name = "sums"
    slots = (Slot(name="part", kinds=MOVING),)
    parameters = (
        Parameter(name="zero", default=0.0),
        Parameter(name="none", type="int", default=0),
        Parameter(name="huge", type="int", default=2**52),
        Parameter(name="index", type="int", default=0),
        Parameter(name="command", type="bool", default=False),
    )
    state_variables = tuple(
        StateVariable(name=n) for n in ("quotient", "undefined", "whole", "rest", "root", "wrapped", "last")
    )
    State = {"table": (float, 4), "count": int}

    @staticmethod
    def control(state, params, part):
        state.quotient = 1.0 / params.zero
        state.undefined = params.zero / params.zero
        state.whole = 7 // params.none
        state.rest = 7 % params.none
        state.root = math.sqrt(params.zero - 1.0)
        state.count = params.huge * 4096
        state.wrapped = state.count
        state.table[params.index] = 1.0
        state.last = 1.0
        if params.command:
            part.command_mode = POSITION
            part.position_command[0] = state.undefined


def test_K10_arithmetic_never_raises(cell: LockstepCell) -> None:
    session = cell.session("left")
    session.add(Action("a", Sums))
    session.start("a")
    cell.step()
    values = {n: session.value(f"a.{n}") for n in ("quotient", "undefined", "whole", "rest", "root", "wrapped")}
    assert values["quotient"] == math.inf and math.isnan(values["undefined"]) and math.isnan(values["root"])
    assert (values["whole"], values["rest"]) == (0.0, 0.0)
    assert values["wrapped"] == 0.0, "2^64"


def test_K10_an_index_out_of_range_is_the_actions_failure_in_that_tick(cell: LockstepCell) -> None:
    session = cell.session("left")
    session.add(Action("a", Sums))
    session.start("a")
    cell.step(3)
    session.set("a", index=4)
    tick = cell.step()
    assert [(e.tick, e.reason) for e in cell.kinds("action_failed")] == [(tick, "index out of range")]
    assert cell.active("left") == "safety"


def test_K10_what_is_not_finite_does_not_leave(cell: LockstepCell) -> None:
    session = cell.session("left")
    session.add(Action("a", Sums, command=True))
    session.start("a")
    cell.step()
    assert [e.reason for e in cell.kinds("part_faulted")] == ["the action wrote a command that is not finite (x)"]
    assert all(math.isfinite(v) for v in cell.written("left").values())


# --- K11, K12: time ------------------------------------------------------------------------------


class TooBusy(Busy):
    """Shows what it takes."""

    name = "too_busy"
    example = {"rounds": 20_000}


class Rounds(ActionType):
    """A loop whose end is a parameter: measured at its maximum."""

    name = "rounds"
    slots = (Slot(name="part", kinds=MOVING),)
    parameters = (Parameter(name="n", type="int", default=1, minimum=0, maximum=100),)
    state_variables = (StateVariable(name="x"),)
    time_budget = 50e-6

    @staticmethod
    def control(state, params, part):
        for _ in range(params.n):
            state.x += 1.0


class TooManyRounds(Rounds):
    """Its default takes no time, its maximum does."""

    name = "too_many_rounds"
    parameters = (Parameter(name="n", type="int", default=1, minimum=0, maximum=100_000),)

    @staticmethod
    def control(state, params, part):
        for i in range(params.n):
            state.x = math.sin(state.x + i)


class AnyRounds(Rounds):
    """Nothing says when its loop ends."""

    name = "any_rounds"
    parameters = (Parameter(name="n", type="int", default=1),)

    @staticmethod
    def control(state, params, part):
        for _ in range(params.n):
            state.x += 1.0


class Endless(ActionType):
    """Ends, but not while a request waits."""

    name = "endless"
    slots = (Slot(name="part", kinds=MOVING),)
    state_variables = (StateVariable(name="x"),)

    @staticmethod
    def control(state, params, part):
        for i in range(10_000_000):
            state.x = math.sin(math.sin(math.sin(state.x + i)))


@pytest.mark.long
def test_K11_the_longest_tick_is_measured_and_held_against_the_budget(cell: LockstepCell) -> None:
    cell.load(Busy)
    busy, hold = cell.types.get("busy", ""), cell.types.get("hold", "")
    assert 0.0 < busy.compute_time < busy.time_budget == 50e-6
    assert 0.0 < hold.compute_time < hold.time_budget == pytest.approx(0.2 * cell.workcell.period)
    assert math.isfinite(cell.types.get("velocity_move", "").compute_time)
    with pytest.raises(CompileError) as refused:
        cell.load(TooBusy)
    assert "one tick of action type 'too_busy' takes up to " in str(refused.value)
    assert "more than its time budget of 50.0 µs. Do less in its real-time methods" in str(refused.value)


@pytest.mark.long
def test_K11_code_that_does_not_end_is_refused(cell: LockstepCell) -> None:
    with pytest.raises(CompileError, match="its real-time methods did not end within 5 s. Look for a loop that"):
        cell.load(Endless)
    cell.load(Busy)


def test_K11_a_loop_s_end_is_a_constant_or_a_parameter_with_a_maximum(cell: LockstepCell) -> None:
    with pytest.raises(CompileError) as refused:
        cell.load(AnyRounds)
    assert "loops over range(params.n), whose greatest number of rounds is not known; Declare a `maximum`" in str(
        refused.value
    )
    assert f"{__file__}:" in str(refused.value)


def test_K11_a_loop_is_measured_at_the_maximum_of_its_parameter(cell: LockstepCell) -> None:
    with pytest.raises(CompileError, match="one tick of action type 'too_many_rounds' takes up to .* more than its"):
        cell.load(TooManyRounds)
    cell.load(Rounds)
    session = cell.session("left")
    session.add(Action("a", Rounds))
    with pytest.raises(DefinitionError) as refused:
        session.set("a", n=101)
    assert (refused.value.expected, refused.value.got) == ("0 to 100", "101.0")
    session.start("a")
    with pytest.raises(DefinitionError, match="parameter 'n': out of range"):
        session.set("a", n=9_000_000_000_000_000)
    cell.step(2)
    assert session.value("a.x") == 2.0


SLOW = 8_000
"""Rounds of Busy: above its budget, and not far above it."""


def test_K12_an_action_above_its_budget_is_reported_once_a_second(cell: LockstepCell) -> None:
    cell.executor.world.memory.watching = 1  # as in the wall-clock loop
    session = cell.session("left")
    session.add(Action("a", Busy))
    session.start("a")
    cell.step(5)
    assert not cell.kinds("budget_exceeded", current_action="a")
    session.set("a", rounds=SLOW)
    first = cell.step()
    cell.step(1050)
    told = cell.kinds("budget_exceeded", current_action="a")
    assert [e.tick for e in told] == [first, first + 1000]
    assert (told[0].session, told[0].current_action, told[0].part) == (session.id, "a", "left")
    assert told[0].names == ("compute_time", "time_budget")
    assert told[0].values[0] > told[0].values[1] == pytest.approx(50e-6)
    assert told[0].reason.endswith("µs in this tick, more than its time budget of 50 µs")
    assert cell.active("left") == "a", "warned"


def test_K12_it_fails_after_three_ticks_in_a_row_where_the_workcell_says_so(workcell: Workcell) -> None:
    with LockstepCell(dataclasses.replace(workcell, budget_policy="fail")) as cell:
        cell.executor.world.memory.watching = 1
        session, other = cell.session("left"), cell.session("right")
        session.add(Action("a", Busy))
        other.add(Action("b", "probe", speed=0.1))
        session.start("a")
        other.start("b")
        cell.step(5)
        for _ in range(3):
            session.set("a", rounds=SLOW)
            cell.step(2)
            session.set("a", rounds=1)
            cell.step(1)
        assert cell.active("left") == "a", "never three in a row"
        session.set("a", rounds=SLOW)
        tick = cell.step(5)
        reason = "its code took longer than its time budget in several ticks in a row"
        assert [(e.tick, e.reason) for e in cell.kinds("action_failed")] == [(tick - 2, reason)]
        assert cell.active("left") == "safety" and session.ended is not None
        assert cell.active("right") == "b" and other.ended is None


class Hidden(Rounds):
    """Its measured tick is short. Another one, in a branch that the measurement does not take, is not."""

    name = "hidden"

    @staticmethod
    def control(state, params, part):
        if part.position[0] > 1000.0:
            for i in range(3000):
                for k in range(3000):
                    state.x = math.sin(state.x + i * k)


class Chosen(Rounds):
    """Of two branches the longer one counts, and a function as often as it is called."""

    name = "chosen"
    parameters = (Parameter(name="n", type="int", default=1, minimum=0, maximum=30_000),)

    @staticmethod
    def control(state, params, part):
        if part.position[0] > 1000.0:
            for _ in range(2):
                spin(state, params)
        else:
            for i in range(10):
                state.x += i


@realtime
def spin(state, params):
    for i in range(params.n):
        state.x += i * 0.5


def test_K17_loops_that_could_hold_the_tick_for_many_times_the_budget_are_refused(cell: LockstepCell) -> None:
    with pytest.raises(CompileError) as refused:
        cell.load(Hidden)
    found = refused.value
    line = inspect.getsourcelines(Hidden)[1] + 8
    assert found.what == f"{__file__}:{line}: loops over range(3000), up to 3000 rounds"
    assert found.expected.startswith("at most 500 µs in one tick, 10 times its time budget")
    assert found.got.startswith("up to ") and found.got.endswith(" µs") and float(found.got.split()[2]) > 1e5
    assert "Declare a smaller `maximum`" in found.hint


def test_K17_a_smaller_maximum_makes_it_load(cell: LockstepCell) -> None:
    cell.load(Chosen)
    assert cell.types.get("chosen", "").time_budget == 50e-6


def test_K18_an_action_that_is_far_above_its_budget_again_and_again_ends_by_default(cell: LockstepCell) -> None:
    world = cell.executor.world.memory
    session, other = cell.session("left"), cell.session("right")
    session.add(Action("a", Busy))
    other.add(Action("b", "probe", speed=0.1))
    session.start("a")
    other.start("b")
    cell.step(2)
    for tables in world.tables:
        tables.types[cell.types.get("busy", "").index].budget_ns = 1000  # its code cannot be far above its own
    world.watching = 1
    session.set("a", rounds=20_000)
    tick = cell.step(10)
    reason = "its code used more than 10 times its time budget in 3 ticks"
    [failed] = cell.kinds("action_failed")
    assert failed.reason == reason and failed.tick < tick
    assert cell.active("left") == "safety" and session.ended is not None
    assert cell.active("right") == "b" and other.ended is None


def test_K12_nothing_is_watched_in_lockstep_but_with_every_other_clock(cell: LockstepCell) -> None:
    session = cell.session("left")
    session.add(Action("a", Busy, rounds=20_000))
    session.start("a")
    cell.step(10)
    assert not cell.kinds("budget_exceeded") and cell.executor.world.memory.actions_runtime["busy_ns"].max() == 0
    realtime = Executor(
        cell.workcell, ExecutorOptions(clock="realtime"), channel_name=None, image_name=lambda device: device
    )
    assert realtime.world.memory.watching == 1
