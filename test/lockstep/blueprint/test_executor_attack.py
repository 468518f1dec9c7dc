"""Random commands, sensors and faults at random moments of random runs: none hangs, nothing is held, all is logged."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from executor_attack import HOSTED, NODES, PARTS, SKILLS, WORDS, Attacked, code_in
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test
from samples import tries

from robot_rt_control.blueprint.runs.control_request import COMMANDS
from robot_rt_control.blueprint.runs.run import Start
from robot_rt_control.command_line.offline_catalogue import offline_catalogue
from robot_rt_control.testing.lockstep_client import LockstepClient
from robot_rt_control.validation.catalogue import Catalogue
from robot_rt_control.vocabulary.errors import CommandRefused

BENCH = Path(__file__).parents[1] / "mock_bench.yaml"
NAMES = st.sampled_from([*SKILLS, "hold", "nobody"])
BUSY = st.sampled_from(["refuse", "wait", "replace", "later"])
RUN = st.integers(-2, 9)
NODE = st.sampled_from(NODES)
CHANCE = st.booleans()


@cache
def workcell() -> Catalogue:
    return offline_catalogue(BENCH)


class ExecutorMachine(RuleBasedStateMachine):
    """Set `client` and `folder` before it is used."""

    client: LockstepClient
    folder: Path

    @initialize()
    def begin(self) -> None:
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        self.made = Attacked(self.client, workcell(), code_in(folder), folder)

    @rule(skill=NAMES, busy=BUSY, paused=CHANCE, rehearse=st.sampled_from([False] * 4 + [True]),
          at=st.sampled_from(["", "", "", *NODES]))  # fmt: skip
    def start(self, skill: str, at: str, **fields: Any) -> None:
        if fields["busy"] != "later":
            self.made.start(skill, start_at=at, **fields)

    @rule(text=st.sampled_from(["swing", "Swing 0.005!", "open", "stop", "sing"]))
    def say(self, text: str) -> None:
        self.made.say(text)

    @rule(label=st.sampled_from(["wave", "nod"]))
    def show(self, label: str) -> None:
        self.made.say(label, gesture=True)

    @rule(command=st.sampled_from([c for c in COMMANDS if c != "breakpoints"]), run=RUN, node=NODE, now=CHANCE,
          come_back=CHANCE, into=CHANCE, word=st.sampled_from(WORDS))  # fmt: skip
    def control(self, command: str, run: int, word: str, **fields: Any) -> None:
        self.made.control(command, run, value=word, how=word, seconds=0.1, **fields)

    @rule(run=RUN, how=st.sampled_from(["", "again", "next"]))
    def resume(self, run: int, how: str) -> None:
        self.made.control("resume", run, how=how)

    @rule(run=RUN, points=st.lists(st.tuples(st.sampled_from(["", "after ", "before "]), NODE), max_size=3))
    def breakpoints(self, run: int, points: list[tuple[str, str]]) -> None:
        self.made.control("breakpoints", run, breakpoints=tuple(word + node for word, node in points))

    @rule(ticks=st.integers(1, 120), every=st.sampled_from([1, 1, 5, 40]))
    def step(self, ticks: int, every: int) -> None:
        self.made.step(ticks, every)

    @rule(ticks=st.integers(0, 20))
    def stop(self, ticks: int) -> None:
        self.made.stop()
        self.made.step(ticks)

    @rule()
    def release(self) -> None:
        self.made.release()

    @rule(index=st.integers(0, 3))
    def close_session(self, index: int) -> None:
        self.made.close_session(index)

    @rule()
    def fault(self) -> None:
        self.made.fault()

    @rule()
    def clear(self) -> None:
        self.made.clear()

    @rule(part=st.sampled_from(PARTS))
    def disable(self, part: str) -> None:
        self.made.disable(part)

    @rule(part=st.sampled_from(PARTS))
    def take(self, part: str) -> None:
        self.made.take(part)

    @rule(name=st.sampled_from(list(SKILLS)))
    def save(self, name: str) -> None:
        self.made.save(name)

    @rule(index=st.integers(0, 3))
    def fill_disk(self, index: int) -> None:
        self.made.fill_disk(index)

    @rule(cancel=CHANCE)
    def end(self, cancel: bool) -> None:
        self._end(cancel=cancel)

    def _end(self, *, cancel: bool) -> None:
        self.made.calm()
        if cancel:
            self.made.cancel()
        else:
            self.made.finish()
        self.made.check()

    def teardown(self) -> None:
        try:
            self._end(cancel=True)
        finally:
            self.made.executor.close()
            for session in self.client.sessions():  # of a machine that failed: the next one has an own cell's state
                self.client.stop_session(session.id)


@contextmanager
def attacked(folder: Path) -> Iterator[type[ExecutorMachine]]:
    file, mock = folder / "bench.yaml", "    mock: {time_constant: 0.0}"
    file.write_text(BENCH.read_text().replace(mock, f'    "{HOSTED}": {{}}\n{mock}'))
    with LockstepClient(file, hardware=HOSTED) as client:
        client.sleep(0.02)
        yield type("Machine", (ExecutorMachine,), {"client": client, "folder": folder})


def attack(folder: Path, examples: int, steps: int) -> None:
    quiet = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    with attacked(folder) as machine:
        run_state_machine_as_test(
            machine,
            settings=settings(max_examples=examples, stateful_step_count=steps, deadline=None,
                              suppress_health_check=quiet),
        )  # fmt: skip


@pytest.mark.sampled
def test_whatever_comes_runs_end_and_hold_nothing(tmp_path: Path) -> None:
    attack(tmp_path, tries(4, whole=100), tries(25, whole=50))


def test_N28_a_stop_that_was_released_before_anybody_looked(tmp_path: Path) -> None:
    """The executor was held up: a candidate for the failure must not start anything all the same."""
    with attacked(tmp_path) as machine:
        folder = tmp_path / "own"
        folder.mkdir()
        made = Attacked(machine.client, workcell(), code_in(folder), folder)
        made.start("tour")
        made.step(120)
        assert machine.client.value("arm.at_rest") == 0.0
        made.stop()
        with pytest.raises(CommandRefused, match="a protective stop holds the robot"):  # parts or not
            made.executor.start(Start(skill="asks"))
        made.cell.step(50)
        made.release()
        made.cell.step(50)
        made.step(200)
        (run,) = made.executor.runs.values()
        assert run.views(0.0)[0].has_to_be_said, run.views(0.0)
        made.cancel()
        made.check()
        made.executor.close()
