"""A plan, replayed through the real tick loop in lockstep on PyBullet: where does the body end?

    python -m robot_rt_control.testing.plan_replay push.plan --workcell push --speed 1 0.5 --save

It needs no running workcell. Exit codes: 0 the body came to its target, 1 it did not, or the replay was refused or
failed.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from dataclasses import replace as changed
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.client import Action, Reaction, Session
from robot_rt_control.definitions.definitions import ActionDefinition, ParameterValue
from robot_rt_control.drawing.pictures import require_pictures
from robot_rt_control.hardware.world.parameters import CameraParameters
from robot_rt_control.hardware.world.simulator import SimulatorPlugin
from robot_rt_control.model.paths import find_workcell
from robot_rt_control.model.pose import Pose
from robot_rt_control.model.rotation_formulas import angle_between
from robot_rt_control.model.workcell.workcell import Workcell, load_workcell
from robot_rt_control.planning.plan.plan import Plan
from robot_rt_control.planning.plan.verdict import BLOW
from robot_rt_control.testing.lockstep_client import LockstepClient
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError

Array = NDArray[np.float64]
Image = NDArray[np.uint8]

_TIME_LIMIT = 60.0
"""[s] of simulated time, for each motion."""
_REST = 0.05
"""[s] over which the body moves less than"""
_RESTING = 1e-5
"""[m], if it rests;"""
_LONGEST_REST = 3.0
"""[s] at most are waited for that."""
_SAMPLE = 0.01
"""[s] between points of the body's path."""
_NEAR = 1e-3
"""[m or rad] Where the workcell starts, for a plan."""
_FILM = 8
"""Pictures of a film strip."""
_ANIMATION_RATE = 20.0
"""[1/s] of an animation, if it has"""
_MOST_BETWEEN = 8
"""at most as many pictures for each of a film strip."""
_GHOST = np.array([60, 200, 90])
"""Colour of the target in pictures: red, green, blue."""
_OUTLINE = 2
"""[pixels] Width of its edge."""


@dataclass(frozen=True, kw_only=True)
class Replay:
    """What a replay found. Errors per way are those per distance from the planned start to the target."""

    speed: float
    position: tuple[float, float, float]
    """[m] p_WB at the end: at rest, or if the task does not ask for rest, at the end of the horizon."""
    orientation: tuple[float, float, float, float]
    """x y z w"""
    error_to_plan: float
    """[m] from the planned end."""
    error_to_target: float
    """[m] in the coordinates that count; the task's free ones are left out."""
    normalized_error: float
    """`error_to_target` per way."""
    orientation_error: float
    """[rad] to the target."""
    rests: bool
    """Whether the body came to rest."""
    drift: float = 0.0
    """[m/s] of the body at the end."""
    peak: float
    """[N] Greatest normal force between the robot and the body; or the objects, if the body is the robot's own."""
    impulse: float
    """[N s] Its integral."""
    blow: float = 0.0
    """[N s] The greatest part of it within `BLOW` seconds."""
    engine: str = ""
    """Name of the simulator."""
    times: Array = field(repr=False)
    """(n,) [s] since the motion began."""
    path: Array = field(repr=False)
    """(n, 7) the body there: p_WB [m], quaternion x y z w."""
    images: tuple[Image, ...] = field(default=(), repr=False)
    """(height, width, 3) each, at `image_times`."""
    image_times: Array = field(default_factory=lambda: np.zeros(0), repr=False)
    """[s] since the motion began, at equal intervals until it ended; the last image is of the body at rest."""

    def summary(self) -> dict[str, Any]:
        """Its numbers, without path and images."""
        names = (
            "engine", "speed", "position", "orientation", "error_to_plan", "error_to_target", "normalized_error",
            "orientation_error", "rests", "drift", "peak", "impulse", "blow",
        )  # fmt: skip
        return {name: getattr(self, name) for name in names}

    @property
    def pose(self) -> Pose:
        return Pose(position=self.position, orientation=self.orientation)


