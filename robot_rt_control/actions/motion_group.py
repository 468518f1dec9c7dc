"""motion_group: motion commands of several parts that begin in one tick, and may arrive in one.

The methods run for each part of the group, on records of its own; the loop keeps the group's common path time
(realtime/tick/motion_group.py). Document 3: MotionCommandGroup, MotionCommand and MotionProfiler in real time (figure
3), and what becomes of set points that were profiled outside (figure 4).
"""

import math
from typing import ClassVar

from robot_rt_control.actions.following import (
    JOINT_KINDS,
    POSITION,
    is_within,
    largest_difference,
    vanishing,
)
from robot_rt_control.actions.tool_use import is_other_tool
from robot_rt_control.definitions.action_type import (
    JOINT_INDEX,
    PER_JOINT,
    ActionType,
    Parameter,
    Slot,
    StateVariable,
)
from robot_rt_control.memory.layout import motion_dtype
from robot_rt_control.motion.hermite import hermite
from robot_rt_control.motion.profile import profile_dtype, sample_profile
from robot_rt_control.motion.synchronize import plan_fastest, stretch_together
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.capacities import MAX_GROUP_COMMANDS
from robot_rt_control.vocabulary.enums import Status

_OTHER_TOOL = int(Status.OTHER_TOOL)
_START_TOO_FAR, _OTHER_VELOCITY = int(Status.START_TOO_FAR), int(Status.OTHER_VELOCITY)
_ARRIVED = 1e-9
"""[s] Rounding of the path time."""
_REST, _MOVING, _JUST_STOPPED = 0.01, 0.05, 0.1
"""Fractions of the limits: of the velocity that may differ at a start at rest, and in motion; of the acceleration."""


@realtime
def begin_as_planned(state, params, part):
    """Keep by how much the last command differs from the start of the motion: it vanishes. Whether that is little.

    Right after a motion some of its last jerk is left, see T5. While the part's time stands, its velocity is not known
    from its commands, and goes on as planned.
    """
    little = _REST
    for j in range(part.dof):
        if params.start_velocity[j] != 0.0:
            little = _MOVING
    for j in range(part.dof):
        state.path_velocity[j] = params.start_velocity[j]
        state.offset[j] = part.commanded_position[j] - params.start[j]
        if part.dt > 0.0:
            state.offset_velocity[j] = part.motion_velocity[j] - params.start_velocity[j]
        if abs(state.offset_velocity[j]) > little * part.velocity_limit[j]:
            return False
        if little == _REST and abs(part.motion_acceleration[j]) > _JUST_STOPPED * part.acceleration_limit[j]:
            return False
    return True


@realtime
def plan_command(state, params, part, i, duration):
    """Plan the fastest motion of each joint for command i: of the first one from the last command, of the others from
    rest at the former goal. `stretch_command` follows.

    Args:
        duration: [s] that it shall take; less than possible: as short as possible.

    Returns:
        A status.
    """
    for j in range(part.dof):
        state.goal[j] = params.goal[i, j]
        state.velocity_limit[j] = params.velocity[i, j]
        state.acceleration_limit[j] = params.acceleration[i, j]
        state.jerk_limit[j] = params.jerk[i, j]
        if i == 0:
            state.from_q[j] = part.commanded_position[j]
            state.from_v[j] = part.motion_velocity[j]
            state.from_a[j] = part.motion_acceleration[j]
        else:
            state.from_q[j] = params.goal[i - 1, j]
            state.from_v[j] = state.from_a[j] = 0.0
    status, fastest = plan_fastest(
        state.plan,
        part.dof,
        state.from_q,
        state.from_v,
        state.from_a,
        state.goal,
        state.velocity_limit,
        state.acceleration_limit,
        state.jerk_limit,
    )
    state.lasts = max(duration, fastest)
    return status


@realtime
def stretch_command(state, part):
    """Let the planned motion take `state.lasts`. Returns a status."""
    return stretch_together(
        state.plan,
        part.dof,
        state.from_q,
        state.from_v,
        state.from_a,
        state.goal,
        state.velocity_limit,
        state.acceleration_limit,
        state.jerk_limit,
        state.lasts,
    )


