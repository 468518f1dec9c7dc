"""Generated tasks for the contact planner: seeded pushes, turns and carries, over robots of this package and of others.

A task depends on its seed and number alone, not on how many there are. It is two files, as anybody would write them: a
workcell and a task. Ten tasks in a row have all robots among them, so that any part of the field is one in small.

Three robots are unmodified URDFs of the Python package `example-robot-data`, docs/your_robot.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

Array = NDArray[np.float64]
Content = dict[str, Any]

FACES = ["back", "front", "left", "right"]
_STEP = 0.05
"""[s] of control."""
_PEG = 0.02
"""[m] radius; and it is"""
_PEG_LENGTH = 0.1
"""[m] long. Arms start with its lower end 10 mm above the ground."""
_BASE = 0.215
"""[m] radius of the base."""
_FREE = 0.03
"""[m] between what pushes and the body at the start, at least."""
_POST = 0.02
"""[m] radius of a post."""
_TRIES = 10_000
_STAND = {"orientation": [0.0, 0.0, 0.0, 1.0]}


@dataclass(frozen=True, kw_only=True)
class Arm:
    """A robot that gets a peg at its last link."""

    urdf: str
    """Path in the folder of `example-robot-data`, or of this package."""
    base_link: str
    tip_link: str
    peg: float
    """[m] from the last link's origin to the peg's middle, along its z."""
    start: Sequence[float]
    """[rad] The peg points down, at"""
    before: float
    """[m] before the base."""
    reach: float
    """[m] of the body's middle from the base, at most."""
    foreign: bool = True
    inertia: str = "balanced"
    """URDFs of other people have inertias that no body has."""
    parts: Mapping[str, Content] = field(default_factory=dict)
    """Further ones on its joints."""


