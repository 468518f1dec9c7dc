"""Which bodies of an MJCF's scene are the robots of parts, and which are objects; whether parts and MJCF agree."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np

from robot_rt_control.hardware.info import HardwareInfo, HardwarePart
from robot_rt_control.hardware.mujoco.robot import Robot, named
from robot_rt_control.hardware.mujoco.scene import Scene
from robot_rt_control.model.paths import resolve_path
from robot_rt_control.model.robot.urdf import Urdf
from robot_rt_control.model.robot.urdf_reader import read_urdf
from robot_rt_control.vocabulary.errors import HardwareError, unknown
from robot_rt_control.vocabulary.part_kinds import JOINTED_KINDS

_HINGE, _SLIDE = int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)
_TYPES = {
    int(mujoco.mjtJoint.mjJNT_FREE): "free",
    int(mujoco.mjtJoint.mjJNT_BALL): "ball",
    _HINGE: "hinge",
    _SLIDE: "slide",
}
_RANGE_TOLERANCE = 2e-3
"""[rad or m] by which a part's limits may be wider than the range of its joint: files round differently."""
_AXIS_TOLERANCE = 0.02
"""[rad] between the axes of a joint in URDF and MJCF."""
_PLACE_TOLERANCE = 0.005
"""[m] between them."""
_DEGREES = math.degrees(1.0)


def robots_of(scene: Scene, info: HardwareInfo) -> dict[str, Robot]:
    """Part with joints → its robot in the scene.

    Raises:
        HardwareError: all mistakes together: joints that are not there or of another type, limits or axes that differ.
    """
    mistakes: list[str] = []
    robots: dict[str, Robot] = {}
    for part in info.parts:
        if part.kind in JOINTED_KINDS:
            found = [str(error) for error in _mistakes(scene, info, part)]
            mistakes += found
            if not found:
                first = scene.model.joint(part.joint_names[0])
                robots[part.name] = _robot(scene, int(scene.model.body_rootid[first.bodyid[0]]))
    if mistakes:
        raise HardwareError("\n".join(mistakes))
    return robots


def objects_of(scene: Scene, robots: Sequence[Robot]) -> dict[str, Robot]:
    """Body in the scene's world that belongs to no robot → it, with the bodies on it."""
    taken = {robot.root for robot in robots}
    model = scene.model
    tops = [body for body in range(1, model.nbody) if model.body_parentid[body] == 0]
    found = [_robot(scene, body) for body in tops if named([model.body(body).name])]
    return {thing.name: thing for thing in found if thing.name not in taken}


def _robot(scene: Scene, root: int) -> Robot:
    """A body of the world, and all that is on it."""
    model, bodies, joints = scene.model, scene.bodies, scene.joints
    own = [joint for joint in range(model.njnt) if model.body_rootid[model.jnt_bodyid[joint]] == root]
    return Robot(
        name=bodies[root],
        root=bodies[root],
        links=[bodies[body] for body in range(model.nbody) if model.body_rootid[body] == root],
        joints={joints[joint]: bodies[model.jnt_bodyid[joint]] for joint in own if joints[joint]},
        movable=[joints[joint] for joint in own if joints[joint] and model.jnt_type[joint] in (_HINGE, _SLIDE)],
    )


def _mistakes(scene: Scene, info: HardwareInfo, part: HardwarePart) -> Iterator[HardwareError]:
    what = f"hardware {info.name!r}, part {part.name!r}"
    for i, name in enumerate(part.joint_names):
        item = f"{info.where('parts', part.name, 'joints', i)}{what}: joint {name!r}"
        number = mujoco.mj_name2id(scene.model, mujoco.mjtObj.mjOBJ_JOINT, name)
        if number < 0:
            expected = f"{unknown('joint', name, named(scene.joints))}, in {scene.path}"
            hint = "A part's joints are those of the MJCF with the same names"
            yield HardwareError(item, expected=expected, got=repr(name), hint=hint)
            continue
        wanted = "slide" if part.joint_types and part.joint_types[i] == "prismatic" else "hinge"
        got = _TYPES[int(scene.model.jnt_type[number])]
        if got != wanted:
            yield HardwareError(item, expected=f"a {wanted} joint in {scene.path}", got=f"a {got} joint")
        else:
            where = info.where("parts", part.name, "limits")
            yield from _range_mistakes(scene, part, i, number, f"{where}{what}: joint {name!r}")
    if part.urdf is not None and all(joint in scene.joints for joint in part.joint_names):
        item = f"{info.where('parts', part.name, 'base_pose')}{what}"
        yield from _Compared(scene, part, item).mistakes()


