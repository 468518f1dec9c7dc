"""track_with_pose: follow a timed joint trajectory, and move the tool aside by feedback of a body's measured pose."""

import math

import numpy as np

from robot_rt_control.actions.following import JOINT_KINDS, POSITION, is_within, largest_difference, vanishing
from robot_rt_control.actions.track_trajectory import STANDS, point, slow_down
from robot_rt_control.definitions.action_type import PER_JOINT, ActionType, Parameter, Slot, StateVariable
from robot_rt_control.motion.profile import profile_dtype
from robot_rt_control.motion_group.aside import Bounds, exceeded, slopes
from robot_rt_control.motion_group.limits import part_limits
from robot_rt_control.motion_group.retiming import keep_limits
from robot_rt_control.motion_group.trajectory import curve_through
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.capacities import MAX_FEEDBACK_STEPS
from robot_rt_control.vocabulary.enums import PartKind, Status
from robot_rt_control.vocabulary.errors import DefinitionError

POSE = 7
"""Values of the sensor: x y z [m] in the world, quaternion x y z w."""
_DEVIATIONS, _STATES = 3, 7
_PAST = 256
"""[ticks] for which it is known what the model said: more than a pose may be old."""
_FAR, _TURNED = 0.1, 0.6
"""[m], [rad] A body that is farther from where it is planned is not led back: something else has happened."""
_BRAKING = 0.8
"""Fraction of the acceleration with which the displacement could stop before its bound."""
_UNIT = 0.02
"""By how much the square of a quaternion's length may differ from 1."""
_START_TOO_FAR = int(Status.START_TOO_FAR)


@realtime
def turn_between(a, b):
    """[rad] a - b, from -π to π."""
    d = a - b
    return d - 2.0 * math.pi * math.floor(d / (2.0 * math.pi) + 0.5)


@realtime
def is_near(deviation):
    """Whether this is a deviation that can be led back, and numbers."""
    return math.hypot(deviation[0], deviation[1]) <= _FAR and abs(deviation[2]) <= _TURNED


@realtime
def measure(state, params, part, pose):
    """Take a new pose in: where the body is beside where it was planned to be then, and what the model says of since.

    Whether it is used is in `state.uses_pose`.
    """
    age = 0.0
    for i in range(POSE):
        age = max(age, pose.input_age[i])
        if not math.isfinite(pose.inputs[i]) or not math.isfinite(pose.input_age[i]):
            age = math.inf
    x, y, z, w = pose.inputs[3], pose.inputs[4], pose.inputs[5], pose.inputs[6]
    if not abs(x * x + y * y + z * z + w * w - 1.0) < _UNIT:
        age = math.inf
    state.pose_age = age
    if not age <= params.longest_age:
        state.uses_pose = 0.0
    elif age < state.last_age + 0.5 * params.period:  # another one
        ticks = min(int(age / params.period + 0.5), min(state.count, _PAST - 1))
        # What it is compared with is the plan at the time of measurement.
        t = state.path_time[(state.count - ticks) % _PAST] / params.step
        i = min(int(t), params.n_steps - 1)
        f = min(t - i, 1.0)
        yaw = math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
        for k in range(_DEVIATIONS):
            planned = (1.0 - f) * params.body[i, k] + f * params.body[i + 1, k]
            found = turn_between(yaw, planned) if k == 2 else pose.inputs[k] - planned
            state.measured[k] = found
            since = state.predicted[k] - state.past[(state.count - ticks) % _PAST, k] if ticks > 0 else 0.0
            state.deviation[k] = found + since
        state.uses_pose = 1.0 if is_near(state.measured) and is_near(state.deviation) else 0.0
    state.last_age = age


@realtime
def predict(state, params, i, tau):
    """The model's change of the deviation in a tick."""
    for k in range(_DEVIATIONS):
        rate = 0.0
        for c in range(2):
            rate += params.model[i, _STATES * k + c] * state.aside[c]
            rate += params.model[i, _STATES * k + 2 + c] * state.aside_velocity[c]
        for c in range(_DEVIATIONS):
            rate += params.model[i, _STATES * k + 4 + c] * state.deviation[c]
        state.rates[k] = rate * tau
    for k in range(_DEVIATIONS):
        state.deviation[k] += state.rates[k]
        state.predicted[k] += state.rates[k]
    if not is_near(state.deviation):
        state.uses_pose = 0.0


