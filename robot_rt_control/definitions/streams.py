"""Stream inputs and outputs of an action type: their declaration, and the records that real-time methods use.

A stream input has a record in the action's state, under its name, that the loop fills before each `sense`
(and before `on_enter`): `state.goal.value[j]`. An output has a record that the action fills: `state.out.value[j] = …`,
then `state.out.ready = 1.0`; after `control` the sample is sent and `ready` is reset to 0.0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from robot_rt_control.memory.layout import record
from robot_rt_control.vocabulary import capacities, defaults
from robot_rt_control.vocabulary.enums import GapPolicy
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError, unknown
from robot_rt_control.vocabulary.part_kinds import unit_for

AUTOMATIC = -1.0
"""Used as a delay: the server chooses the delay from the observed rate and jitter."""
GAP_METHOD = "interpolate_"
"""A static method `interpolate_<stream>` of the action type is the stream's own gap function."""
WINDOW = capacities.STREAM_WINDOW

VARIABLES = (
    ("age", "float", "s", "Since the present sample of {0!r} was made; without one, since the action's start."),
    ("valid", "bool", "", "All values of {0!r} are known."),
    ("timed_out", "bool", "", "The present sample of {0!r} is older than its time-out."),
    ("missed", "int", "", "Samples of {0!r} that did not come since the action's start."),
    ("late", "int", "", "Samples of {0!r} that came after their tick since the action's start."),
    ("clamped", "int", "", "Samples of {0!r} with a value that was clamped to its range since the action's start."),
    ("latency", "float", "s", "How old the present sample of {0!r} was when it took effect. NaN: there is none."),
)
"""State variables of each stream input, `<stream>_<name>`: name, type, unit, description. In this order in memory."""

BEYOND = ("refuse", "clamp")
"""What may become of a value beyond its range."""

SETTINGS = ("gap", "delay", "horizon", "timeout")
"""Parameters of each stream input, `<stream>_<name>`. In this order in memory, float64 each."""


LOOK_AHEAD = {
    GapPolicy.HOLD: 0,
    GapPolicy.LINEAR: 1,
    GapPolicy.CUBIC: 2,
    GapPolicy.EXTRAPOLATE: 0,
    GapPolicy.CUSTOM: 1,
}
"""Samples after the present one that a gap policy needs; a delay chosen by the server waits for them.

`extrapolate` uses the next two if they are known, as `cubic` does, but continues without them.
"""


@dataclass(frozen=True, kw_only=True)
class StreamInput:
    """Samples that an application writes while the action runs, or before.

    The last four fields are the defaults of the parameters that the stream adds.
    """

    name: str
    length: int | str = 1
    """Values in a sample: a number, or "dof": one for each joint of the part in the first slot."""
    units: str | tuple[str, ...] = ""
    """Unit of each value, or one for all, as that of a parameter: "joint/s", "effort"."""
    description: str = ""
    minimum: float | tuple[float, ...] | None = None
    """Lowest value of each, or one for all, in their units; not of their rates. None, or infinite: there is none."""
    maximum: float | tuple[float, ...] | None = None
    beyond: str = "refuse"
    """What becomes of a value beyond them: "refuse" the whole sample, or "clamp" the value."""
    rates: bool = False
    """Whether a sample may also carry the values' rates of change, per second."""
    quaternion: int | None = None
    """Index of a unit quaternion x y z w among the values: the loop keeps its length and its sign."""
    gap: str = "linear"
    """hold, linear, cubic or extrapolate; if the type has its own gap function, "custom" is the default."""
    delay: float = AUTOMATIC
    """[s] from the time when a sample is made until it takes effect; 0: in the next tick."""
    horizon: float = defaults.STREAM_HORIZON_S
    timeout: float = defaults.STREAM_TIMEOUT_S
    """[s]; 0: never."""


@dataclass(frozen=True, kw_only=True)
class StreamOutput:
    """Samples that the action writes, for applications."""

    name: str
    length: int | str = 1
    units: str | tuple[str, ...] = ""
    description: str = ""


Stream = StreamInput | StreamOutput


def width(stream: Stream) -> int:
    """Size of the values in the stream's record in the state."""
    return capacities.MAX_JOINTS if isinstance(stream.length, str) else stream.length


def n_values(stream: Stream, dof: int) -> int:
    """Values in each of its samples."""
    return dof if isinstance(stream.length, str) else stream.length


def units_of(stream: Stream, joint_units: Sequence[str]) -> tuple[str, ...]:
    """The unit of each value.

    Args:
        joint_units: units of the positions of the joints in the first slot.
    """
    n = n_values(stream, len(joint_units))
    joints = joint_units
    if not isinstance(stream.length, str):
        joints = [" or ".join(sorted(set(joint_units), reverse=True))] * n
    units = (stream.units,) if isinstance(stream.units, str) else stream.units
    each = units * n if len(units) == 1 else units
    return tuple(unit_for(unit, joint) for unit, joint in zip(each, joints, strict=True))


