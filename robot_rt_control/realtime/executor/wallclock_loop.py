"""The loop against the wall clock, or a device's: one compiled function entered once, never taking the GIL."""

from robot_rt_control.memory.atomics import (
    address_of,
    load_acquire,
    load_acquire_i4,
    store_release_i4,
)
from robot_rt_control.memory.clock import now_ns, ring
from robot_rt_control.memory.histogram import bin_of
from robot_rt_control.memory.layout import channel_dtype, offset_of
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.realtime.executor.hardware_clock import sleep_until_due, wait_for_device
from robot_rt_control.realtime.executor.loop_records import LOOKED_OFFSET, STOP_OFFSET
from robot_rt_control.realtime.tick.tick import tick

_BELL = offset_of(channel_dtype, "event_bell")
_NATIVE = offset_of(channel_dtype, "server_native_beat")
_PYTHON = offset_of(channel_dtype, "server_python_beat")
_EPOCH = offset_of(channel_dtype, "server_epoch")
_GONE = offset_of(channel_dtype, "server_gone")


@realtime
def silence_bound(loop, silence_ns, seen_ns, starved):
    """[ns] How long a heartbeat may be silent.

    A server that gets no processor time is waited for. If the non-real-time side has not looked in the second half of
    the silence, it gets none itself: then nothing is known of the server, and the same bound holds.

    Args:
        silence_ns: the bound of a server that hangs.
        seen_ns: when the heartbeat was last seen.
        starved: whether the non-real-time side has found it starved.
    """
    if loop.starved_silence_ns <= silence_ns:
        return silence_ns
    looked = load_acquire(address_of(loop) + LOOKED_OFFSET)
    if starved != 0 or looked - seen_ns < silence_ns // 2:
        return loop.starved_silence_ns
    return silence_ns


@realtime
def watch_server(w, ch, loop, now):
    """Set `w.server_lost` if the attached server's heartbeats have been silent for too long.

    A server that has detached, or whose death the non-real-time side has seen, is lost at once.
    """
    base = address_of(ch)
    epoch = load_acquire(base + _EPOCH)
    if epoch != loop.server_epoch:
        loop.server_epoch = epoch
        loop.watching = 1
        loop.native_seen_ns = now
        loop.python_seen_ns = now
    if loop.watching == 0:
        return
    native = load_acquire(base + _NATIVE)
    if native != loop.last_native_beat:
        loop.last_native_beat = native
        loop.native_seen_ns = now
    python = load_acquire(base + _PYTHON)
    if python != loop.last_python_beat:
        loop.last_python_beat = python
        loop.python_seen_ns = now
    if (
        load_acquire(base + _GONE) >= epoch
        or (
            now - loop.native_seen_ns > loop.native_silence_ns
            and now - loop.native_seen_ns
            > silence_bound(loop, loop.native_silence_ns, loop.native_seen_ns, loop.native_starved)
        )
        or (
            now - loop.python_seen_ns > loop.python_silence_ns
            and now - loop.python_seen_ns
            > silence_bound(loop, loop.python_silence_ns, loop.python_seen_ns, loop.python_starved)
        )
    ):
        loop.watching = 0
        w.server_lost = 1


@realtime
def ring_bell(ch):
    """Wake the threads that wait for events."""
    bell = address_of(ch) + _BELL
    store_release_i4(bell, load_acquire_i4(bell) + 1)
    ring(bell)


@realtime
def run_wallclock(w, ch, loop):
    """Run ticks at absolute deadlines, or as a device drives them, until `loop.stop`. Entered once, by the real-time
    thread."""
    period = loop.period_ns
    timing = ch.timing
    stop = address_of(loop) + STOP_OFFSET
    deadline = now_ns() + period
    loop.first_tick = w.tick + 1
    loop.first_misses = timing.deadline_misses
    loop.first_deadline_ns = deadline
    done = 0
    while load_acquire(stop) == 0:
        if loop.driving_device == 0:
            sleep_until_due(deadline)
        else:
            deadline = wait_for_device(w, loop, deadline)
        start = now_ns()
        w.now_ns = start
        watch_server(w, ch, loop, start)
        events = ch.events.head + ch.samples_out
        tick(w, ch)
        end = now_ns()
        if ch.events.head + ch.samples_out != events:
            ring_bell(ch)
        lateness = max(start - deadline, 0)
        timing.lateness[bin_of(lateness)] += 1
        timing.max_lateness_ns = max(timing.max_lateness_ns, lateness)
        timing.compute[bin_of(end - start)] += 1
        timing.max_compute_ns = max(timing.max_compute_ns, end - start)
        timing.ticks += 1
        deadline += period
        if end > deadline:
            # The next period has begun already: count it, and continue with the first deadline still ahead.
            missed = (end - deadline) // period + 1
            timing.deadline_misses += missed
            w.overrun.missed += missed
            deadline += missed * period
        done += 1
        if done == loop.max_ticks:
            break
