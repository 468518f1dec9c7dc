"""The operational state of parts: disabled, enabled, faulted."""

import math

from robot_rt_control.memory.drive_layout import drives_at
from robot_rt_control.memory.joint_modes import mode_of
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.realtime.tick.activation import (
    DEFAULT,
    SAFETY,
    end_activation,
    release_parts,
    take_fallback,
)
from robot_rt_control.realtime.tick.events import begin_event, publish_event
from robot_rt_control.realtime.tick.feedback import begin_feedback, unknown_joint
from robot_rt_control.realtime.tick.motion_group import leave_group
from robot_rt_control.realtime.tick.outputs import begin_outputs, settle_outputs
from robot_rt_control.realtime.tick.recorder import request_log
from robot_rt_control.vocabulary import capacities, defaults
from robot_rt_control.vocabulary.enums import (
    CommandMode,
    EventKind,
    OperationalState,
    Refusal,
    StopCause,
)

_REST = defaults.REST_SPEED_FRACTION
_EFFORT = int(CommandMode.EFFORT)
_DISABLED = int(OperationalState.DISABLED)
_ENABLED = int(OperationalState.ENABLED)
_FAULTED = int(OperationalState.FAULTED)
_PART_FAULTED = int(EventKind.PART_FAULTED)
_PART_ENABLED = int(EventKind.PART_ENABLED)
_PART_DISABLED = int(EventKind.PART_DISABLED)
_BY_FAULT = int(StopCause.PART_FAULT)
_BY_COMMAND = int(StopCause.COMMAND)
_STILL_FAULTED = int(Refusal.STILL_FAULTED)
_NOT_ENABLED = int(Refusal.PART_NOT_ENABLED)
_WRONG_TOOL, _TOOL_UNKNOWN = int(Refusal.WRONG_TOOL), int(Refusal.TOOL_UNKNOWN)


@realtime
def _report(w, ch, p, kind, reason, joint, log):
    k = begin_event(w, ch, kind, reason)
    if k >= 0:
        e = ch.events.entries[k]
        e.part = p
        e.joint = joint
        e.status = w.parts_runtime[p].fault_code
        e.log = log
        publish_event(ch)


@realtime
def takes_commands(part):
    """Whether anything of a part is commanded. A part that only measures has nothing to lose and nothing to enable."""
    return part.dof > 0 or part.n_outputs > 0


@realtime
def set_state(w, p, state):
    w.parts_runtime[p].state = state
    w.parts[p].operational_state = state


@realtime
def fault_part(w, ch, p, reason, joint):
    """Fault a part: its action ends, the loop itself brakes it; other parts of that action go to safety."""
    pr = w.parts_runtime[p]
    if pr.state == _FAULTED:
        return
    pr.fault = reason
    pr.fault_joint = joint
    pr.enabling = pr.rest_wait = 0
    set_state(w, p, _FAULTED)
    slot = pr.active_action
    pr.fault_log = request_log(w, _PART_FAULTED, reason, p, joint, 0, slot)
    _report(w, ch, p, _PART_FAULTED, reason, joint, pr.fault_log)
    if slot >= 0 and not leave_group(w, slot, p):
        end_activation(w, ch, slot, _BY_FAULT)
        release_parts(w, ch, slot, SAFETY)
    settle_outputs(w, p)


@realtime
def clear_fault(w, p):
    """Clear a fault whose cause is gone; the part is then disabled. Returns 0, or why not.

    Errors of motors are reset from then on: only enabling shows whether their cause is gone.
    """
    pr = w.parts_runtime[p]
    if pr.state != _FAULTED:
        return 0
    d = w.devices[pr.device]
    d.clears += 1  # also if it cannot be cleared yet: its driver may then bring the device back
    if d.age > d.max_age or d.faulted != 0 or unknown_joint(w, p) >= 0:
        return _STILL_FAULTED
    if d.drives != 0:
        drives = drives_at(d.drives)
        if drives.age[p] > d.max_age:
            return _STILL_FAULTED
        drives.clear[p] = drives.enable_ticks
    pr.fault = 0
    pr.fault_code = 0
    pr.fault_joint = -1
    pr.fault_log = 0
    set_state(w, p, _DISABLED)
    return 0


@realtime
def refusal_by_sensor(w, p, number):
    """Why sensors do not let a tool of a part that lists tools be on; 0: they do."""
    fits = w.parts[p].tool_fits[number]
    return 0 if fits == 1.0 else _WRONG_TOOL if fits == 0.0 else _TOOL_UNKNOWN