@realtime
def lead_aside(state, params, i, tau, is_led):
    """Move the displacement by a tick of the path's time: by the gains, or to rest; always within its bounds."""
    for c in range(2):
        w, v = state.aside[c], state.aside_velocity[c]
        if is_led:
            a = 0.0
            for d in range(2):
                a -= params.gain[i, _STATES * c + d] * state.aside[d]
                a -= params.gain[i, _STATES * c + 2 + d] * state.before[d]
            for d in range(_DEVIATIONS):
                a -= params.gain[i, _STATES * c + 4 + d] * state.deviation[d]
        else:
            a = -v / tau
        change = params.acceleration * tau
        new = v + min(max(a * tau, -change), change)
        brake = 2.0 * _BRAKING * params.acceleration
        new = min(new, params.speed, math.sqrt(brake * max(params.most - w, 0.0)))
        new = max(new, -params.speed, -math.sqrt(brake * max(params.most + w, 0.0)))
        new = min(max(new, v - change), v + change)
        state.aside[c] = w + 0.5 * (v + new) * tau
        state.aside_velocity[c] = new


@realtime
def feed_back(state, params, part, pose, tau):
    """Advance the displacement by a tick in which the path's time goes on by `tau` [s]."""
    measure(state, params, part, pose)
    if tau > 0.0:
        i = min(int(state.elapsed / params.step), params.n_steps - 1)
        during = state.elapsed < params.n_steps * params.step
        for c in range(2):
            state.before[c] = state.aside_velocity[c]
        if during and state.uses_pose != 0.0:  # without corrections the prediction diverges
            predict(state, params, i, tau)
        lead_aside(state, params, i, tau, during and state.uses_pose != 0.0)
    state.count += 1
    for k in range(_DEVIATIONS):
        state.past[state.count % _PAST, k] = state.predicted[k]
    state.path_time[state.count % _PAST] = state.elapsed + tau


@realtime
def lead_of(params, c, i, x, j):
    """Joint j's motion per displacement along axis c at fraction x of step i, and its derivative [1/s]."""
    h = params.step
    if x >= 1.0:
        return 1.0 * float(params.lead[2 * (i + 1) + c, j]), 0.0
    a, b = params.lead[2 * i + c, j], params.lead[2 * (i + 1) + c, j]
    da, db = h * params.slope[2 * i + c, j], h * params.slope[2 * (i + 1) + c, j]
    c2, c3 = 3.0 * (b - a) - 2.0 * da - db, 2.0 * (a - b) + da + db
    return a + x * (da + x * (c2 + x * c3)), (da + x * (2.0 * c2 + x * 3.0 * c3)) / h


