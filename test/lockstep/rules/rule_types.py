"""Small action types that show what the loop does with them."""

import math

from robot_rt_control.definitions.action_type import (
    PER_JOINT,
    ActionType,
    Degree,
    Input,
    Parameter,
    Slot,
    StateVariable,
)
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.enums import CommandMode, PartKind

POSITION = int(CommandMode.POSITION)
MOVING = (PartKind.ARM, PartKind.BASE, PartKind.GRIPPER)
NEVER, ON_ENTER, SENSE, SET_PARAMETERS, CONTROL = range(5)

PARAMETERS = (
    Parameter(name="speed", unit="joint/s", default=0.0, description="Of all joints."),
    Parameter(name="duration", unit="s", default=1e9, description="After which it is done."),
    Parameter(name="level", default=0.0, description="Shown as the state variable of that name."),
    Parameter(name="fail_in", type="int", default=NEVER, description="The method that fails."),
    Parameter(name="fail_at", type="int", default=1, description="In which of its calls."),
    Parameter(name="status", type="int", default=7, description="With which status; -1: an index out of range."),
)
VARIABLES = (
    StateVariable(name="is_done", type="bool"),
    StateVariable(name="elapsed", unit="s", description="Sum of dt in sense."),
    StateVariable(name="entries", type="int", description="Calls of on_enter since the state was zeroed."),
    StateVariable(name="senses", type="int"),
    StateVariable(name="settings", type="int"),
    StateVariable(name="controls", type="int"),
    StateVariable(name="left_over", description="What on_enter found in a field that control writes."),
    StateVariable(name="level", description="The parameter as set_parameters saw it last."),
    StateVariable(name="heard", type="int", description="Calls of control that saw the signal ping."),
    StateVariable(name="heard_first", type="int", description="Calls of set_parameters that saw it."),
    StateVariable(name="other", type="int", description="Calls of control that saw the signal pong."),
)
STATE = {"memory": float, "table": (float, 4)}


@realtime
def outcome(state, params, method, calls):
    """The status of this call of a method."""
    if params.fail_in == method and calls >= params.fail_at:
        if params.status == -1:
            state.table[params.fail_in + 100] = 1.0
        return params.status
    return 0


@realtime
def enter(state, params):
    state.entries += 1.0
    state.left_over = state.memory
    return outcome(state, params, ON_ENTER, 1)


@realtime
def look(state, params, dt):
    state.senses += 1.0
    state.elapsed += dt
    state.is_done = 1.0 if state.elapsed >= params.duration - 1e-9 else 0.0
    return outcome(state, params, SENSE, state.senses)


@realtime
def take(state, params):
    state.settings += 1.0
    state.heard_first += state.ping
    state.level = params.level
    return outcome(state, params, SET_PARAMETERS, state.settings)


@realtime
def move(state, params, part):
    part.command_mode = POSITION
    for j in range(part.dof):
        part.position_command[j] = part.commanded_position[j] + params.speed * part.dt


@realtime
def act(state, params):
    state.controls += 1.0
    state.heard += state.ping
    state.other += state.pong
    state.memory = 77.0
    return outcome(state, params, CONTROL, state.controls)


class Probe(ActionType):
    """Move one part with constant speed, count everything, fail on demand."""

    name = "probe"
    slots = (Slot(name="part", kinds=MOVING),)
    parameters = PARAMETERS
    state_variables = VARIABLES
    signals = ("ping", "pong")
    State = STATE

    @staticmethod
    def on_enter(state, params, part):
        return enter(state, params)

    @staticmethod
    def sense(state, params, part):
        return look(state, params, part.dt)

    @staticmethod
    def set_parameters(state, params, part):
        return take(state, params)

    @staticmethod
    def control(state, params, part):
        move(state, params, part)
        return act(state, params)


class Pair(ActionType):
    """The same with two parts."""

    name = "pair"
    slots = (Slot(name="one", kinds=MOVING), Slot(name="two", kinds=MOVING))
    parameters = PARAMETERS
    state_variables = VARIABLES
    signals = ("ping", "pong")
    State = STATE

    @staticmethod
    def on_enter(state, params, one, two):
        return enter(state, params)

    @staticmethod
    def sense(state, params, one, two):
        return look(state, params, one.dt)

    @staticmethod
    def set_parameters(state, params, one, two):
        return take(state, params)

    @staticmethod
    def control(state, params, one, two):
        move(state, params, one)
        move(state, params, two)
        return act(state, params)


class Watch(ActionType):
    """Hold still and look at a rangefinder."""

    name = "watch"
    slots = (Slot(name="part", kinds=MOVING), Slot(name="eye", kinds=(PartKind.RANGEFINDER,), moves=False))
    state_variables = (
        StateVariable(name="at_entry", unit="m"),
        StateVariable(name="at_sense", unit="m"),
        StateVariable(name="at_control", unit="m"),
    )

    @staticmethod
    def on_enter(state, params, part, eye):
        state.at_entry = eye.distance

    @staticmethod
    def sense(state, params, part, eye):
        state.at_sense = eye.distance

    @staticmethod
    def control(state, params, part, eye):
        state.at_control = eye.distance
        part.command_mode = POSITION


