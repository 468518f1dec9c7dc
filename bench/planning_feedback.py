"""Feedback of the body's pose, with it and without it, on the same random cases: the iiwa's push of 10 cm.

python bench/planning_feedback.py push.plan --cases 25        a plan of `robot-rt-control-plan solve push_box`

PyBullet plays through the tick loop, at its workcell's friction and mass times 0.5 to 2, the box off by up to 10 mm
along x and y and 5 degrees, or shoved by 30 mm, sideways or ahead, when it is half way. The camera measures at 30 Hz;
a pose is 30 ms old when it comes.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pybullet

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import resumed  # noqa: E402
from bench.report import Options, Report  # noqa: E402
from robot_rt_control.hardware.world.sensors import PoseSensor  # noqa: E402
from robot_rt_control.hardware.world.simulator import SimulatorPlugin  # noqa: E402
from robot_rt_control.model.paths import find_workcell  # noqa: E402
from robot_rt_control.model.pose import Pose  # noqa: E402
from robot_rt_control.planning.plan.plan import Plan  # noqa: E402
from robot_rt_control.testing.plan_replay import replay, simulator_silent  # noqa: E402
from robot_rt_control.vocabulary.errors import RobotControlError  # noqa: E402

KINDS = "start", "friction and mass", "both", "both, and a shove"
_SHIFT, _TURN, _FACTOR, _SHOVE = 0.01, math.radians(5.0), 2.0, 0.03
_NEAR, _TURNED = 0.003, 0.05
"""[m], [rad] of a case that counts."""
_RATE, _LATE = 30.0, 0.03
"""[1/s], [s] of the camera."""
_PERIOD = 0.001
"""[s] of the workcell."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """What differs from the plan."""

    shift: tuple[float, float] = (0.0, 0.0)
    turn: float = 0.0
    friction: float = 1.0
    mass: float = 1.0
    shove: tuple[float, float] = (0.0, 0.0)


def cases(kind: str, count: int) -> Iterator[Case]:
    """The same ones each time."""
    random = np.random.default_rng(25)
    for _ in range(count):
        x, y = random.uniform(-_SHIFT, _SHIFT, 2)
        turn, friction, mass = random.uniform(-_TURN, _TURN), *_FACTOR ** random.uniform(-1.0, 1.0, 2)
        angle = random.uniform(-math.pi / 2.0, math.pi / 2.0)
        shove = (_SHOVE * math.cos(angle), _SHOVE * math.sin(angle)) if kind == KINDS[3] else (0.0, 0.0)
        off, other = kind != KINDS[1], kind != KINDS[0]
        yield Case(
            shift=(x, y) if off else (0.0, 0.0), turn=turn if off else 0.0,
            friction=friction if other else 1.0, mass=mass if other else 1.0, shove=shove,
        )  # fmt: skip


class Camera:
    """In place of a simulated pose sensor: slower, later, and it shoves the body once it is half way."""

    def __init__(self, plugin: SimulatorPlugin, sensor: PoseSensor, values: np.ndarray, plan: Plan, case: Case) -> None:
        self._plugin, self._sensor, self._values = plugin, sensor, values
        self._plan, self._case, self._tick = plan, case, 0
        self._coming: deque[tuple[int, np.ndarray]] = deque()
        self._seen: tuple[int, np.ndarray] | None = None
        self._shoved = case.shove == (0.0, 0.0)

    def read(self) -> None:
        """Fill the values and their ages."""
        self._sensor.read()
        self._tick += 1
        pose = self._values[:7].copy()
        self._shove(pose)
        if self._tick % round(1.0 / (_RATE * _PERIOD)) == 1:
            self._coming.append((self._tick, pose))
        while self._coming and self._tick >= self._coming[0][0] + round(_LATE / _PERIOD):
            self._seen = self._coming.popleft()
        seen = self._seen or (self._tick, pose)
        self._values[:7], self._values[7:] = seen[1], (self._tick - seen[0]) * _PERIOD

    def _shove(self, pose: np.ndarray) -> None:
        way = self._plan.body_position[-1] - self._plan.body_position[0]
        moved = float((pose[:3] - self._plan.body_position[0]) @ way / (way @ way))
        if not self._shoved and moved > 0.5:
            self._shoved = True
            position = (pose[0] + self._case.shove[0], pose[1] + self._case.shove[1], pose[2])
            self._plugin.move_object(self._plan.header["body"], Pose(position=position, orientation=tuple(pose[3:7])))


def play(plan: Plan, workcell: str, case: Case, pose: str) -> dict[str, float]:
    """Where the body ends: [m] and [rad] from the target; [N] the peak."""
    start = plan.start_pose

    def prepare(plugin: Any) -> None:  # of PyBullet
        body, client = plugin.world.objects[plan.header["body"]], plugin.world.client
        mass, friction, inertia = pybullet.getDynamicsInfo(body, -1, physicsClientId=client)[:3]
        pybullet.changeDynamics(
            body, -1, mass=case.mass * mass, lateralFriction=case.friction * friction,
            localInertiaDiagonal=[case.mass * its for its in inertia], physicsClientId=client,
        )  # fmt: skip
        (i,) = [i for i, sensor in enumerate(plugin._sensors) if isinstance(sensor, PoseSensor)]
        plugin._sensors[i] = Camera(plugin, plugin._sensors[i], plugin._states["camera"], plan, case)

    X = start.matrix
    turned = math.atan2(X[1, 0], X[0, 0]) + case.turn
    x, y, z = start.position
    body = Pose(
        position=(x + case.shift[0], y + case.shift[1], z),
        orientation=(0.0, 0.0, math.sin(turned / 2.0), math.cos(turned / 2.0)),
    )
    found = replay(plan, workcell, body=body, pose=pose, prepare=prepare)
    return {"position": found.error_to_target, "turned": found.orientation_error, "peak": found.peak}


def report(plan: Plan, workcell: str, count: int, kinds: Sequence[str], options: Options, kept: Path | None) -> Report:
    """Shares of cases that end near their target."""
    jobs = {
        f"{kind} {i} {pose or 'none'}": (lambda case=case, pose=pose: _row(plan, workcell, case, pose))
        for kind in kinds
        for i, case in enumerate(cases(kind, count))
        for pose in ("", "camera")
    }
    found = dict(resumed.results(jobs, kept, options.console))
    rows = []
    for kind in kinds:
        for pose in ("none", "camera"):
            its = [found[f"{kind} {i} {pose}"] for i in range(count)]
            near = [row["position"] <= _NEAR and row["turned"] <= _TURNED for row in its]
            error, turned = (np.array([row[name] for row in its]) for name in ("position", "turned"))
            rows.append([
                kind, pose, f"{sum(near)} of {len(near)}", f"{1e3 * np.median(error):.1f} mm",
                f"{1e3 * np.quantile(error, 0.9):.1f} mm", f"{np.median(turned):.3f}",
                f"{np.quantile(turned, 0.9):.3f}",
            ])  # fmt: skip
    return Report(
        title="Feedback of the body's pose",
        columns=["cases", "feedback", "within 3 mm and 0.05 rad", "median", "9 of 10", "turned", "9 of 10"],
        rows=rows,
        notes=[f"camera: {_RATE:.0f} Hz, {1e3 * _LATE:.0f} ms late; errors to the target, in PyBullet"],
        data={"cases": found},
    )


def _row(plan: Plan, workcell: str, case: Case, pose: str) -> resumed.Row:
    try:
        return {**play(plan, workcell, case, pose)}
    except (RobotControlError, TimeoutError) as error:
        return {"position": math.inf, "turned": math.inf, "peak": math.nan, "message": str(error)}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan", type=Path, help="a plan with feedback")
    parser.add_argument("--workcell", default="push", help="the plan's (default: %(default)s)")
    parser.add_argument("--cases", type=int, default=25, help="of each kind (default: %(default)s)")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS, metavar="KIND", help=", ".join(KINDS))
    resumed.arguments(parser)
    given = parser.parse_args(argv)
    plan, workcell = Plan.load(given.plan), str(find_workcell(given.workcell))
    if plan.feedback is None:
        parser.error(f"{given.plan} has no feedback")
    with simulator_silent():
        its = report(plan, workcell, given.cases, given.kinds, resumed.options(given), given.keep)
    resumed.print_report(its, given.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
