"""The contact planner in the field: 200 generated tasks, over robots of this package and of other people.

Each task is solved as by `robot-rt-control-plan solve`. What counts as solved is then replayed where the planner did
not ask: in MuJoCo's plugin and in PyBullet, each with half of its step. A miss there is a false success. A push that a
straight line can do is also done by three lines of `move_linear`.

python bench/planning_field.py --keep field.jsonl --robots example-robot-data
python bench/planning_field.py --keep field.jsonl --only 0:20       a part; what is in the file is not repeated
python bench/planning_field.py --merge a.jsonl b.jsonl --page docs/planning_results.md      results of several parts
"""

from __future__ import annotations

import argparse
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import field_report, resumed  # noqa: E402
from bench.field_tasks import DATA, FOREIGN, FieldTask, Line, generated  # noqa: E402
from bench.report import load_average  # noqa: E402
from robot_rt_control.client import Action  # noqa: E402
from robot_rt_control.model.workcell.workcell import load_workcell  # noqa: E402
from robot_rt_control.planning.files.task_file import TaskFile, read_task  # noqa: E402
from robot_rt_control.planning.optimise.cost import PoseError  # noqa: E402
from robot_rt_control.planning.plan.plan import Plan  # noqa: E402
from robot_rt_control.planning.solve.planner import Result  # noqa: E402
from robot_rt_control.planning.solve.playing import Player  # noqa: E402
from robot_rt_control.planning.solve.verified import solve  # noqa: E402
from robot_rt_control.testing.lockstep_client import LockstepClient  # noqa: E402
from robot_rt_control.testing.plan_replay import body_pose, simulation, simulator_silent  # noqa: E402
from robot_rt_control.vocabulary.errors import RobotControlError  # noqa: E402

COUNT, SEED = 200, 1
LIMIT = 40.0
"""[s] of processor time for a task, with verification."""
_HALF_STEP = 0.0005
"""[s]"""
_SLOW = 0.1
"""[m/s] of a script's lines: the default of `move_linear`."""
_INTO = 0.001
"""[m] A script's first line ends as much before the body."""
_BACK = 0.05
"""[m]"""


class _Stop:
    """Set by Ctrl-C; or once a task has used its processor time."""

    def __init__(self) -> None:
        self.asked, self._begin, self._limit = False, 0.0, float("inf")

    def ask(self, *_: object) -> None:
        """Called by a signal."""
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True

    def begin(self, limit: float) -> None:
        """A task, with a limit [s]."""
        self._begin, self._limit = _processor(), limit

    @property
    def used(self) -> float:
        """[s] of processor time since the task began; of other processes, of those that have ended."""
        return _processor() - self._begin

    def is_set(self) -> bool:
        return self.asked or self.used > self._limit

    def check(self) -> None:
        """Raise KeyboardInterrupt if it was asked for."""
        if self.asked:
            raise KeyboardInterrupt


def _processor() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


class Field:
    """Runs tasks. A context manager: its engines load once.

    Args:
        data: the folder `example-robot-data`.
        limit: [s] of processor time for each task.
    """

    def __init__(self, data: Path, limit: float = LIMIT) -> None:
        self.data, self.limit, self.stop = data, limit, _Stop()
        self._stack = ExitStack()
        self._player: Player | None = None

    def __enter__(self) -> Field:
        self.folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="field")))
        before = signal.signal(signal.SIGINT, self.stop.ask)
        self._stack.callback(signal.signal, signal.SIGINT, before)
        return self

    def __exit__(self, *its: object) -> None:
        self._stack.close()

    def row(self, task: FieldTask) -> resumed.Row:
        """All that is measured of a task. Raises KeyboardInterrupt after Ctrl-C."""
        its: resumed.Row = {
            "number": task.number, "seed": task.seed, "robot": task.robot, "kind": task.kind, "text": task.text,
        }  # fmt: skip
        load, clock = load_average(), time.monotonic()
        self.stop.begin(self.limit)
        try:
            file = read_task(task.write(self.folder, self.data))
        except RobotControlError as error:
            return its | {"state": field_report.IMPOSSIBLE, "message": str(error), "processor": self.stop.used}
        its["way"] = float(np.linalg.norm(np.subtract(file.task.target.position, file.body_start.position)))
        try:
            result = solve(file.task, replace(file.settings, threads=1), cancel=self.stop)
            its |= _found(result) | {"processor": self.stop.used, "clock": time.monotonic() - clock, "load": load}
            self.stop.check()
            if self.stop.is_set() and not result.success:
                its["message"] = f"stopped after {self.limit:g} s of processor time: {its['message']}"
            if result.success and result.plan is not None:
                its["replays"] = self._replays(result.plan, file)
            if task.line is not None:
                try:
                    its["script"] = self._script(task.line, file)
                except (RobotControlError, TimeoutError) as error:  # it says nothing of the plan
                    its["script_failed"] = str(error)
        except RobotControlError as error:
            its |= {"state": field_report.REFUSED, "message": str(error), "processor": self.stop.used}
        except Exception:
            its |= {"state": field_report.BROKEN, "message": traceback.format_exc(), "processor": self.stop.used}
        self.stop.check()
        return its

    def _replays(self, plan: Plan, file: TaskFile) -> list[resumed.Row]:
        """Each engine with a step that it did not verify it with."""
        other = _with_step(file.task.workcell, _HALF_STEP)
        moved = replace(plan, header={**plan.header, "workcell": load_workcell(other).digest})
        found: list[resumed.Row] = []
        self._player = self._player or self._stack.enter_context(Player())
        for name, engine in zip(field_report.ENGINES, ("mujoco", "pybullet"), strict=True):
            try:
                (row,) = self._player.play(moved, other, simulator=engine, check=self.stop.check)
            except RobotControlError as error:
                found.append({"name": name, "holds": False, "message": str(error)})
                continue
            holds = plan.tolerance.holds(row, at_rest=plan.at_rest)
            found.append({"name": name, "holds": holds, **_end(row)})
        return found

    def _script(self, line: Line, file: TaskFile) -> resumed.Row:
        """To the face, as far as the target, and back: in the engine that verifies plans."""
        direction = np.array([*line.direction, 0.0])
        body, forces = file.task.body, list[float]()
        with (
            simulator_silent(),
            LockstepClient(file.task.workcell, simulator="pybullet") as client,
            client.session("arm") as session,
        ):
            plugin = simulation(client)

            def sample() -> None:
                self.stop.check()
                forces.append(plugin.world.contact_force(body, "arm"))

            client.cell.after_tick.append(sample)
            for i, way in enumerate((line.gap - _INTO, line.way + _INTO, -_BACK)):
                offset = [float(x) for x in way * direction]
                session.add(Action(f"line_{i}", "move_linear", offset=offset, speed=_SLOW))
                session.start(f"line_{i}")
                session.wait_until(f"line_{i}.is_settled", timeout_s=60.0)
            missed = np.subtract(body_pose(plugin, body).position, file.task.target.position)
        return {"error": float(np.linalg.norm(missed)), "peak": max(forces)}


