"""Random strategies on three ticks at once: the compiled one, its interpreted twin, and a model of a few lines.

Two actions on one part with two joints lead to each other by their exits; each has random lists of strategies.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import numpy as np
import pytest
from comparison import regions
from program_tables import Installation, TableWriter
from reference_definitions import SYSTEM, ActionDefinition, Behaviour, Definitions, Inputs, ReactionDefinition, Start
from samples import tries
from scripted_action import PARAMS, STATE
from tick_bench import Bench, Workcell, compiled_code, interpreted_code

from robot_rt_control.conditions.compiler import compile_condition
from robot_rt_control.memory.layout import axis_dtype, governed_dtype, strategy_dtype
from robot_rt_control.vocabulary.enums import CommandMode, EventKind

SESSION, A, B = 2, 10, 11
N_TICKS = 25
MODEL_PROGRAMS, TWIN_PROGRAMS = tries(40, whole=150), 8
CELL = Workcell((2,), (0,), frozenset({0}))
EXITS = {A: ("<", 0.2), B: (">", 0.8)}
"""Action → its exit to the other one, on the distance that the part measures."""
FIRST_STATE = 8 * STATE.itemsize
"""[bytes] Strategies have their state in the arena after that of the actions."""


@dataclass(frozen=True)
class Program:
    """Thresholds of the strategies of each joint of each action; the last one of a list has none."""

    lists: dict[tuple[int, int], tuple[float, ...]]
    distances: tuple[float, ...]
    fails: dict[tuple[int, int, int], int]
    """(action, joint, strategy) → the control, counted since it took over, in which its law fails."""


def random_program(random: Random, *, fails: bool) -> Program:
    lists = {
        (action, joint): tuple(random.choice((0.1, 0.3, 0.5, 0.7, 0.9)) for _ in range(random.randrange(4)))
        for action in (A, B)
        for joint in range(2)
        if joint == 0 or random.random() < 0.7
    }
    distances = tuple(random.choice((0.05, 0.15, 0.25, 0.45, 0.65, 0.85, 0.95, math.nan)) for _ in range(N_TICKS))
    failing = {(*random.choice(list(lists)), 0): random.randrange(1, 4)} if fails else {}
    return Program(lists, distances, failing)


def definitions() -> Definitions:
    actions = tuple(ActionDefinition(i, SESSION, (0,), Behaviour()) for i in (A, B))
    exits = tuple(
        ReactionDefinition(20 + i, SESSION, i, (EXITS[i][0], ("part", 0, "distance"), EXITS[i][1]), start=(A + B - i,))
        for i in (A, B)
    )
    return Definitions((SYSTEM, SESSION), actions, exits, {}, {})


def install(program: Program) -> tuple[Installation, TableWriter]:
    """The tables of a program: those of its actions, and the strategies after them."""
    writer = TableWriter()
    plain = writer.write(definitions(), dict.fromkeys((A, B), (int(CommandMode.POSITION), 0.0)))
    axes: list[Any] = []
    strategies: list[Any] = []
    instructions = [plain.instructions]
    parameters = [plain.parameters]
    state, first = FIRST_STATE, len(plain.instructions)
    for identity in (A, B):
        row: Any = plain.actions[writer.slots.of[identity]]
        row["first_axis"] = len(axes)
        for (_, joint), thresholds in ((k, v) for k, v in program.lists.items() if k[0] == identity):
            axis: Any = np.zeros(1, axis_dtype)[0]
            axis["action"], axis["joint"] = writer.slots.of[identity], joint
            axis["first_strategy"], axis["n_strategies"] = len(strategies), len(thresholds) + 1
            axis["state_offset"], state = state, state + governed_dtype.itemsize
            axis["record_offset"] = -1
            for n, threshold in enumerate((*thresholds, None)):
                law: Any = np.zeros(1, strategy_dtype)[0]
                law["n_inputs"] = 2
                law["inputs"][:2] = writer.resolve("part0.distance").offset, -1
                law["state_offset"], law["state_size"], state = state, STATE.itemsize, state + STATE.itemsize
                offset = plain.parameter_offset + sum(len(p) for p in parameters) * PARAMS.itemsize
                law["parameter_offset"], law["parameter_size"] = offset, PARAMS.itemsize
                if threshold is not None:
                    condition = compile_condition(f"part0.distance < {threshold}", writer.resolve).instructions
                    law["first_instruction"], law["n_instructions"] = first, len(condition)
                    first += len(condition)
                    instructions.append(condition)
                values: Any = np.zeros(1, PARAMS)
                values["identity"], values["n_parts"] = name_of(identity, joint, n), 1
                values["mode"], values["step"] = int(CommandMode.POSITION), 1e-7 * (n + 1)
                values["fail_control_at"], values["status"] = program.fails.get((identity, joint, n), 0), 3
                parameters.append(values)
                strategies.append(law)
            axes.append(axis)
        row["n_axes"] = len(axes) - int(row["first_axis"])
    installation = replace(
        plain,
        parameters=np.concatenate(parameters),
        instructions=np.concatenate(instructions),
        axes=np.array(axes, axis_dtype),
        strategies=np.array(strategies, strategy_dtype),
    )
    return installation, writer


def name_of(action: int, joint: int, strategy: int) -> int:
    """The identity under which a law logs its calls."""
    return 100 * action + 10 * joint + strategy


def run(program: Program, *benches: Bench) -> Iterator[list[np.ndarray]]:
    """The events of each bench, after each tick."""
    installation, writer = install(program)
    for bench in benches:
        bench.reset(CELL)
        bench.install(installation)
    for tick, distance in enumerate(program.distances, start=1):
        events = []
        for bench in benches:
            if tick == 1:
                bench.push(Start(SESSION, (A,)), 1, writer.slots.of)
            bench.show(Inputs({0: distance}, {0: 0.0}))
            events.append(bench.tick())
        yield events


class Model:
    """Which action is active, which strategies govern, and which laws are called, by the rules Y1 to Y6."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.active: int | None = A
        self.governing: dict[int, int] = {}
        self.memory = dict.fromkeys((A, B), False)
        self.controls = 0
        self.entered = True

    def tick(self, distance: float) -> tuple[list[tuple[int, str]], list[tuple[int, int, int]]]:
        """The calls of laws, and the changes: (joint, before, after)."""
        if self.active is None:
            return [], []
        self._leave(distance)
        calls, changes = [], []
        axes = [joint for action, joint in self.program.lists if action == self.active]
        for joint in axes:
            thresholds = self.program.lists[self.active, joint]
            after = next((n for n, threshold in enumerate(thresholds) if distance < threshold), len(thresholds))
            before = self.governing.get(joint, -1)
            if after != before:
                changes.append((axes.index(joint), before, after))
        for joint in axes:
            thresholds = self.program.lists[self.active, joint]
            after = next((n for n, threshold in enumerate(thresholds) if distance < threshold), len(thresholds))
            name = name_of(self.active, joint, after)
            if self.governing.get(joint, -1) != after:
                calls.append((name, "on_enter"))
            self.governing[joint] = after
            calls += [(name, method) for method in ("sense", "set_parameters", "control")]
        return calls, changes

    def _leave(self, distance: float) -> None:
        """The exit fires on true after false since the action's start (R1), and it is judged first (Y3)."""
        assert self.active is not None
        sign, threshold = EXITS[self.active]
        if not math.isnan(distance):
            holds = distance < threshold if sign == "<" else distance > threshold
            fires = holds and not self.memory[self.active]
            self.memory[self.active] = holds
            if fires:
                self.memory[self.active] = False
                self.active = A + B - self.active
                self.governing = {}


