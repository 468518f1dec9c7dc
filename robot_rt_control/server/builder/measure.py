"""How long one tick of an action takes at most, measured in the builder process on parts that stand for real ones."""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

import numpy as np

from robot_rt_control.definitions import native_code
from robot_rt_control.definitions.action_type import (
    ActionType,
    Parameter,
    fill_parameters,
    parameter_dtype,
    state_dtype,
)
from robot_rt_control.definitions.definitions import ParameterValue
from robot_rt_control.definitions.parameters import check_parameters
from robot_rt_control.memory.layout import part_dtype, record
from robot_rt_control.model.workcell.part_facts import PartFacts
from robot_rt_control.model.workcell.sample_part import sample_part
from robot_rt_control.realtime.executor.call_timer import time_ticks
from robot_rt_control.realtime.executor.native_loader import load
from robot_rt_control.vocabulary.capacities import MAX_ACTION_SLOTS
from robot_rt_control.vocabulary.part_kinds import PART_KINDS

TICKS = 400
PASSES = 7
"""The time of a tick is the shortest of so many passes: what the machine does beside it counts as little as can be."""
ENOUGH_S = 1.0
"""[s] of processor time, after which no further pass begins."""
PATIENCE_S = 5
"""[s] of processor time; a measurement that takes longer is ended, and the process with it: something does not end."""
PREPARING_S = 2.0
"""[s] of processor time that `prepare_parameters` may take here. For the server it may take any time, but then nothing
is measured."""
_WAITING_S = 60.0
"""[s] after which a `prepare_parameters` that waits for something is given up."""

_slots_dtype = record([("parts", part_dtype, (MAX_ACTION_SLOTS,))])


def compute_time(
    action_type: type[ActionType], key: str, counted: Mapping[str, float] = MappingProxyType({})
) -> tuple[float, str]:
    """The longest tick of an action of this type, started on sample parts with its example's parameters.

    Native code that does not end ends this process by SIGPROF.

    Args:
        key: of its native code, which is in the cache.
        counted: whole-number parameters that loops count to → the largest value that counts; they take it.

    Returns:
        [s], and nothing; or NaN, and why it could not be measured.
    """
    known = native_code.measured(key)
    if known is not None:
        return known, ""
    try:
        with _time_limit(PREPARING_S):
            initial, params = _prepare(action_type, counted)
    except BaseException as error:
        # Of the user's create or prepare_parameters: it may not like these parts.
        return math.nan, f"{type(error).__name__}: {error}"
    signal.setitimer(signal.ITIMER_PROF, PATIENCE_S)
    seconds = _measure(action_type, key, initial, params)
    signal.setitimer(signal.ITIMER_PROF, 0.0)
    native_code.store_measured(key, seconds)
    return seconds, ""


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raises TimeoutError in the block, wherever it is, after this processor time. In the main thread only."""

    def give_up(_signal: int, _frame: object) -> None:
        raise TimeoutError("prepare_parameters took too long")

    before = [signal.signal(number, give_up) for number in (signal.SIGPROF, signal.SIGALRM)]
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, _WAITING_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        for number, handler in zip((signal.SIGPROF, signal.SIGALRM), before, strict=True):
            signal.signal(number, handler)


def _prepare(action_type: type[ActionType], counted: Mapping[str, float]) -> tuple[np.ndarray, np.ndarray]:
    """Sample parts for the slots, and the parameter record for the example."""
    parts: dict[str, PartFacts] = {}
    for slot in action_type.slots:
        described = PART_KINDS[slot.kinds[0]]
        inputs, outputs = slot.inputs or described.sample_inputs, described.sample_outputs
        parts[slot.name] = PartFacts(sample_part(slot.kinds[0], name=slot.name, inputs=inputs, outputs=outputs))
    initial = np.zeros(1, _slots_dtype)
    for place, part in zip(initial[0].parts, parts.values(), strict=False):
        for name in part_dtype.names or ():
            place[name] = part.record[name]
        for quantity in PART_KINDS[part.kind].measured:
            if quantity.index is None:
                place[quantity.field] = quantity.sample
            else:
                place[quantity.field][quantity.index] = quantity.sample
        place["position"][: part.dof] = place["commanded_position"][: part.dof] = 0.3
    for part in parts.values():
        part.workcell = MappingProxyType(parts)
    params = np.zeros(1, parameter_dtype(action_type))
    values = _values(action_type, next(iter(parts.values())).dof)
    fill_parameters(action_type.create(parts), values, params[0])
    for name, largest in counted.items():
        params[0][name] = int(largest)
    return initial, params


def _measure(action_type: type[ActionType], key: str, initial: np.ndarray, params: np.ndarray) -> float:
    native = load(key)
    code = np.array([native.on_enter, native.sense, native.set_parameters, native.control])
    shortest = np.full(TICKS, np.iinfo(np.int64).max)
    state, live = np.zeros(1, state_dtype(action_type)), np.zeros(1, _slots_dtype)
    done, end = TICKS, time.process_time() + ENOUGH_S
    for _ in range(PASSES):
        state[:], live[:] = np.zeros_like(state), initial
        done = min(done, time_ticks(code, state.ctypes.data, params.ctypes.data, live[0], shortest[:done]))
        if time.process_time() > end:
            break
    return float(shortest[:done].max()) * 1e-9


def _values(action_type: type[ActionType], dof: int) -> Mapping[str, Any]:
    """Parameters as `prepare_parameters` takes them: the example's, else defaults, else some in the range."""
    given = [ParameterValue(name=n, value=_plain(v)) for n, v in action_type.example.items()]
    for p in action_type.parameters:
        if p.name not in action_type.example and p.default is None and not p.optional:
            given.append(ParameterValue(name=p.name, value=_some(p, dof)))
    return check_parameters(f"example of {action_type.name}", action_type.parameters, given, dof=dof)


def _plain(value: Any) -> Any:
    return tuple(_plain(v) for v in value) if isinstance(value, list | tuple | np.ndarray) else value


def _some(p: Parameter, dof: int) -> Any:
    if p.type == "text":
        return p.choices[0] if p.choices else "text"
    low, high = p.minimum, p.maximum
    value: Any = 0.0 if low is None and high is None else low if high is None else high if low is None else None
    if value is None:
        value = 0.5 * (float(low or 0.0) + float(high or 0.0))
    value = bool(value) if p.type == "bool" else int(value) if p.type == "int" else float(value)
    length = {"dof": dof, "any": 2}.get(str(p.length), p.length)
    return value if p.length == 1 else (value,) * int(length)