class MotionGroup(ActionType):
    """Motion commands of one or several parts: they begin in one tick, all or none, and stop together on their paths.

    Each part's motion is its list of `commands` (MotionCommand), one after the other.
    """

    name = "motion_group"
    each_part = True
    slots: ClassVar[tuple[Slot, ...]] = (Slot(name="part", kinds=JOINT_KINDS, description="1 to 64 parts."),)
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter(
            name="finish",
            type="text",
            default="own",
            choices=("own", "together"),
            description="Whether each part arrives as soon as it can, or all in one tick.",
        ),
        Parameter(
            name="profile",
            type="text",
            default="realtime",
            choices=("realtime", "async"),
            description="Where the motions are computed: in the loop, from any state of motion, or in a process "
            "outside it, which can also follow paths through via points and trajectories of any length.",
        ),
        Parameter(
            name="on_failure",
            type="text",
            default="stop",
            choices=("stop", "continue"),
            description="What the others do if a part fails: stop on their paths, or go on.",
        ),
        Parameter(
            name="tolerance",
            unit="joint",
            default=0.005,
            minimum=0.0,
            description="Largest |measured - goal| position of a joint that counts as settled.",
        ),
    )
    state_variables: ClassVar[tuple[StateVariable, ...]] = (
        StateVariable(
            name="start_joint",
            type="int",
            unit=JOINT_INDEX,
            description="At the start: joint of the part, farthest from the start of its motion.",
        ),
        StateVariable(name="start_distance", unit="joint", description="Distance of that joint."),
        StateVariable(name="is_done", type="bool", description="The commands of all parts have arrived."),
        StateVariable(name="is_settled", type="bool", description="All parts are measured at their goals, at rest."),
        StateVariable(name="progress", description="Elapsed fraction of the duration, 0 to 1."),
        StateVariable(name="remaining_time", unit="s", description="Time until the last command arrives."),
        StateVariable(name="starved", type="bool", description="It slows down: its set points do not come in time."),
        StateVariable(name="is_stopping", type="bool", description="It comes to rest on its paths, and then ends."),
        StateVariable(name="has_failed", type="bool", description="A part has failed, or the profiler's process."),
        StateVariable(name="elapsed", unit="s", description="Time along the paths; it goes on after the end."),
    )
    Params: ClassVar = {
        "n_commands": int,
        "asynchronous": int,
        "checks_start": int,
        "period": float,
        "tool_number": float,  # that it was planned for; NaN: any
        "start": (float, PER_JOINT),
        "start_velocity": (float, PER_JOINT),
        "start_tolerance": float,
        "end": (float, PER_JOINT),
        "tolerance": float,
        "duration": float,  # [s] asynchronous: of the whole motion; else of all commands but the first
        "goal": (float, MAX_GROUP_COMMANDS, PER_JOINT),
        "velocity": (float, MAX_GROUP_COMMANDS, PER_JOINT),
        "acceleration": (float, MAX_GROUP_COMMANDS, PER_JOINT),
        "jerk": (float, MAX_GROUP_COMMANDS, PER_JOINT),
        "lasts": (float, MAX_GROUP_COMMANDS),  # [s]; of the first command 0: as short as possible
    }
    State: ClassVar = {
        **{name: motion_dtype[name] for name in (motion_dtype.names or ())[len(state_variables) :]},
        "command": int,  # that runs
        "began": float,  # [s] path time at its begin
        "lasts": float,  # [s] of path time
        "agreed": int,
        "slower": float,  # factor of speed by which all parts arrive together
        "offset": (float, PER_JOINT),  # at the start, from the plan
        "offset_velocity": (float, PER_JOINT),
        "plan": (profile_dtype, PER_JOINT),
        **{name: (float, PER_JOINT) for name in ("from_q", "from_v", "from_a", "goal")},
        **{name: (float, PER_JOINT) for name in ("velocity_limit", "acceleration_limit", "jerk_limit")},
    }

    def prepare_parameters(self, values, params):
        """One command for half a radian or metre, for measuring: the server fills the records from a group's commands
        (server/tables/group_preparation.py)."""
        part = self.parts["part"]
        params.n_commands, params.tolerance = 1, values["tolerance"]
        params.tool_number = math.nan
        params.goal[0, : part.dof] = 0.5
        for name in ("velocity", "acceleration", "jerk"):
            params[name][0, : part.dof] = part.limits(f"{name}_limit")

    @staticmethod
    def on_enter(state, params, part):
        if is_other_tool(part, params.tool_number):
            return _OTHER_TOOL
        if params.checks_start != 0:
            state.start_distance = 0.0
            for j in range(part.dof):
                away = abs(part.commanded_position[j] - params.start[j])
                if away > state.start_distance:
                    state.start_joint, state.start_distance = j, away
            if not state.start_distance <= params.start_tolerance:
                return _START_TOO_FAR
        state.slower = 1.0
        if params.asynchronous != 0:
            if not begin_as_planned(state, params, part):
                return _OTHER_VELOCITY
            state.duration = params.duration
            return 0
        status = plan_command(state, params, part, 0, params.lasts[0])
        state.duration = state.lasts + params.duration
        return status

    @staticmethod
    def sense(state, params, part):
        state.is_done = state.elapsed >= state.total - _ARRIVED
        if state.is_done != 0.0 and part.at_rest != 0.0:
            state.is_settled = is_within(largest_difference(part.position, params.end, part.dof), params.tolerance)
        else:
            state.is_settled = 0.0

    @staticmethod
    def set_parameters(state, params, part):
        # Once, in the tick of the start: the parts have agreed on how long it shall take.
        if params.asynchronous != 0 or state.agreed != 0:
            return 0
        state.agreed = 1
        if state.total > state.duration > 0.0:
            state.slower = state.duration / state.total
            state.lasts /= state.slower
        return stretch_command(state, part)

    @staticmethod
    def control(state, params, part):
        part.command_mode = POSITION
        if params.asynchronous != 0:
            for j in range(part.dof):
                q, v, a = hermite(
                    state.before_q[j],
                    state.before_v[j],
                    state.before_a[j],
                    state.after_q[j],
                    state.after_v[j],
                    state.after_a[j],
                    params.period,
                    state.fraction,
                )
                part.position_command[j] = q + vanishing(state.offset[j], state.offset_velocity[j], state.elapsed)
                state.path_velocity[j], state.path_acceleration[j] = v, a
            return 0
        for _ in range(MAX_GROUP_COMMANDS):
            if state.elapsed < state.began + state.lasts or state.command >= params.n_commands - 1:
                break
            state.began += state.lasts
            state.command += 1
            status = plan_command(state, params, part, state.command, params.lasts[state.command] / state.slower)
            if status == 0:
                status = stretch_command(state, part)
            if status != 0:
                return status
        for j in range(part.dof):
            q, v, a = sample_profile(state.plan[j], state.elapsed - state.began)
            part.position_command[j] = q
            state.path_velocity[j], state.path_acceleration[j] = v, a
        return 0
