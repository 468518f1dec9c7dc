"""Step 3, sense: each active action updates its state and its state variables."""

from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.realtime.tick.activation import enter_and_sense, fail_activation
from robot_rt_control.vocabulary.enums import Status

_OK = int(Status.OK)


@realtime
def sense(w, ch):
    """Sense, in global order, every active action that has not been sensed in this tick: a new one after its on_enter.

    Later steps call it again for the actions that they start.
    """
    k = 0
    while k < w.n_active:
        slot = w.active[k]
        if w.actions_runtime[slot].sensed_tick == w.tick:
            k += 1
            continue
        status = enter_and_sense(w, ch, slot)
        if status != _OK:
            fail_activation(w, ch, slot, status)
            k = 0  # the list has changed, also before this place; those that ran already are passed over