@realtime
def enable_part(w, ch, p):
    """Enable motion, starting from the measured position. Returns 0, or why not.

    A part that still brakes goes on braking: its enabling follows once it is at rest, see `wait_for_rest`. The motors
    of a part on drives are enabled then: its motion follows once all of them are.
    """
    pr = w.parts_runtime[p]
    if pr.state == _ENABLED:
        return 0
    if pr.state == _FAULTED:
        return _STILL_FAULTED
    if unmeasured_joint(w, p) >= 0:
        return _NOT_ENABLED
    refusal = refusal_by_sensor(w, p, int(w.parts[p].tool_number)) if pr.n_tools > 0 else 0
    if refusal != 0:
        return refusal
    if w.protective_stop == 0.0:
        pr.held = 0
    if pr.enabling > 0 or pr.rest_wait > 0:
        return 0
    if is_at_rest(w, p):
        _begin_enabling(w, ch, p)
    else:
        pr.rest_wait = pr.rest_wait_ticks
    return 0


@realtime
def has_efforts_alone(w, p):
    """Whether a part can be commanded by efforts alone: it brakes by a damper, and only a velocity that is known."""
    return w.limits[p].supported_modes == 1 << _EFFORT


@realtime
def unmeasured_joint(w, p):
    """The first joint of which is not measured what a part needs to be enabled; -1: there is none."""
    part = w.parts[p]
    for j in range(part.dof):
        if not math.isfinite(part.position[j]) or (has_efforts_alone(w, p) and not math.isfinite(part.velocity[j])):
            return j
    return -1


@realtime
def count_rest(w, p):
    """Count for how long a part with effort mode alone that is not enabled has been at rest.

    An unknown velocity counts as rest only while the part is braked: so its motors do not stay on for a broken sensor.
    """
    pr = w.parts_runtime[p]
    pr.rest += 1
    for j in range(w.parts[p].dof):
        speed = abs(w.parts[p].velocity[j])
        if speed > _REST * w.limits[p].velocity[j] or (math.isnan(speed) and pr.written == 0):
            pr.rest = 0


@realtime
def has_rested(w, p):
    """Whether a part with effort mode alone has been at rest for long enough."""
    return w.parts_runtime[p].rest * w.period >= defaults.EFFORT_REST_S


@realtime
def is_at_rest(w, p):
    """Whether the last command of a part has come to rest: else it would begin with a step when it is enabled.

    An effort says nothing about motion, and its joint's commanded velocity is the measured one.
    """
    part = w.parts[p]
    modes = w.parts_runtime[p].last_modes
    if has_efforts_alone(w, p):
        return has_rested(w, p)
    for j in range(part.dof):
        v = part.commanded_velocity[j]
        if mode_of(modes, j) == _EFFORT:
            if abs(v) > _REST * w.limits[p].velocity[j]:
                return False
        elif v != 0.0 or part.commanded_acceleration[j] != 0.0:
            return False
    return True


@realtime
def wait_for_rest(w, ch, p):
    """The enabling of a part that has braked goes on once it is at rest. If that takes too long, it has ended."""
    pr = w.parts_runtime[p]
    pr.rest_wait -= 1
    if unmeasured_joint(w, p) < 0 and is_at_rest(w, p):
        pr.rest_wait = 0
        _begin_enabling(w, ch, p)


@realtime
def _begin_enabling(w, ch, p):
    pr = w.parts_runtime[p]
    drives = w.devices[pr.device].drives
    if pr.n_tools > 0 and refusal_by_sensor(w, p, int(w.parts[p].tool_number)) != 0:
        return  # another tool was put on while it came to rest
    if drives == 0:
        start_motion(w, ch, p)
    else:
        pr.enabling = drives_at(drives).enable_ticks


@realtime
def start_motion(w, ch, p):
    """Motion is enabled from now on; the default action begins.

    What was sent in the last tick goes on: a position that is held for the outputs, the effort of a damper. Whatever
    was not begins where the joint is measured, without effort.
    """
    pr = w.parts_runtime[p]
    part = w.parts[p]
    goes_on = pr.written != 0 and pr.enabling == 0
    pr.enabling = pr.rest = 0
    for j in range(capacities.MAX_JOINTS):
        if j < part.dof and not goes_on:
            part.commanded_position[j] = part.position[j]
        part.commanded_velocity[j] = 0.0
        part.commanded_acceleration[j] = 0.0
        part.former_acceleration[j] = 0.0
        if not goes_on:
            part.commanded_effort[j] = 0.0
    if pr.outputs_settling == 0:
        begin_outputs(part, w.limits[p])
    pr.outputs_settling = 0
    set_state(w, p, _ENABLED)
    begin_feedback(w, p)
    _report(w, ch, p, _PART_ENABLED, 0, -1, 0)
    take_fallback(w, ch, p, DEFAULT)


@realtime
def disable_part(w, ch, p):
    """End the part's action; the loop itself brakes it, and then writes no more commands."""
    pr = w.parts_runtime[p]
    pr.enabling = pr.rest_wait = 0
    if pr.state != _ENABLED:
        return
    set_state(w, p, _DISABLED)
    slot = pr.active_action
    if slot >= 0 and not leave_group(w, slot, p):
        end_activation(w, ch, slot, _BY_COMMAND)
        release_parts(w, ch, slot, SAFETY)
    settle_outputs(w, p)
    _report(w, ch, p, _PART_DISABLED, 0, -1, 0)
