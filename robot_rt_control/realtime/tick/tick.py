"""One tick. The wall-clock loop, the lockstep loop and the tests call this same function.

Nothing in it reads a clock, allocates, raises or touches Python. All of its memory is `w`, a record of
`layout.world_dtype`, and `ch`, a record of `layout.channel_dtype`.
"""

from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.realtime.tick.command_step import take_commands
from robot_rt_control.realtime.tick.control_step import control
from robot_rt_control.realtime.tick.install_step import attach_image, install
from robot_rt_control.realtime.tick.limit_step import limit
from robot_rt_control.realtime.tick.overrun_step import act_on_overruns
from robot_rt_control.realtime.tick.react_step import react
from robot_rt_control.realtime.tick.read_step import read
from robot_rt_control.realtime.tick.record_step import record
from robot_rt_control.realtime.tick.recorder import record_row
from robot_rt_control.realtime.tick.sense_step import sense
from robot_rt_control.realtime.tick.speed import advance_speed
from robot_rt_control.realtime.tick.strategy_step import select
from robot_rt_control.realtime.tick.stream_step import take_streams
from robot_rt_control.realtime.tick.tools import change_by_actions
from robot_rt_control.realtime.tick.write_step import write


@realtime
def tick(w, ch):
    """Run one tick. The caller has set `w.now_ns` to the tick's start time."""
    w.tick += 1
    w.time = w.tick * w.period
    attach_image(w)
    read(w, ch)
    act_on_overruns(w, ch)
    install(w, ch)
    take_commands(w, ch)
    advance_speed(w)
    take_streams(w, ch)
    sense(w, ch)
    react(w, ch)
    select(w, ch)
    control(w, ch)
    change_by_actions(w, ch)
    limit(w, ch)
    write(w, ch)
    record(w, ch)
    record_row(w)
