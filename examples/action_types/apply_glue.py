"""apply_glue and close_valve: real-time code of your own, for examples/09_gluing.py."""

import math

import numpy as np

from robot_rt_control.actions.authoring import (
    ActionType,
    DefinitionError,
    Parameter,
    PartKind,
    Slot,
    StateVariable,
    Status,
    limited_dtype,
    limited_velocity,
)
from robot_rt_control.actions.cartesian import begin_tool, follow_tool, tool_dtype

_START_TOO_FAR = int(Status.START_TOO_FAR)
_CORRECTION = 10.0  # [1/s] gain that leads the nozzle to its line
_REACH = 0.01  # [m] from the seam: farther off, it refuses to start
_ML = 1e6  # millilitres in a cubic metre


class ApplyGlue(ActionType):
    """Move to and fro along a seam and apply glue in layers, beginning at the nozzle."""

    name = "apply_glue"
    slots = (
        Slot(name="arm", kinds=(PartKind.ARM,)),
        Slot(name="valve", kinds=(PartKind.IO,), description="Its first output is the flow in ml/s."),
    )
    parameters = (
        Parameter(name="begin", length=3, unit="m", description="Start of the seam, in the world."),
        Parameter(name="end", length=3, unit="m", description="End of the seam, in the world."),
        Parameter(name="speed", unit="m/s", minimum=0.001, maximum=0.5, description="Speed along the seam."),
        Parameter(name="acceleration", unit="m/s^2", default=1.0, minimum=0.01, description="Limit along the seam."),
        Parameter(name="layer", unit="m", default=0.001, minimum=0.0, description="Thickness that one pass adds."),
        Parameter(name="width", unit="m", default=0.006, minimum=0.001, description="Width of the bead of glue."),
        Parameter(name="applied", unit="m", default=0.0, minimum=0.0, description="Thickness of earlier layers."),
        Parameter(
            name="place",
            unit="m",
            default=-1.0,
            description="Where to begin, from the seam's start; negative: at the nozzle.",
        ),
        Parameter(
            name="direction",
            default=1.0,
            minimum=-1.0,
            maximum=1.0,
            description="1: first to the seam's end; -1: first back.",
        ),
    )
    state_variables = (
        StateVariable(name="thickness", unit="m", description="Mean thickness of the glue on the seam."),
        StateVariable(name="glued_length", unit="m", description="Distance moved by the nozzle so far."),
        StateVariable(name="place", unit="m", description="Position along the seam."),
        StateVariable(name="direction", description="1: to the seam's end; -1: back."),
        StateVariable(name="speed", unit="m/s", description="Speed along the seam."),
        StateVariable(name="elapsed", unit="s", description="Time since the start."),
    )
    # For measuring its compute time.
    example = {"begin": (0.5, -0.15, 0.103), "end": (0.5, 0.15, 0.103), "speed": 0.1}
    Params = {
        "begin": (float, 3),
        "along": (float, 3),  # unit vector
        "length": float,
        "speed": float,
        "acceleration": float,
        "section": float,  # [m^2] cross-section of one pass
        "area": float,  # [m^2] area of the glued seam
        "applied": float,
        "place": float,
        "direction": float,
    }
    State = {
        "is_dry": float,  # it moves to the start of the glue
        "volume": float,  # [m^3] applied since the start
        "tool": tool_dtype,
        "motion": limited_dtype,
    }

    def prepare_parameters(self, values, params):
        """Not real time: check, and compute all constants."""
        valve = self.parts["valve"]
        begin, end = np.asarray(values["begin"]), np.asarray(values["end"])
        length = float(np.linalg.norm(end - begin))
        if length < 0.01:
            raise DefinitionError("apply_glue: seam", expected="a length of at least 10 mm", got=f"{length * 1e3:g} mm")
        params.section = values["layer"] * values["width"]
        flow = params.section * values["speed"] * _ML
        if not flow <= valve.record.output_upper[0]:
            most = f"at most {valve.record.output_upper[0]:g} ml/s, what {valve.name!r} can give"
            raise DefinitionError("apply_glue: layer x width x speed", expected=most, got=f"{flow:g} ml/s")
        params.begin[:], params.along[:], params.length = begin, (end - begin) / length, length
        params.area = length * values["width"]
        if values["place"] > length:
            raise DefinitionError("apply_glue: place", expected=f"at most {length:g} m", got=f"{values['place']:g} m")
        params.direction = 1.0 if values["direction"] >= 0.0 else -1.0
        for name in ("speed", "acceleration", "applied", "place"):
            params[name] = values[name]

    @staticmethod
    def on_enter(state, params, arm, valve):
        """Begin at the nozzle, if it is at the seam."""
        begin_tool(state.tool, arm)
        for i in range(3):
            state.place += (state.tool.position[i] - params.begin[i]) * params.along[i]
        state.place = min(max(state.place, 0.0), params.length)
        off = 0.0
        for i in range(3):
            d = params.begin[i] + state.place * params.along[i] - state.tool.position[i]
            off += d * d
        state.direction = params.direction
        state.is_dry = params.place >= 0.0
        return _START_TOO_FAR if math.sqrt(off) > _REACH else 0

    @staticmethod
    def sense(state, params, arm, valve):
        """The values for reactions."""
        state.thickness = params.applied + state.volume / params.area

    @staticmethod
    def control(state, params, arm, valve):
        """The next step along the seam, with the glue for it."""
        dt = arm.dt
        if state.is_dry != 0.0:
            state.direction = 1.0 if state.place < params.place else -1.0
            left = abs(params.place - state.place)
        else:
            left = params.length - state.place if state.direction > 0.0 else state.place
        # As fast as allowed, but able to brake within the remaining way.
        step = params.acceleration * dt
        wanted = min(params.speed, math.sqrt(2.0 * params.acceleration * max(left - state.speed * dt, 0.0)))
        state.speed += min(max(wanted - state.speed, -step), step)
        moved = min(state.speed * dt, left)
        place = state.place
        state.place += state.direction * moved
        if left - moved < 1e-5:  # arrived: the glue begins, or the nozzle reverses
            state.speed = 0.0
            state.direction = params.direction if state.is_dry != 0.0 else -state.direction
            state.is_dry = 0.0
        elif state.is_dry == 0.0:
            state.glued_length += moved
            state.volume += params.section * moved
        flow = params.section * state.speed * _ML
        valve.output_command[0] = 0.0 if state.is_dry != 0.0 else flow
        state.elapsed += dt

        for i in range(3):  # the nozzle follows its goal position and goal velocity
            state.tool.position[i] = params.begin[i] + place * params.along[i]
            state.tool.twist[i] = (state.place - place) / dt * params.along[i] if dt > 0.0 else 0.0
            state.tool.twist[3 + i] = 0.0
        status = follow_tool(state.tool, arm, _CORRECTION)
        return status if status != 0 else limited_velocity(state.motion, arm, 1.0)


class CloseValve(ActionType):
    """Closes the valve: the default action and the safety action of the valve."""

    name = "close_valve"
    slots = (Slot(name="valve", kinds=(PartKind.IO,)),)

    @staticmethod
    def control(state, params, valve):
        for i in range(valve.n_outputs):
            valve.output_command[i] = 0.0