@pytest.fixture(scope="module")
def compiled() -> Bench:
    return Bench(compiled_code())


@pytest.mark.sampled
def test_selection_follows_the_rules(compiled: Bench) -> None:
    seen = set()
    for seed in range(MODEL_PROGRAMS):
        program = random_program(Random(seed), fails=False)
        model = Model(program)
        for tick, (events,) in enumerate(run(program, compiled), start=1):
            calls, changes = model.tick(program.distances[tick - 1])
            of_laws = [call for call in compiled.calls() if call[0] >= 100]
            told = [
                (int(e["joint"]), int(e["status"]), int(e["reason"]))
                for e in events
                if e["kind"] == EventKind.STRATEGY_CHANGED
            ]
            assert (of_laws, told) == (calls, changes), f"seed {seed}, tick {tick}"
            seen |= set(changes)
    assert len(seen) >= 20, "there is enough to compare"


def test_compiled_equals_interpreted(compiled: Bench) -> None:
    twin = Bench(interpreted_code())
    failed = 0
    for seed in range(TWIN_PROGRAMS):
        program = random_program(Random(seed), fails=seed % 2 == 1)
        last = FIRST_STATE + 16 * (STATE.itemsize + governed_dtype.itemsize)
        for tick, events in enumerate(run(program, compiled, twin), start=1):
            assert events[0].tobytes() == events[1].tobytes(), f"seed {seed}, tick {tick}: events"
            assert compiled.calls() == twin.calls(), f"seed {seed}, tick {tick}: calls"
            for name, mine, theirs in regions(compiled, twin):
                assert mine == theirs, f"seed {seed}, tick {tick}: {name} differs"
            mine, theirs = (b.world.state_arena[: last // 8].tobytes() for b in (compiled, twin))
            assert mine == theirs, f"seed {seed}, tick {tick}: state of strategies differs"
            assert compiled.world.axis.tobytes() == twin.world.axis.tobytes(), f"seed {seed}, tick {tick}: axis"
            failed += int((events[0]["kind"] == EventKind.ACTION_FAILED).sum())
    assert failed >= 2, "laws fail in some of them"
