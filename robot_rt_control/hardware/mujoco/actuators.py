"""The actuators of an MJCF that move a part's joints: motors, and position and velocity servos.

MuJoCo's force of such an actuator is gain * u + b0 + b1 * length + b2 * speed, with u its control or, if it
integrates, what its control has added up to. Its length is a weighted sum of joint positions: of one joint, or of those
of a tendon.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from robot_rt_control.hardware.info import HardwareInfo, HardwarePart
from robot_rt_control.hardware.mujoco.scene import Scene
from robot_rt_control.vocabulary.enums import CommandMode
from robot_rt_control.vocabulary.errors import HardwareError

Array = NDArray[np.float64]

_POSITION, _VELOCITY, _EFFORT = CommandMode.POSITION, CommandMode.VELOCITY, CommandMode.EFFORT
_ON_JOINTS = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
_ON_TENDON = int(mujoco.mjtTrn.mjTRN_TENDON)
_FILTERS = (int(mujoco.mjtDyn.mjDYN_FILTER), int(mujoco.mjtDyn.mjDYN_FILTEREXACT))
_INTEGRATOR = int(mujoco.mjtDyn.mjDYN_INTEGRATOR)
_RANGE_TOLERANCE = 2e-3


@dataclass(frozen=True, kw_only=True)
class Follower:
    """A joint that follows one of a part's joints."""

    joint: str
    leader: str
    multiplier: float
    offset: float
    is_tied: bool
    """By an equality constraint of the MJCF. Otherwise the part's URDF says so, and a drive must move it."""


@dataclass(frozen=True, kw_only=True)
class Actuator:
    """One that moves joints of a part."""

    number: int
    name: str
    joints: frozenset[str]
    """Of the scene, that it moves."""
    mode: CommandMode
    integrates: bool
    has_state: bool
    weights: Array
    """(n,) of the part's joints in its length."""
    offset: float
    """Its length at the position 0 of all joints."""


def mimics_of(part: HardwarePart) -> tuple[Follower, ...]:
    """The joints that follow the part's ones as its URDF says."""
    return tuple(
        Follower(joint=each.name, leader=each.joint, multiplier=each.multiplier, offset=each.offset, is_tied=False)
        for each in part.followers
    )


def followers_of(scene: Scene, part: HardwarePart) -> tuple[Follower, ...]:
    """The joints of the scene that follow the part's ones: by linear equality constraints, or as its URDF says."""
    model, names = scene.model, scene.joints
    found = {follower.joint: follower for follower in mimics_of(part) if follower.joint in names}
    for i in np.flatnonzero(model.eq_type == mujoco.mjtEq.mjEQ_JOINT):
        first, second = int(model.eq_obj1id[i]), int(model.eq_obj2id[i])
        constant, factor = (float(value) for value in model.eq_data[i, :2])
        if second < 0 or factor == 0.0 or model.eq_data[i, 2:5].any() or not model.eq_active0[i]:
            continue
        at_rest = [float(model.qpos0[model.jnt_qposadr[joint]]) for joint in (first, second)]
        # q1 - r1 = constant + factor * (q2 - r2)
        offset = at_rest[0] + constant - factor * at_rest[1]
        if names[second] in part.joint_names and names[first] not in part.joint_names:
            found[names[first]] = Follower(
                joint=names[first], leader=names[second], multiplier=factor, offset=offset, is_tied=True
            )
        elif names[first] in part.joint_names and names[second] not in part.joint_names:
            inverse = 1.0 / factor
            found[names[second]] = Follower(
                joint=names[second], leader=names[first], multiplier=inverse, offset=-offset * inverse, is_tied=True
            )
    return tuple(found.values())


