"""Step 5: set_parameters, then control, of every active action."""

import math

from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.realtime.tick.action_time import show_motion
from robot_rt_control.realtime.tick.activation import call, fail_activation
from robot_rt_control.realtime.tick.budget_watch import begin_timing, elapsed_ns, judge_budget
from robot_rt_control.realtime.tick.motion_group import control_group
from robot_rt_control.realtime.tick.outputs import hold_outputs
from robot_rt_control.realtime.tick.sense_step import sense
from robot_rt_control.realtime.tick.strategy_step import govern
from robot_rt_control.realtime.tick.stream_step import send_streams
from robot_rt_control.vocabulary.enums import CommandMode, Status

_OK = int(Status.OK)
_NO_MODE = int(CommandMode.NONE)


@realtime
def _prepare_commands(w, slot):
    """Show the last command's motion. Joints that the action does not write hold; a part without command is braked."""
    a = w.tables[w.active_tables].actions[slot]
    for s in range(a.n_parts):
        if w.parts_runtime[a.parts[s]].active_action != slot:
            continue  # it has left its motion group
        show_motion(w, a.parts[s])
        part = w.parts[a.parts[s]]
        part.command_mode = _NO_MODE
        part.joint_modes = 0
        for j in range(part.dof):
            part.position_command[j] = part.commanded_position[j]
            part.velocity_command[j] = 0.0
            part.effort_command[j] = 0.0
        part.tool_command = math.nan
        hold_outputs(part)


@realtime
def control(w, ch):
    """Run every active action's set_parameters and control once; where one fails, also what takes its place."""
    k = 0
    while k < w.n_active:
        slot = w.active[k]
        rt = w.actions_runtime[slot]
        if rt.controlled_tick == w.tick:
            k += 1
            continue
        rt.controlled_tick = w.tick
        _prepare_commands(w, slot)
        t = w.tables[w.active_tables]
        a = t.actions[slot]
        code = t.types[a.type]
        began = begin_timing(w, slot)
        rt.elapsed += w.parts[a.parts[0]].dt
        status = _OK
        if a.n_axes > 0:
            status = govern(w, slot, True)
        if a.group != 0:
            status = control_group(w, ch, slot)
        else:
            if status == _OK:
                status = call(w, slot, code.set_parameters)
            if status == _OK:
                status = call(w, slot, code.control)
        if a.n_axes > 0 and status == _OK:
            status = govern(w, slot, False)
        rt.busy_ns += elapsed_ns(w, slot, began)
        if status == _OK:
            status = judge_budget(w, ch, slot)
        if a.n_streams > 0 and status == _OK:
            send_streams(w, ch, slot)
        first = a.state_offset // 8
        for i in range(first, first + a.n_signals):
            w.state_arena[i] = 0.0
        if status != _OK:
            fail_activation(w, ch, slot, status)
            sense(w, ch)
            k = 0  # the list has changed; those that ran already are passed over
