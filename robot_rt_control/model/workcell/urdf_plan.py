"""What a workcell makes of a URDF about which nobody has said anything: which joints are an arm, which a gripper, and a
pose to begin in. Guesses: whoever knows the robot corrects them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from robot_rt_control.model.robot.urdf import MOVABLE, Array, Urdf, UrdfJoint
from robot_rt_control.vocabulary.capacities import MAX_JOINTS
from robot_rt_control.vocabulary.errors import DefinitionError

_TOOL_NAMES = ("tool0", "tcp", "grasp", "tool", "end_effector", "ee", "flange", "hand")
"""Words in the names of links that are made for the tip, the best one first."""
_FINGER_NAMES = ("gripper", "finger", "jaw", "claw", "knuckle")
"""In the name of a joint, also of one without a second one: it belongs to a gripper."""
_FINGER_JOINTS = 3
"""Branches with at most so many joints each, after the arm, are fingers."""
_POSES = 4000
"""Poses among which the start is chosen."""
_START_WITHIN_RAD = 2.6
"""No start is farther from the middle of a joint's range, or from 0 if it turns further: not all wound up."""


@dataclass(frozen=True, kw_only=True)
class UrdfPlan:
    """Parts of a robot."""

    base_link: str
    tip_link: str
    arm: tuple[UrdfJoint, ...]
    gripper: tuple[UrdfJoint, ...]
    """Driven joints after the arm's last one; those that follow them are not among these."""
    unused: tuple[UrdfJoint, ...]
    """Driven joints that are in neither."""
    start: Array
    """(joints of the arm,) [rad or m]"""
    reach: float
    """[m] sum of the distances between the joints, and to the tip."""


def plan_of_urdf(urdf: Urdf, *, base: str = "", tip: str = "") -> UrdfPlan:
    """Choose the parts of a robot.

    Args:
        base, tip: first and last link of the arm; empty: guessed.

    Raises:
        DefinitionError: there is no such link, no joint moves, or there are several arms to choose from.
    """
    tip = tip or _tip(urdf)
    base = base or urdf.root
    path = urdf.path_to(base, tip)
    arm = tuple(joint for joint in path if joint.type in MOVABLE and joint.mimic is None)
    if not arm:
        raise DefinitionError(
            f"{urdf.source}: joints from {base!r} to {tip!r}", expected="at least one that moves", got="none"
        )
    below = {arm[-1].child}
    order = [joint for joint in _in_order(urdf) if joint.type in MOVABLE and joint.mimic is None]
    for joint in _in_order(urdf):
        if joint.parent in below:
            below.add(joint.child)
    gripper = tuple(joint for joint in order if joint.child in below and joint not in arm)
    if len(gripper) > MAX_JOINTS:
        gripper = ()
    unused = tuple(joint for joint in order if joint not in arm and joint not in gripper)
    reach = sum(float(np.linalg.norm(joint.X_PJ[:3, 3])) for joint in path)
    return UrdfPlan(
        base_link=base,
        tip_link=tip,
        arm=arm,
        gripper=gripper,
        unused=unused,
        start=_start(path, arm, reach),
        reach=reach,
    )


def _in_order(urdf: Urdf) -> list[UrdfJoint]:
    """All joints, those nearer to the root first."""
    found, links = [], [urdf.root]
    while links:
        joints = urdf.child_joints[links.pop(0)]
        found += joints
        links += [joint.child for joint in joints]
    return found


def _driven_below(urdf: Urdf, link: str) -> int:
    """The most joints with a drive of their own on a way down from a link."""
    deepest = 0
    for joint in urdf.child_joints[link]:
        own = joint.type in MOVABLE and joint.mimic is None
        deepest = max(deepest, own + _driven_below(urdf, joint.child))
    return deepest


def _tip(urdf: Urdf) -> str:
    """The last link of the only arm."""
    link, last = urdf.root, urdf.root
    while True:
        ways = [joint for joint in urdf.child_joints[link] if joint.type in MOVABLE or _driven_below(urdf, joint.child)]
        if len(ways) > 1:
            depths = [_moves(joint) + _driven_below(urdf, joint.child) for joint in ways]
            if last == urdf.root or max(depths) > _FINGER_JOINTS:
                raise DefinitionError(
                    f"{urdf.source}: the arm",
                    expected="one chain of joints, with fingers at its end at most",
                    got=f"{len(ways)} that begin at link {link!r}: " + ", ".join(joint.name for joint in ways),
                    hint="Name the last link of the one that is meant: --tip LINK",
                )
            break
        if not ways or (last != urdf.root and any(word in ways[0].name.lower() for word in _FINGER_NAMES)):
            break
        (joint,) = ways
        link = joint.child
        if _moves(joint):
            last = link
    if last == urdf.root:
        raise DefinitionError(f"{urdf.source}: joints", expected="at least one that moves", got="none")
    return _tool_link(urdf, last)


