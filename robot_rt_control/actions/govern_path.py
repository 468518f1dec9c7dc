"""govern_path: strategies govern the tool's motion along a nominal path, and beside it."""

import math

import numpy as np

from robot_rt_control.actions.following import POSITION, distance
from robot_rt_control.actions.task_frame import (
    TaskFrameType,
    begin_degrees,
    begin_frame,
    begin_motion,
    begin_step,
    show_axes,
    show_limits,
    show_motion,
    take_step,
    turn_frame,
)
from robot_rt_control.actions.tool_path import (
    PATH_PARAMS,
    find_direction,
    find_nearest,
    find_point,
    prepare_path,
    spiral,
)
from robot_rt_control.definitions.action_type import Degree, Parameter, StateVariable
from robot_rt_control.model.kinematics.kinematics import quaternion_multiply, quaternion_rotate
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.enums import Status
from robot_rt_control.vocabulary.errors import DefinitionError

_S = 6
"""Index of the degree of freedom along the path."""
_ARRIVED = 1e-4
"""[m]"""
_MOST_TURNS = 40
_UPRIGHT = 1e-3
"""Horizontal part of a direction below which axes that turn with the path keep their direction."""
_START_TOO_FAR = int(Status.START_TOO_FAR)


@realtime
def look_at(state, params, s):
    """Find the path at a way s: its point and its direction in the world; the axes turn with it on request."""
    find_point(params, s, state.point)
    find_direction(params, s, state.direction, state.bend)
    if params.turns_with_path != 0.0:
        x, y = state.direction[0], state.direction[1]
        if x * x + y * y > _UPRIGHT * _UPRIGHT:
            angle = 0.5 * math.atan2(y, x)
            state.heading[2] = math.sin(angle)
            state.heading[3] = math.cos(angle)
        quaternion_multiply(state.base, state.heading, state.axes)
    quaternion_rotate(state.base, state.point, state.point)
    quaternion_rotate(state.base, state.direction, state.direction)
    quaternion_rotate(state.base, state.bend, state.bend)
    for i in range(3):
        state.point[i] += state.start[i]


@realtime
def add_offset(state, share):
    """Add to `point` the offset from the path after a share of this tick [s]."""
    for i in range(3):
        state.offset[i] = state.degrees[i].commanded_position + state.velocity[i] * share
    quaternion_rotate(state.axes, state.offset, state.offset)
    for i in range(3):
        state.point[i] += state.offset[i]


@realtime
def along(direction, vector):
    """The component of a vector along the path."""
    return direction[0] * vector[0] + direction[1] * vector[1] + direction[2] * vector[2]


@realtime
def take_out(state, forward, sideward):
    """What moves along the path [m/s or m/s^2], and by its curvature, as seen along the axes: into `offset`."""
    for i in range(3):
        state.offset[i] = forward * state.direction[i] + sideward * state.bend[i]
    quaternion_rotate(state.back, state.offset, state.offset)


@realtime
def find_way(state, params, s):
    """Find the way along the path and the distance from it at the start: near s, or in line with one of the ends."""
    position = state.tool.position
    for _ in range(2):
        s = min(max(s, 0.0), params.length)
        look_at(state, params, s)
        for i in range(3):
            state.offset[i] = position[i] - state.point[i]
        state.start_distance = distance(position, state.point, 3)
        s += along(state.direction, state.offset)
    state.degrees[_S].commanded_position = s
    look_at(state, params, s)


@realtime
def begin_path(state, params, part):
    """Start where the path is nearest to the tool, with the tool's motion along and beside it. Returns a status."""
    begin_frame(state, params, part)
    tool = state.tool
    state.path = params.path
    state.heading[2] = 0.0
    state.heading[3] = 1.0
    for i in range(4):
        state.base[i] = state.axes[i]
    for i in range(3):
        state.start[i] = state.origin[i]
        state.point[i] = tool.position[i] - state.origin[i]
    quaternion_rotate(state.back, state.point, state.point)
    find_way(state, params, find_nearest(params, state.point, state.offset))
    if state.start_distance > params.start_tolerance:
        return _START_TOO_FAR
    for i in range(3):
        state.origin[i] = state.point[i]
    turn_frame(state)
    begin_degrees(state)
    way = state.degrees[_S]
    way.motion_velocity = along(state.direction, tool.twist)
    way.motion_acceleration = along(state.direction, tool.acceleration)
    take_out(state, way.motion_velocity, 0.0)
    for i in range(3):
        state.degrees[i].motion_velocity -= state.offset[i]
    take_out(state, way.motion_acceleration, way.motion_velocity**2)
    for i in range(3):
        state.degrees[i].motion_acceleration -= state.offset[i]
    return begin_motion(state, part)