ARMS: Mapping[str, Arm] = {
    "iiwa": Arm(
        urdf="package://robot_rt_control/config/robots/iiwa.urdf",
        base_link="lbr_iiwa_link_0",
        tip_link="lbr_iiwa_link_7",
        peg=0.095,
        start=(0.0, 0.9093, 0.0, -1.9313, 0.0, 0.3010, 0.0),
        before=0.45,
        reach=0.75,
        foreign=False,
        inertia="urdf",
    ),
    "panda": Arm(
        urdf="robots/panda_description/urdf/panda.urdf",
        base_link="panda_link0",
        tip_link="panda_hand",
        peg=0.165,  # beyond the closed fingers
        start=(0.0, 0.0406, 0.0, -2.6657, 0.0, 2.7063, 0.7854),
        before=0.42,
        reach=0.68,
        parts={"gripper": {"kind": "gripper", "joints": ["panda_finger_joint1"], "start_position": [0.0]}},
    ),
    "ur5": Arm(
        urdf="robots/ur_description/urdf/ur5_robot.urdf",
        base_link="base_link",
        tip_link="tool0",
        peg=0.06,
        start=(-0.2764, -1.4561, 2.3635, -2.4782, -1.5708, 0.0),
        before=0.40,
        reach=0.70,
    ),
    "xarm7": Arm(
        urdf="robots/xarm_description/urdf/xarm7.urdf",
        base_link="link_base",
        tip_link="link_eef",
        peg=0.06,
        start=(0.0, 0.3579, 0.0, 0.6478, 0.0, 0.2900, 0.0),
        before=0.40,
        reach=0.62,
    ),
}
ROBOTS = "iiwa", "base", "panda", "gripper", "ur5", "iiwa", "base", "xarm7", "gripper", "iiwa"
"""Of ten tasks in a row."""
_KINDS = "straight", "anywhere", "straight", "posts", "anywhere", "turned", "straight"
"""Of tasks of an arm or a base, in turn: seven and ten have no common divisor."""
FOREIGN = frozenset(name for name, arm in ARMS.items() if arm.foreign)
DATA = Path("example-robot-data")
"""Where docs/your_robot.md puts the robots of other people."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """A straight push: three lines of `move_linear` do it."""

    direction: tuple[float, float]
    """In the world."""
    gap: float
    """[m] from the peg to the body at the start."""
    way: float
    """[m]"""


@dataclass(frozen=True, kw_only=True)
class FieldTask:
    """A generated task."""

    seed: int
    number: int
    robot: str
    kind: str
    """straight: a line does it; anywhere: any way in the plane; turned: with a yaw; posts: any way, with posts beside
    it; carried: by two fingers."""
    text: str
    """What it is, in a few words."""
    cell: Content
    task: Content
    line: Line | None = None

    @property
    def name(self) -> str:
        return f"{self.seed}.{self.number:03d} {self.robot}, {self.text}"

    def write(self, folder: Path, data: Path = DATA) -> Path:
        """Write workcell and task. Returns the task's file.

        Args:
            data: the folder `example-robot-data`.
        """
        cell = dict(self.cell)
        if self.robot in FOREIGN:
            parts = {name: dict(part) for name, part in cell["parts"].items()}
            parts["arm"]["urdf"] = str((data / parts["arm"]["urdf"]).resolve())
            cell["parts"] = parts
        stem = f"task_{self.seed}_{self.number}"
        (folder / f"{stem}_cell.yaml").write_text(yaml.safe_dump(cell, sort_keys=False))
        file = folder / f"{stem}.yaml"
        file.write_text(yaml.safe_dump({**self.task, "workcell": f"{stem}_cell.yaml"}, sort_keys=False))
        return file


def generated(seed: int, number: int) -> FieldTask:
    """The task of a seed with a number, from 0 on."""
    random = np.random.default_rng([seed, number])
    robot = ROBOTS[number % len(ROBOTS)]
    if robot == "gripper":
        return _carried(seed, number, random)
    return _pushed(seed, number, robot, _KINDS[number % len(_KINDS)], random)


# --- pushes ----------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Place:
    """Where a body is, where it goes, and what is in the way, with the robot at the origin, facing x."""

    at: Array
    yaw: float
    end: Array
    turn: float
    half: tuple[float, float]
    """[m] of the body, along its x and y."""
    gap: float
    posts: tuple[Array, ...] = ()


def _pushed(seed: int, number: int, robot: str, kind: str, random: np.random.Generator) -> FieldTask:
    round_body = robot != "base" and random.random() < 0.25
    if robot == "base":
        half, height = (random.uniform(0.15, 0.25), random.uniform(0.15, 0.25)), 0.12
        mass, friction = random.uniform(0.5, 4.0), random.uniform(0.2, 1.0)
    else:
        height = random.uniform(0.07, 0.095)  # below the flange, which is 0.11 m above the ground
        radius = random.uniform(0.04, 0.09)
        half = (radius, radius) if round_body else (random.uniform(0.05, 0.1), random.uniform(0.06, 0.15))
        mass, friction = float(np.exp(random.uniform(math.log(0.1), math.log(2.0)))), random.uniform(0.2, 0.9)
    place = _placed(robot, kind, half, random)
    yaw = 0.0 if robot == "base" else random.uniform(-math.pi, math.pi)
    """[rad] of the arm's base in the world."""
    cell = _cell_of_base(random) if robot == "base" else _cell_of_arm(ARMS[robot], yaw)
    shape: Content = {"box": {"size": [round(2.0 * half[0], 4), round(2.0 * half[1], 4), round(height, 4)]}}
    if round_body:
        shape = {"cylinder": {"radius": round(half[0], 4), "height": round(height, 4)}}
    body = {
        "name": "body", **shape, "pose": _pose(place.at, place.yaw, height / 2.0, yaw),
        "mass": round(mass, 3), "friction": round(friction, 3),
    }  # fmt: skip
    posts = [
        {"name": f"post_{i + 1}", "fixed": True, "cylinder": {"radius": _POST, "height": 0.2},
         "pose": _pose(at, 0.0, 0.1, yaw)}
        for i, at in enumerate(place.posts)
    ]  # fmt: skip
    cell["devices"]["sim"]["world"]["objects"] += [body, *posts]
    way = float(np.linalg.norm(place.end - place.at))
    slow = bool(random.random() < 0.75)
    time = random.integers(30, 61) if kind == "straight" else random.integers(40, 81)  # control steps
    if robot == "base":
        time *= 2
    target = _pose(place.end, place.yaw + place.turn, height / 2.0, yaw)
    task = {
        "name": f"task_{number}",
        "body": "body",
        "target": target,
        "pairs": [{"robot": "base.base_link" if robot == "base" else "arm.peg", "faces": FACES}],
        "horizon": {"time": round(float(time) * _STEP, 2), "steps": int(time)},
    }
    if slow:
        task["duration"] = {"at_most": 16.0 if robot == "base" else 8.0}
    direction = place.end - place.at
    angle = math.degrees(math.atan2(direction[1], direction[0]))
    text = f"{'cylinder' if round_body else 'box'}, {100 * way:.0f} cm at {angle:.0f}°"
    text += f", turned {math.degrees(place.turn):.0f}°" if place.turn else ""
    text += f", {len(posts)} posts" if posts else ""
    line = None
    if kind == "straight" and robot != "base":
        u = _rotation(yaw) @ direction / way
        line = Line(direction=(float(u[0]), float(u[1])), gap=place.gap, way=way)
    return FieldTask(seed=seed, number=number, robot=robot, kind=kind, text=text, cell=cell, task=task, line=line)