def replay(
    plan: Plan,
    workcell: Workcell | Path | str,
    *,
    speed: float = 1.0,
    frames: int = 0,
    body: Pose | None = None,
    feedback: bool = True,
    pose: str = "",
    prepare: Callable[[SimulatorPlugin], None] = lambda _: None,
) -> Replay:
    """Replay a plan.

    Args:
        plan: made for this workcell.
        workcell: its file. It runs in this process.
        speed: override.
        frames: so many pictures are drawn, with the target as a ghost.
        body: X_WB before the motion; default: as planned.
        feedback: False: efforts alone are played, to see how far they carry; of parts that efforts drive.
        pose: sensor part that measures the body, for a plan with feedback of that; empty: the plan alone.
        prepare: may change the simulated world before the motion.

    Raises:
        DefinitionError: the plan is for another workcell, or does not fit.
        RobotControlError: it did not run to its end.
        TimeoutError: likewise, within a minute of simulated time.
    """
    if not isinstance(workcell, Workcell):
        workcell = load_workcell(workcell)
    plan.check_start(workcell=workcell.digest)
    with LockstepClient(workcell.with_tools(plan.tools)) as client:
        prepare(simulation(client))
        return _Run(plan, client, speed, frames, feedback, pose).result(body)


class _Run:
    def __init__(
        self, plan: Plan, client: LockstepClient, speed: float, frames: int, feedback: bool, pose: str
    ) -> None:
        self.plan, self.client, self.speed, self.feedback, self.pose = plan, client, speed, feedback, pose
        self.period = client.cell.workcell.period
        self.plugin = simulation(client)
        self.times: list[float] = []
        self.path: list[list[float]] = []
        self.forces: list[float] = []
        self._frame_times = [_duration(plan, speed) * i / max(frames - 1, 1) for i in range(frames)]
        self._frames: list[Image] = []
        self._bodies: list[NDArray[np.int32]] = []
        robots = dict.fromkeys(self._robot(part) for part in plan.parts)
        body, dot, _ = plan.header["body"].partition(".")
        # A robot whose own link is the body pushes itself off the objects.
        touched = self.plugin.world.objects if dot else [body]
        self._contacts = [(thing, robot) for thing in touched for robot in robots]
        self._end: Pose | None = None
        self._drift = math.inf

    def _robot(self, part: str) -> str:
        """One part for each robot: several may move one."""
        mounted = self.client.cell.workcell.part(part).mounted_on
        return part if mounted is None else self._robot(mounted)

    def result(self, body: Pose | None) -> Replay:
        plan = self.plan
        with self.client.session(list(plan.parts)) as session:
            self._approach(session)
            placed = body or plan.start_pose
            if _far(self._pose(), placed):
                self.plugin.move_object(plan.header["body"], placed)
                self.client.sleep(0.3)
            session.add(*self._actions())
            done = " and ".join(f"{name}.is_done" for name in plan.last("push"))
            session.add(reactions=[Reaction(done, event="planned_motion_done", fire_once=True)])
            self.client.set_speed(self.speed)
            self._begin = self.client.cell.tick
            self.client.cell.after_tick.append(self._sample)
            session.start(*plan.first("push"))
            session.wait_for("planned_motion_done", timeout_s=_TIME_LIMIT)
            rests = self._wait_for_rest()
            self.client.cell.after_tick.remove(self._sample)
            self._draw(math.inf)
            return self._measured(rests)

    def _actions(self) -> list[ActionDefinition]:
        actions = self.plan.actions("push", self.pose)
        if self.feedback:
            return actions
        without = ParameterValue(name="correction", value=0.0)
        by_effort = [any(p.name == "efforts" for p in action.parameters) for action in actions]
        if not all(by_effort):
            raise DefinitionError("replay without feedback", expected="a plan by efforts", got="one by velocities")
        return [changed(action, parameters=(*action.parameters, without)) for action in actions]

    def _approach(self, session: Session) -> None:
        """To the plan's first point, as far as the workcell starts elsewhere."""
        moves = []
        for part in self.plan.parts:
            first = self.plan.start_joints(part)
            now = self.client.cell.part(part)["commanded_position"][: len(first)]
            if np.abs(now - first).max() > _NEAR:
                moves.append(Action(f"approach_{part}", "move_joint", parts=part, position=first))
        if moves:
            session.add(*moves)
            session.start(*moves)
            session.wait_until(" and ".join(f"{move.id}.is_settled" for move in moves), timeout_s=_TIME_LIMIT)

    def _pose(self) -> Pose:
        return body_pose(self.plugin, self.plan.header["body"])

    def _sample(self) -> None:
        """After each tick."""
        elapsed = (self.client.cell.tick - self._begin) * self.period
        self.forces.append(sum(self.plugin.world.contact_force(*pair) for pair in self._contacts))
        if self._end is None and elapsed >= self.plan.header["time"] / self.speed - 1e-9:
            self._end = self._pose()
        if len(self.forces) % max(round(_SAMPLE / self.period), 1) == 1:
            pose = self._pose()
            self.times.append(elapsed)
            self.path.append([*pose.position, *pose.orientation])
        self._draw(elapsed)

    def _draw(self, elapsed: float) -> None:
        while len(self._frames) < len(self._frame_times) and self._frame_times[len(self._frames)] <= elapsed + 1e-9:
            image, bodies = self.plugin.picture_and_bodies(self._camera)
            self._frames.append(image)
            self._bodies.append(bodies)

    @property
    def _camera(self) -> CameraParameters:
        return self.plugin.parameters.world.camera

    def _wait_for_rest(self) -> bool:
        last = np.array(self._pose().position)
        for _ in range(round(_LONGEST_REST / _REST)):
            self.client.sleep(_REST)
            now = np.array(self._pose().position)
            self._drift = float(np.linalg.norm(now - last)) / _REST
            if self._drift * _REST < _RESTING:
                return True
            last = now
        return False

    def _measured(self, rests: bool) -> Replay:
        plan, pose = self.plan, self._pose()
        if not plan.at_rest and self._end is not None:
            pose = self._end
        at = np.array(pose.position)
        error = plan.error_of(at, pose.matrix[:3, :3])
        return Replay(
            speed=self.speed,
            position=pose.position,
            orientation=pose.orientation,
            error_to_plan=float(np.linalg.norm(at - plan.body_position[-1])),
            error_to_target=error.position,
            normalized_error=error.normalized,
            orientation_error=error.orientation,
            rests=rests,
            drift=self._drift,
            engine=self.plugin.engine,
            peak=max(self.forces),
            impulse=self.period * sum(self.forces),
            blow=self._blow(),
            times=np.array(self.times),
            path=np.array(self.path),
            images=self._with_ghost(),
            image_times=np.array(self._frame_times),
        )

    def _blow(self) -> float:
        window = np.ones(max(round(BLOW / self.period), 1))
        return float(self.period * np.convolve(self.forces, window).max())

    def _with_ghost(self) -> tuple[Image, ...]:
        """The pictures with the target: its outline, filled where nothing is in front; the body is put there. If that
        is a link, its whole robot is, as it stood last."""
        if not self._frames:
            return ()
        world, (name, dot, link) = self.plugin.world, self.plan.header["body"].partition(".")
        if dot:
            world.move_link(name, link, self.plan.target)
        else:
            self.plugin.move_object(name, self.plan.target)
        _, bodies_then = self.plugin.picture_and_bodies(self._camera)
        target = np.isin(bodies_then, world.seen_as(self.plan.header["body"]))
        edge = target & ~_eroded(target, _OUTLINE)
        hidden = [number for thing in (name, *world.robots) for number in world.seen_as(thing)]
        for frame, bodies in zip(self._frames, self._bodies, strict=True):
            ghost = target & ~np.isin(bodies, hidden)
            frame[ghost] = 0.5 * frame[ghost] + 0.5 * _GHOST
            frame[edge] = _GHOST
        return tuple(self._frames)