def _range_mistakes(scene: Scene, part: HardwarePart, i: int, number: int, item: str) -> Iterator[HardwareError]:
    """Limits that the simulated joint cannot reach, and ranges in the other unit of angles."""
    model, limits = scene.model, part.limits
    if not model.jnt_limited[number]:
        return
    unit = "m" if model.jnt_type[number] == _SLIDE else "rad"
    low, high = (float(value) for value in model.jnt_range[number])
    lower, upper = limits.position_lower[i], limits.position_upper[i]
    is_hinge = unit == "rad"
    if is_hinge and _is_ratio(lower, low, upper, high, _DEGREES):
        hint = 'Its numbers are radians and are read as degrees: add <compiler angle="radian"/> to the MJCF'
    elif is_hinge and _is_ratio(low, lower, high, upper, _DEGREES):
        hint = 'Its numbers are degrees and are read as radians: remove angle="radian" from the MJCF, or convert them'
    elif lower < low - _RANGE_TOLERANCE or upper > high + _RANGE_TOLERANCE:
        hint = "Give the part limits.position_lower and position_upper within it"
    else:
        return
    expected = f"limits within the range in {scene.path}, {low:.6g} to {high:.6g} {unit}"
    yield HardwareError(item, expected=expected, got=f"{lower:.6g} to {upper:.6g} {unit}", hint=hint)


def _is_ratio(a: float, b: float, c: float, d: float, ratio: float) -> bool:
    """Whether a is `ratio` times b and c that of d; 0 is any times 0. Not if all are 0."""
    pairs = [(x, y) for x, y in ((a, b), (c, d)) if x or y]
    return bool(pairs) and all(y and math.isfinite(x) and abs(x / y / ratio - 1.0) < 0.02 for x, y in pairs)


@dataclass(frozen=True)
class _Axis:
    """A joint at the position 0 of all joints, in the world."""

    place: np.ndarray
    direction: np.ndarray


class _Compared:
    """A part's URDF, by which the loop computes, beside the MJCF, which is simulated."""

    def __init__(self, scene: Scene, part: HardwarePart, item: str) -> None:
        self._scene, self._part, self._item = scene, part, item

    def mistakes(self) -> Iterator[HardwareError]:
        """At most one: the first joint whose axis differs."""
        part, model = self._part, self._scene.model
        urdf = read_urdf(resolve_path(str(part.urdf), Path.cwd(), self._item))
        data = mujoco.MjData(model)
        for name in self._scene.joints:
            if name and model.joint(name).type[0] in (_HINGE, _SLIDE):
                data.joint(name).qpos[0] = 0.0
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        for name in part.joint_names:
            number = model.joint(name).id
            simulated = _Axis(data.xanchor[number], data.xaxis[number])
            if text := _difference(_axis(urdf, part, name), simulated, model.jnt_type[number] == _HINGE):
                yield HardwareError(
                    f"{self._item}: joint {name!r} with all joints at 0",
                    expected=f"the same axis in {Path(str(part.urdf)).name} and {self._scene.path}",
                    got=text,
                    hint="Compare the part's base_pose with the `pos` and `euler` of its bodies in the MJCF",
                )
                return


def _axis(urdf: Urdf, part: HardwarePart, joint: str) -> _Axis:
    root = part.base.matrix
    if part.base_link is not None:
        root = root @ np.linalg.inv(_pose(urdf, part.base_link))
    X = root @ _pose(urdf, urdf.joints[joint].child)
    return _Axis(X[:3, 3], X[:3, :3] @ urdf.joints[joint].axis)


def _pose(urdf: Urdf, link: str) -> np.ndarray:
    """X_RL: of a link in the root link, all joints at 0."""
    X = np.eye(4)
    for joint in urdf.path_to(urdf.root, link):
        X = X @ joint.X_PJ
    return X


def _difference(described: _Axis, simulated: _Axis, turns: bool) -> str:
    """Empty: they are the same."""
    cosine = float(described.direction @ simulated.direction)
    angle = math.acos(min(max(cosine, -1.0), 1.0))
    if math.pi - angle < _AXIS_TOLERANCE:
        return "opposite directions, so that positions have opposite signs"
    if angle > _AXIS_TOLERANCE:
        return f"{math.degrees(angle):.1f} degrees between them"
    away = simulated.place - described.place
    apart = float(np.linalg.norm(away - described.direction * (away @ described.direction)))
    if turns and apart > _PLACE_TOLERANCE:
        x, y, z = away
        return f"{apart:.3f} m between them; the MJCF's is at {x:+.3f}, {y:+.3f}, {z:+.3f} m from the other"
    return ""
