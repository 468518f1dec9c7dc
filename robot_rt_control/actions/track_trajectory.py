"""track_trajectory: follow a timed joint trajectory, e.g. from a motion planner."""

import math

import numpy as np

from robot_rt_control.actions.following import JOINT_KINDS, POSITION, is_within, largest_difference, vanishing
from robot_rt_control.actions.path_control import (
    EFFORT,
    PATH_PARAMETERS,
    PATH_PARAMS,
    PATH_STATE,
    VELOCITY,
    begin_path,
    check_velocities,
    command_efforts,
    command_velocities,
    feed_forward,
    limits_in_mode,
    prepare_path_control,
)
from robot_rt_control.definitions.action_type import (
    JOINT_INDEX,
    PER_JOINT,
    ActionType,
    Parameter,
    Slot,
    StateVariable,
)
from robot_rt_control.motion.hermite import hermite
from robot_rt_control.motion.path_time import FASTEST_FALL, possible_fall
from robot_rt_control.motion.profile import profile_dtype
from robot_rt_control.motion.tracking import track_velocity
from robot_rt_control.motion_group.limits import part_limits
from robot_rt_control.motion_group.retiming import keep_limits
from robot_rt_control.motion_group.trajectory import curve_through
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.capacities import MAX_TRAJECTORY_POINTS
from robot_rt_control.vocabulary.defaults import JERK_TIME_S
from robot_rt_control.vocabulary.enums import Status
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError

MAX_SEGMENTS = MAX_TRAJECTORY_POINTS - 1
SLOWEST = 0.01
"""Default of the parameter `slowest`."""
_START_TOO_FAR = int(Status.START_TOO_FAR)
STANDS = 5
"""[ticks] After these nothing is left of the motion in what the next action continues from (T5)."""


@realtime
def point(params, i, t, j):
    """Position, velocity and acceleration of joint j at time t [s], which lies in the segment i."""
    h = params.time[i + 1] - params.time[i]
    return hermite(
        params.position[i, j],
        params.velocity[i, j],
        params.begin[i, j],
        params.position[i + 1, j],
        params.velocity[i + 1, j],
        params.end[i, j],
        h,
        (t - params.time[i]) / h,
    )


@realtime
def slow_down(state, part):
    """Advance the path time by a tick while its rate falls. Returns a status."""
    if part.dt <= 0.0:  # it stands already
        state.rate = 0.0
        return 0
    fall = FASTEST_FALL
    for j in range(part.dof):
        most = part.acceleration_limit[j]
        fall = possible_fall(fall, state.path_velocity[j], state.path_acceleration[j], state.rate, most)
    time, rate, change, status = track_velocity(
        state.scratch,
        state.elapsed,
        state.rate,
        state.change,
        0.0,
        -math.inf,
        math.inf,
        1.0,
        fall,
        fall / JERK_TIME_S,
        part.dt,
    )
    state.elapsed, state.rate, state.change = max(time, state.elapsed), max(rate, 0.0), change
    return status


