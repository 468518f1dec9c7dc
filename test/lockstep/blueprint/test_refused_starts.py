"""Whatever happens while a run starts: nothing of it is left, and its log says that it was refused."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from samples import tries

from robot_rt_control.blueprint.engine.engine import Engine
from robot_rt_control.blueprint.runs.executor import Executor
from robot_rt_control.blueprint.runs.performer import RobotPerformer
from robot_rt_control.blueprint.runs.robot import Robot
from robot_rt_control.blueprint.runs.run import ExecutedRun, Start
from robot_rt_control.blueprint.runs.run_log import RunLog
from robot_rt_control.blueprint.runs.runner import Runner
from robot_rt_control.blueprint.skills.skill_library import SkillLibrary
from robot_rt_control.blueprint.skills.store import SkillStore
from robot_rt_control.command_line.offline_catalogue import offline_catalogue
from robot_rt_control.definitions.parameter_value import ParameterValue
from robot_rt_control.testing.cell_backend import CellBackend
from robot_rt_control.testing.lockstep_client import LockstepClient
from robot_rt_control.vocabulary.errors import CommandRefused, DefinitionError, InternalError, RobotControlError

BENCH = Path(__file__).parents[1] / "mock_bench.yaml"
SWING = """
name: swing
roles: {limb: {kinds: [arm], default: arm}}
parameters: {far: {unit: m, default: 0.02, minimum: 0.0, maximum: 0.1}, times: {type: int, default: 1}}
nodes:
  note: {log: begins, then: out}
  out:  {skill: move_linear, parts: {arm: limb}, with: {offset: [0, 0, $far], speed: 0.1}, then: back}
  back: {skill: move_linear, parts: {arm: limb}, with: {offset: [0, 0, -$far], speed: 0.1}}