def _placed(robot: str, kind: str, half: tuple[float, float], random: np.random.Generator) -> _Place:
    """Somewhere within reach, free of the robot and of posts."""
    pusher = np.array([0.0, 0.0]) if robot == "base" else np.array([ARMS[robot].before, 0.0])
    size, own = math.hypot(*half), _BASE if robot == "base" else _PEG
    for _ in range(_TRIES):
        if kind == "straight":
            angle = random.uniform(-0.9, 0.9)
            gap, way = random.uniform(_FREE, 0.12), random.uniform(0.03, 0.2)
            u = np.array([math.cos(angle), math.sin(angle)])
            at, yaw = pusher + (own + gap + half[0]) * u, angle
            turn = 0.0
        else:
            angle, way = random.uniform(-math.pi, math.pi), random.uniform(0.03, 0.2)
            u = np.array([math.cos(angle), math.sin(angle)])
            at = pusher + random.uniform(-0.35, 0.35, 2)
            yaw, gap = random.uniform(-math.pi / 4, math.pi / 4), 0.0
            turn = random.choice([-1.0, 1.0]) * random.uniform(0.1, math.pi / 2) if kind == "turned" else 0.0
        if robot == "base":  # the same, larger
            way *= 2.5
            at = at if kind == "straight" else 2.5 * at
        end = at + way * u
        if kind != "straight" and np.linalg.norm(at - pusher) < own + size + _FREE:
            continue
        if robot != "base" and not _within(ARMS[robot], at, end, size):
            continue
        posts = _posts(kind, at, end, pusher, size, own, random)
        if posts is None:
            continue
        return _Place(at=at, yaw=yaw, end=end, turn=turn, half=half, gap=gap, posts=posts)
    raise AssertionError("no place for a task")


def _within(arm: Arm, at: Array, end: Array, size: float) -> bool:
    """Whether a body of this size is within an arm's reach at both places, and away from its foot."""
    far, near = arm.reach, 0.22 + size
    return all(near < float(np.linalg.norm(p)) < far and p[0] > 0.15 for p in (at, end))


def _posts(
    kind: str, at: Array, end: Array, pusher: Array, size: float, own: float, random: np.random.Generator
) -> tuple[Array, ...] | None:
    """Posts beside the way, or between pusher and body; None: there is no place for them."""
    if kind != "posts":
        return ()
    found: list[Array] = []
    wanted = int(random.integers(1, 3))
    for _ in range(50):
        post = random.uniform(np.minimum(at, pusher) - 2.0 * size, np.maximum(at, pusher) + 2.0 * size)
        room = 2.0 * own + _POST + _FREE  # the pusher gets between
        clear = all(float(np.linalg.norm(post - p)) > size + room for p in (at, end, (at + end) / 2.0))
        apart = all(float(np.linalg.norm(post - p)) > 2.0 * (own + _POST) + _FREE for p in found)
        if clear and apart and float(np.linalg.norm(post - pusher)) > own + _POST + _FREE and post[0] > 0.2:
            found.append(post)
            if len(found) == wanted:
                return tuple(found)
    return None


def _rotation(yaw: float) -> Array:
    c, s = math.cos(yaw), math.sin(yaw)
    return np.array([[c, -s], [s, c]])