class TrackTrajectory(ActionType):
    """Follow a joint trajectory given at points in time, by cubic or quintic pieces, and stay at its end.

    A trajectory that exceeds a limit of velocity or acceleration is slowed there, on its path, down to `slowest` of its
    speed. One that leaves the range, or whose given efforts are too high, is refused as a whole. At the start the
    commanded position must be near its first point; it may move, and what its position and velocity differ from the
    first point vanishes.

    With more than 513 points, or with tool poses, the control server makes a motion group of it (`profile: async`): it
    then ends at rest, starts only near the velocity of its first point, its parameters cannot be changed, and it has
    neither `tracking_error` nor `stop`.

    Modes velocity and effort (`path_control.py`) begin at the measured positions, and lead the joints along the path by
    feedback. At an override below 1 and in a stop the path is slower, and given efforts are reduced by the square of
    its speed, as what accelerates the joints is. Forces of contact would not be: there the feedback holds the path. At
    override 0 the feedback holds the joints. Without feedback the loop does, and it brakes them at a stop.
    """

    name = "track_trajectory"
    signals = ("stop",)
    slots = (Slot(name="part", kinds=JOINT_KINDS),)
    parameters = (
        Parameter(
            name="times", length="any", unit="s", description="Times of the points: at least two, increasing from 0."
        ),
        Parameter(
            name="positions",
            length="any",
            unit="joint",
            optional=True,
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
            name="accelerations",
            length="any",
            unit="joint/s^2",
            optional=True,
            description="Accelerations, in the same order, with velocities: quintic instead of cubic pieces. Or those "
            "at the begin of each piece, then those at its end: they may differ at a point.",
        ),
        Parameter(
            name="poses",
            length="any",
            optional=True,
            description="Instead of positions: of the tool in the world, x y z [m], quaternion x y z w at each time.",
        ),
        Parameter(
            name="start_tolerance",
            unit="joint",
            default=0.02,
            minimum=0.0,
            description="Largest |commanded - first| position of a joint at the start (in modes velocity and effort "
            "|measured - first|); beyond it the start fails.",
        ),
        Parameter(
            name="tolerance",
            unit="joint",
            default=0.005,
            minimum=0.0,
            description="Largest |measured - last| position of a joint that counts as settled.",
        ),
        Parameter(
            name="slowest",
            default=SLOWEST,
            minimum=0.0,
            maximum=1.0,
            description="Lowest fraction of its speed to which it is slowed where it exceeds a limit of velocity or "
            "acceleration; a trajectory that would have to be slower is refused. 1: nothing is slowed, as for one that "
            "moves together with others. With given efforts nothing is slowed.",
        ),
        *PATH_PARAMETERS,
    )
    state_variables = (
        StateVariable(name="is_done", type="bool", description="The command has reached the last point."),
        StateVariable(name="is_settled", type="bool", description="The part is measured at the last point, at rest."),
        StateVariable(name="progress", description="Elapsed fraction of the duration, 0 to 1."),
        StateVariable(name="elapsed", unit="s", description="Time along the trajectory."),
        StateVariable(name="remaining_time", unit="s", description="Time until the last point."),
        StateVariable(
            name="tracking_error",
            unit="joint",
            description="Largest |measured - commanded| position; in modes velocity and effort |measured - path|.",
        ),
        StateVariable(
            name="start_joint",
            type="int",
            unit=JOINT_INDEX,
            description="Joint farthest from its first point at the start.",
        ),
        StateVariable(name="start_distance", unit="joint", description="Distance of that joint from its first point."),
        StateVariable(
            name="slowed",
            description="Lowest fraction of its speed to which the trajectory was slowed, to keep limits; 1: nowhere.",
        ),
        StateVariable(
            name="is_stopping", type="bool", description="After the signal `stop` it comes to rest on its path."
        ),
        StateVariable(name="is_stopped", type="bool", description="It has come to rest on its path, and stays there."),
        StateVariable(name="time_at_end", unit="s", description="Time since the last point."),
        StateVariable(
            name="end_distance",
            unit="joint",
            description="Largest |commanded - last| position of a joint.",
        ),
    )
    example = {"times": (0.0, 1.0), "positions": (0.3,) * 7 + (0.5,) * 7}  # for seven joints
    Params = {
        "n_segments": int,
        "total": float,
        "start_tolerance": float,
        "tolerance": float,
        "slowed": float,
        "time": (float, MAX_SEGMENTS + 1),
        "position": (float, MAX_SEGMENTS + 1, PER_JOINT),
        "velocity": (float, MAX_SEGMENTS + 1, PER_JOINT),
        "begin": (float, MAX_SEGMENTS, PER_JOINT),  # acceleration at the begin of each segment
        "end": (float, MAX_SEGMENTS, PER_JOINT),
        "goal": (float, PER_JOINT),
        **PATH_PARAMS,
    }
    State = {
        "segment": int,
        "offset": (float, PER_JOINT),
        "offset_velocity": (float, PER_JOINT),
        "path_velocity": (float, PER_JOINT),
        "path_acceleration": (float, PER_JOINT),
        "rate": float,  # of the path time
        "change": float,
        "standing": int,  # ticks
        "scratch": profile_dtype,
        **PATH_STATE,
    }

    def prepare_parameters(self, values, params):
        part = self.parts["part"]
        where = f"track_trajectory of {part.name!r}"
        times, points = self._points(values)
        made = keep_limits(
            where,
            curve_through(times, *points),
            limits_in_mode(part_limits(part), values),
            slowest=values["slowest"],
            most_points=MAX_TRAJECTORY_POINTS,
        )
        times, position, velocity, (begin, end) = made.times, made.q, made.v, made.a
        prepare_path_control(where, part, times, values, params)
        n, dof = len(times) - 1, part.dof
        params.n_segments = n
        params.total = times[-1]
        params.start_tolerance = values["start_tolerance"]
        params.tolerance = values["tolerance"]
        params.slowed = made.slowest
        params.time[: n + 1] = times
        check_velocities(where, part, times, velocity)
        params.position[: n + 1, :dof], params.velocity[: n + 1, :dof] = position, velocity
        params.begin[:n, :dof], params.end[:n, :dof] = begin, end
        params.goal[:dof] = params.position[n, :dof] = points[0][-1]

    def _points(self, values):
        part = self.parts["part"]
        where = f"track_trajectory of {part.name!r}"
        times = np.atleast_1d(np.asarray(values["times"], float))
        if len(times) < 2 or times[0] != 0.0 or (np.diff(times) <= 0.0).any():
            raise DefinitionError(
                f"{where}: times", expected="at least two, from 0 on, each above the one before", got=str(times[:8])
            )
        if len(times) - 1 > MAX_SEGMENTS:
            hint = "Only an action without strategies may have more points"
            if values["mode"] != "position":
                hint = "Only mode position may have more points; motion_group/thinning.py leaves some of them out"
            what, most = f"{where}: too many points", f"at most {MAX_SEGMENTS + 1}"
            raise CapacityError(what, expected=most, got=str(len(times)), hint=hint)
        if "poses" in values:
            expected = "positions, in a law, with strategies, and in modes velocity and effort"
            raise DefinitionError(f"{where}: poses", expected=expected, got="poses")
        if "positions" not in values:
            raise DefinitionError(f"{where}: positions", expected="positions, or poses", got="none")
        if "accelerations" in values and "velocities" not in values:
            raise DefinitionError(f"{where}: accelerations", expected="velocities with them", got="none")
        found: list[np.ndarray | None] = []
        for name in ("positions", "velocities", "accelerations"):
            array = np.atleast_1d(np.asarray(values.get(name, ()), float))
            shape: tuple[int, ...] = (len(times), part.dof)
            if name == "accelerations" and array.size == 2 * (len(times) - 1) * part.dof:
                shape = (2, len(times) - 1, part.dof)
            elif name in values and array.size != len(times) * part.dof:
                raise DefinitionError(
                    f"{where}: number of {name}",
                    expected=f"{len(times)} points of {part.dof} joints, {len(times) * part.dof} in all",
                    got=str(array.size),
                )
            found.append(array.reshape(shape) if name in values else None)
        return times, found

    @staticmethod
    def on_enter(state, params, part):
        state.rate = 1.0
        state.slowed = params.slowed
        begin_path(state, params, part)
        for j in range(part.dof):
            q, v, _ = point(params, 0, 0.0, j)
            state.offset[j] = state.reference[j] - q
            if part.dt > 0.0:  # while its time stands, it goes on as planned
                state.offset_velocity[j] = part.motion_velocity[j] - v
            if abs(state.offset[j]) > state.start_distance:
                state.start_joint = j
                state.start_distance = abs(state.offset[j])
        return _START_TOO_FAR if state.start_distance > params.start_tolerance else 0

    @staticmethod
    def sense(state, params, part):
        done = state.elapsed >= params.total
        state.is_done = done
        if state.rate <= 0.0:
            state.standing += 1
        state.is_stopped = state.standing >= STANDS
        state.progress = 1.0 if done else state.elapsed / params.total
        state.remaining_time = max(params.total - state.elapsed, 0.0)
        state.time_at_end = max(state.elapsed - params.total, 0.0)
        state.end_distance = largest_difference(part.commanded_position, params.goal, part.dof)
        if params.mode == POSITION:
            state.tracking_error = largest_difference(part.position, part.commanded_position, part.dof)
        else:
            state.tracking_error = largest_difference(part.position, state.reference, part.dof)
        if done and part.at_rest != 0.0:
            state.is_settled = is_within(largest_difference(part.position, params.goal, part.dof), params.tolerance)
        else:
            state.is_settled = 0.0

    @staticmethod
    def control(state, params, part):
        if state.stop != 0.0:
            state.is_stopping = 1.0
        before = state.elapsed
        if state.is_stopping == 0.0:
            state.elapsed += part.dt
        elif state.rate > 0.0:
            status = slow_down(state, part)
            if status != 0:
                return status
        t = state.elapsed
        if params.has_efforts != 0.0:
            feed_forward(state, params, part, before, t)
        while state.segment + 1 < params.n_segments and t >= params.time[state.segment + 1]:
            state.segment += 1
        for j in range(part.dof):
            q, v, a = params.goal[j], 0.0, 0.0
            if t < params.total:
                q, v, a = point(params, state.segment, t, j)
            part.position_command[j] = q + vanishing(state.offset[j], state.offset_velocity[j], t)
            state.path_velocity[j], state.path_acceleration[j] = v, a
            if params.mode == POSITION:
                state.reference[j] = q  # new parameters may change the mode
        if params.mode == VELOCITY:
            command_velocities(state, params, part)
        elif params.mode == EFFORT:
            if params.has_feedback == 0.0 and (state.is_stopping != 0.0 or t <= before):
                return 0  # nothing else stops the joints: the loop brakes and holds them
            command_efforts(state, params, part)
        part.command_mode = params.mode
        return 0
