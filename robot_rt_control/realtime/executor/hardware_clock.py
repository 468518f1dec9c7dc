"""The clock `hardware`: the driver's cycle drives the tick; if the driver falls silent, the loop's own watch does."""

from robot_rt_control.hardware.image import image_at
from robot_rt_control.memory.atomics import field_address, load_acquire_i4, load_relaxed, store_relaxed
from robot_rt_control.memory.clock import INTERRUPTED, sleep_until
from robot_rt_control.memory.wake import now_ns, wait_until
from robot_rt_control.native.realtime_code import realtime


@realtime
def sleep_until_due(deadline):
    """Sleep until the deadline [ns], whatever signals come to the process meanwhile."""
    while sleep_until(deadline) == INTERRUPTED:
        pass


@realtime
def wait_for_device(w, loop, expected):
    """Sleep until the driving device publishes a state that the loop has not seen, and say when the tick was due.

    A device that stays silent for `loop.device_timeout_ns` longer than expected is not waited for any more: from then
    on the tick is due in each period, until the device publishes again. Its data grows old meanwhile.

    Args:
        loop: record of `wallclock_loop.loop_dtype`; `driving_device` is not 0.
        expected: CLOCK_MONOTONIC [ns] when the next state is expected.

    Returns:
        CLOCK_MONOTONIC [ns] when the tick was due: when the state was published, or when waiting was given up.
    """
    address = w.devices[loop.driving_device - 1].image
    limit = expected if loop.on_own_watch == 1 else expected + loop.device_timeout_ns
    if address == 0:
        sleep_until_due(limit)
        return limit
    image = image_at(address)
    bell = field_address(image, "state_bell")
    if address != loop.last_image:  # the first one, or that of a restarted driver
        loop.last_image = address
        loop.last_bell = load_acquire_i4(bell)
        store_relaxed(field_address(image, "is_clock"), 1)
    while True:
        rung = load_acquire_i4(bell)
        if rung != loop.last_bell:
            loop.last_bell = rung
            loop.on_own_watch = 0
            return load_relaxed(field_address(image, "state_time_ns"))
        if now_ns() >= limit:
            loop.on_own_watch = 1
            return limit
        wait_until(bell, rung, limit)
