"""Whatever is defined, removed, started and closed in any order: the tables are right, and nothing is left behind."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from robot_rt_control.definitions.definitions import ActionDefinition, ParameterValue, ReactionDefinition
from robot_rt_control.realtime.executor.table_check import check_tables
from robot_rt_control.server.sessions import Session
from robot_rt_control.testing.server_bench import ServerBench
from robot_rt_control.vocabulary.errors import DefinitionError

MakeAction = Callable[..., ActionDefinition]


class Program:
    """Random requests, with what must hold after each."""

    def __init__(self, bench: ServerBench, wait: MakeAction, seed: int) -> None:
        self.bench, self.wait, self.random = bench, wait, random.Random(seed)
        self.sessions: list[Session] = []
        self.names = 0

    def name(self) -> str:
        self.names += 1
        return f"n{self.names}"

    def reaction(self, actions: list[str]) -> ReactionDefinition:
        r = self.random
        condition = r.choice(["time > 1e6", "arm.at_rest", *(f"{a}.is_done and not {a}.elapsed > 3" for a in actions)])
        return ReactionDefinition(
            condition=condition,
            event=self.name(),
            start=tuple(filter(None, [r.choice(["", *actions])])),
            capture=("time",) * r.randrange(3),
        )

    def step(self) -> None:
        r, server = self.random, self.bench.server
        free = [p for p in ("arm", "gripper") if not server.session_of_part(p)]
        if free and (not self.sessions or r.random() < 0.3):
            self.sessions.append(server.open_session("", [r.choice(free)], 0.0))
            return
        session = r.choice(self.sessions)
        present = list(server.contents(session).actions)
        what = r.choice("define define define remove clear start stop set set close tick".split())
        if what == "define":
            new = [self.name() for _ in range(r.randrange(4))]
            definitions = [
                self.wait(n, session.parts[0], *(self.reaction([*present, *new]) for _ in range(r.randrange(3))))
                for n in new
            ]
            server.define(session.id, definitions, [self.reaction([*present, *new]) for _ in range(r.randrange(2))])
        elif what == "remove":
            reactions = list(server.contents(session).reactions)
            chosen = r.sample(present, r.randrange(len(present) + 1))
            try:
                server.remove(session.id, chosen, r.sample(reactions, r.randrange(len(reactions) + 1)))
            except DefinitionError as error:
                assert "refers to it" in str(error)
        elif what == "clear":
            server.clear(session.id)
            assert not server.contents(session).actions and not server.contents(session).reactions
        elif what == "start" and present:
            server.start(session.id, [r.choice(present)])
        elif what == "stop":
            server.stop(session.id, r.sample(present, min(len(present), 1)))
        elif what == "set" and present:
            server.set_parameters(session.id, r.choice(present), [ParameterValue(name="duration", value=r.random())])
        elif what == "close":
            self.sessions.remove(session)
            server.close_session(session.id)
        else:
            self.bench.step(r.randrange(1, 5))

    def check(self) -> None:
        world = self.bench.executor.world.memory
        tables = world.tables[int(world.active_tables)]
        check_tables(tables, n_parts=int(world.n_parts))
        store = self.bench.store
        defined = {a.entry.identity: a for s in store.sessions.values() for a in s.actions.values()}
        assert {int(i) for i in tables.actions["identity"][: tables.n_actions] if i} == set(defined)
        reactions = [r for a in defined.values() for r in a.reactions]
        reactions += [r for s in store.sessions.values() for r in s.reactions.values()]
        assert sorted(tables.reactions["identity"][: tables.n_reactions]) == sorted(r.identity for r in reactions)
        assert store.action_slots.in_use == len(defined)
        assert store.reaction_slots.in_use == len(reactions)
        for action in defined.values():
            if action.type.name == "wait":
                offset = action.entry.parameter_offset // 8
                assert world.parameter_arena[offset] == action.prepared.values["duration"], "its parameters are its own"


@pytest.mark.long
@pytest.mark.parametrize("seed", range(6))
def test_tables_are_right_after_any_requests(bench: ServerBench, wait: MakeAction, seed: int) -> None:
    store = bench.store
    before = (store.parameters.used, store.state.used, len(store.directory.actions), len(store.directory.reactions))
    program = Program(bench, wait, seed)
    for _ in range(60):
        program.step()
        program.check()
    for session in program.sessions:
        bench.server.close_session(session.id)
    with store.change():
        pass  # what the loop has given up is free from the next change on
    assert before == (
        store.parameters.used, store.state.used, len(store.directory.actions), len(store.directory.reactions),
    )  # fmt: skip
    assert bench.kinds("command_refused", "action_failed") == []
