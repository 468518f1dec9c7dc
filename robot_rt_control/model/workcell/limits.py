"""Limits of a part's joints: from the URDF, tightened by the workcell, with defaults if neither gives one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.memory.layout import limits_dtype
from robot_rt_control.model.workcell.workcell_schema import Limits, SystemLimits
from robot_rt_control.text.document import Place
from robot_rt_control.vocabulary import defaults
from robot_rt_control.vocabulary.enums import CommandMode
from robot_rt_control.vocabulary.errors import DefinitionError

Array = NDArray[np.float64]


class LimitedJoint(Protocol):
    """A joint of a URDF, or one described in the workcell."""

    @property
    def name(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def lower(self) -> float: ...
    @property
    def upper(self) -> float: ...
    @property
    def velocity(self) -> float | None: ...
    @property
    def effort(self) -> float | None: ...


@dataclass(frozen=True, kw_only=True)
class ResolvedLimits:
    """Limits that actions plan with, each (dof,)."""

    position_lower: Array  # [rad or m], -inf for continuous joints
    position_upper: Array
    velocity: Array  # [rad/s or m/s]
    acceleration: Array
    jerk: Array
    effort: Array  # [Nm or N], inf if none is given
    effort_rate: Array


def unit_of(joint: LimitedJoint) -> str:
    return "m" if joint.type == "prismatic" else "rad"


def given_for_joints(
    value: float | tuple[float, ...] | None, joints: Sequence[LimitedJoint], place: Place
) -> Array | None:
    """A number for each joint, of what the file gives; None: nothing. Raises DefinitionError: not one for each."""
    if value is None:
        return None
    if isinstance(value, float):
        return np.full(len(joints), value)
    if len(value) != len(joints):
        raise DefinitionError(str(place), expected=f"{len(joints)} numbers, one for each joint", got=str(len(value)))
    return np.array(value)


def _positive(values: Array, joints: Sequence[LimitedJoint], place: Place) -> Array:
    for joint, value in zip(joints, values, strict=True):
        if not value > 0.0:
            raise DefinitionError(f"{place}, joint {joint.name!r}", expected="a number above 0", got=f"{value:g}")
    return values


def _bounded(
    values: Array, bounds: Array, sign: float, joints: Sequence[LimitedJoint], place: Place, whose: str
) -> Array:
    """Refuse values beyond the bounds; sign 1: upper bounds, -1: lower bounds."""
    for joint, value, bound in zip(joints, values, bounds, strict=True):
        if sign * value > sign * bound:
            relation = "at most" if sign > 0 else "at least"
            raise DefinitionError(
                f"{place}, joint {joint.name!r}", expected=f"{relation} {bound:g}, {whose}", got=f"{value:g}"
            )
    return values


def _check_range(lower: Array, upper: Array, joints: Sequence[LimitedJoint], place: Place) -> None:
    for joint, low, high in zip(joints, lower, upper, strict=True):
        if not low < high:
            raise DefinitionError(
                f"{place}, joint {joint.name!r}", expected="position_lower < position_upper", got=f"{low:g}, {high:g}"
            )


def resolve_limits(joints: Sequence[LimitedJoint], given: Limits, place: Place) -> ResolvedLimits:
    """The limits that actions plan with.

    Raises:
        DefinitionError: a list has the wrong length, a limit exceeds the URDF's, or a required limit is missing.
    """
    urdf = "the limit of the URDF"
    lower = upper = np.array([])
    for field, sign in (("position_lower", -1.0), ("position_upper", 1.0)):
        bounds = np.array([joint.lower if sign < 0 else joint.upper for joint in joints])
        values = given_for_joints(getattr(given, field), joints, place / field)
        values = bounds if values is None else _bounded(values, bounds, sign, joints, place / field, urdf)
        lower, upper = (values, upper) if sign < 0 else (lower, values)
    _check_range(lower, upper, joints, place)

    bounds = np.array([np.inf if joint.velocity is None else joint.velocity for joint in joints])
    velocity = given_for_joints(given.velocity, joints, place / "velocity")
    if velocity is None:
        missing = [joint.name for joint in joints if joint.velocity is None]
        if missing:
            raise DefinitionError(
                str(place / "velocity"),
                expected="a velocity limit, as the URDF has none for " + ", ".join(missing),
                got="none",
            )
        velocity = bounds
    _positive(_bounded(velocity, bounds, 1.0, joints, place / "velocity", urdf), joints, place / "velocity")

    bounds = np.array([np.inf if joint.effort is None else joint.effort for joint in joints])
    effort = given_for_joints(given.effort, joints, place / "effort")
    if effort is None:
        effort = bounds
    else:
        _positive(_bounded(effort, bounds, 1.0, joints, place / "effort", urdf), joints, place / "effort")

    def free(field: str, default: Array) -> Array:
        values = given_for_joints(getattr(given, field), joints, place / field)
        return default if values is None else _positive(values, joints, place / field)

    acceleration = free("acceleration", velocity / defaults.ACCELERATION_TIME_S)
    return ResolvedLimits(
        position_lower=lower,
        position_upper=upper,
        velocity=velocity,
        acceleration=acceleration,
        jerk=free("jerk", acceleration / defaults.JERK_TIME_S),
        effort=effort,
        effort_rate=free("effort_rate", effort / defaults.EFFORT_TIME_S),
    )


def resolve_system_limits(
    joints: Sequence[LimitedJoint],
    limits: ResolvedLimits,
    given: SystemLimits,
    modes: Sequence[CommandMode],
    place: Place,
) -> np.record:
    """The record of `layout.limits_dtype` that the loop enforces.

    Raises:
        DefinitionError: a list has the wrong length, or a limit is tighter than what actions plan with, or a
            position or effort exceeds the URDF's.
    """
    n = len(joints)
    record: np.record = np.zeros(1, limits_dtype)[0]
    whose = "what actions plan with"
    urdf = {
        "position_lower": np.array([joint.lower for joint in joints]),
        "position_upper": np.array([joint.upper for joint in joints]),
        "effort": np.array([np.inf if joint.effort is None else joint.effort for joint in joints]),
        "velocity": np.array(
            [np.inf if joint.velocity is None else defaults.VELOCITY_MARGIN * joint.velocity for joint in joints]
        ),
    }
    for field, margin in (
        ("position_lower", 1.0),
        ("position_upper", 1.0),
        ("velocity", defaults.VELOCITY_MARGIN),
        ("acceleration", defaults.ACCELERATION_MARGIN),
        ("effort", 1.0),
        ("effort_rate", 1.0),
    ):
        planned = getattr(limits, field)
        values = given_for_joints(getattr(given, field), joints, place / field)
        if values is None:
            values = planned * margin
        else:
            sign = 1.0 if field == "position_lower" else -1.0
            _bounded(values, planned, sign, joints, place / field, whose)
            if field in urdf:
                allowed = "the limit of the URDF" + (
                    f" times {defaults.VELOCITY_MARGIN}" if field == "velocity" else ""
                )
                _bounded(values, urdf[field], -sign, joints, place / field, allowed)
        record[field][:n] = values
    jerk = given_for_joints(given.jerk, joints, place / "jerk")
    if jerk is not None:
        record.jerk[:n] = _bounded(jerk, limits.jerk, -1.0, joints, place / "jerk", whose)
    units = {unit_of(joint) for joint in joints}
    tolerance = given.position_tolerance
    record.position_tolerance = min(defaults.POSITION_TOLERANCE[u] for u in units) if tolerance is None else tolerance
    record.velocity_tolerance = (
        defaults.VELOCITY_TOLERANCE if given.velocity_tolerance is None else given.velocity_tolerance
    )
    record.supported_modes = sum(1 << mode for mode in modes)
    return record
