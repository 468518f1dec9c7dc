"""The last ticks: a ring that the loop writes in each tick, and the requests to make a log of it.

The ring belongs to the loop; the executor's non-real-time side copies it at any time. Each row is under a
sequence lock of its own, the tick's number (-1 while the row is written), so a row is copied as a whole or not at all.
"""

from robot_rt_control.memory.atomics import (
    address_of,
    copy_words,
    fence_acquire,
    fence_release,
    load_acquire,
    load_relaxed,
    store_release,
)
from robot_rt_control.memory.layout import offset_of, world_dtype
from robot_rt_control.memory.plain_access import load_f8, store_f8
from robot_rt_control.native.realtime_code import blocking_entry, realtime
from robot_rt_control.vocabulary import capacities

_LAST = offset_of(world_dtype, "recorder", "last")
_OPENED = offset_of(world_dtype, "recorder", "opened")
_WRITTEN = offset_of(world_dtype, "recorder", "written")


@realtime
def record_row(w):
    """Write the row of this tick: some four instructions for each column."""
    r = w.recorder
    rows = int(r.rows)
    if rows == 0:
        return
    n = int(r.n_columns)
    columns = int(r.columns)
    row = rows + int(w.tick) % int(r.n_rows) * 8 * (1 + n)
    store_release(row, -1)
    fence_release()
    for i in range(n):
        # as float64, whatever it is: the bits stay
        store_f8(row + 8 + 8 * i, load_f8(load_relaxed(columns + 8 * i)))
    store_release(row, int(w.tick))
    store_release(address_of(w) + _LAST, int(w.tick))


@blocking_entry
def copy_rows(rows: int, n_rows: int, n_words: int, target: int) -> None:
    """Copy the ring while the loop may be writing it. Rows that it wrote meanwhile have tick -1 in the copy.

    Args:
        rows: address of the ring.
        n_words: of a row, the tick among them.
        target: address of as many words.
    """
    for i in range(n_rows):
        row = rows + i * 8 * n_words
        copy = target + i * 8 * n_words
        before = load_acquire(row)
        copy_words(copy + 8, row + 8, n_words - 1)
        fence_acquire()
        after = load_relaxed(row)
        store_release(copy, before if before == after else -1)


@realtime
def request_log(w, kind, reason, part, joint, status, action):
    """Ask for a log of the last ticks. Returns its number; 0: nothing is recorded, or too many logs wait.

    What happens within `after` ticks of a request is in the same log.
    """
    r = w.recorder
    if r.rows == 0:
        return 0
    if r.opened > 0 and w.tick - r.opened_tick <= r.after:
        return r.opened
    if r.opened - load_acquire(address_of(w) + _WRITTEN) >= capacities.LOG_REQUESTS:
        return 0
    request = r.requests[r.opened % capacities.LOG_REQUESTS]
    number = r.opened + 1
    request.number = number
    request.tick = w.tick
    request.kind = kind
    request.reason = reason
    request.part = part
    request.joint = joint
    request.status = status
    request.action = action
    r.opened_tick = w.tick
    store_release(address_of(w) + _OPENED, number)
    return number
