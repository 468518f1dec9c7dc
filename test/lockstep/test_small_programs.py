"""Small programs in which the tick once broke a rule: found by random search, kept by name."""

from collections.abc import Iterable
from math import nan
from typing import Any

import pytest
from comparison import Runner
from random_programs import Program
from reference_definitions import (
    SYSTEM,
    ActionDefinition,
    Behaviour,
    Definitions,
    Inputs,
    ReactionDefinition,
    SetSpeed,
    Start,
)
from tick_bench import Bench, Workcell, compiled_code

OLD, YOUNG = 2, 3


@pytest.fixture(scope="module")
def runner():
    return Runner(Bench(compiled_code()))


def program(
    actions: list[ActionDefinition],
    commands: dict[int, list[Any]],
    *,
    n_ticks: int,
    reactions: Iterable[ReactionDefinition] = (),
    safety: dict[int, int] | None = None,
) -> Program:
    """Three parts, all enabled, and two sessions."""
    definitions = Definitions((SYSTEM, OLD, YOUNG), tuple(actions), tuple(reactions), {}, safety or {})
    inputs = [Inputs(dict.fromkeys(range(3), 0.1), dict.fromkeys(range(3), 0.0)) for _ in range(n_ticks)]
    motion = {a.identity: (1, 0.0) for a in actions}
    return Program(Workcell((1, 1, 1), (0, 0, 0), frozenset(range(3))), inputs, {1: definitions}, commands, motion)


def calls_of_last_tick(runner: Runner, of: Program) -> list[tuple[int, str]]:
    runner.compare_with_model(of)
    return runner.benches[0].calls()


def test_C3_variables_of_an_action_that_never_ran_are_unknown(runner):
    idle = ActionDefinition(10, OLD, (0,), Behaviour())
    value = ("action", 10, "value")
    is_unknown = ReactionDefinition(20, OLD, None, ("unknown", value), captures=(value,))
    small = program([idle], {}, n_ticks=1, reactions=[is_unknown])
    ((_, (events,)),) = runner.run(small)
    fired = [e for e in events if e["reaction"] == 20]
    assert len(fired) == 1
    assert str(fired[0]["values"][0]) == str(nan)
    runner.compare_with_model(small)


def test_T3_a_speed_override_reaches_actions_in_the_tick_that_takes_it(runner):
    action = ActionDefinition(10, OLD, (0,), Behaviour())
    commands: dict[int, list[Any]] = {1: [Start(OLD, (10,))], 2: [SetSpeed(0.5)]}
    runner.compare_with_model(program([action], commands, n_ticks=2))
    assert runner.benches[0].world.parts[0].dt == 0.0005


def test_A6_safety_actions_of_a_failure_in_sense_let_nobody_sense_twice(runner):
    other = ActionDefinition(10, OLD, (0,), Behaviour())
    failing = ActionDefinition(11, YOUNG, (1, 2), Behaviour(fail_sense_at=2))
    first, second = (ActionDefinition(i, SYSTEM, (p,), Behaviour()) for i, p in ((12, 1), (13, 2)))
    commands: dict[int, list[Any]] = {1: [Start(OLD, (10,)), Start(YOUNG, (11,))]}
    small = program([first, second, other, failing], commands, n_ticks=2, safety={1: 12, 2: 13})
    calls = calls_of_last_tick(runner, small)
    assert calls[:6] == [
        *[(10, "sense"), (11, "sense")],
        *[(12, "on_enter"), (12, "sense"), (13, "on_enter"), (13, "sense")],
    ]
    assert calls.count((10, "sense")) == 1


def test_A6_a_failure_without_safety_action_lets_nobody_miss_his_sense(runner):
    failing = ActionDefinition(10, OLD, (0,), Behaviour(fail_sense_at=2))
    other = ActionDefinition(11, YOUNG, (1,), Behaviour())
    mate = ActionDefinition(12, OLD, (2,), Behaviour())
    commands: dict[int, list[Any]] = {1: [Start(OLD, (10, 12)), Start(YOUNG, (11,))]}
    calls = calls_of_last_tick(runner, program([mate, failing, other], commands, n_ticks=2))
    assert calls == [(12, "sense"), (10, "sense"), (11, "sense"), (11, "set_parameters"), (11, "control")]
