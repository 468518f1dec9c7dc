"""A first workcell file for a robot, from its URDF: what the URDF does not say is guessed, and marked as such."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from robot_rt_control.model.robot.meshes import missing_meshes
from robot_rt_control.model.robot.urdf import Urdf, UrdfJoint
from robot_rt_control.model.workcell.urdf_plan import UrdfPlan, plan_of_urdf

FULL_SPEED_S = 0.5
"""In this time a joint reaches full speed with the acceleration that is guessed."""
_SPEED = {"revolute": 1.0, "continuous": 1.0, "prismatic": 0.1}
"""[rad/s or m/s] guessed for a joint without a limit of velocity."""

@dataclass
class WorkcellText:
    """A workcell file and what to know about it."""

    text: str
    notes: list[str] = field(default_factory=list)
    """What was guessed, left out or not found; each is in the file too, but for missing meshes."""


def workcell_from_urdf(
    name: str,
    urdf: Urdf,
    path: str,
    *,
    base: str = "",
    tip: str = "",
    xacro_arguments: dict[str, str] | None = None,
) -> WorkcellText:
    """Write a workcell of one robot on a floor, for simulators and mock hardware.

    Args:
        name: of the workcell.
        urdf: of the robot.
        path: by which the file names the URDF.
        base, tip: first and last link of the arm; empty: guessed.
        xacro_arguments: of a xacro file.

    Raises:
        DefinitionError: as plan_of_urdf.
    """
    plan = plan_of_urdf(urdf, base=base, tip=tip)
    notes: list[str] = []
    lines = [
        f"# {urdf.name or 'A robot'} on a floor, from its URDF.",
        "# Check what is marked as a guess before a real robot moves by it.",
        f"name: {name}",
        "period: 0.001  # [s]",
        "default_hardware: simulator",
        "",
        "parts:",
        "  arm:",
        "    kind: arm",
        "    device: sim",
        f"    urdf: {_quoted(path)}",
    ]
    if xacro_arguments:
        pairs = ", ".join(f"{key}: {_quoted(value)}" for key, value in xacro_arguments.items())
        lines.append(f"    xacro_arguments: {{{pairs}}}")
    lines += [
        f"    base_link: {_quoted(plan.base_link)}",
        f"    tip_link: {_quoted(plan.tip_link)}" + ("" if tip else "  # a guess"),
        "    base_pose: {position: [0, 0, 0], orientation: [0, 0, 0, 1]}  # of base_link in the world [m]; x y z w",
        "    tool: {position: [0, 0, 0], orientation: [0, 0, 0, 1]}  # what moves, in tip_link",
        "    # a guess: no link is near another one or the floor, as far as their joints tell",
        f"    start_position: {_numbers(plan.start)}",
        *_limits(plan.arm, notes),
    ]
    if plan.gripper:
        lines += [
            "  gripper:",
            "    kind: gripper",
            "    device: sim",
            "    mounted_on: arm",
            *_followers(urdf, plan.gripper),
            f"    joints: [{', '.join(_quoted(joint.name) for joint in plan.gripper)}]",
            *_limits(plan.gripper, notes),
        ]
    if plan.unused:
        unused = ", ".join(joint.name for joint in plan.unused)
        notes.append(f"these joints belong to no part, and are held where they are: {unused}")
        lines.append(f"  # {notes[-1]}")
    lines += ["", "devices:", "  sim:", "    mock: {}  # without a simulator", *_world(plan)]
    massless = [joint.child for joint in plan.arm if (i := urdf.links[joint.child]) is None or i.mass <= 0.0]
    if massless:
        notes.append("links that the arm moves have no mass in the URDF: " + ", ".join(massless))
    missing = missing_meshes(urdf)
    if missing:
        first = missing[0]
        text = f"{len(missing)} meshes are missing, and simulators refuse the robot without them: {first.name!r}: "
        notes.append(f"{text}expected {first.expected}; got {first.got}. {first.hint}".rstrip())
    return WorkcellText("\n".join(lines) + "\n", notes)


def _limits(joints: Sequence[UrdfJoint], notes: list[str]) -> list[str]:
    names = ", ".join(joint.name for joint in joints)
    velocity = np.array([_SPEED[joint.type] if joint.velocity is None else joint.velocity for joint in joints])
    without = [joint.name for joint in joints if joint.velocity is None]
    lines = [f"    limits:  # one number for each joint: {names}"]
    if without:
        notes.append(f"velocities are guessed, as the URDF limits none of these joints: {', '.join(without)}")
        lines += [f"      # [rad/s, m/s] {notes[-1]}", f"      velocity: {_numbers(velocity)}"]
    accelerations = f"accelerations are guessed, as a URDF has none: full speed in {FULL_SPEED_S:g} s"
    if accelerations not in notes:
        notes.append(accelerations)
    lines += [
        f"      # [rad/s^2, m/s^2] {accelerations}",
        f"      acceleration: {_numbers(velocity / FULL_SPEED_S)}",
    ]
    if weak := [joint.name for joint in joints if joint.effort is None]:
        notes.append(f"no commands of effort, as the URDF limits no effort of {', '.join(weak)}")
        lines.append(f"      # {notes[-1]}; with `effort: […]` [Nm, N] here there are")
    if endless := [joint.name for joint in joints if joint.type == "continuous"]:
        lines.append(f"      # turns without end: {', '.join(endless)}")
    return lines


def _followers(urdf: Urdf, joints: Sequence[UrdfJoint]) -> list[str]:
    driven = {joint.name for joint in joints}
    found = [m.name for joint in urdf.joints.values() if (m := joint.mimic) is not None and m.joint in driven]
    return [f"    # simulators move these with them (<mimic>): {', '.join(found)}"] if found else []


def _world(plan: UrdfPlan) -> list[str]:
    far, middle = max(1.1 * plan.reach, 0.4), 0.4 * plan.reach
    eye = f"[{far:.2f}, {-0.75 * far:.2f}, {0.7 * far:.2f}]"
    return [
        "    world:  # what PyBullet and MuJoCo simulate: docs/simulators.md",
        "      gravity: [0, 0, -9.81]  # [m/s^2]",
        "      objects:",
        "        - {name: floor, plane: true}",
        f"      camera: {{eye: {eye}, target: [0, 0, {middle:.2f}], width: 640, height: 480}}  # [m], [pixels]",
    ]


def _numbers(values: Sequence[float] | np.ndarray) -> str:
    return "[" + ", ".join(f"{round(float(value), 6):g}" for value in values) + "]"


def _quoted(text: str) -> str:
    """As YAML takes it."""
    plain = text and text[0].isalpha() and all(c.isalnum() or c in "_-./" for c in text)
    words = ("true", "false", "null", "yes", "no", "on", "off", "y", "n")
    return text if plain and text.lower() not in words else "'" + text.replace("'", "''") + "'"
