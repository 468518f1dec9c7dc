"""V21: what happens to planning, it ends in time and leaves nothing. The planner itself is played by solvers.py."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from robot_rt_control.planner.job import Job, Report
from robot_rt_control.planner.planning_process import Outcome, PlanningProcess
from robot_rt_control.vocabulary.errors import DefinitionError, InternalError, ProgramError, RobotControlError

SOLVERS = str(Path(__file__).with_name("solvers.py"))
PATIENCE_S = 120.0


def no_values(_: Sequence[str]) -> Mapping[str, float]:
    raise RobotControlError("there is no workcell")


class Planned:
    """Runs a job of solvers.py."""

    def __init__(self, folder: Path) -> None:
        self.job = Job(task="", workcell=Path("cell.yaml"), plan_file=folder / "one.plan")
        self.reports: list[Report] = []
        self.process: PlanningProcess | None = None

    @property
    def phases(self) -> list[str]:
        return [report.phase for report in self.reports]

    def run(
        self,
        task: str,
        *,
        cancel: Callable[[], bool] = lambda: False,
        measure: Callable[[Sequence[str]], Mapping[str, float]] = no_values,
        timeout: float = 0.0,
    ) -> Outcome:
        self.process = PlanningProcess(
            replace(self.job, task=task, timeout=timeout), measure=measure, solver=SOLVERS
        )
        return self.process.run(report=self.reports.append, cancelled=cancel)

    def when(self, phase: str) -> Callable[[], bool]:
        """Cancels once a phase is reported; records when."""

        def cancelled() -> bool:
            if phase in self.phases:
                self.asked = getattr(self, "asked", time.monotonic())
                return True
            return False

        return cancelled

    def leaves_nothing(self) -> None:
        """Neither a process nor a part of a file."""
        assert self.process is not None and self.process.pid is not None
        assert not Path(f"/proc/{self.process.pid}").exists()
        assert sorted(path.name for path in self.job.plan_file.parent.iterdir()) in ([], ["one.plan"])


@pytest.fixture
def planned(tmp_path: Path) -> Planned:
    return Planned(tmp_path)


def test_a_plan_comes_back_with_the_way_there(planned: Planned) -> None:
    outcome = planned.run("best")
    assert outcome.success and not outcome.message and outcome.error is None
    assert outcome.plan is not None and outcome.plan.header["body"] == "slider"
    assert planned.phases == ["reading", "physical"] and outcome.pose == "camera"
    planned.leaves_nothing()


def test_all_mistakes_of_a_task_come_back_with_their_lines(planned: Planned) -> None:
    outcome = planned.run("mistakes")
    assert isinstance(outcome.error, ProgramError)
    assert [mistake.line for mistake in outcome.error.mistakes] == [3, 5]
    assert outcome.message == "task.yaml:3: key 3; expected another\ntask.yaml:5: key 5; expected another"
    planned.leaves_nothing()


def test_a_bug_is_reported_as_one(planned: Planned) -> None:
    outcome = planned.run("best bug")
    assert isinstance(outcome.error, InternalError) and "ZeroDivisionError: a bug" in outcome.message


@pytest.mark.parametrize("then", ["wait", "hang", "stop", "half hang"])
def test_V21_a_cancel_gives_the_best_plan_in_time(planned: Planned, then: str) -> None:
    """Whether planning heeds it, hangs or is stopped."""
    outcome = planned.run(f"best {then}", cancel=planned.when("physical"))
    assert time.monotonic() - planned.asked < 0.5 + machine_delay()
    assert outcome.cancelled and not outcome.success
    assert outcome.message == "cancelled: the best plan so far"
    assert outcome.plan is not None
    planned.leaves_nothing()


def test_a_cancel_before_there_is_a_plan(planned: Planned) -> None:
    outcome = planned.run("half hang", cancel=planned.when("reading"))
    assert outcome.message == "cancelled: no plan so far" and outcome.plan is None
    planned.leaves_nothing()


def test_a_timeout_gives_the_best_plan(planned: Planned) -> None:
    outcome = planned.run("best hang", timeout=15.0)
    assert outcome.message == "stopped at the timeout of 15 s: the best plan so far" and not outcome.cancelled
    assert outcome.success and outcome.pose == "camera"  # the plan itself says that it is good enough
    planned.leaves_nothing()


def test_V21_a_killed_process_leaves_nothing_but_the_best_plan(planned: Planned) -> None:
    outcome = planned.run("best half child die")
    assert outcome.message == "the process that plans was ended by SIGKILL. The best plan so far is kept"
    assert outcome.plan is not None and not outcome.success
    planned.leaves_nothing()
    (child,) = (int(phase.partition(" ")[2]) for phase in planned.phases if phase.startswith("child"))
    assert eventually(lambda: not alive(child))


def test_V21_it_dies_with_the_process_that_started_it(tmp_path: Path) -> None:
    """By SIGKILL: nothing in it has a chance to clean up."""
    program = f"""
from pathlib import Path
from robot_rt_control.planner.job import Job
from robot_rt_control.planner.planning_process import PlanningProcess
job = Job(task="best hang", workcell=Path("cell.yaml"), plan_file=Path({str(tmp_path)!r}) / "one.plan")
process = PlanningProcess(job, measure=lambda _: {{}}, solver={SOLVERS!r})
process.run(report=lambda report: print(report.phase, process.pid, flush=True))
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as parent:
        try:
            assert parent.stdout is not None
            line = next(line for line in parent.stdout if line.startswith("physical"))
        finally:
            parent.kill()
    child = int(line.split()[1])
    assert eventually(lambda: not alive(child))


def test_it_computes_at_low_priority(planned: Planned) -> None:
    before = os.getpriority(os.PRIO_PROCESS, 0)
    planned.run("nice best")
    assert planned.phases[1] == f"nice {max(before, 10)} {os.SCHED_BATCH}"
    assert os.getpriority(os.PRIO_PROCESS, 0) == before


def test_measured_values_are_asked_for(planned: Planned) -> None:
    planned.run("measure best", measure=lambda prefixes: {prefixes[0] + "position[0]": 0.5})
    assert planned.phases[1] == "measured [('arm.position[0]', 0.5)]"


def test_a_workcell_that_is_not_there_is_reported(planned: Planned) -> None:
    outcome = planned.run("measure best")
    assert isinstance(outcome.error, RobotControlError) and not isinstance(outcome.error, DefinitionError)
    assert outcome.message == "there is no workcell"


def test_a_workcell_that_does_not_answer_delays_no_cancel(planned: Planned) -> None:
    asked, released = threading.Event(), threading.Event()

    def silent(_: Sequence[str]) -> Mapping[str, float]:
        asked.set()
        released.wait(PATIENCE_S)
        return {}

    outcome = planned.run("measure best", measure=silent, cancel=asked.is_set)
    released.set()
    assert outcome.cancelled
    planned.leaves_nothing()


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def eventually(happens: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + PATIENCE_S
    while not happens() and time.monotonic() < deadline:
        time.sleep(0.02)
    return happens()


def machine_delay() -> float:
    """[s] by which a busy machine may be late: generous, for a process that is not killed would hang for minutes."""
    return 30.0


