"""track_trajectory: follow a timed joint trajectory, e.g. from a motion planner."""

import numpy as np
from scipy.interpolate import CubicHermiteSpline, CubicSpline

from robot_rt_control.actions.following import JOINT_KINDS, POSITION, is_within, largest_difference
from robot_rt_control.definitions.action_type import (
    JOINT_INDEX,
    PER_JOINT,
    ActionType,
    Parameter,
    Slot,
    StateVariable,
)
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.enums import Status
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError

MAX_SEGMENTS = 512
_START_TOO_FAR = int(Status.START_TOO_FAR)
_BLEND_TIME = 0.25
"""[s] time in which an error of the start, within its tolerance, is blended out."""
_CHECKS_PER_SEGMENT = 20


@realtime
def point(params, segment, t, j):
    """Position of joint j at time t [s], which lies in the given segment."""
    s = t - params.time[segment]
    c = params.coefficients[segment]
    return c[0, j] + s * (c[1, j] + s * (c[2, j] + s * c[3, j]))


@realtime
def remaining_offset(t):
    """1 at t = 0, 0 from _BLEND_TIME on, with zero velocity and acceleration at both ends (a quintic)."""
    x = min(t / _BLEND_TIME, 1.0)
    return 1.0 - x * x * x * (10.0 - x * (15.0 - 6.0 * x))


