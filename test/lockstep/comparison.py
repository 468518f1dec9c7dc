"""Running a program on two ticks and on the reference model, and comparing what each tick brought."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import isnan
from typing import Any

import numpy as np
from program_tables import TableWriter
from random_programs import Program
from reference_definitions import Definitions, Event, Outcome
from reference_model import ReferenceModel
from scripted_action import STATE, VARIABLES
from tick_bench import MAX_AGE, PERIOD, Bench

from robot_rt_control.memory.layout import offset_of, world_dtype
from robot_rt_control.vocabulary.enums import EventKind, FaultReason, OperationalState, Refusal, StopCause

_REASONS: dict[int, Any] = {
    EventKind.COMMAND_REFUSED: Refusal,
    EventKind.SWITCH_DROPPED: Refusal,
    EventKind.ACTION_STOPPED: StopCause,
    EventKind.PART_FAULTED: FaultReason,
}
_OF_PARTS = (EventKind.PART_FAULTED, EventKind.PART_ENABLED, EventKind.PART_DISABLED)


class Runner:
    """Runs programs on benches in step."""

    def __init__(self, *benches: Bench) -> None:
        self.benches = benches
        self.writer = TableWriter()
        self.moving: frozenset[int] = frozenset()
        """Parts of the first bench that the commands before the present tick have not brought to rest."""

    def run(self, program: Program) -> Iterator[tuple[int, list[np.ndarray]]]:
        """Yields (tick, each bench's events) after each tick."""
        self.writer = TableWriter()
        transaction = 0
        for bench in self.benches:
            bench.reset(program.workcell)
        for tick, inputs in enumerate(program.inputs, start=1):
            if tick in program.installations:
                new = self.writer.write(program.installations[tick], program.motion)
                for bench in self.benches:
                    bench.install(new)
            for command in program.commands.get(tick, ()):
                transaction += 1
                for bench in self.benches:
                    bench.push(command, transaction, self.writer.slots.of)
            self.moving = self.benches[0].moving()
            events = []
            for bench in self.benches:
                bench.show(inputs)
                events.append(bench.tick())
            yield tick, events

    def compare_with_model(self, program: Program) -> None:
        """Run the program on the first bench alone and compare each tick with the reference model.

        Raises:
            AssertionError: with the tick, and both sides.
        """
        cell = program.workcell
        model = ReferenceModel(cell.devices, enabled=cell.enabled, period=PERIOD, max_age=MAX_AGE)
        runner = Runner(self.benches[0])
        for tick, (events,) in runner.run(program):
            expected = model.tick(
                program.inputs[tick - 1],
                program.commands.get(tick, ()),
                program.installations.get(tick),
                moving=runner.moving,
            )
            got = observed(runner.benches[0], runner.writer, model.definitions, events)
            assert_same(tick, expected, got)

    def compare_benches(self, program: Program) -> None:
        """Run the program on all benches; all memory that matters must be bit-identical after each tick.

        Raises:
            AssertionError: with the tick and the place.
        """
        first, *others = self.benches
        for tick, events in self.run(program):
            for other, its_events in zip(others, events[1:], strict=True):
                assert first.calls() == other.calls(), f"tick {tick}: calls"
                assert events[0].tobytes() == its_events.tobytes(), f"tick {tick}: events"
                for name, mine, theirs in regions(first, other):
                    assert mine == theirs, f"tick {tick}: {name} differs"


def regions(a: Bench, b: Bench) -> Iterator[tuple[str, bytes, bytes]]:
    """All memory that a tick may write, of both benches: (what it is, bytes, bytes)."""
    v, w = a.world, b.world
    table = v.tables[int(v.active_tables)]
    n_memories = int(v.tables["n_reactions"].max()) + 16
    counts = {
        "parts": v.n_parts, "parts_runtime": v.n_parts, "feedback": v.n_parts, "left": v.n_parts,
        "active": v.n_active, "scheduled": v.n_scheduled,
        "ended_sessions": table.n_sessions, "suspended_sessions": table.n_sessions, "known_sessions": table.n_sessions,
        "actions_runtime": table.n_actions, "reactions_runtime": n_memories,
        "state_arena": int(table.n_actions) * STATE.itemsize // 8,
    }  # fmt: skip
    head = offset_of(world_dtype, "parts")
    yield "head of the world", bytes(memoryview(v).cast("B")[:head]), bytes(memoryview(w).cast("B")[:head])
    for name, count in counts.items():
        yield name, v[name][: int(count)].tobytes(), w[name][: int(count)].tobytes()
    for d in range(int(v.n_devices)):
        for name in ("last_cycle", "age", "enabled", "faulted", "mode"):
            yield f"device {d} {name}", v.devices[d][name].tobytes(), w.devices[d][name].tobytes()
        for name, count in (("state", v.devices[d].n_state), ("command", v.devices[d].n_command)):
            yield f"device {d} {name}", v.devices[d][name][:count].tobytes(), w.devices[d][name][:count].tobytes()
        for name in ("command_sequence", "command_cycle", "command_enable", "command_mode", "command"):
            yield f"image {d} {name}", a.images[d][name].tobytes(), b.images[d][name].tobytes()
    yield "snapshot", a.channel.memory.snapshot.tobytes(), b.channel.memory.snapshot.tobytes()


# --- what a tick brought, in the words of the reference model ---------------------------------------


def observed(bench: Bench, writer: TableWriter, definitions: Definitions, events: np.ndarray) -> Outcome:
    """The outcome of the last tick on a bench."""
    w = bench.world
    table = w.tables[int(w.active_tables)]
    active, states = {}, {}
    for p in range(int(w.n_parts)):
        runtime = w.parts_runtime[p]
        states[p] = OperationalState(int(runtime.state)).name.lower()
        if runtime.active_action >= 0:
            active[p] = int(table.actions[runtime.active_action].identity)
    variables = {}
    for action in definitions.actions:
        start = (writer.slots.of[action.identity] * STATE.itemsize + offset_of(STATE, VARIABLES[0])) // 8
        values = w.state_arena[start : start + len(VARIABLES)]
        variables[action.identity] = dict(zip(VARIABLES, map(float, values), strict=True))
    memories = {}
    for reaction in definitions.reactions:
        runtime = w.reactions_runtime[writer.memories.of[reaction.identity]]
        activation = 0
        if reaction.owner is not None:
            of_owner = w.actions_runtime[writer.slots.of[reaction.owner]]
            activation = int(of_owner.activation) if of_owner.active else -1
        if runtime.identity == reaction.identity and runtime.activation == activation:
            memories[reaction.identity] = bool(runtime.memory)
    return Outcome(active, bench.calls(), [event_of(e) for e in events], memories, variables, states)


_WITH_STATUS = (EventKind.ACTION_FAILED, EventKind.OVERRUN, EventKind.COMMAND_REFUSED)


def event_of(row: Any) -> Event:
    kind = EventKind(int(row["kind"]))
    reason = int(row["reason"])
    return Event(
        kind.name,
        int(row["reaction"]),
        int(row["previous_action"]),
        int(row["current_action"]),
        _REASONS[kind](reason).name if kind in _REASONS else "",
        int(row["part"]) if kind in _OF_PARTS else -1,
        int(row["status"]) if kind in _WITH_STATUS else 0,
        tuple(float(x) for x in row["values"][: row["n_values"]]),
    )


def assert_same(tick: int, expected: Outcome, got: Outcome) -> None:
    """Raises: AssertionError, with what differs."""
    for name in ("active", "states", "calls", "memories", "variables"):
        rules, tick_says = _comparable(getattr(expected, name)), _comparable(getattr(got, name))
        assert rules == tick_says, _message(tick, name, rules, tick_says, expected, got)
    ours, theirs = _by_subject(expected.events), _by_subject(got.events)
    for subject in ours.keys() | theirs.keys():
        rules, tick_says = ours.get(subject, []), theirs.get(subject, [])
        same = len(rules) == len(tick_says) and all(map(_same_event, rules, tick_says))
        assert same, _message(tick, f"events of {subject}", rules, tick_says, expected, got)


def _message(tick: int, what: str, rules: Any, tick_says: Any, expected: Outcome, got: Outcome) -> str:
    lines = [f"tick {tick}: {what} differ", f"  by the rules: {rules}", f"  by the tick:  {tick_says}"]
    for side, outcome in (("rules", expected), ("tick", got)):
        lines.append(f"  all events by the {side}:")
        lines += [f"    {event}" for event in outcome.events]
    return "\n".join(lines)


def _by_subject(events: list[Event]) -> dict[str, list[Event]]:
    """Events in the order that the rules give: those of one action, of one part, of commands, and of firings (R5)."""
    subjects: dict[str, list[Event]] = {}
    for event in events:
        subject = event.kind
        if event.kind.startswith("ACTION_"):
            subject = f"action {event.previous or event.current}"
        elif event.kind.startswith("PART_"):
            subject = f"part {event.part}"
        elif event.kind.startswith("COMMAND_"):
            subject = "commands"
        subjects.setdefault(subject, []).append(event)
    return subjects


def _same_event(rules: Event, tick_says: Event) -> bool:
    if tick_says.reason and tick_says.reason in rules.reason.split("|"):
        rules = replace(rules, reason=tick_says.reason)
    return _comparable(rules) == _comparable(tick_says)


def _comparable(value: Any) -> Any:
    """The same with not-a-number equal to itself."""
    if isinstance(value, float):
        return "unknown" if isnan(value) else value
    if isinstance(value, dict):
        return {k: _comparable(v) for k, v in value.items()}
    if isinstance(value, Event):
        return tuple(_comparable(x) for x in vars(value).values())
    if isinstance(value, list | tuple):
        return [_comparable(x) for x in value] if isinstance(value, list) else tuple(_comparable(x) for x in value)
    return value