@realtime
def change_path(state, params, part):
    """Go on along another path, which begins where it is nearest, from the present motion. Returns a status."""
    for i in range(7):
        state.velocity[i] = state.degrees[i].position_command - state.degrees[i].commanded_position
    status = begin_path(state, params, part)
    for i in range(7):  # the laws have commanded this tick's step already
        state.degrees[i].position_command = state.degrees[i].commanded_position + state.velocity[i]
    return status


@realtime
def show_path(state, params, part):
    """Show laws where the tool is along the path and beside it, as measured."""
    degree = state.degrees[_S]
    s = degree.commanded_position
    look_at(state, params, s)
    turn_frame(state)
    for i in range(3):
        state.offset[i] = part.tool_position[i] - state.tool.position[i]
    measured = s + along(state.direction, state.offset)
    show_motion(degree, measured)
    degree.velocity = along(state.direction, part.tool_twist)
    # From before the start it may only go forward.
    limit = min(params.velocity[0], params.path_velocity)
    show_limits(degree, min(s, 0.0), params.length, limit, params.acceleration[0], params.jerk[0])
    for i in range(3):
        state.origin[i] = state.point[i] + (measured - s) * state.direction[i]
    take_out(state, degree.velocity, 0.0)
    show_axes(state, params, part)
    for i in range(3):
        state.degrees[i].velocity -= state.offset[i]