def _pose(at: Array, yaw: float, height: float, base: float) -> Content:
    """In the world, of a place before a robot that is turned by `base` there."""
    x, y = _rotation(base) @ at
    turned = (yaw + base) / 2.0
    return {
        "position": [round(float(x), 5), round(float(y), 5), round(height, 5)],
        "orientation": [0.0, 0.0, round(math.sin(turned), 7), round(math.cos(turned), 7)],
    }


# --- workcells -------------------------------------------------------------------------------------


def _cell_of_arm(arm: Arm, yaw: float) -> Content:
    part = {
        "kind": "arm", "device": "sim", "urdf": arm.urdf, "base_link": arm.base_link, "tip_link": arm.tip_link,
        "base_pose": {"orientation": [0.0, 0.0, round(math.sin(yaw / 2.0), 7), round(math.cos(yaw / 2.0), 7)]},
        "tool": {"position": [0.0, 0.0, arm.peg + _PEG_LENGTH / 2.0], **_STAND},
        "start_position": list(arm.start), "default_action": "hold", "safety_action": "stop",
    }  # fmt: skip
    further = {name: {"device": "sim", "mounted_on": "arm", **its} for name, its in arm.parts.items()}
    peg = {
        "name": "peg", "part_of": "arm", "link": arm.tip_link, "mass": 0.1,
        "cylinder": {"radius": _PEG, "height": _PEG_LENGTH}, "pose": {"position": [0.0, 0.0, arm.peg]},
    }  # fmt: skip
    return _cell({"arm": part, **further}, arm.inertia, [peg])


def _cell_of_base(random: np.random.Generator) -> Content:
    part = {
        "kind": "base", "device": "sim", "urdf": "package://robot_rt_control/config/robots/pusher_base.urdf",
        "joints": ["base_x", "base_y", "base_yaw"],
        "start_position": [0.0, 0.0, round(float(random.uniform(-1.0, 1.0)), 3)],
        "limits": {"velocity": [2.0, 2.0, 2.0], "acceleration": [4.0, 4.0, 8.0]},
        "default_action": "hold", "safety_action": "stop",
    }  # fmt: skip
    return _cell({"base": part}, "urdf", [])


def _cell(parts: Content, inertia: str, tools: Sequence[Content]) -> Content:
    world = {
        "gravity": [0.0, 0.0, -9.81],
        "inertia": inertia,
        "objects": [{"name": "floor", "plane": True}],
        "tools": list(tools),
    }
    return {
        "name": "field_cell",
        "period": 0.001,
        "default_hardware": "simulator",
        "parts": parts,
        "devices": {"sim": {"max_age_ticks": None, "world": world}},
    }


# --- carried ---------------------------------------------------------------------------------------


def _carried(seed: int, number: int, random: np.random.Generator) -> FieldTask:
    """A cube between the fingers of config/pinch.yaml, that goes anywhere, every other one over the ground."""
    cell = yaml.safe_load((Path(__file__).parents[1] / "config" / "pinch.yaml").read_text())
    for thing in cell["devices"]["sim"]["world"]["objects"]:
        if thing["name"] == "cube":
            edge = round(float(random.uniform(0.07, 0.09)), 4)
            thing["box"]["size"] = [edge, edge, 0.08]
            thing["mass"] = round(float(random.uniform(0.1, 0.6)), 3)
            thing["friction"] = round(float(random.uniform(0.1, 0.5)), 3)
    angle, way = random.uniform(-math.pi, math.pi), random.uniform(0.03, 0.2)
    up = random.uniform(0.03, 0.15) if random.random() < 0.5 else 0.0
    by = [way * math.cos(angle), way * math.sin(angle), up]
    steps = int(random.integers(20, 41))
    task = {
        "name": f"task_{number}",
        "body": "cube",
        "target": {"by": [round(x, 5) for x in by]},
        "pairs": [{"robot": f"arm.{side}_finger", "faces": [side]} for side in ("left", "right")],
        "horizon": {"time": round(steps * _STEP, 2), "steps": steps},
    }
    text = f"cube, {100 * way:.0f} cm at {math.degrees(angle):.0f}°" + (f", {100 * up:.0f} cm up" if up else "")
    return FieldTask(seed=seed, number=number, robot="gripper", kind="carried", text=text, cell=cell, task=task)