class TrackWithPose(ActionType):
    """Follow a joint trajectory by cubic pieces, and move the tool aside so that the body that it pushes, whose pose a
    sensor measures, comes back to where it is planned to be. Made by the contact planner: `Plan.actions(pose=...)`.

    Gains lead a displacement of the tool across gravity; joints follow by a table. The displacement has bounds of its
    own, with which all joints keep their limits wherever it is: else the parameters are refused. Between measurements a
    model says how the body moves on. A pose that is unknown, too old, or farther than 0.1 m or 0.6 rad from the plan
    leads nothing: the displacement comes to rest where it is, and goes on with the next pose.
    """

    name = "track_with_pose"
    signals = ("stop",)
    slots = (
        Slot(name="part", kinds=JOINT_KINDS),
        Slot(
            name="pose", kinds=(PartKind.SENSOR,), moves=False, inputs=("x", "y", "z", "qx", "qy", "qz", "qw"),
            description="Its seven values are the body's pose: x y z [m] in the world, quaternion x y z w.",
        ),
    )  # fmt: skip
    parameters = (
        Parameter(name="times", length="any", unit="s", description="Of the points, as of track_trajectory."),
        Parameter(name="positions", length="any", unit="joint", description="Of all joints, point by point."),
        Parameter(name="velocities", length="any", unit="joint/s", description="Likewise."),
        Parameter(name="step", unit="s", minimum=1e-3, description="Between rows of the tables that follow."),
        Parameter(
            name="body", length="any", description="Planned x, y [m] and turn about z [rad] of the body, row by row."
        ),
        Parameter(
            name="gains", length="any",
            description="Of each step: two rows, acceleration along x and y by the displacement x y [m], its velocity, "
            "and the body's deviation x, y [m], turn [rad].",
        ),
        Parameter(
            name="model", length="any",
            description="Of each step: three rows, rates of the deviation by the same seven numbers.",
        ),
        Parameter(
            name="lead", length="any",
            description="Row by row: motion of all joints per displacement along x, then along y.",
        ),
        Parameter(name="most", unit="m", minimum=0.0, maximum=0.1, description="Largest displacement along each axis."),
        Parameter(name="speed", unit="m/s", minimum=0.0, description="Its largest speed."),
        Parameter(name="acceleration", unit="m/s^2", minimum=0.0, description="Its largest acceleration."),
        Parameter(
            name="longest_age", unit="s", default=0.2, minimum=0.0, description="A pose that is older leads nothing."
        ),
        Parameter(
            name="start_tolerance", unit="joint", default=0.02, minimum=0.0,
            description="Largest |commanded - first| position of a joint at the start; beyond it the start fails.",
        ),
        Parameter(
            name="tolerance", unit="joint", default=0.005, minimum=0.0,
            description="Largest |measured - last| position of a joint that counts as settled.",
        ),
    )  # fmt: skip
    state_variables = (
        StateVariable(name="is_done", type="bool", description="The command has reached the end, and stands."),
        StateVariable(name="is_settled", type="bool", description="The part is measured there, at rest."),
        StateVariable(name="progress", description="Elapsed fraction of the duration, 0 to 1."),
        StateVariable(name="elapsed", unit="s", description="Time along the trajectory."),
        StateVariable(name="remaining_time", unit="s", description="Time until the last point."),
        StateVariable(name="tracking_error", unit="joint", description="Largest |measured - commanded| position."),
        StateVariable(
            name="is_stopping", type="bool", description="After the signal `stop` it comes to rest on its path."
        ),
        StateVariable(name="is_stopped", type="bool", description="It has come to rest on its path, and stays there."),
        StateVariable(name="uses_pose", type="bool", description="The displacement is led by the body's pose."),
        StateVariable(name="pose_age", unit="s", description="Age of the pose; inf: unknown."),
        StateVariable(name="aside", unit="m", length=2, description="Displacement of the tool, along x and y."),
        StateVariable(name="measured", length=3, description="Last deviation of the body: x, y [m], turn [rad]."),
    )
    example = {  # for seven joints
        "times": (0.0, 1.0), "positions": (0.3,) * 7 + (0.5,) * 7, "velocities": (0.0,) * 14, "step": 0.5,
        "body": (0.0, 0.01, 0.0) * 3, "lead": ((1.0,) + (0.0,) * 13) * 3,
        "model": (0.0, 0.0, 0.5, 0.0, -0.5, 0.0, 0.0) * 6,
        "gains": (25.0, 0.0, 10.0, 0.0, -25.0, 0.0, 0.0, 0.0, 25.0, 0.0, 10.0, 0.0, -25.0, 0.0) * 2,
        "most": 0.02, "speed": 0.05, "acceleration": 0.5,
    }  # fmt: skip
    Params = {
        "n_segments": int,
        "n_steps": int,
        "total": float,
        "period": float,
        "step": float,
        "most": float,
        "speed": float,
        "acceleration": float,
        "longest_age": float,
        "start_tolerance": float,
        "tolerance": float,
        "time": (float, MAX_FEEDBACK_STEPS + 2),
        "position": (float, MAX_FEEDBACK_STEPS + 2, PER_JOINT),
        "velocity": (float, MAX_FEEDBACK_STEPS + 2, PER_JOINT),
        "begin": (float, MAX_FEEDBACK_STEPS + 1, PER_JOINT),
        "end": (float, MAX_FEEDBACK_STEPS + 1, PER_JOINT),
        "body": (float, MAX_FEEDBACK_STEPS + 1, _DEVIATIONS),
        "gain": (float, MAX_FEEDBACK_STEPS, 2 * _STATES),
        "model": (float, MAX_FEEDBACK_STEPS, _DEVIATIONS * _STATES),
        "lead": (float, 2 * MAX_FEEDBACK_STEPS + 2, PER_JOINT),
        "slope": (float, 2 * MAX_FEEDBACK_STEPS + 2, PER_JOINT),
    }
    State = {
        "segment": int,
        "start_distance": float,
        "offset": (float, PER_JOINT),
        "offset_velocity": (float, PER_JOINT),
        "goal": (float, PER_JOINT),
        "path_velocity": (float, PER_JOINT),
        "path_acceleration": (float, PER_JOINT),
        "rate": float,
        "change": float,
        "standing": int,
        "last_age": float,
        "aside_velocity": (float, 2),
        "before": (float, 2),
        "deviation": (float, _DEVIATIONS),
        "predicted": (float, _DEVIATIONS),
        "rates": (float, _DEVIATIONS),
        "count": int,
        "past": (float, _PAST, _DEVIATIONS),
        "path_time": (float, _PAST),
        "scratch": profile_dtype,
    }

    @classmethod
    def create(cls, parts):
        """Refuse a sensor that gives no pose."""
        given = len(parts["pose"].input_names)
        if given != POSE:
            what = f"track_with_pose: sensor {parts['pose'].name!r}"
            raise DefinitionError(what, expected="seven values: x y z, quaternion x y z w", got=str(given))
        return super().create(parts)

    def prepare_parameters(self, values, params):
        part = self.parts["part"]
        where, dof, period = f"track_with_pose of {part.name!r}", part.dof, part.period
        times = _table(where, values, "times", (-1,))
        n = len(times)
        if n < 2 or times[0] != 0.0 or (np.diff(times) <= 0.0).any():
            expected = "at least two, from 0 on, each above the one before"
            raise DefinitionError(f"{where}: times", expected=expected, got=str(times[:8]))
        position, velocity = (_table(where, values, name, (n, dof)) for name in ("positions", "velocities"))
        body = _table(where, values, "body", (-1, _DEVIATIONS))
        steps, step = len(body) - 1, float(values["step"])
        if not (1 <= steps <= MAX_FEEDBACK_STEPS and n <= MAX_FEEDBACK_STEPS + 2):
            expected = f"1 to {MAX_FEEDBACK_STEPS} steps, and at most two points more"
            raise DefinitionError(f"{where}: number of steps", expected=expected, got=f"{steps}, with {n} points")
        gain = _table(where, values, "gains", (steps, 2 * _STATES))
        model = _table(where, values, "model", (steps, _DEVIATIONS * _STATES))
        lead = _table(where, values, "lead", (steps + 1, 2, dof))
        longest = (_PAST - 1) * period
        if values["longest_age"] > longest:
            expected = f"at most {longest:.3g} s"
            raise DefinitionError(f"{where}: longest_age", expected=expected, got=f"{values['longest_age']:g} s")
        if steps * step > times[-1] + 0.5 * period:
            expected = f"tables that end with the trajectory, at {times[-1]:g} s"
            raise DefinitionError(f"{where}: step", expected=expected, got=f"{steps * step:g} s")
        curve, limits = curve_through(times, position, velocity), part_limits(part)
        made = keep_limits(where, curve, limits, slowest=1.0, most_points=n)  # it refuses
        # A tick's rounding of the bound on its speed lets it go a little beyond.
        most = values["most"] + 4.0 * values["acceleration"] * period**2
        bounds = Bounds(most=most, speed=values["speed"], acceleration=values["acceleration"])
        if over := exceeded(curve, limits, lead, step, bounds):
            expected = "a displacement with which all joints keep their limits"
            raise DefinitionError(f"{where}: most, speed, acceleration", expected=expected, got=over)
        params.n_segments, params.n_steps, params.total = n - 1, steps, times[-1]
        params.period, params.step = period, step
        for name in ("most", "speed", "acceleration", "longest_age", "start_tolerance", "tolerance"):
            params[name] = values[name]
        begin, end = made.a
        params.time[:n] = times
        params.position[:n, :dof], params.velocity[:n, :dof] = position, velocity
        params.begin[: n - 1, :dof], params.end[: n - 1, :dof] = begin, end
        params.body[: steps + 1], params.gain[:steps], params.model[:steps] = body, gain, model
        params.lead[: 2 * steps + 2, :dof] = lead.reshape(-1, dof)
        params.slope[: 2 * steps + 2, :dof] = slopes(lead, step).reshape(-1, dof)

    @staticmethod
    def on_enter(state, params, part, pose):
        state.rate = 1.0
        state.last_age = math.inf
        state.pose_age = math.inf
        for j in range(part.dof):
            state.offset[j] = part.commanded_position[j] - params.position[0, j]
            if part.dt > 0.0:  # while its time stands, it goes on as planned
                state.offset_velocity[j] = part.motion_velocity[j] - params.velocity[0, j]
            state.goal[j] = params.position[params.n_segments, j]
            state.start_distance = max(state.start_distance, abs(state.offset[j]))
        return _START_TOO_FAR if state.start_distance > params.start_tolerance else 0

    @staticmethod
    def sense(state, params, part, pose):
        still = state.aside_velocity[0] == 0.0 and state.aside_velocity[1] == 0.0
        done = state.elapsed >= params.total and still
        state.is_done = done
        if state.rate <= 0.0:
            state.standing += 1
        state.is_stopped = state.standing >= STANDS
        state.progress = min(state.elapsed / params.total, 1.0)
        state.remaining_time = max(params.total - state.elapsed, 0.0)
        state.tracking_error = largest_difference(part.position, part.commanded_position, part.dof)
        state.is_settled = 0.0
        if done and part.at_rest != 0.0:
            state.is_settled = is_within(largest_difference(part.position, state.goal, part.dof), params.tolerance)

    @staticmethod
    def control(state, params, part, pose):
        if state.stop != 0.0:
            state.is_stopping = 1.0
        before = state.elapsed
        after = before + part.dt
        if state.is_stopping != 0.0:
            if state.rate > 0.0:
                status = slow_down(state, part)
                if status != 0:
                    return status
            after = state.elapsed
            state.elapsed = before
        feed_back(state, params, part, pose, after - before)
        t = state.elapsed = after
        while state.segment + 1 < params.n_segments and t >= params.time[state.segment + 1]:
            state.segment += 1
        i = min(int(t / params.step), params.n_steps - 1)
        x = min(t / params.step - i, 1.0)
        for j in range(part.dof):
            q, v, a, flip = params.position[params.n_segments, j], 0.0, 0.0, 0.0
            if t < params.total:
                q, v, a = point(params, state.segment, t, j)
            for c in range(2):
                lead, slope = lead_of(params, c, i, x, j)
                q += lead * state.aside[c]
                v += lead * state.aside_velocity[c] + slope * state.aside[c]
                a += 2.0 * slope * state.aside_velocity[c]
                flip += abs(lead) * params.acceleration
            state.goal[j] = q
            part.position_command[j] = q + vanishing(state.offset[j], state.offset_velocity[j], t)
            # In a stop the displacement may accelerate either way in the next tick.
            state.path_velocity[j], state.path_acceleration[j] = v, a - math.copysign(flip, v)
        part.command_mode = POSITION
        return 0


def _table(where, values, name, shape):
    """A parameter's numbers in their shape; -1: as many as there are.

    Raises:
        DefinitionError: there are too few or too many, or they are not finite.
    """
    found = np.atleast_1d(np.asarray(values[name], float))
    if not np.isfinite(found).all():
        raise DefinitionError(f"{where}: {name}", expected="finite numbers", got="others")
    count = math.prod(shape)
    if found.size != count if count > 0 else found.size % -count:
        expected = f"{count} numbers" if count > 0 else f"rows of {-count}"
        raise DefinitionError(f"{where}: number of {name}", expected=expected, got=str(found.size))
    return found.reshape(shape)