class GovernPath(TaskFrameType):
    """Move the tool along a path, as strategies say, and correct it beside the path.

    The degree of freedom `s` [m] is the way along the path, from 0 to its length: without a law the tool does not go
    along. `x y z` [m] are the tool's offset from the path along the axes of the frame, `rx ry rz` [rad] what it has
    turned about them; without a law they keep their value, so the tool follows the path.

    The path is a smooth curve through `points` (a cubic spline), or a flat spiral, in the coordinates of the frame. The
    tool begins where the path is nearest to it, and keeps its orientation. `s` is never faster than the curvature
    permits with the limits of acceleration and jerk. Everything else is as in `govern_tool`: if a joint would be too
    fast, the whole tool is slowed.
    """

    name = "govern_path"
    degrees_of_freedom = (*TaskFrameType.degrees_of_freedom, Degree(name="s", command_modes=("position", "velocity")))
    parameters = (
        Parameter(
            name="points",
            length="any",
            unit="m",
            optional=True,
            description="x y z of the first point, then of the next …: at least two. If they change while the action "
            "is active, the tool goes on along the new path, where that is nearest.",
        ),
        Parameter(
            name="spiral_radius", unit="m", optional=True, minimum=1e-4, description="A spiral about z: its end."
        ),
        Parameter(
            name="spiral_pitch", unit="m", optional=True, minimum=1e-5, description="Distance of the spiral's turns."
        ),
        Parameter(
            name="frame",
            type="text",
            default="world",
            choices=("world", "entry"),
            description="Of the points and the axes: entry is the tool's pose at the start of the path. A change alone "
            "has no effect while the action is active; likewise `heading`.",
        ),
        Parameter(
            name="turns_with_path",
            type="bool",
            default=False,
            description="Whether the axes turn about z with the path: then x is along it, and y to its left.",
        ),
        Parameter(
            name="start_tolerance",
            unit="m",
            default=0.01,
            minimum=0.0,
            description="Largest distance of the tool from the path at the start; beyond it the start fails.",
        ),
        *TaskFrameType.parameters,
    )
    example = {"points": (0.0, 0.0, 0.0, 0.05, 0.0, 0.0, 0.05, 0.05, 0.0), "frame": "entry"}
    state_variables = (
        *TaskFrameType.state_variables,
        StateVariable(name="way", unit="m", description="Along the path, as commanded."),
        StateVariable(name="remaining", unit="m", description="Way to the end, as commanded."),
        StateVariable(name="is_done", type="bool", description="The end has been reached within 0.1 mm."),
        StateVariable(name="offset_x", unit="m", description="Measured offset from the path along x of the frame."),
        StateVariable(name="offset_y", unit="m", description="Along y."),
        StateVariable(name="offset_z", unit="m", description="Along z."),
        StateVariable(name="start_distance", unit="m", description="Distance of the tool from the path at the start."),
    )
    Params = {**TaskFrameType.Params, **PATH_PARAMS, "turns_with_path": float, "start_tolerance": float}
    State = {
        **TaskFrameType.State,
        **{name: (float, 7) for name in ("velocity", "mean_velocity", "mean_acceleration")},
        "path": int,
        "base": (float, 4),  # the frame's orientation and origin; `axes` may turn with the path
        "start": (float, 3),
        "heading": (float, 4),  # the path's direction about z
        "point": (float, 3),
        "direction": (float, 3),
        "bend": (float, 3),
        "offset": (float, 3),
    }

    def prepare_parameters(self, values, params):
        super().prepare_parameters(values, params)
        item = f"govern_path of {self.parts['arm'].name!r}"
        params.turns_with_path = values["turns_with_path"]
        params.start_tolerance = values["start_tolerance"]
        given = sorted({"points", "spiral_radius", "spiral_pitch"} & set(values))
        if given == ["points"]:
            points = np.atleast_1d(np.asarray(values["points"], float))
            if len(points) < 6 or len(points) % 3:
                expected = "x y z of at least two points"
                raise DefinitionError(f"{item}: points", expected=expected, got=f"{len(points)} numbers")
            points = points.reshape(-1, 3)
        elif given == ["spiral_pitch", "spiral_radius"]:
            turns = values["spiral_radius"] / values["spiral_pitch"]
            if not 1.0 <= turns <= _MOST_TURNS:
                expected = f"1 to {_MOST_TURNS} turns"
                raise DefinitionError(f"{item}: spiral_radius / spiral_pitch", expected=expected, got=f"{turns:g}")
            points = spiral(values["spiral_radius"], values["spiral_pitch"])
        else:
            expected = "either `points`, or `spiral_radius` and `spiral_pitch`"
            raise DefinitionError(item, expected=expected, got=", ".join(given) or "none of them")
        prepare_path(points, params.acceleration[0], params.jerk[0], params, item)

    def prepare_degrees(self, params, degrees):
        super().prepare_degrees(params, degrees)
        way = degrees[_S]
        way.position_lower, way.position_upper = 0.0, params.length
        way.velocity_limit = min(params.velocity[0], params.path_velocity)
        way.acceleration_limit, way.jerk_limit = params.acceleration[0], params.jerk[0]

    @staticmethod
    def on_enter(state, params, arm):
        return begin_path(state, params, arm)

    @staticmethod
    def sense(state, params, arm):
        show_path(state, params, arm)
        state.way = state.degrees[_S].commanded_position
        state.remaining = params.length - state.way
        state.is_done = state.remaining <= _ARRIVED
        state.offset_x = state.degrees[0].position
        state.offset_y = state.degrees[1].position
        state.offset_z = state.degrees[2].position

    @staticmethod
    def set_parameters(state, params, arm):
        return change_path(state, params, arm) if state.path != params.path else 0

    @staticmethod
    def control(state, params, arm):
        arm.command_mode = POSITION
        if arm.dt <= 0.0:
            return 0  # the override is 0: hold
        status = begin_step(state, arm)
        if status != 0:
            return status
        tool, degree = state.tool, state.degrees[_S]
        look_at(state, params, degree.commanded_position + state.velocity[_S] * arm.dt)
        add_offset(state, arm.dt)
        for i in range(3):
            tool.twist[i] = (state.point[i] - tool.position[i]) / arm.dt
        status = take_step(state, arm)
        # Not by the twist: if the tool is slowed, it would leave the bends.
        look_at(state, params, degree.commanded_position)
        add_offset(state, 0.0)
        for i in range(3):
            tool.position[i] = state.point[i]
        return status
