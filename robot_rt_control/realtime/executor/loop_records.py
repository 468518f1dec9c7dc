"""What the loops work on: records that Python fills. Apart from the loops, which only the compiler imports."""

from robot_rt_control.memory.layout import offset_of, record
from robot_rt_control.vocabulary.capacities import MAX_DEVICES

lockstep_dtype = record(
    [
        ("world", "i8"),
        ("channel", "i8"),
        ("period_ns", "i8"),
        ("n_devices", "i8"),  # simulators that are exchanged with
        ("images", "i8", (MAX_DEVICES,)),  # addresses of the devices' process images ...
        ("drivers", "i8", (MAX_DEVICES,)),  # ... and of their own sides
    ]
)
"""What the loop works on: addresses, and the period."""

loop_dtype = record(
    [
        ("period_ns", "i8"),
        ("stop", "i8"),  # set from outside to end the loop
        ("max_ticks", "i8"),  # 0: for ever
        ("native_silence_ns", "i8"),  # silence of the server's heartbeats after which it counts as lost
        ("python_silence_ns", "i8"),
        ("starved_silence_ns", "i8"),  # the same for a server that gets no processor time; 0: as for others
        ("native_starved", "i8"),  # what the non-real-time side has seen when it looked last
        ("python_starved", "i8"),
        ("looked_ns", "i8"),  # when that was
        ("last_native_beat", "i8"),
        ("last_python_beat", "i8"),
        ("native_seen_ns", "i8"),
        ("python_seen_ns", "i8"),
        ("watching", "i8"),  # a server is attached and not yet lost
        ("server_epoch", "i8"),
        ("driving_device", "i8"),  # index of the device whose cycle drives the loop, plus one; 0: the wall clock does
        ("device_timeout_ns", "i8"),  # how much later than expected its state may come before the loop ticks by itself
        ("on_own_watch", "i8"),  # 1: the driving device is silent
        ("last_image", "i8"),  # its image, and the last publication that the loop has seen of it
        ("last_bell", "i8"),
        ("first_tick", "i8"),  # number of the loop's first tick, ...
        ("first_misses", "i8"),  # ... deadlines that were missed before it, ...
        ("first_deadline_ns", "i8"),  # ... and its own; 0: the loop has not begun
    ]
)

STOP_OFFSET = offset_of(loop_dtype, "stop")
LOOKED_OFFSET = offset_of(loop_dtype, "looked_ns")
