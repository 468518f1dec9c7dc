"""Random programs: a workcell, definitions that may change on the way, commands, and what the hardware shows.

Everything is drawn from a `random.Random`, so that Hypothesis can drive (and shrink) it as well as a seed.
Values come from few numbers, so that conditions become true and false often. What the server would refuse is
not generated; what only the tick can refuse is.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import count
from math import nan
from random import Random
from typing import Any

from reference_definitions import (
    SYSTEM,
    ActionDefinition,
    At,
    Behaviour,
    ClearFaults,
    Definitions,
    Disable,
    Enable,
    EndSession,
    Inputs,
    ProtectiveStop,
    RaiseSignal,
    ReactionDefinition,
    ReleaseProtectiveStop,
    Resume,
    ServerLost,
    SetParameters,
    SetSpeed,
    Start,
    Stop,
    StopSession,
)
from tick_bench import Workcell

from robot_rt_control.vocabulary.capacities import COMMANDS_PER_TICK

MAX_TICKS = 10
DISTANCES = (0.0, 0.1, 0.2, 0.3)
SOURCES = ("door", "curtain")
SECRETS = ("", "", "", "key")
"""Of protective stops."""


@dataclass
class Program:
    """A program of `len(inputs)` ticks; key k, from 1: what happens at tick k."""

    workcell: Workcell
    inputs: list[Inputs]
    installations: dict[int, Definitions]
    commands: dict[int, list[Any]]
    motion: dict[int, tuple[int, float]]
    """Identity of an action → (mode, step) of what it commands; the reference model does not look at it."""


def random_program(random: Random) -> Program:
    """Draw a program."""
    return _Generator(random).program()


@dataclass
class _Generator:
    random: Random
    identities: Any = field(default_factory=lambda: count(SYSTEM + 1))
    parts_of: dict[int, list[int]] = field(default_factory=dict)
    motion: dict[int, tuple[int, float]] = field(default_factory=dict)
    stopped: bool = False
    suspended: bool = False

    def chance(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    def program(self) -> Program:
        random = self.random
        n_parts, n_ticks = random.randint(1, 4), random.randint(3, MAX_TICKS)
        two_devices = n_parts > 1 and self.chance(30)
        devices = tuple(p % 2 if two_devices else 0 for p in range(n_parts))
        enabled = frozenset(p for p in range(n_parts) if not self.chance(12))
        workcell = Workcell(tuple(random.randint(1, 2) for _ in range(n_parts)), devices, enabled)
        definitions = self.first_definitions(n_parts)
        installations, commands = {1: definitions}, {}
        for tick in range(1, n_ticks + 1):
            if tick > 1 and self.chance(6):
                definitions = self.changed(definitions)
                installations[tick] = definitions
            commands[tick] = [self.command(definitions, tick, n_parts) for _ in range(self.how_many(tick))]
        if n_ticks > 5 and self.chance(15):
            self.stop_and_go_on(definitions, commands, n_ticks)
        inputs = [self.show(n_parts, two_devices) for _ in range(n_ticks)]
        return Program(workcell, inputs, installations, commands, self.motion)

    def stop_and_go_on(self, d: Definitions, commands: dict[int, list[Any]], n_ticks: int) -> None:
        """A protective stop, its release, and mostly resumes and starts by hand: by chance alone they are rare."""
        stop = self.random.randint(2, n_ticks - 3)
        commands[stop].append(ProtectiveStop("drill"))
        if self.chance(30):
            commands[stop].append(ProtectiveStop("other"))
            commands[stop + 1] += [ReleaseProtectiveStop(), ReleaseProtectiveStop(everything=True, authority=False)]
        commands[stop + 1].append(ReleaseProtectiveStop(everything=True))
        for session in sorted({a.session for a in d.actions} - {SYSTEM}):
            own = [a.identity for a in d.actions if a.session == session]
            if self.chance(60):
                commands[self.random.randint(stop + 1, n_ticks)].append(Resume(session))
            commands[self.random.randint(stop + 2, n_ticks)].append(Start(session, (self.random.choice(own),)))

    def how_many(self, tick: int) -> int:
        if self.chance(1):
            return COMMANDS_PER_TICK + 3
        return self.random.choice((1, 2, 2) if tick == 1 else (0, 0, 0, 0, 1, 1, 2))

    def show(self, n_parts: int, two_devices: bool) -> Inputs:
        devices = (0, 1) if two_devices else (0,)
        return Inputs(
            {p: nan if self.chance(12) else self.random.choice(DISTANCES) for p in range(n_parts)},
            {p: nan if self.chance(12) else float(self.random.randint(0, 1)) for p in range(n_parts)},
            frozenset(p for p in range(n_parts) if self.chance(1)),
            frozenset(d for d in devices if self.chance(6)),
            frozenset(d for d in devices if self.chance(1)),
            self.random.choice((0.0, 0.3, -0.999, 1.005)),
            self.random.randint(1, 4) if self.chance(3) else 0,
        )

    # --- definitions ----------------------------------------------------------------------------

    def first_definitions(self, n_parts: int) -> Definitions:
        actions: list[ActionDefinition] = []
        default: dict[int, int] = {}
        safety: dict[int, int] = {}
        for part in range(n_parts):
            for table, percent in ((default, 75), (safety, 75)):
                if table is safety and part in default and self.chance(10):
                    safety[part] = default[part]
                elif self.chance(percent):
                    action = self.action(SYSTEM, (part,))
                    actions.append(action)
                    table[part] = action.identity
        sessions = [SYSTEM]
        parts = list(range(n_parts))
        self.random.shuffle(parts)
        for _ in range(self.random.randint(1, 3)):
            sessions.append(next(self.identities))
            self.parts_of[sessions[-1]] = []
        for part in parts:
            self.parts_of[self.random.choice(sessions[1:])].append(part)
        definitions = Definitions(tuple(sessions), tuple(actions), (), default, safety)
        return self.with_more(definitions, self.random.randint(1, 6), self.random.randint(0, 7))

    def with_more(self, d: Definitions, n_actions: int, n_reactions: int) -> Definitions:
        """New actions and reactions, of sessions that have parts."""
        sessions = [s for s in d.sessions if self.parts_of.get(s)]
        if not sessions:
            return d
        actions = list(d.actions)
        for _ in range(n_actions):
            session = self.random.choice(sessions)
            parts = list(self.parts_of[session])
            self.random.shuffle(parts)
            actions.append(self.action(session, tuple(parts[: self.random.randint(1, 2)])))
        d = replace(d, actions=tuple(actions))
        reactions = list(d.reactions)
        for _ in range(n_reactions):
            reactions.append(self.reaction(d, self.random.choice(sessions)))
        return replace(d, reactions=tuple(reactions))

    def action(self, session: int, parts: tuple[int, ...]) -> ActionDefinition:
        identity = next(self.identities)
        self.motion[identity] = (self.random.randint(1, 3), self.random.choice((0.0, 0.0001, -0.3, 5.0)))
        programs = ((), (), (1,), (2,), (1, 3), (1, 4)) if session != SYSTEM else ((),)
        within = tuple(session * 10 + number for number in self.random.choice(programs))
        return ActionDefinition(identity, session, parts, self.behaviour(), within)

    def behaviour(self) -> Behaviour:
        def rarely(percent: int, highest: int = 4) -> int:
            return self.random.randint(1, highest) if self.chance(percent) else 0

        return Behaviour(
            enter_status=rarely(4),
            fail_sense_at=rarely(6),
            fail_settings_at=rarely(3),
            fail_control_at=rarely(6),
            status=self.random.choice((1, 17, -1)),
            done_at=rarely(50, 3),
            bad_command_at=rarely(4),
            bad_command=self.random.choice(("NON_FINITE_COMMAND", "UNSUPPORTED_COMMAND_MODE")),
            gain=self.random.choice((1.0, 2.0)),
        )

    def reaction(self, d: Definitions, session: int) -> ReactionDefinition:
        own = [a for a in d.actions if a.session == session]
        owner = self.random.choice(own) if own and self.chance(70) else None
        others = [a for a in own if owner is None or not set(a.parts) & set(owner.parts)]
        start: tuple[int, ...] = ()
        stop, keep_owner = False, False
        kind = self.random.randrange(10)
        if kind < 6 and own:
            keep_owner = owner is not None and bool(others) and self.chance(30)
            start = self.together(others if keep_owner else own)
        elif kind < 8:
            stop = True
        signal = (self.random.choice(own).identity, self.random.randint(0, 1)) if own and self.chance(30) else None
        return ReactionDefinition(
            next(self.identities),
            session,
            None if owner is None else owner.identity,
            self.condition(d, owner, 2),
            start,
            stop,
            signal,
            event=self.chance(50),
            fire_once=self.chance(25),
            keep_owner=keep_owner,
            captures=tuple(self.variable(d, owner) for _ in range(self.random.choice((0, 0, 1, 2)))),
            leaves=self.random.randrange(len(owner.within))
            if start and owner is not None and owner.within and not keep_owner and self.chance(40)
            else None,
        )

    def together(self, actions: list[ActionDefinition]) -> tuple[int, ...]:
        """One action or several that share no part."""
        first, *others = self.random.sample(actions, len(actions))
        found, taken = [first], set(first.parts)
        for action in others:
            if self.chance(40) and not taken & set(action.parts):
                found.append(action)
                taken |= set(action.parts)
        return tuple(a.identity for a in found[:8])

    def variable(self, d: Definitions, owner: ActionDefinition | None) -> tuple:
        kind = self.random.randrange(10)
        if kind == 0:
            return self.random.choice((("time",), ("speed",), ("protective_stop",)))
        named = [a.identity for a in d.actions] if owner is None or self.chance(30) else [owner.identity]
        if kind < 5 and named:
            name = self.random.choice(("senses", "controls", "settings", "seen", "elapsed", "value", "is_done"))
            return ("action", self.random.choice(named), name)
        parts = sorted({p for a in d.actions for p in a.parts}) or [0]
        return ("part", self.random.choice(parts), self.random.choice(("distance", "distance", "switch", "age")))

    def condition(self, d: Definitions, owner: ActionDefinition | None, depth: int) -> Any:
        kind = self.random.randrange(12)
        if depth > 0 and kind < 5:
            inner = [self.condition(d, owner, depth - 1) for _ in range(1 if kind == 0 else 2)]
            return (("not", "and", "and", "or", "or")[kind], *inner)
        if kind == 5:
            return True
        variable = self.variable(d, owner)
        if kind == 6:
            return ("unknown", variable)
        match variable[-1]:
            case "is_done" | "switch":
                return self.random.choice((("true", variable), ("==", variable, False), ("!=", variable, True)))
            case "senses" | "controls" | "settings":
                operator = self.random.choice(("==", "!=", "<", "<=", ">", ">="))
                return (operator, variable, float(self.random.randint(0, 4)))
        number = self.random.choice(DISTANCES)
        if variable[-1] in ("elapsed", "time"):
            number = self.random.choice((0.001, 0.0025, 0.004))
        if self.chance(15):
            other = self.random.choice((0.1, ("part", 0, "distance"), ("abs", ("-", variable, 0.2))))
            variable = ("abs", (self.random.choice("+-"), variable, other))
        if self.chance(20):
            return ("approx", variable, number, 0.05)
        operator = self.random.choice(("<", "<=", ">", ">="))
        return (operator, number, variable) if self.chance(20) else (operator, variable, number)

    # --- changes --------------------------------------------------------------------------------

    def changed(self, d: Definitions) -> Definitions:
        """Other definitions at a later boundary: something goes, something comes, parameters change."""
        sessions = tuple(s for s in d.sessions if s == SYSTEM or not self.chance(10))
        gone = {a.identity for a in d.actions if a.session not in sessions or self.chance(15)}
        default = {p: i for p, i in d.default.items() if i not in gone}
        safety = {p: i for p, i in d.safety.items() if i not in gone}
        actions = [a for a in d.actions if a.identity not in gone]
        for part in sorted(set(d.default) - set(default)):
            if self.chance(50):
                actions.append(self.action(SYSTEM, (part,)))
                default[part] = actions[-1].identity
        actions = [replace(a, behaviour=replace(a.behaviour, gain=3.0)) if self.chance(20) else a for a in actions]
        if self.chance(20):
            self.random.shuffle(actions)  # also another order of the active ones
        reactions = [
            r for r in d.reactions
            if r.session in sessions and not _mentioned(r) & gone and not self.chance(10)
        ]  # fmt: skip
        left = Definitions(sessions, tuple(actions), tuple(reactions), default, safety)
        return self.with_more(left, self.random.randint(0, 2), self.random.randint(0, 2))

    # --- commands -------------------------------------------------------------------------------

    def command(self, d: Definitions, tick: int, n_parts: int) -> Any:
        command = self.plain_command(d, n_parts)
        return At(max(1, tick + self.random.randint(-1, 3)), command) if self.chance(8) else command

    def plain_command(self, d: Definitions, n_parts: int) -> Any:
        random = self.random
        busy = sorted({a.session for a in d.actions if a.session != SYSTEM}) or [999]
        session = random.choice(busy if self.chance(90) else (*d.sessions, 999))
        own = [a.identity for a in d.actions if a.session == session]
        some = tuple(random.choice(own) for _ in range(random.choice((1, 1, 1, 2, 3)))) if own else ()
        kind = random.randrange(100)
        if self.stopped and self.chance(18):  # else little more would happen
            self.stopped = self.chance(20)
            return self.release()
        if self.suspended and not self.stopped and self.chance(12):
            return Resume(session)
        if kind < 56:
            return Start(session, some)
        if kind < 63:
            return Stop(session, some)
        if kind < 66:
            return StopSession(0 if self.chance(25) else session)
        if kind < 68:
            return EndSession(session)
        if kind < 77:
            return RaiseSignal(session, some[0] if some else 999, 7 if self.chance(5) else random.randint(0, 1))
        if kind < 84 and self.chance(50):
            return SetParameters(session, random.choice(some or (999,)), random.choice((0.5, 4.0)))
        part = random.choice((-1, 9, *range(n_parts), *range(n_parts)))
        if kind < 80:
            if self.chance(45):
                self.stopped = self.suspended = True
                return ProtectiveStop(random.choice(SOURCES), random.choice(SECRETS))
            return SetSpeed(random.choice((0.0, 0.5, 1.0, 1.5, nan)), not self.chance(20))
        if kind < 88:
            return Enable(part)
        if kind < 90:
            return Disable(part)
        if kind < 94:
            return ClearFaults(part)
        if kind < 95:
            return ServerLost()
        anybody = [a.identity for a in d.actions] or [999]
        return random.choice(
            (Start(session, (999,)), Start(session, (random.choice(anybody),)), Start(998, some), Stop(session, (999,)))
        )

    def release(self) -> ReleaseProtectiveStop:
        """Mostly of all, so that programs go on."""
        if self.chance(40):
            return ReleaseProtectiveStop(everything=True, authority=not self.chance(10))
        source = self.random.choice(("", "", *SOURCES))
        return ReleaseProtectiveStop(source, self.random.choice(SECRETS), authority=not self.chance(20))


def _mentioned(reaction: ReactionDefinition) -> set[int]:
    """The actions that a reaction needs."""
    named = {*reaction.start} if reaction.owner is None else {reaction.owner, *reaction.start}
    if reaction.signal is not None:
        named.add(reaction.signal[0])

    def walk(node: Any) -> None:
        if isinstance(node, tuple):
            if node and node[0] == "action":
                named.add(node[1])
            for inner in node:
                walk(inner)

    walk((reaction.condition, reaction.captures))
    return named