"""
WAITS = "{name: waits, nodes: {a: {skill: hold, parts: {part: arm}, until: 'arm.tool.z > 100'}}}"


class Bench:
    """The executor beside a cell, and what a refused start may not change."""

    def __init__(self, client: LockstepClient, folder: Path) -> None:
        self.client, self.logs = client, folder / "logs"
        library = SkillLibrary(SkillStore(folder / "skills"), offline_catalogue(BENCH), client.backend)
        self.executor = Executor(Robot(client.backend), library, self.logs)
        for text in (SWING, SWING.replace("name: swing", "name: swing\ndescription: anew"), WAITS):
            library.save(text)

    def held(self) -> tuple[list[tuple[str, list[str]]], list[str], list[str]]:
        """Sessions, parts that one holds, and runs that go on."""
        sessions = [(s.id, list(s.parts)) for s in self.client.sessions()]
        return (
            sessions,
            [part.name for part in self.client.parts() if part.session],
            [run.id for run in self.executor.runs.values() if run.outcome is None],
        )

    def step(self, ticks: int = 1) -> None:
        for _ in range(ticks):
            self.client.cell.step()
            self.executor.update()

    def end(self) -> None:
        """Cancel what goes on, and wait for its end."""
        for run in list(self.executor.runs.values()):
            self.executor.cancel(run, "the test")
        for _ in range(2000):
            if self.executor.is_idle:
                return
            self.step()
        raise AssertionError(f"a run does not end: {self.executor.state()}")

    def ends(self) -> dict[str, dict[str, Any]]:
        """The last record of each log that is there."""
        return {path.stem: json.loads(path.read_text().splitlines()[-1]) for path in self.logs.glob("*.jsonl")}


@pytest.fixture(scope="module")
def client() -> Iterator[LockstepClient]:
    with LockstepClient(BENCH, hardware="mock") as made:
        made.sleep(0.02)
        yield made


@pytest.fixture
def bench(client: LockstepClient, tmp_path: Path) -> Iterator[Bench]:
    made = Bench(client, tmp_path)
    yield made
    made.executor.close()
    client.sleep(0.5)
    assert client.sessions() == []


def values(**given: Any) -> tuple[ParameterValue, ...]:
    return tuple(ParameterValue(name=name, value=value) for name, value in given.items())


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, (0.01, math.nan)])
def test_N51_a_value_that_is_not_finite_is_refused_and_locks_nothing(bench: Bench, value: Any) -> None:
    before = bench.held()
    with pytest.raises(DefinitionError, match="'far'"):
        bench.executor.start(Start(skill="swing", parameters=values(far=value)))
    assert bench.held() == before == ([], [], [])
    assert not list(bench.logs.glob("*.jsonl")), "values are checked before anything is begun"
    run = bench.executor.start(Start(skill="swing"))
    bench.step(3)
    assert run.outcome is None
    bench.end()


def test_N51_a_part_of_another_kind_is_refused_before_a_session_is_opened(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(*_: object) -> None:
        raise AssertionError("a session was opened")

    monkeypatch.setattr(CellBackend, "open_session", opened)
    with pytest.raises(DefinitionError, match=r"role 'limb'; expected arm; got 'gripper', a gripper"):
        bench.executor.start(Start(skill="swing", parts={"limb": "gripper"}))
    with pytest.raises(DefinitionError, match="unknown part 'amr'; .*did you mean 'arm'"):
        bench.executor.start(Start(skill="swing", parts={"limb": "amr"}))
    with pytest.raises(DefinitionError, match="out of range"):
        bench.executor.start(Start(skill="swing", parameters=values(far=5.0)))


def test_N51_a_bug_while_a_run_starts_ends_its_session_and_its_log_says_refused(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise KeyError("a bug")

    monkeypatch.setattr(Engine, "take", fail)
    with pytest.raises(InternalError, match="internal error in the start of 'swing': KeyError: 'a bug'"):
        bench.executor.start(Start(skill="swing", source="Ann"))
    assert bench.held() == ([], [], [])
    (end,) = bench.ends().values()
    assert (end["what"], end["result"], end["refused"]) == ("end", "failed", True) and "a bug" in end["reason"]
    (run,) = bench.executor.history.runs()
    assert (run.result, run.interrupted_at) == ("failed", "")
    assert "swing" not in bench.executor.history.statistics(), "it never ran"


def test_N51_a_run_that_waited_and_meets_a_bug_is_refused_once(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    first = bench.executor.start(Start(skill="waits"))
    waiting = bench.executor.start(Start(skill="swing", busy="wait"))

    def fail(*_: object) -> None:
        raise KeyError("a bug")

    monkeypatch.setattr(RobotPerformer, "_prefix", fail)
    bench.executor.cancel(first, "the test")
    for _ in range(500):
        bench.step()
    assert first.outcome is not None and waiting.outcome is not None and "a bug" in waiting.outcome.reason
    assert bench.held() == ([], [], [])
    assert bench.ends()[waiting.id]["refused"] is True


STEPS: tuple[tuple[Any, str], ...] = (
    *((Executor, name) for name in ("_first_record", "_new_id")),
    *((Robot, name) for name in ("check", "open")),
    *((RunLog, name) for name in ("__init__", "write")),
    *((Runner, name) for name in ("__init__", "give")),
    *((RobotPerformer, name) for name in ("__init__", "moment", "start", "_prefix", "foresee")),
    *((CellBackend, name) for name in ("open_session", "begin_run", "list_parts", "present")),
    (Engine, "take"),
    (ExecutedRun, "begin"),
)
AFTER = {"write", "give", "take", "start", "begin", "begin_run", "foresee", "check"}
"""Steps that may also fail once they have done all."""
ERRORS = (OSError("disk full"), ValueError("a bug"), KeyError("a bug"), MemoryError(), RecursionError("deep"),
          RobotControlError("no"), CommandRefused("no"))  # fmt: skip
NUMBERS = st.one_of(st.floats(allow_nan=True, allow_infinity=True), st.integers(), st.booleans())
PARAMETERS = st.dictionaries(
    st.sampled_from(["far", "times", "near", "far"]),
    st.one_of(NUMBERS, st.just(0.01), st.text(max_size=5), st.lists(NUMBERS, min_size=1, max_size=3).map(tuple)),
    max_size=3,
)


@contextmanager
def failing(
    patch: pytest.MonkeyPatch, step: tuple[Any, str], count: int, error: Exception, after: bool
) -> Iterator[None]:
    """Have a step fail when it is done for the n-th time, and from then on."""
    of, name = step
    original, calls = getattr(of, name), [0]

    def broken(*given: Any, **named: Any) -> Any:
        calls[0] += 1
        if calls[0] < count:
            return original(*given, **named)
        if after and name in AFTER:
            original(*given, **named)
        raise error

    with patch.context() as patched:
        patched.setattr(of, name, broken)
        yield


@settings(max_examples=tries(40, whole=150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    skill=st.sampled_from(["swing", "swing@1", "swing@2", "swing@7", "nothing", "waits", "move_linear", "", "a: ["]),
    parameters=PARAMETERS,
    parts=st.dictionaries(
        st.sampled_from(["limb", "hand"]), st.sampled_from(["arm", "gripper", "nowhere", ""]), max_size=1
    ),
    start_at=st.sampled_from(["", "", "", "back", "nowhere", "out/x"]),
    breakpoints=st.sampled_from([(), (), ("back",), ("after nowhere",)]),
    outputs_of=st.sampled_from(["", "", "", "x"]),
    busy=st.sampled_from(["refuse", "wait", "replace"]),
    step=st.none() | st.sampled_from(STEPS),
    count=st.integers(1, 4),
    error=st.sampled_from(ERRORS),
    after=st.booleans(),
    is_held=st.booleans(),
)
def test_N51_whatever_happens_a_refused_start_leaves_all_as_it_was(
    bench: Bench, skill: str, parameters: dict[str, Any], parts: dict[str, str], start_at: str, breakpoints: Any,
    outputs_of: str, busy: str, step: tuple[Any, str] | None, count: int, error: Exception, after: bool, is_held: bool,
) -> None:  # fmt: skip
    bench.end()
    if is_held:
        bench.executor.start(Start(skill="waits"))
        bench.step()
    before, logs = bench.held(), set(bench.ends())
    refused = False
    with pytest.MonkeyPatch.context() as patch, failing(patch, step or (Executor, "close"), count, error, after):
        try:
            bench.executor.start(Start(skill=skill, parameters=values(**parameters), parts=parts, start_at=start_at,
                                       breakpoints=breakpoints, outputs_of=outputs_of, busy=busy))  # fmt: skip
        except RobotControlError:
            refused = True
        except Exception as other:  # before anything was begun
            assert other is error
            refused = True
    if refused and not (is_held and busy == "replace"):  # what holds the parts was asked to end
        assert bench.held() == before
    for run, end in bench.ends().items():
        if refused and run not in logs:
            assert end["what"] == "end" and end["refused"], "its log says so"
    bench.end()
    bench.step(20)
    assert bench.held() == ([], [], [])
    free = bench.executor.start(Start(skill="swing"))  # the arm is free
    bench.step()
    assert free.outcome is None
