"""Step 3, sense: each active action updates its state and its state variables."""

from robot_rt_control.program.realtime_code import realtime
from robot_rt_control.program.vocabulary import Status
from robot_rt_control.realtime.activation import (
    call,
    enter_and_sense,
    fail_activation,
    sense_new,
)

_OK = int(Status.OK)


@realtime
def sense(w, ch):
    """Sense every active action in global order, those just started after their on_enter."""
    k = 0
    while k < w.n_active:
        slot = w.active[k]
        if w.actions_runtime[slot].entering == 1:
            status = enter_and_sense(w, slot)
        else:
            t = w.tables[w.active_tables]
            status = call(w, slot, t.types[t.actions[slot].type].sense)
        if status == _OK:
            k += 1
        else:
            # What takes its place has not entered yet: sense_new below does that.
            fail_activation(w, ch, slot, status)
    sense_new(w, ch)
