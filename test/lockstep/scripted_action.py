"""An action type with simple behaviour: it counts its calls, writes them to a log, and fails on request.

`reference_definitions.Behaviour` says the same for the reference model. The interpreted twin loads this module
a second time, with its functions as plain Python.
"""

import math

from robot_rt_control.memory.layout import record
from robot_rt_control.memory.plain_access import load_f8, store_f8
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.enums import CommandMode, Status

SIGNALS = ("first", "second")
VARIABLES = ("senses", "settings", "controls", "seen", "elapsed", "value", "is_done")
METHODS = ("on_enter", "sense", "set_parameters", "control")

STATE = record([*((name, "f8") for name in (*SIGNALS, *VARIABLES, "gain")), ("scratch", "f8", (2,))])
PARAMS = record(
    [
        ("log", "i8"),  # address of float64: how many calls, then a number for each
        ("identity", "i8"),
        ("n_parts", "i8"),  # 1 or 2: how many slots it has
        ("enter_status", "i8"),
        ("fail_sense_at", "i8"),
        ("fail_settings_at", "i8"),
        ("fail_control_at", "i8"),
        ("status", "i8"),
        ("done_at", "i8"),
        ("bad_command_at", "i8"),
        ("bad_mode", "i8"),  # 0: what is bad about that command is a number that is not finite; else its mode
        ("mode", "i8"),
        ("gain", "f8"),
        ("step", "f8"),  # what it adds to the last command, in each control
    ]
)

LOG_ENTRIES = 255
_POSITION = int(CommandMode.POSITION)
_BOUNDS = int(Status.BOUNDS)


@realtime
def _log(params, method):
    calls = load_f8(params.log)
    if calls < LOG_ENTRIES:
        store_f8(params.log, calls + 1.0)
        store_f8(params.log + 8 * (1 + int(calls)), 8.0 * params.identity + method)


def on_enter(state, params, first, second, third, fourth):
    _log(params, 0)
    state.gain = params.gain
    return params.enter_status


def sense(state, params, first, second, third, fourth):
    _log(params, 1)
    state.senses += 1.0
    state.elapsed += first.dt
    state.value = first.distance * state.gain
    state.is_done = 1.0 if params.done_at > 0 and state.senses >= params.done_at else 0.0
    if state.senses == params.fail_sense_at:
        if params.status == _BOUNDS:
            state.scratch[params.fail_sense_at + 1] = 1.0  # beyond the end: the result is Status.BOUNDS
        return params.status
    return 0


def set_parameters(state, params, first, second, third, fourth):
    _log(params, 2)
    state.settings += 1.0
    state.gain = params.gain
    return params.status if state.settings == params.fail_settings_at else 0


@realtime
def _command(params, part, is_bad):
    part.command_mode = params.mode
    for j in range(part.dof):
        part.position_command[j] = part.commanded_position[j] + params.step
        part.velocity_command[j] = params.step
        part.effort_command[j] = params.step
    if is_bad and params.bad_mode != 0:
        part.command_mode = params.bad_mode
    elif is_bad:
        part.command_mode = _POSITION
        part.position_command[part.dof - 1] = math.nan


def control(state, params, first, second, third, fourth):
    _log(params, 3)
    state.controls += 1.0
    state.seen += state.first + 100.0 * state.second
    _command(params, first, params.bad_command_at > 0 and state.controls == params.bad_command_at)
    if params.n_parts > 1:
        _command(params, second, False)
    return params.status if state.controls == params.fail_control_at else 0
