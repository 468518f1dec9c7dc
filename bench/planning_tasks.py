"""Tasks of the contact planner for the benchmarks: the applications, and random pushes."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import yaml

from robot_rt_control.model.pose import Pose
from robot_rt_control.planning.files.task_file import read_task
from robot_rt_control.planning.task import Control, PairGroup, Start, Task

CONFIG = Path(__file__).parents[1] / "config"
_FACES = "back", "front", "left", "right"
_STEP = 0.05
"""[s]"""


def slider(steps: int = 1) -> Task:
    """Application A: 20 cm by efforts, in one control step of 1 s or in several and at rest at the end."""
    return Task(
        name=f"A slider 20 cm, {steps} steps",
        workcell=CONFIG / "pusher.yaml",
        body="slider",
        target=Pose(position=(0.33, 0.0, 0.05)),
        pairs=(PairGroup(robot="pusher.tip", faces=("back",)),),
        controls={"pusher": "effort"},
        time=1.0,
        steps=steps,
        at_rest=steps > 1,
    )


def arm(
    name: str, way: Sequence[float], time: float, at: Sequence[float] = (0.6, 0.0), control: Control = "velocity"
) -> Task:
    """Application B: a box at a place [m] is pushed along a way [m]."""
    start = Start() if tuple(at) == (0.6, 0.0) else Start(body=Pose(position=(at[0], at[1], 0.04)))
    return Task(
        name=f"B {name}",
        workcell=CONFIG / "push.yaml",
        start=start,
        body="box",
        target=Pose(position=(at[0] + way[0], at[1] + way[1], 0.04)),
        pairs=(PairGroup(robot="arm.peg", faces=_FACES),),
        controls={"arm": control},
        time=time,
        steps=round(time / _STEP),
    )


def base(name: str, way: Sequence[float], workcell: str) -> Task:
    """Application C: 10 control steps of 0.5 s."""
    return Task(
        name=f"C {name}",
        workcell=CONFIG / workcell,
        body="box",
        target=Pose(position=(0.65 + way[0], way[1], 0.06)),
        pairs=(PairGroup(robot="base.base_link", faces=_FACES),),
        time=5.0,
        steps=10,
    )


def packaged(name: str, file: str, **parameters: float) -> Task:
    """A task that comes with the package."""
    return replace(read_task(CONFIG / "tasks" / f"{file}.yaml", parameters).task, name=name)


QUICK: tuple[Callable[[], Task], ...] = (
    slider,
    lambda: arm("forward 5 cm", (0.05, 0), 1.0),
)
"""In seconds."""
APPLICATIONS: tuple[Callable[[], Task], ...] = (
    *QUICK,
    lambda: slider(20),
    lambda: arm("forward 20 cm", (0.2, 0), 1.5),
    lambda: arm("forward 30 cm", (0.3, 0), 1.5),
    lambda: arm("left 10 cm, from beside", (0, 0.1), 1.5, at=(0.45, 0.25)),
    lambda: arm("right 10 cm, from beside", (0, -0.1), 1.5, at=(0.45, -0.25)),
    lambda: arm("left 10 cm, from before", (0, 0.1), 2.0),
    lambda: arm("right 10 cm, from before", (0, -0.1), 2.0),
    lambda: arm("diagonal 10, 10 cm", (0.1, 0.1), 2.5),
    lambda: arm("diagonal 10, -10 cm", (0.1, -0.1), 2.5),
    lambda: arm("forward 5 cm, effort", (0.05, 0), 1.0, control="effort"),
    lambda: arm("forward 20 cm, effort", (0.2, 0), 1.5, control="effort"),
    lambda: arm("left 10 cm from before, effort", (0, 0.1), 2.0, control="effort"),
    lambda: base("forward 50 cm, friction 1", (0.5, 0), "base_push.yaml"),
    lambda: base("diagonal 30, 30 cm, friction 1", (0.3, 0.3), "base_push.yaml"),
    lambda: base("diagonal 30, -30 cm, friction 1", (0.3, -0.3), "base_push.yaml"),
    lambda: base("forward 50 cm, friction 0.1", (0.5, 0), "base_push_smooth.yaml"),
    lambda: base("diagonal 30, 30 cm, friction 0.1", (0.3, 0.3), "base_push_smooth.yaml"),
    lambda: base("diagonal 30, -30 cm, friction 0.1", (0.3, -0.3), "base_push_smooth.yaml"),
    lambda: packaged("D torso 15 cm up", "move_torso"),
    lambda: packaged("E pinch 15 cm", "pinch_cube"),
)


def random_push(seed: int, folder: Path) -> Task:
    """A box of random size, mass, friction and pose, pushed 5 to 25 cm in a random direction in 3 s; within reach."""
    random = np.random.default_rng(seed)
    while True:
        at, turn = random.uniform((0.45, -0.3), (0.7, 0.3)), random.uniform(-0.5, 0.5)
        angle, length = random.uniform(-np.pi, np.pi), random.uniform(0.05, 0.25)
        end = at + length * np.array([np.cos(angle), np.sin(angle)])
        size = random.uniform(0.1, 0.2), random.uniform(0.15, 0.3), 0.08
        friction, mass = random.uniform(0.3, 0.8), random.uniform(0.1, 0.5)
        radius = math.hypot(size[0], size[1]) / 2
        free = math.hypot(at[0] - 0.45, at[1]) > radius + 0.03  # the peg's start
        if free and math.hypot(*at) < 0.75 and 0.4 < math.hypot(*end) < 0.75 and end[0] > 0.3:
            break
    turned = (0.0, 0.0, math.sin(turn / 2), math.cos(turn / 2))
    cell = yaml.safe_load((CONFIG / "push.yaml").read_text())
    for thing in cell["devices"]["sim"]["world"]["objects"]:
        if thing["name"] == "box":
            thing["box"]["size"] = [float(edge) for edge in size]
            thing["pose"] = {"position": [float(at[0]), float(at[1]), 0.04], "orientation": list(turned)}
            thing["mass"], thing["friction"] = float(mass), float(friction)
    file = Path(tempfile.mkdtemp(dir=folder)) / "push.yaml"
    file.write_text(yaml.safe_dump(cell))
    return Task(
        name=f"random push {seed}",
        workcell=file,
        body="box",
        target=Pose(position=(float(end[0]), float(end[1]), 0.04), orientation=turned),
        pairs=(PairGroup(robot="arm.peg", faces=_FACES),),
        time=3.0,
        steps=60,
    )