def range_of(stream: StreamInput, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest of its n values, shape (n,) each; infinite if there is none."""
    low, high = numbers(stream.minimum) or [-math.inf], numbers(stream.maximum) or [math.inf]
    return np.broadcast_to(low, n), np.broadcast_to(high, n)


def numbers(limit: float | tuple[float, ...] | None) -> list[float]:
    """A declared limit as numbers: one for each value, one for all, or none."""
    return [] if limit is None else [float(number) for number in np.ravel(limit)]


def gap_choices(own_function: bool) -> tuple[str, ...]:
    """The gap policies that a stream input can have."""
    return tuple(p.name.lower() for p in GapPolicy if own_function or p != GapPolicy.CUSTOM)


def input_record(values: int, *, window: bool) -> np.dtype:
    """The record of a stream input with this number of values, as the action sees it.

    Args:
        window: whether it also contains the samples themselves, for a gap function.
    """
    fields: list[tuple] = [
        ("value", "f8", (values,)),  # NaN: no sample has given it yet
        ("velocity", "f8", (values,)),  # per second of the action's own time, which the speed override scales
        ("age", "f8"),
        ("valid", "f8"),
        ("timed_out", "f8"),
        ("fresh", "f8"),  # 1.0 in a tick in which a sample takes effect
    ]
    if window:
        fields += [
            ("now", "f8"),  # [s] on the clock of `times`
            ("count", "i8"),  # samples in the window
            ("present", "i8"),  # index of the newest one that has taken effect, -1: none; later ones are still to come
            ("times", "f8", (WINDOW,)),  # [s] increasing
            ("values", "f8", (WINDOW, values)),
            ("rates", "f8", (WINDOW, values)),  # NaN: not given
        ]
    return record(fields)


def output_record(values: int) -> np.dtype:
    """The record of a stream output, as the action sees it."""
    return record([("value", "f8", (values,)), ("ready", "f8")])


@cache
def record_size(values: int, is_output: bool, window: bool) -> int:
    """Bytes of a stream's record in the state."""
    return (output_record(values) if is_output else input_record(values, window=window)).itemsize


def check_streams(of: str, streams: tuple[Stream, ...]) -> None:
    """Refuse declarations that are not valid.

    Args:
        of: the action type, for messages.

    Raises:
        DefinitionError, CapacityError: a declaration is not valid; the message names the stream.
    """
    if len(streams) > capacities.MAX_ACTION_STREAMS:
        raise CapacityError(
            f"{of} has too many streams",
            expected=f"at most {capacities.MAX_ACTION_STREAMS} (MAX_ACTION_STREAMS)",
            got=str(len(streams)),
        )
    for stream in streams:
        what = f"{of}: stream {stream.name!r}"
        if isinstance(stream.length, str):
            if stream.length != "dof":
                raise DefinitionError(f"{what}: length", expected="a number or 'dof'", got=repr(stream.length))
        elif not 1 <= stream.length <= capacities.MAX_STREAM_VALUES:
            raise CapacityError(
                f"{what}: values in a sample",
                expected=f"1 to {capacities.MAX_STREAM_VALUES} (MAX_STREAM_VALUES)",
                got=str(stream.length),
            )
        if not isinstance(stream.units, str) and len(stream.units) not in (1, stream.length):
            raise DefinitionError(
                f"{what}: units", expected="one for each value, or one for all", got=str(len(stream.units))
            )
        if isinstance(stream, StreamInput):
            _check_range(what, stream)
        if isinstance(stream, StreamInput) and stream.quaternion is not None:
            room = 0 if isinstance(stream.length, str) else stream.length - 4
            if not 0 <= stream.quaternion <= room or isinstance(stream.length, str):
                raise DefinitionError(
                    f"{what}: quaternion", expected="the index of the first of four values", got=str(stream.quaternion)
                )


def _check_range(what: str, stream: StreamInput) -> None:
    if stream.beyond not in BEYOND:
        expected = unknown("word", stream.beyond, BEYOND)
        raise DefinitionError(f"{what}: beyond", expected=expected, got=repr(stream.beyond))
    for name, limit in (("minimum", stream.minimum), ("maximum", stream.maximum)):
        if len(numbers(limit)) not in (0, 1, stream.length):
            raise DefinitionError(
                f"{what}: {name}", expected="one for each value, or one for all", got=str(len(numbers(limit)))
            )
        if any(math.isnan(number) for number in numbers(limit)):
            raise DefinitionError(f"{what}: {name}", expected="numbers", got=str(limit))
    n = stream.length if isinstance(stream.length, int) else 1
    for i, (low, high) in enumerate(zip(*range_of(stream, n), strict=True)):
        if low > high:
            raise DefinitionError(
                f"{what}: minimum of value {i}", expected=f"at most the maximum of {high:g}", got=f"{low:g}"
            )