class Writer(ActionType):
    """Write any given value, the same for all joints."""

    name = "writer"
    slots = (Slot(name="part", kinds=MOVING),)
    parameters = (
        Parameter(name="mode", type="int", default=POSITION),
        Parameter(name="value", default=0.0),
        Parameter(name="kind", type="int", default=0, description="0: the value; 1: NaN; 2: inf; 3: -inf."),
        Parameter(name="joint", type="int", default=-1, description="The only one that it writes; -1: all."),
    )

    @staticmethod
    def control(state, params, part):
        part.command_mode = params.mode
        value = params.value
        if params.kind == 1:
            value = math.nan
        elif params.kind == 2:
            value = math.inf
        elif params.kind == 3:
            value = -math.inf
        for j in range(part.dof):
            if params.joint < 0 or params.joint == j:
                part.position_command[j] = value
                part.velocity_command[j] = value
                part.effort_command[j] = value


class Idle(ActionType):
    """Command nothing: the loop itself brings the part to rest."""

    name = "idle"
    slots = (Slot(name="part", kinds=MOVING),)

    @staticmethod
    def control(state, params, part):
        pass


class Vector(ActionType):
    """Hold still, and show a vector of each type."""

    name = "vector"
    slots = (Slot(name="part", kinds=MOVING),)
    state_variables = (
        StateVariable(name="before"),
        StateVariable(name="error", unit="m", length=2),
        StateVariable(name="touched", type="bool", length=3),
        StateVariable(name="after"),
    )

    @staticmethod
    def sense(state, params, part):
        state.before, state.after = 1.0, 2.0
        state.error[0] = 3.0
        state.error[1] = -4.0
        state.touched[2] = 1.0

    @staticmethod
    def control(state, params, part):
        pass


class Fragile(ActionType):
    """Hold still: a default and safety action that fails if the first joint is beyond 0.05."""

    name = "fragile"
    slots = (Slot(name="part", kinds=MOVING),)
    State = {"held": (float, PER_JOINT)}

    @staticmethod
    def on_enter(state, params, part):
        for j in range(part.dof):
            state.held[j] = part.commanded_position[j]
        return 5 if part.position[0] > 0.05 else 0

    @staticmethod
    def control(state, params, part):
        part.command_mode = POSITION
        for j in range(part.dof):
            part.position_command[j] = state.held[j]


class Push(ActionType):
    """A law: command one degree of freedom as it is told, and fail in one of its ticks."""

    name = "push"
    slots = (Slot(name="axis", kinds=(PartKind.AXIS,)),)
    parameters = (
        Parameter(name="step", unit="joint", default=0.0, description="Added to the last command in each tick."),
        Parameter(name="mode", type="int", default=POSITION),
        Parameter(name="fail_at", type="int", default=NEVER, description="Since it has taken over."),
    )
    State = {"entries": float, "controls": float}

    @staticmethod
    def on_enter(state, params, axis):
        state.entries += 1.0

    @staticmethod
    def control(state, params, axis):
        state.controls += 1.0
        axis.command_mode = params.mode
        axis.position_command[0] = axis.commanded_position[0] + params.step * state.entries
        return 9 if state.controls == params.fail_at else 0


class Echo(ActionType):
    """A law that reads a rangefinder: so many micrometres in each tick as it sees metres."""

    name = "echo"
    slots = (Slot(name="axis", kinds=(PartKind.AXIS,)), Slot(name="eye", kinds=(PartKind.RANGEFINDER,), moves=False))

    @staticmethod
    def control(state, params, axis, eye):
        axis.command_mode = POSITION
        axis.position_command[0] = axis.commanded_position[0] + 1e-6 * eye.distance


class Gauge(ActionType):
    """A law with inputs: so many micrometres in each tick as they are; what is unknown adds nothing."""

    name = "gauge"
    slots = (Slot(name="axis", kinds=(PartKind.AXIS,)),)
    inputs = (Input(name="seen", unit="joint"), Input(name="more", optional=True))

    @staticmethod
    def control(state, params, axis):
        axis.command_mode = POSITION
        for i in range(2):
            if math.isfinite(axis.inputs[i]):
                axis.position_command[0] += 1e-6 * axis.inputs[i]


class Geared(ActionType):
    """Declares degrees of freedom: `along` moves joint 0 twice as far as its law says, `about` joint 1."""

    name = "geared"
    slots = (Slot(name="part", kinds=(PartKind.BASE,)),)
    degrees_of_freedom = (Degree(name="along"), Degree(name="about", unit="rad"))
    parameters = (Parameter(name="fastest", unit="m/s", default=0.5, description="Of `along`."),)

    def prepare_degrees(self, params, degrees):
        degrees[0].velocity_limit = params.fastest

    @staticmethod
    def sense(state, params, part):
        for j in range(2):
            degree = state.degrees[j]
            degree.commanded_position = 0.5 * part.commanded_position[j]
            degree.position_lower, degree.position_upper = -math.inf, math.inf
            degree.velocity_limit = degree.acceleration_limit = degree.jerk_limit = 1.0

    @staticmethod
    def control(state, params, part):
        part.command_mode = POSITION
        for j in range(2):
            if state.degrees[j].command_mode == POSITION:
                part.position_command[j] = 2.0 * state.degrees[j].position_command


class Show(ActionType):
    """Shows what a rangefinder measures as a force and as a velocity."""

    name = "show"
    slots = (Slot(name="eye", kinds=(PartKind.RANGEFINDER,)),)
    state_variables = (StateVariable(name="force", unit="N"), StateVariable(name="velocity", unit="m/s"))

    @staticmethod
    def sense(state, params, eye):
        state.force = state.velocity = eye.distance

    @staticmethod
    def control(state, params, eye):
        pass
