"""Velocities and efforts along a path, with feedback that leads the joints to it: modes of track_trajectory.

In one tick the path goes from `reference` to the positions in `part.position_command`, which the action has written.
Mode velocity commands

    u + c (r - q)

with the path's mean velocity u in the tick, its position r at the tick's begin, and the correction c [1/s]. Mode
effort commands

    s² e(t) + K (r - q) + D (u - v) + M(q) (c² (r - q) + 2 c (u - v)) + g(q)

with the given efforts e at the rate s of the path's time. Without given efforts, M takes the path's acceleration as
well, and the Coriolis terms are added. The mass matrix M makes the feedback as strong as the inertia that it moves:
all joints, heavy or light, return to the path with the double pole -c.

Efforts change at most at the rate R of the part's limits. Feedback that asks for more comes late, and after a large
enough error the joint would swing about the path for good. Therefore the feedback is at most E = 3/4 R / c: an effort
that R brings within a part of 1/c. Where M asks for more, all joints' feedback is scaled down by the same factor,
first that of the position errors alone, so that a large one leads to a speed that can be braked; and then the sum.
A double integrator with this feedback settled from all errors with 3/4 replaced by 1 and inertias wrong by 30 %; at
3/2 some swung. The spring K is bounded likewise, by 3/4 R D / K.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from robot_rt_control.actions.authoring import EFFORT, POSITION, VELOCITY
from robot_rt_control.actions.laws.impedance import RATE_SHARE, effort_bound
from robot_rt_control.actions.laws.torque import GRAVITY
from robot_rt_control.definitions.action_type import PER_JOINT, Parameter, ParameterValue, Part
from robot_rt_control.model.kinematics.inverse_dynamics import dynamics_scratch_dtype, inverse_dynamics
from robot_rt_control.motion_group.limits import PlanLimits
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.capacities import MAX_TRAJECTORY_POINTS
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import DefinitionError

_MODES = {"position": POSITION, "velocity": VELOCITY, "effort": EFFORT}
_USUAL_CORRECTION = {VELOCITY: 10.0, EFFORT: 60.0}
_USUAL_SHARE, _MOST_SHARE = 0.1, 0.3
"""Fraction of a position error that the correction removes in one tick: by default, and at most."""
_USUAL_AUTHORITY, _LEAST_AUTHORITY = 1.0 / 4.0, 1.0 / 20.0
"""E as a fraction of the limit of effort: with the default correction at least, and with the highest."""
_OVERSPEED = 1.05
"""What efforts lead to is not exact; the loop's own limits of velocity are by default as far above the part's."""

PATH_PARAMETERS = (
    Parameter(
        name="mode",
        type="text",
        default="position",
        choices=tuple(_MODES),
        description="What is commanded: positions, or velocities or efforts with feedback to the path.",
    ),
    Parameter(
        name="efforts",
        length="any",
        unit="effort",
        optional=True,
        description="Mode effort: feedforward, without that against gravity; of all joints at each time, linear in "
        "between, or constant in each piece (one row less). Default: what the arm's masses need for the path.",
    ),
    Parameter(
        name="correction",
        unit="1/s",
        optional=True,
        minimum=0.0,
        description="Rate at which feedback removes an error, in mode effort through the mass matrix. Default: 10 in "
        "mode velocity; 60 in mode effort, less for a part whose efforts change slowly, and 0 if stiffness or damping "
        "is given; at most 0.1 per period.",
    ),
    Parameter(
        name="stiffness",
        length="dof",
        unit="effort/joint",
        optional=True,
        minimum=0.0,
        description="Mode effort: further spring to the path. Default: none.",
    ),
    Parameter(
        name="damping",
        length="dof",
        unit="effort*s/joint",
        optional=True,
        minimum=0.0,
        description="Mode effort: further damper to the path's velocity. Default: none.",
    ),
    replace(GRAVITY, description=f"Mode effort. {GRAVITY.description}"),
)
PATH_PARAMS: dict[str, Any] = {
    "mode": int,
    "period": float,  # [s] of the loop
    "correction": float,
    "has_feedback": bool,
    "has_efforts": bool,
    "in_pieces": bool,  # the efforts are constant in each piece
    "uses_model": bool,
    "gravity": float,
    "stiffness": (float, PER_JOINT),
    "damping": (float, PER_JOINT),
    "feedback_bound": (float, PER_JOINT),  # E
    "spring_bound": (float, PER_JOINT),
    # half the room of the other numbers, and more exact than any drive
    "effort": (np.dtype("f4"), MAX_TRAJECTORY_POINTS, PER_JOINT),
}
PATH_STATE: dict[str, Any] = {
    "reference": (float, PER_JOINT),  # where the path is at the begin of the tick
    "reference_velocity": (float, PER_JOINT),  # in the tick before
    "wanted": (float, PER_JOINT),  # acceleration
    "along": (float, PER_JOINT),  # velocity for the Coriolis terms
    "model": (float, PER_JOINT),  # efforts
    "pull": (float, PER_JOINT),  # accelerations of the feedback: of the position errors
    "brake": (float, PER_JOINT),  # and of the velocity errors
    "still": (float, PER_JOINT),  # zeros
    "dynamics": dynamics_scratch_dtype,
}


def is_position_mode(given: Mapping[str, Any]) -> bool:
    """Whether parameters of an action command positions alone, and so leave all others here out."""
    others = {"efforts", "correction", "stiffness", "damping"} & set(given)
    return given.get("mode", "position") == "position" and not others and not given.get("gravity", False)


def limits_in_mode(limits: PlanLimits, values: Mapping[str, ParameterValue]) -> PlanLimits:
    """What a path may use of a part's limits between its points: given efforts are limited themselves, and the curve is
    but near to what they lead to."""
    if "efforts" not in values:
        return limits
    free = np.full_like(limits.velocity, math.inf)
    return replace(limits, velocity=free, acceleration=free)


def check_velocities(where: str, part: Part, times: np.ndarray, velocities: np.ndarray) -> None:
    """Raise DefinitionError if a velocity (n, dof) at a point is too far above its limit for efforts to lead to it."""
    limit = _OVERSPEED * part.limits("velocity_limit")
    for i, j in np.argwhere(np.abs(velocities) > limit)[:1]:
        raise DefinitionError(
            f"{where}: the velocity of joint {part.joint_names[j]!r} at {times[i]:.3f} s is above its limit, with 5 %",
            expected=f"at most {limit[j]:.4f}",
            got=f"{velocities[i, j]:.4f}",
        )


def prepare_path_control(
    where: str, part: Part, times: np.ndarray, values: Mapping[str, ParameterValue], params: np.record
) -> None:
    """Fill `PATH_PARAMS`.

    Args:
        where: names the action in messages.
        part: that moves.
        times: (n,) of the trajectory [s].
        values: checked, of `PATH_PARAMETERS`.

    Raises:
        DefinitionError: what does not go with the mode, the part or its hardware; an effort above its limit.
    """
    mode = str(values["mode"])
    params.mode, params.period = _MODES[mode], part.period
    if mode != "position" and part.kind == PartKind.AXIS:
        raise DefinitionError(
            f"{where}: mode of a law",
            expected="position",
            got=mode,
            hint="The laws impedance and torque command efforts",
        )
    takes = [each.name.lower() for each in part.command_modes]
    if takes and mode not in takes:
        raise DefinitionError(f"{where}: its hardware does not take the mode", expected=" or ".join(takes), got=mode)
    only = {"position": (), "velocity": ("correction",)}.get(mode)
    if only is not None:
        for name in ("efforts", "correction", "stiffness", "damping", "gravity"):
            if values.get(name, False) is not False and name not in only:
                what = f"{where}: {name} in mode {mode}"
                raise DefinitionError(what, expected="none", got=name, hint="Set mode: effort")
    if mode == "position":
        return
    _prepare_feedback(where, part, values, params)
    if mode == "effort":
        params.uses_model = part.has_kinematics and (
            params.correction > 0.0 or params.gravity > 0.0 or "efforts" not in values
        )
        if "efforts" in values:
            _prepare_efforts(where, part, times, np.atleast_1d(np.asarray(values["efforts"], float)), params)


def _prepare_feedback(where: str, part: Part, values: Mapping[str, ParameterValue], params: np.record) -> None:
    own = [name for name in ("stiffness", "damping") if name in values]
    usual = min(_USUAL_CORRECTION[int(params.mode)], _USUAL_SHARE / params.period)
    quickest = math.inf
    if params.mode == EFFORT:
        quickest = _quickest(part)
        usual = min(usual, quickest / _USUAL_AUTHORITY)
    params.gravity = float(values["gravity"])
    if params.mode == EFFORT:
        given = values.get("correction")
        if not part.has_kinematics and (given or (given is None and not own)):
            raise DefinitionError(
                f"{where}: feedback by efforts of a part whose masses are not known",
                expected="stiffness and damping",
                got=", ".join(["correction"] * bool(given) + own) or "none of them",
            )
        usual = 0.0 if own else usual
    params.correction = float(values.get("correction", usual))
    most = _MOST_SHARE / params.period
    if params.correction > most:
        raise DefinitionError(
            f"{where}: correction is not stable with a period of {params.period:g} s",
            expected=f"at most {most:g} 1/s",
            got=f"{params.correction:g}",
        )
    most = quickest / _LEAST_AUTHORITY
    if params.correction > most * (1.0 + 1e-9):
        raise DefinitionError(
            f"{where}: correction is too fast for the rates at which efforts may change (limits.effort_rate)",
            expected=f"at most {most:.4g} 1/s",
            got=f"{params.correction:g}",
            hint=f"Leave it out: the default is {usual:.4g} 1/s",
        )
    for name in own:
        params[name][: part.dof] = values[name]
    if params.stiffness.any() and "damping" not in values and params.correction == 0.0:
        raise DefinitionError(f"{where}: stiffness", expected="damping or correction with it", got="stiffness alone")
    params.has_feedback = params.correction > 0.0 or bool(params.stiffness.any())
    if params.mode == EFFORT:
        _bound_feedback(part, params)


def _quickest(part: Part) -> float:
    """The least c E / (limit of effort) of all joints [1/s]: how quickly feedback of the full effort may be."""
    rate, limit = part.limits("effort_rate_limit"), part.limits("effort_limit")
    known = np.isfinite(rate) & np.isfinite(limit)
    return float(np.min(RATE_SHARE * rate[known] / limit[known], initial=math.inf))


def _bound_feedback(part: Part, params: np.record) -> None:
    for j, rate in enumerate(part.limits("effort_rate_limit")):
        params.feedback_bound[j] = RATE_SHARE * rate / params.correction if params.correction > 0.0 else math.inf
        params.spring_bound[j] = effort_bound(params.stiffness[j], params.damping[j], rate)
        if params.damping[j] == 0.0:  # the correction damps it
            params.spring_bound[j] = params.feedback_bound[j]


def _prepare_efforts(where: str, part: Part, times: np.ndarray, efforts: np.ndarray, params: np.record) -> None:
    n, dof = len(times), part.dof
    if efforts.size not in (n * dof, (n - 1) * dof):
        raise DefinitionError(
            f"{where}: number of efforts",
            expected=f"{n} points of {dof} joints, {n * dof} in all, or {(n - 1) * dof} of the pieces",
            got=str(efforts.size),
        )
    efforts = efforts.reshape(-1, dof)
    limit = part.limits("effort_limit")
    for i, j in np.argwhere(np.abs(efforts) > limit * (1.0 + 1e-9))[:1]:
        raise DefinitionError(
            f"{where}: the effort of joint {part.joint_names[j]!r} at {times[i]:.3f} s is above its limit",
            expected=f"at most {limit[j]:.4f}",
            got=f"{efforts[i, j]:.4f}",
        )
    params.has_efforts, params.in_pieces = True, len(efforts) < n
    params.effort[: len(efforts), :dof] = efforts


@realtime
def begin_path(state, params, part):
    """Begin at what is measured: the reference, from which the path is led onto the trajectory."""
    for j in range(part.dof):
        state.reference[j] = part.commanded_position[j]
        if params.mode != POSITION and math.isfinite(part.position[j]):
            state.reference[j] = part.position[j]
        state.reference_velocity[j] = part.motion_velocity[j] * part.dt / params.period if params.period > 0.0 else 0.0


@realtime
def given_effort(params, i, t, j):
    """The given effort of joint j at time t [s] in the segment i, or after the end."""
    if t >= params.total:
        return 1.0 * float(params.effort[params.n_segments, j])  # of pieces: none
    if params.in_pieces != 0.0:
        return 1.0 * float(params.effort[i, j])
    s = (t - params.time[i]) / (params.time[i + 1] - params.time[i])
    return (1.0 - s) * params.effort[i, j] + s * params.effort[i + 1, j]


@realtime
def feed_forward(state, params, part, before, after):
    """Command the given efforts while the path goes from time `before`, in `state.segment`, to `after` [s].

    A path that is slower by the factor s needs s² of the efforts that accelerate the joints. At its end the last ones
    are held.
    """
    s = (after - before) / params.period
    scale = 1.0 if before >= params.total else s * s
    for j in range(part.dof):
        part.effort_command[j] = scale * given_effort(params, state.segment, before, j)


@realtime
def command_velocities(state, params, part):
    """Command the velocities from `reference` to `part.position_command`, and the correction."""
    for j in range(part.dof):
        error = state.reference[j] - part.position[j]
        if not math.isfinite(error):
            error = 0.0
        u = (part.position_command[j] - state.reference[j]) / params.period
        part.velocity_command[j] = u + params.correction * error
        state.reference[j] = part.position_command[j]


@realtime
def _within(efforts, bounds, n):
    """The factor at most 1 with which all efforts are within their bounds."""
    factor = 1.0
    for j in range(n):
        if abs(efforts[j]) * factor > bounds[j]:
            factor = bounds[j] / abs(efforts[j])
    return factor


@realtime
def _add_feedback(state, params, part):
    """Add M(q) (pull + brake), bounded as described above."""
    inverse_dynamics(part.chain, part.position, state.still, state.pull, 0.0, state.model, state.dynamics)
    factor = _within(state.model, params.feedback_bound, part.dof)
    for j in range(part.dof):
        state.pull[j] = factor * state.pull[j] + state.brake[j]
    inverse_dynamics(part.chain, part.position, state.still, state.pull, 0.0, state.model, state.dynamics)
    factor = _within(state.model, params.feedback_bound, part.dof)
    for j in range(part.dof):
        if math.isfinite(state.model[j]):
            part.effort_command[j] += factor * state.model[j]


@realtime
def command_efforts(state, params, part):
    """Add to the efforts what leads the joints along from `reference` to `part.position_command`."""
    for j in range(part.dof):
        u = (part.position_command[j] - state.reference[j]) / params.period
        error, slower = state.reference[j] - part.position[j], u - part.velocity[j]
        if not (math.isfinite(error) and math.isfinite(slower)):
            error = slower = 0.0
        spring = min(max(params.stiffness[j] * error, -params.spring_bound[j]), params.spring_bound[j])
        part.effort_command[j] += spring + params.damping[j] * slower
        state.pull[j] = params.correction * params.correction * error
        state.brake[j] = 2.0 * params.correction * slower
        state.wanted[j] = 0.0
        if params.has_efforts == 0.0:
            change = (u - state.reference_velocity[j]) / params.period
            state.wanted[j] = min(max(change, -part.acceleration_limit[j]), part.acceleration_limit[j])
            state.along[j] = u
        state.reference[j] = part.position_command[j]
        state.reference_velocity[j] = u
    if params.uses_model == 0.0:
        return
    if params.has_efforts == 0.0 or params.gravity > 0.0:
        inverse_dynamics(
            part.chain, part.position, state.along, state.wanted, params.gravity, state.model, state.dynamics
        )
        for j in range(part.dof):
            if math.isfinite(state.model[j]):
                part.effort_command[j] += state.model[j]
    if params.correction > 0.0:
        _add_feedback(state, params, part)