def _eroded(mask: NDArray[np.bool_], width: int) -> NDArray[np.bool_]:
    """Without its outermost pixels."""
    for _ in range(width):
        inner = mask.copy()
        for axis in (0, 1):
            inner &= np.roll(mask, 1, axis) & np.roll(mask, -1, axis)
        mask = inner
    return mask


def simulation(client: LockstepClient) -> SimulatorPlugin:
    """The simulator of a client's workcell.

    Raises:
        DefinitionError: there is none.
    """
    for host in client.cell.executor.devices.hosts.values():
        if isinstance(host.plugin, SimulatorPlugin):
            return host.plugin
    what = f"workcell {client.cell.workcell.name!r}"
    raise DefinitionError(what, expected="a device on a simulator", got="none")


def body_pose(plugin: SimulatorPlugin, name: str) -> Pose:
    """X_WB of an object, or of a link `<part>.<link>`."""
    part, dot, link = name.partition(".")
    return plugin.world.part_link_pose(part, link, "a plan's body") if dot else plugin.object_pose(name)


def _duration(plan: Plan, speed: float) -> float:
    """[s] of its motion."""
    return float(plan.header["time"] * (1.0 + plan.braking / plan.header["steps"]) / speed)


def _far(one: Pose, other: Pose) -> bool:
    X, Y = one.matrix, other.matrix
    return bool(np.linalg.norm(X[:3, 3] - Y[:3, 3]) > _NEAR or angle_between(X[:3, :3], Y[:3, :3]) > _NEAR)