class PartActuators:
    """The actuators of one part. While one is in use, its joints have no drive of ours; the others exert nothing.

    Args:
        model, data: of the whole world.
        actuators: of the part, at most one for each joint and mode.
        n: number of the part's joints.
        places: (n,) of the joints in qpos.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        actuators: Sequence[Actuator],
        n: int,
        places: NDArray[np.intp],
    ) -> None:
        self._model, self._data, self._actuators, self._q = model, data, actuators, places
        self._ids = np.array([each.number for each in actuators], np.intp)
        self._weights = np.array([each.weights for each in actuators]).reshape(-1, n)
        self._offsets = np.array([each.offset for each in actuators])
        self._gain, self._bias = model.actuator_gainprm[self._ids].copy(), model.actuator_biasprm[self._ids].copy()
        self._on = np.zeros(len(actuators), bool)
        self._moves = self._weights != 0.0
        modes = [each.mode for each in actuators]
        self._by = {mode: np.array([each == mode for each in modes], bool) for mode in (_POSITION, _VELOCITY, _EFFORT)}
        self._integrates = np.array([each.integrates for each in actuators], bool)
        self.switch((None,) * n)

    def switch(self, modes: Sequence[CommandMode | None]) -> NDArray[np.bool_]:
        """Use those whose joints all have their mode.

        Args:
            modes: of the joints; NONE holds the position; None: no actuator.

        Returns:
            (n,) which joints they move.
        """
        wanted = [_POSITION if mode == CommandMode.NONE else mode for mode in modes]
        before, model = self._on, self._model
        self._on = np.array(
            [
                all(mode == each.mode for mode, moves in zip(wanted, self._moves[i], strict=True) if moves)
                for i, each in enumerate(self._actuators)
            ],
            bool,
        )
        model.actuator_gainprm[self._ids] = np.where(self._on[:, None], self._gain, 0.0)
        model.actuator_biasprm[self._ids] = np.where(self._on[:, None], self._bias, 0.0)
        self._data.ctrl[self._ids[~self._on]] = 0.0
        for i in np.flatnonzero(self._on & ~before):
            self._begin(int(i))
        return np.asarray((self._moves & self._on[:, None]).any(axis=0))

    def moves(self, joint: str) -> bool:
        """Whether one of those in use moves a joint of the scene."""
        return any(joint in each.joints for each, on in zip(self._actuators, self._on, strict=True) if on)

    def _begin(self, i: int) -> None:
        """Without a jump: the state of an actuator that has one is that of the joints."""
        each = self._actuators[i]
        if not each.has_state:
            return
        length = float(each.weights @ self._data.qpos[self._q]) + each.offset
        holds = each.mode == _POSITION or each.integrates
        self._data.act[self._model.actuator_actadr[each.number]] = (
            -(self._bias[i, 1] * length + self._bias[i, 0]) / self._gain[i, 0] if holds else 0.0
        )

    def command(self, positions: Array, velocities: Array, efforts: Array) -> None:
        """(n,) set points of all joints; each actuator takes those of its mode."""
        weights, gain, bias = self._weights, self._gain[:, 0], self._bias
        length, speed = weights @ positions + self._offsets, weights @ velocities
        force = (weights @ efforts) / (weights**2).sum(axis=1)
        control = np.where(self._by[_POSITION], -(bias[:, 1] * length + bias[:, 0]), force - bias[:, 0]) / gain
        servo = np.where(self._integrates, -bias[:, 1] * speed, -(bias[:, 2] * speed + bias[:, 0])) / gain
        control = np.where(self._by[_VELOCITY], servo, control)
        self._data.ctrl[self._ids] = np.where(self._on, control, 0.0)

    def efforts(self) -> Array:
        """(n,) [Nm or N] that they exerted on the joints in the last step."""
        return np.asarray(self._data.actuator_force[self._ids] @ self._weights)


def actuators_of(
    scene: Scene, info: HardwareInfo, followers: Mapping[str, Sequence[Follower]]
) -> dict[str, list[Actuator]]:
    """Part → the actuators that move its joints.

    Raises:
        HardwareError: all mistakes together: one of a type that has no mode, or two for the same mode of a joint.
    """
    mistakes: list[str] = []
    found: dict[str, list[Actuator]] = {}
    for part in info.parts:
        if part.name in followers:
            reader = _Reader(scene, info, part, followers[part.name])
            found[part.name] = list(reader.actuators())
            mistakes += reader.mistakes
    if mistakes:
        raise HardwareError("\n".join(mistakes))
    return found


class _Reader:
    """Finds the actuators of one part."""

    def __init__(self, scene: Scene, info: HardwareInfo, part: HardwarePart, followers: Sequence[Follower]) -> None:
        self._scene, self._part = scene, part
        self._what = f"{info.where('parts', part.name)}hardware {info.name!r}, part {part.name!r}"
        self._followers = {each.joint: each for each in followers}
        self.mistakes: list[str] = []

    def actuators(self) -> Iterator[Actuator]:
        model = self._scene.model
        taken: dict[tuple[str, CommandMode], str] = {}
        for number in range(model.nu):
            lengths = self._lengths(number)
            name = self._scene.actuators[number] or f"number {number}"
            moved = [joint for joint in lengths if joint in self._part.joint_names or joint in self._followers]
            if not moved:
                continue
            item = f"actuator {name!r} of joint {moved[0]!r}"
            strange = [joint for joint in lengths if joint not in moved]
            if strange:
                expected = f"a tendon with joints of the part, or such as follow them, in {self._scene.path}"
                self._refuse(item, expected, f"{', '.join(map(repr, strange))} as well")
                continue
            actuator = self._actuator(number, name, lengths, item)
            if actuator is None:
                continue
            for joint in lengths:
                other = taken.setdefault((joint, actuator.mode), name)
                if other != name:
                    expected = f"one actuator for each command mode of joint {joint!r} in {self._scene.path}"
                    self._refuse(item, expected, f"{other!r} and {name!r}, both for {actuator.mode.name.lower()}")
            self._check_range(actuator, item)
            yield actuator

    def _refuse(self, item: str, expected: str, got: str, hint: str = "") -> None:
        self.mistakes.append(str(HardwareError(f"{self._what}: {item}", expected=expected, got=got, hint=hint)))

    def _lengths(self, number: int) -> dict[str, float]:
        """Joint → its weight in the actuator's length."""
        model, names = self._scene.model, self._scene.joints
        kind, target = int(model.actuator_trntype[number]), int(model.actuator_trnid[number, 0])
        gear = float(model.actuator_gear[number, 0])
        if kind in _ON_JOINTS:
            return {names[target]: gear}
        if kind != _ON_TENDON:
            return {}
        wraps = range(int(model.tendon_adr[target]), int(model.tendon_adr[target] + model.tendon_num[target]))
        return {
            names[int(model.wrap_objid[i])]: gear * float(model.wrap_prm[i])
            for i in wraps
            if model.wrap_type[i] == mujoco.mjtWrap.mjWRAP_JOINT
        }

    def _actuator(self, number: int, name: str, lengths: Mapping[str, float], item: str) -> Actuator | None:
        model, joints = self._scene.model, self._part.joint_names
        mode = self._mode(number)
        if mode is None:
            kinds = (
                (mujoco.mjtGain, model.actuator_gaintype),
                (mujoco.mjtBias, model.actuator_biastype),
                (mujoco.mjtDyn, model.actuator_dyntype),
            )
            types = [(kind.__name__, kind(int(of[number])).name) for kind, of in kinds]
            got = ", ".join(f"{kind[3:].lower()} {value.split('_')[-1].lower()}" for kind, value in types)
            expected = f"motor, position, velocity or intvelocity, or one of their gain and bias, in {self._scene.path}"
            self._refuse(item, expected, got, "Remove it, and the plugin's own drives move the joint")
            return None
        weights, offset = np.zeros(len(joints)), 0.0
        for joint, weight in lengths.items():
            if joint in joints:
                weights[joints.index(joint)] += weight
            else:
                follower = self._followers[joint]
                weights[joints.index(follower.leader)] += weight * follower.multiplier
                offset += weight * follower.offset
        dynamics = int(model.actuator_dyntype[number])
        return Actuator(
            number=number,
            name=name,
            joints=frozenset(lengths),
            mode=mode,
            integrates=dynamics == _INTEGRATOR,
            has_state=dynamics != int(mujoco.mjtDyn.mjDYN_NONE),
            weights=weights,
            offset=offset,
        )

    def _mode(self, number: int) -> CommandMode | None:
        """The command that an actuator takes; None: its type takes none of ours."""
        model = self._scene.model
        bias_type, dynamics = int(model.actuator_biastype[number]), int(model.actuator_dyntype[number])
        gain, bias = float(model.actuator_gainprm[number, 0]), model.actuator_biasprm[number]
        if model.actuator_gaintype[number] != mujoco.mjtGain.mjGAIN_FIXED or gain == 0.0:
            return None
        if bias_type == mujoco.mjtBias.mjBIAS_NONE:
            servo = None
        elif bias_type == mujoco.mjtBias.mjBIAS_AFFINE:
            servo = _POSITION if bias[1] else _VELOCITY if bias[2] else None
        else:
            return None
        if dynamics == _INTEGRATOR:
            return _VELOCITY if servo == _POSITION else None
        if dynamics != mujoco.mjtDyn.mjDYN_NONE and dynamics not in _FILTERS:
            return None
        return servo or _EFFORT

    def _check_range(self, actuator: Actuator, item: str) -> None:
        """A position servo whose control range cuts the part's limits off would stop there without a word."""
        model, number, limits = self._scene.model, actuator.number, self._part.limits
        moved = np.flatnonzero(actuator.weights)
        if actuator.mode != _POSITION or not model.actuator_ctrllimited[number] or len(moved) != 1:
            return
        i, weight = int(moved[0]), float(actuator.weights[moved[0]])
        gain, bias = float(model.actuator_gainprm[number, 0]), model.actuator_biasprm[number]
        ends = [
            (-(gain * float(u) + float(bias[0])) / float(bias[1]) - actuator.offset) / weight
            for u in model.actuator_ctrlrange[number]
        ]
        low, high = min(ends), max(ends)
        lower, upper = limits.position_lower[i], limits.position_upper[i]
        if lower < low - _RANGE_TOLERANCE or upper > high + _RANGE_TOLERANCE:
            expected = f"limits of the joint within its ctrlrange in {self._scene.path}, {low:.6g} to {high:.6g}"
            hint = "Give the part limits.position_lower and position_upper within it, or the MJCF another ctrlrange"
            self._refuse(item, expected, f"{lower:.6g} to {upper:.6g}", hint)