def _with_step(cell: Path, step: float) -> Path:
    """A copy of a workcell, simulated with another step [s]."""
    content = yaml.safe_load(cell.read_text())
    content["devices"]["sim"]["world"]["timestep"] = step
    other = cell.with_name(f"{cell.stem}_step.yaml")
    other.write_text(yaml.safe_dump(content, sort_keys=False))
    return other


def _found(result: Result) -> resumed.Row:
    """What a planning ended with."""
    its: resumed.Row = {"message": result.message, "start": result.start, "error": _error(result.error)}
    plan = result.plan
    if plan is None:
        return its | {"state": field_report.NOT_SOLVED}
    its["duration"] = plan.header["time"]
    its["tolerance"] = plan.tolerance.position
    rows = plan.header.get("verification", {})
    if rows.get("replays"):
        its["verified_by"] = _end(rows["replays"][0])
        its["also_by"] = [_end(row) for row in rows["others"]]
    if result.success:
        return its | {"state": field_report.SOLVED}
    return its | {"state": field_report.NOT_VERIFIED if plan.header["success"] else field_report.NOT_SOLVED}


def _error(error: PoseError | None) -> Mapping[str, float] | None:
    if error is None:
        return None
    return {"position": error.position, "orientation": error.orientation, "normalized": error.normalized}


def _end(row: Mapping[str, Any]) -> resumed.Row:
    """Of a replay."""
    names = ("engine", "error_to_target", "normalized_error", "orientation_error", "peak", "rests")
    return {name: row[name] for name in names}


def tasks(seed: int, count: int, only: str) -> list[FieldTask]:
    """Those of a seed.

    Args:
        only: Python's slice of them, such as `0:20`; or one number; empty: all.

    Raises:
        ValueError: it is none.
    """
    numbers = list(range(count))
    if only:
        parts = [int(part) if part else None for part in only.split(":")]
        numbers = numbers[slice(*parts)] if len(parts) > 1 else [numbers[int(only)]]
    return [generated(seed, number) for number in numbers]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=SEED, help="of the tasks (%(default)s)")
    parser.add_argument("--count", type=int, default=COUNT, help="how many there are (%(default)s)")
    parser.add_argument("--only", default="", metavar="A:B", help="a part of them, or one")
    parser.add_argument("--robots", type=Path, default=DATA, metavar="FOLDER", help="example-robot-data (%(default)s)")
    parser.add_argument("--limit", type=float, default=LIMIT, help="[s] of processor time for each (%(default)s)")
    parser.add_argument("--merge", type=Path, nargs="+", metavar="FILE", help="report what these files have")
    parser.add_argument("--page", type=Path, metavar="FILE", help="with --merge: put the table into this page")
    resumed.arguments(parser)
    given = parser.parse_args(argv)
    options = resumed.options(given)
    if given.merge:
        found = field_report.report(list(resumed.merged(given.merge).values()), options)
        if given.page is not None:
            field_report.write_table(found, given.page)
        resumed.print_report(found, given.json)
        return 0
    try:
        wanted = tasks(given.seed, given.count, given.only)
    except (ValueError, IndexError):
        parser.error(f"--only; expected A:B or a number below {given.count}; got {given.only!r}")
    if not given.robots.is_dir() and (missing := sorted({its.robot for its in wanted} & FOREIGN)):
        what = f"--robots; expected the folder example-robot-data, for {', '.join(missing)}; got {given.robots}"
        parser.error(f"{what}. docs/your_robot.md has the commands that get it")
    rows, stopped = list[resumed.Row](), False
    with Field(given.robots, given.limit) as field:
        jobs: dict[str, Callable[[], resumed.Row]] = {its.name: partial(field.row, its) for its in wanted}
        try:
            rows += [row for _, row in resumed.results(jobs, given.keep, options.console)]
        except KeyboardInterrupt:
            stopped = True
    kept = list(resumed.merged([given.keep]).values()) if given.keep is not None else rows
    resumed.print_report(field_report.report(kept, options), given.json)
    return 130 if stopped else 0


if __name__ == "__main__":
    sys.exit(main())