def main(argv: Sequence[str] | None = None, out: Callable[[str], object] = print) -> int:
    """The command line. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="plan_replay", description=__doc__.splitlines()[0])
    parser.add_argument("plan", type=Path, metavar="PLAN", help="a plan file")
    parser.add_argument("--workcell", required=True, metavar="FILE", help="workcell of the plan: a file, or a name")
    parser.add_argument("--speed", type=float, nargs="+", default=[1.0], metavar="S", help="overrides (default: 1)")
    parser.add_argument("--no-feedback", action="store_true", help="efforts alone, to see how far they carry")
    parser.add_argument("--save", action="store_true", help="write into the plan file what was found")
    parser.add_argument("--film", type=Path, metavar="FILE", help="film strip of the first replay, .png")
    parser.add_argument("--gif", type=Path, metavar="FILE", help="animation of the first replay, .gif")
    parser.add_argument("--json", action="store_true", help="print numbers, and the body's path, as a list in JSON")
    arguments = parser.parse_args(argv)
    try:
        plan, workcell = Plan.load(arguments.plan), find_workcell(arguments.workcell)
        feedback = not arguments.no_feedback
        if arguments.film is not None or arguments.gif is not None:
            require_pictures()
        with simulator_silent():
            frames = [_frames(plan, arguments), *[0] * len(arguments.speed)]
            found = [
                replay(plan, workcell, speed=speed, frames=count, feedback=feedback)
                for speed, count in zip(arguments.speed, frames, strict=False)
            ]
        _pictures(found[0], arguments)
        if arguments.save:
            plan.with_replays([one.summary() for one in found]).save(arguments.plan)
        held = [plan.tolerance.holds(one.summary(), at_rest=plan.at_rest) for one in found]
    except (RobotControlError, TimeoutError) as error:
        out(json.dumps({"error": str(error)})) if arguments.json else print(error, file=sys.stderr)
        return 1
    if arguments.json:
        rows = [{**one.summary(), "times": one.times.tolist(), "path": one.path.tolist()} for one in found]
        out(json.dumps(rows))
    else:
        out("\n".join(map(_text, found)))
    return 0 if all(held) else 1


def _frames(plan: Plan, arguments: argparse.Namespace) -> int:
    """How many pictures are drawn. Those of a film strip are among those of an animation."""
    if arguments.gif is None:
        return 0 if arguments.film is None else _FILM
    between = round(_duration(plan, arguments.speed[0]) * _ANIMATION_RATE / (_FILM - 1))
    return 1 + (_FILM - 1) * min(max(between, 1), _MOST_BETWEEN)


def _pictures(found: Replay, arguments: argparse.Namespace) -> None:
    if arguments.film is None and arguments.gif is None:
        return  # importing matplotlib takes a second
    from robot_rt_control.command_line.plan_pictures import draw_film, write_gif

    every = (len(found.images) - 1) // (_FILM - 1)
    if arguments.film is not None:
        draw_film(found.images[::every], found.image_times[::every].tolist(), arguments.film)
    if arguments.gif is not None:
        write_gif(found.images, found.image_times.tolist(), arguments.gif)


@contextmanager
def simulator_silent() -> Iterator[None]:
    """What PyBullet's library writes to the standard output goes to the standard error: the former is for JSON."""
    sys.stdout.flush()
    kept, library = os.dup(1), ctypes.CDLL(None)
    os.dup2(2, 1)
    try:
        yield
    finally:
        library.fflush(None)
        os.dup2(kept, 1)
        os.close(kept)


def _text(found: Replay) -> str:
    x, y, z = found.position
    return (
        f"speed {found.speed:g}: end at ({x:.4f}, {y:.4f}, {z:.4f}) m{'' if found.rests else ', still moving'}\n"
        f"{1e3 * found.error_to_target:.1f} mm ({100 * found.normalized_error:.1f} % of the way) and "
        f"{found.orientation_error:.3f} rad from the target, {1e3 * found.error_to_plan:.1f} mm from the planned end\n"
        f"contact: at most {found.peak:.1f} N, {found.impulse:.3f} N s"
    )


if __name__ == "__main__":
    raise SystemExit(main())