def _moves(joint: UrdfJoint) -> bool:
    return joint.type in MOVABLE and joint.mimic is None


def _tool_link(urdf: Urdf, link: str) -> str:
    """The link that is made for the tool, among those that are fixed to this one; else this one."""
    fixed, found = [link], []
    while fixed:
        below = [joint.child for joint in urdf.child_joints[fixed.pop()] if joint.type == "fixed"]
        found += below
        fixed += below
    for word in _TOOL_NAMES:
        for name in found:
            if word in name.lower().split("_") or (len(word) > 2 and word in name.lower()):
                return name
    return link


# --- where it begins ---------------------------------------------------------------------------


def _start(path: list[UrdfJoint], arm: tuple[UrdfJoint, ...], reach: float) -> Array:
    """A pose in which the tool can go in every direction, and no two links are near each other or the ground.

    It knows the joints alone, and no shapes.
    """
    low = np.array([_range(joint)[0] for joint in arm])
    high = np.array([_range(joint)[1] for joint in arm])
    q = np.random.default_rng(1).uniform(low, high, (_POSES, len(arm)))
    q = np.clip(np.round(q, 2), low, high)
    points, axes = _frames(path, arm, q)
    p = points[-1]
    columns = []
    for joint, (origin, axis) in zip(arm, axes, strict=True):
        slides = joint.type == "prismatic"
        linear = axis if slides else np.cross(axis, p - origin) / reach
        columns.append(np.concatenate([linear, np.zeros_like(axis) if slides else axis], axis=1))
    J = np.stack(columns, axis=2)
    agility = np.linalg.svd(J if len(arm) >= 6 else J[:, :3], compute_uv=False)[:, -1]
    ground = np.min([point[:, 2] for point in points[2:] or points], axis=0) / reach
    middles = [0.5 * (a + b) for a, b in pairwise(points)]
    near = [np.linalg.norm(a - b, axis=1) for i, a in enumerate(middles) for b in middles[i + 3 :]]
    apart = np.min(near, axis=0) / reach if near else np.ones(len(q))
    wound = np.mean(((q - 0.5 * (low + high)) / (high - low)) ** 2, axis=1)
    ahead = np.minimum(p[:, 0] / reach - 0.2, 0.0) - 0.2 * np.abs(p[:, 1]) / reach
    # More room below the tip: a gripper goes on from there.
    low_at = np.minimum(ground - 0.12, 0.0) + np.minimum(p[:, 2] / reach - 0.25, 0.0)
    folded = 2.0 * low_at + np.minimum(apart - 0.15, 0.0)
    return np.asarray(q[np.argmax(agility + 0.2 * np.minimum(ground, 0.4) + 3.0 * folded + ahead - 0.3 * wound)])


def _range(joint: UrdfJoint) -> tuple[float, float]:
    """Where the start of a joint is looked for."""
    if joint.type == "continuous" or joint.lower < -np.pi < np.pi < joint.upper:
        return -0.5 * _START_WITHIN_RAD, 0.5 * _START_WITHIN_RAD
    middle, half = 0.5 * (joint.lower + joint.upper), 0.45 * (joint.upper - joint.lower)
    if joint.type == "revolute":
        half = min(half, 0.5 * _START_WITHIN_RAD)
    return middle - half, middle + half


def _frames(
    path: list[UrdfJoint], arm: tuple[UrdfJoint, ...], q: Array
) -> tuple[list[Array], list[tuple[Array, Array]]]:
    """Origins of base, joints and tip, and (origin, axis) of the arm's joints: each (n, 3), in the base link's frame.

    Args:
        q: (n, joints of the arm)
    """
    n, column = len(q), {joint.name: j for j, joint in enumerate(arm)}
    X, points, axes = np.tile(np.eye(4), (n, 1, 1)), [np.zeros((n, 3))], []
    for joint in path:
        X = X @ joint.X_PJ
        points.append(X[:, :3, 3])
        if joint.name not in column:
            continue
        value = q[:, column[joint.name], None]
        axes.append((points[-1], X[:, :3, :3] @ joint.axis))
        Y = np.tile(np.eye(4), (n, 1, 1))
        if joint.type == "prismatic":
            Y[:, :3, 3] = value * joint.axis
        else:
            K = np.cross(np.eye(3), joint.axis)
            Y[:, :3, :3] += np.sin(value)[..., None] * K + (1.0 - np.cos(value))[..., None] * (K @ K)
        X = X @ Y
    return points, axes
