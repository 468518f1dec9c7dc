"""Where the motion of a task begins: the workcell's start, or what the task gives; refused if it cannot be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.planning.scene.actuated import Actuated
from robot_rt_control.planning.scene.body import FreeBody, LinkBody
from robot_rt_control.planning.task import Start, Task
from robot_rt_control.vocabulary.errors import DefinitionError, unknown

Array = NDArray[np.float64]

_PENETRATION = 1e-3
"""[m] that two geometries may overlap at the start: poses are measured."""
_SAME_POSE = 1e-6
"""[m and rad]"""


def start_positions(start: Start, joints: Sequence[tuple[PartDescription, int, str]]) -> Array:
    """(n,) of the driven joints, each a part, its place in it, and its name: the task's, else the workcell's.

    Raises:
        DefinitionError: a part or a number of joints is not the workcell's, or a joint is outside its limits.
    """
    given = start.joints
    parts = {part.name: part for part, _, _ in joints}
    _check_given(given, parts)
    found = []
    for part, i, joint in joints:
        q = float(given[part.name][i] if part.name in given else part.start_position[i])
        lower, upper = float(part.record.position_lower[i]), float(part.record.position_upper[i])
        if not lower - _SAME_POSE <= q <= upper + _SAME_POSE:  # also NaN
            unit = part.units[i]
            what, got = f"start, joint '{part.name}.{joint}'", f"{q:g} {unit}"
            raise DefinitionError(what, expected=f"its limits, {lower:g} to {upper:g} {unit}", got=got)
        found.append(min(max(q, lower), upper))
    return np.array(found)


def start_state(
    task: Task,
    model: mujoco.MjModel,
    actuated: Actuated,
    free: Mapping[str, tuple[float, float]],
    motion: FreeBody | LinkBody,
) -> Array:
    """(nq,) where the motion begins.

    Args:
        free: joints of no part, and their limits.

    Raises:
        DefinitionError: the body cannot take the given pose.
    """
    qpos = model.qpos0.copy()
    for name, (lower, upper) in free.items():
        i = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name)
        qpos[model.jnt_qposadr[i]] = min(max(0.0, lower), upper)
    actuated.place(qpos, actuated.start)
    pose = task.start.body
    if pose is not None:
        qpos = motion.placed(qpos, np.array(pose.position), np.array(pose.orientation))
        p, R = motion.pose(qpos)
        goal = pose.matrix[:3, :3]
        if np.abs(p - pose.position).max() > _SAME_POSE or np.abs(R - goal).max() > _SAME_POSE:
            expected = "a pose that the joints before it can take"
            raise DefinitionError(f"start, body {task.body!r}", expected=expected, got=str(pose.position))
    return qpos


def refuse_penetration(model: mujoco.MjModel, qpos: Array) -> None:
    """Refuse geometries that begin inside each other.

    Raises:
        DefinitionError: with the two that overlap most.
    """
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_forward(model, data)
    deepest = min(data.contact, key=lambda contact: float(contact.dist), default=None)
    if deepest is not None and deepest.dist < -_PENETRATION:
        first, second = (model.geom(i).name.removesuffix("/0") for i in deepest.geom)
        what, got = f"start, {first!r} and {second!r}", f"{1e3 * deepest.dist:.1f} mm"
        raise DefinitionError(what, expected="a distance of at least 0 mm", got=got)


def _check_given(given: Mapping[str, tuple[float, ...]], parts: Mapping[str, PartDescription]) -> None:
    """Each part that a start names has joints, and a position for each."""
    for name, q in given.items():
        if name not in parts:
            raise DefinitionError(f"start, part {name!r}", expected=unknown("part with joints", name, parts))
        if len(q) != parts[name].dof:
            expected = f"one position for each of {parts[name].dof} joints"
            raise DefinitionError(f"start, part {name!r}", expected=expected, got=f"{len(q)}")