class TrackTrajectory(ActionType):
    """Follow a joint trajectory given at points in time, by cubic pieces, and stay at its end.

    A trajectory that exceeds a limit is refused as a whole. At the start the commanded position must be near its
    first point.
    """

    name = "track_trajectory"
    slots = (Slot(name="part", kinds=JOINT_KINDS),)
    parameters = (
        Parameter(
            name="times", length="any", unit="s", description="Times of the points: at least two, increasing from 0."
        ),
        Parameter(
            name="positions",
            length="any",
            unit="joint",
            description="Positions of all joints at the first time, then at the next …",
        ),
        Parameter(
            name="velocities",
            length="any",
            unit="joint/s",
            optional=True,
            description="Velocities, in the same order. Default: a smooth curve that begins and ends at rest.",
        ),
        Parameter(
            name="start_tolerance",
            unit="joint",
            default=0.02,
            minimum=0.0,
            description="Largest |commanded - first| position of a joint at the start; beyond it the start fails.",
        ),
        Parameter(
            name="tolerance",
            unit="joint",
            default=0.005,
            minimum=0.0,
            description="Largest |measured - last| position of a joint that counts as settled.",
        ),
    )
    state_variables = (
        StateVariable(name="is_done", type="bool", description="The command has reached the last point."),
        StateVariable(name="is_settled", type="bool", description="The part is measured at the last point, at rest."),
        StateVariable(name="progress", description="Elapsed fraction of the duration, 0 to 1."),
        StateVariable(name="elapsed", unit="s", description="Time along the trajectory."),
        StateVariable(name="remaining_time", unit="s", description="Time until the last point."),
        StateVariable(name="tracking_error", unit="joint", description="Largest |measured - commanded| position."),
        StateVariable(
            name="start_joint",
            type="int",
            unit=JOINT_INDEX,
            description="Joint farthest from its first point at the start.",
        ),
        StateVariable(name="start_distance", unit="joint", description="Distance of that joint from its first point."),
    )
    example = {"times": (0.0, 1.0), "positions": (0.3,) * 7 + (0.5,) * 7}  # for seven joints
    Params = {
        "n_segments": int,
        "total": float,
        "start_tolerance": float,
        "tolerance": float,
        "time": (float, MAX_SEGMENTS),
        "coefficients": (float, MAX_SEGMENTS, 4, PER_JOINT),
        "end": (float, PER_JOINT),
    }
    State = {"segment": int, "offset": (float, PER_JOINT)}

    def prepare_parameters(self, values, params):
        part = self.parts["part"]
        times, positions, velocities = self._points(values)
        if velocities is None:
            curve = CubicSpline(times, positions, bc_type="clamped")
        else:
            curve = CubicHermiteSpline(times, positions, velocities)
        self._check(curve, times)
        n = len(times) - 1
        params.n_segments = n
        params.total = times[-1]
        params.start_tolerance = values["start_tolerance"]
        params.tolerance = values["tolerance"]
        params.time[:n] = times[:-1]
        # SciPy: highest power first, then the segment, then the joint
        params.coefficients[:n, :, : part.dof] = curve.c[::-1].transpose(1, 0, 2)
        params.end[: part.dof] = positions[-1]

    def _points(self, values):
        part = self.parts["part"]
        where = f"track_trajectory of {part.name!r}"
        times = np.atleast_1d(np.asarray(values["times"], float))
        if len(times) < 2 or times[0] != 0.0 or (np.diff(times) <= 0.0).any():
            raise DefinitionError(
                f"{where}: times", expected="at least two, from 0 on, each above the one before", got=str(times[:8])
            )
        if len(times) - 1 > MAX_SEGMENTS:
            raise CapacityError(
                f"{where}: too many points",
                expected=f"at most {MAX_SEGMENTS + 1}",
                got=str(len(times)),
                hint="Thin the trajectory out, or split it and chain the parts by reactions on is_done",
            )
        found: dict[str, np.ndarray | None] = {"positions": None, "velocities": None}
        for name in found:
            if name not in values:
                continue
            array = np.atleast_1d(np.asarray(values[name], float))
            if array.size != len(times) * part.dof:
                raise DefinitionError(
                    f"{where}: number of {name}",
                    expected=f"{len(times)} points of {part.dof} joints, {len(times) * part.dof} in all",
                    got=str(array.size),
                )
            found[name] = array.reshape(len(times), part.dof)
        return times, found["positions"], found["velocities"]

    def _check(self, curve, times):
        """Sample each segment densely, and refuse the trajectory if it exceeds a limit of the part."""
        part = self.parts["part"]
        limits = part.record
        fractions = np.linspace(0.0, 1.0, _CHECKS_PER_SEGMENT, endpoint=False)
        t = np.append((times[:-1, None] + np.diff(times)[:, None] * fractions).ravel(), times[-1])
        dof = part.dof
        checks = (
            ("position", curve(t), limits.position_lower[:dof], limits.position_upper[:dof]),
            ("velocity", curve(t, 1), -limits.velocity_limit[:dof], limits.velocity_limit[:dof]),
            ("acceleration", curve(t, 2), -limits.acceleration_limit[:dof], limits.acceleration_limit[:dof]),
        )
        for what, value, low, high in checks:
            slack = 1e-9 * np.maximum(np.abs(low), np.abs(high))
            bad = np.argwhere((value < low - slack) | (value > high + slack))
            if len(bad):
                k, j = bad[0]
                raise DefinitionError(
                    f"track_trajectory of {part.name!r}: the {what} of joint {part.joint_names[j]!r} "
                    f"at {t[k]:.3f} s is outside its limits",
                    expected=f"{low[j]:.4f} to {high[j]:.4f}",
                    got=f"{value[k, j]:.4f}",
                    hint="Slow the trajectory down" if what != "position" else "",
                )

    @staticmethod
    def on_enter(state, params, part):
        for j in range(part.dof):
            state.offset[j] = part.commanded_position[j] - point(params, 0, 0.0, j)
            if abs(state.offset[j]) > state.start_distance:
                state.start_joint = j
                state.start_distance = abs(state.offset[j])
        return _START_TOO_FAR if state.start_distance > params.start_tolerance else 0

    @staticmethod
    def sense(state, params, part):
        done = state.elapsed >= params.total
        state.is_done = done
        state.progress = 1.0 if done else state.elapsed / params.total
        state.remaining_time = max(params.total - state.elapsed, 0.0)
        state.tracking_error = largest_difference(part.position, part.commanded_position, part.dof)
        if done and part.at_rest != 0.0:
            state.is_settled = is_within(largest_difference(part.position, params.end, part.dof), params.tolerance)
        else:
            state.is_settled = 0.0

    @staticmethod
    def control(state, params, part):
        state.elapsed += part.dt
        part.command_mode = POSITION
        offset = remaining_offset(state.elapsed)
        if state.elapsed >= params.total:
            for j in range(part.dof):
                part.position_command[j] = params.end[j] + offset * state.offset[j]
            return 0
        while state.segment + 1 < params.n_segments and state.elapsed >= params.time[state.segment + 1]:
            state.segment += 1
        for j in range(part.dof):
            q = point(params, state.segment, state.elapsed, j)
            part.position_command[j] = q + offset * state.offset[j]
        return 0
