"""Outputs of io parts, and commands of an arm's or base's own: what leaves, and what is written after a failure."""

import math

from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.enums import FaultReason, OperationalState

_ENABLED = int(OperationalState.ENABLED)
_NON_FINITE = int(FaultReason.NON_FINITE_COMMAND)
_READ_BACK_TOLERANCE = 1e-6
"""An analog output counts as read back within this fraction of its range."""


@realtime
def hold_outputs(part):
    """Before `control`: outputs that the action does not write keep what was last commanded."""
    for i in range(part.n_outputs):
        part.output_command[i] = part.commanded_outputs[i]


@realtime
def begin_outputs(part, limits):
    """Enabling changes no output: each one begins with what is read back, else with its initial value."""
    for i in range(limits.n_outputs):
        value = part.outputs[i]
        if not math.isfinite(value):
            value = limits.output_initial[i]
        part.commanded_outputs[i] = value
        part.output_command[i] = value


@realtime
def make_outputs_safe(w, p):
    """Command the safe value of each output of a part that has one; the others keep theirs."""
    limits = w.limits[p]
    part = w.parts[p]
    for i in range(limits.n_outputs):
        if math.isfinite(limits.output_safe[i]):
            part.commanded_outputs[i] = limits.output_safe[i]
            part.output_command[i] = limits.output_safe[i]


@realtime
def settle_outputs(w, p):
    """The part's motion is not enabled any more: safe values, which leave until they are read back."""
    if w.limits[p].n_outputs > 0:
        make_outputs_safe(w, p)
        w.parts_runtime[p].outputs_settling = 1


@realtime
def are_outputs_settling(w, p):
    """Whether outputs of a part that is not enabled have still to be written; ends when all are read back."""
    pr = w.parts_runtime[p]
    if pr.outputs_settling == 0 or w.devices[pr.device].faulted != 0:
        return False
    part = w.parts[p]
    limits = w.limits[p]
    for i in range(limits.n_outputs):
        if not is_read_back(limits, i, part.outputs[i], part.commanded_outputs[i]):
            return True
    pr.outputs_settling = 0
    return False


@realtime
def is_read_back(limits, i, measured, commanded):
    """Whether output i of a part reads back as commanded; an unknown value does not."""
    span = limits.output_upper[i] - limits.output_lower[i]
    if not math.isfinite(span):
        span = max(1.0, abs(commanded))
    return abs(measured - commanded) <= _READ_BACK_TOLERANCE * span


@realtime
def limit_outputs(w, p):
    """Take what the active action commands. Returns 0, or why nothing of it leaves."""
    part = w.parts[p]
    limits = w.limits[p]
    for i in range(limits.n_outputs):
        if not math.isfinite(part.output_command[i]):
            return _NON_FINITE
    for i in range(limits.n_outputs):
        value = min(max(part.output_command[i], limits.output_lower[i]), limits.output_upper[i])
        if limits.output_digital[i] == 1:
            value = 1.0 if value >= 0.5 else 0.0
        part.commanded_outputs[i] = value
    return 0
