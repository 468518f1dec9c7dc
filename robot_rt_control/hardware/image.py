"""Reading and writing a process image, each side by one compiled function per direction.

Two sequence locks: the driver writes the states and the loop reads them, the loop writes the commands
and the driver reads them. Neither side waits: a reader tries at most three times and then continues
with its previous data. `memory.atomics` explains the order of the fences.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from robot_rt_control.memory.atomics import (
    address_of,
    copy_words,
    fence_acquire,
    fence_release,
    field_address,
    load_acquire,
    load_acquire_i4,
    load_relaxed,
    record_at,
    store_relaxed,
    store_release,
    store_release_i4,
)
from robot_rt_control.memory.layout import device_image_dtype, driver_dtype
from robot_rt_control.memory.wake import now_ns, ring, wait_until
from robot_rt_control.native.entries import python_call
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.capacities import MAX_DEVICE_INTERFACES, MAX_PARTS

READ_ATTEMPTS = 3

AWAITED = 2
NEW = 1
NOTHING_NEW = 0
DEVICE_ERROR = -1

image_at = record_at(device_image_dtype)
"""The image's record at an address."""


@realtime
def read_state(address, device):
    """The loop's read: take the states of the driver's last cycle, whole or not at all.

    Args:
        address: of the image (`layout.device_image_dtype`), not 0.
        device: record of `device_dtype`; `state` and `last_cycle` are written, `incoming` is scratch.
            The tick computes ages.

    Returns:
        NEW (1): `state` is from a cycle not seen before. NOTHING_NEW (0): the driver has published nothing
        since, or was writing in all three attempts; `state` is unchanged. DEVICE_ERROR (-1): the driver
        reports an error (given by `image.state_error`); `state` is the newest available.
    """
    image = image_at(address)
    sequence = field_address(image, "state_sequence")
    count = min(device.n_state, MAX_DEVICE_INTERFACES)
    for _ in range(READ_ATTEMPTS):
        before = load_acquire(sequence)
        if before & 1 == 1:
            continue
        cycle = load_relaxed(field_address(image, "state_cycle"))
        error = load_relaxed(field_address(image, "state_error"))
        if cycle != device.last_cycle:
            copy_words(address_of(device.incoming), address_of(image.state), count)
        fence_acquire()
        if load_relaxed(sequence) != before:
            continue
        is_new = cycle != device.last_cycle
        if is_new:
            for i in range(count):
                device.state[i] = device.incoming[i]
            device.last_cycle = cycle
        if error != 0:
            return DEVICE_ERROR
        return NEW if is_new else NOTHING_NEW
    return NOTHING_NEW


@realtime
def reported_error(address):
    """What the driver reports, never 0: see `ImageError`. For an image that has just reported an error."""
    return max(load_relaxed(field_address(image_at(address), "state_error")), 1)


@realtime
def write_command(address, device):
    """The loop's write: publish commands, modes and enable. Call it in every tick, whether or not motion is
    enabled: the driver treats silence as the executor's death. Wake the driver if it waits for them.

    Args:
        address: of the image (`layout.device_image_dtype`), not 0.
        device: record of `device_dtype`; its `command`, `mode` and `enabled` are copied.
    """
    image = image_at(address)
    sequence = field_address(image, "command_sequence")
    start = load_relaxed(sequence)
    store_relaxed(sequence, start + 1)
    fence_release()
    copy_words(address_of(image.command), address_of(device.command), min(device.n_command, MAX_DEVICE_INTERFACES))
    copy_words(address_of(image.command_mode), address_of(device.mode), min(device.n_parts, MAX_PARTS))
    store_relaxed(field_address(image, "command_enable"), device.enabled)
    store_relaxed(field_address(image, "command_state_cycle"), device.last_cycle)
    store_relaxed(field_address(image, "command_clears"), device.clears)
    cycle = field_address(image, "command_cycle")
    store_relaxed(cycle, load_relaxed(cycle) + 1)
    store_release(sequence, start + 2)
    if load_relaxed(field_address(image, "wants_bell")) != 0:
        bell = field_address(image, "command_bell")
        store_release_i4(bell, load_acquire_i4(bell) + 1)
        ring(bell)


@realtime
def publish_state(address, driver):
    """Publish the driver's states and its error. Wake the loop if it waits for them.

    Args:
        address: of the image (`layout.device_image_dtype`), not 0.
        driver: record of `driver_dtype`; its `state` and `error` are copied.
    """
    image = image_at(address)
    sequence = field_address(image, "state_sequence")
    start = load_relaxed(sequence)
    store_relaxed(sequence, start + 1)
    fence_release()
    copy_words(address_of(image.state), address_of(driver.state), min(driver.n_state, MAX_DEVICE_INTERFACES))
    store_relaxed(field_address(image, "state_error"), driver.error)
    cycle = field_address(image, "state_cycle")
    store_relaxed(cycle, load_relaxed(cycle) + 1)
    store_release(sequence, start + 2)
    if load_relaxed(field_address(image, "is_clock")) != 0:
        store_relaxed(field_address(image, "state_time_ns"), now_ns())
        bell = field_address(image, "state_bell")
        store_release_i4(bell, load_acquire_i4(bell) + 1)
        ring(bell)


@realtime
def take_command(address, driver):
    """The driver's read: take the commands of the loop's last tick, whole or not at all.

    Args:
        address: of the image (`layout.device_image_dtype`), not 0.
        driver: record of `driver_dtype`; `command`, `mode` and what describes them are written.

    Returns:
        NEW (1), or NOTHING_NEW (0) if nothing has changed.
    """
    image = image_at(address)
    sequence = field_address(image, "command_sequence")
    count = min(driver.n_command, MAX_DEVICE_INTERFACES)
    parts = min(driver.n_parts, MAX_PARTS)
    for _ in range(READ_ATTEMPTS):
        before = load_acquire(sequence)
        if before & 1 == 1:
            continue
        cycle = load_relaxed(field_address(image, "command_cycle"))
        if cycle == driver.last_cycle:
            return NOTHING_NEW
        enable = load_relaxed(field_address(image, "command_enable"))
        state = load_relaxed(field_address(image, "command_state_cycle"))
        clears = load_relaxed(field_address(image, "command_clears"))
        copy_words(address_of(driver.incoming), address_of(image.command), count)
        copy_words(address_of(driver.incoming_mode), address_of(image.command_mode), parts)
        fence_acquire()
        if load_relaxed(sequence) != before:
            continue
        for i in range(count):
            driver.command[i] = driver.incoming[i]
        for p in range(parts):
            driver.mode[p] = driver.incoming_mode[p]
        driver.enable = enable
        driver.for_state = state
        driver.clears = clears
        driver.last_cycle = cycle
        return NEW
    return NOTHING_NEW


@realtime
def await_command(address, driver, deadline):
    """Take the loop's command of the state that was published last; wait for it until the deadline [ns].

    For a device whose driver is the loop's clock: set `wants_bell` once. Takes an older one, if that is all.

    Returns:
        AWAITED (2): it is the one of that state. NEW (1): of an older state. NOTHING_NEW (0).
    """
    image = image_at(address)
    bell = field_address(image, "command_bell")
    published = load_relaxed(field_address(image, "state_cycle"))
    found = NOTHING_NEW
    while True:
        rung = load_acquire_i4(bell)
        found = max(found, take_command(address, driver))
        if driver.for_state == published:
            return AWAITED if found == NEW else found
        if now_ns() >= deadline:
            return found
        wait_until(bell, rung, deadline)


driver_at: Callable[[int], Any] = record_at(driver_dtype)


_Publish = Callable[[int, int], object]
_Take = Callable[[int, int], int]
_Await = Callable[[int, int, int], int]


def _publish(image: int, driver: int) -> None:
    publish_state(image, driver_at(driver))


def _take(image: int, driver: int) -> int:
    return take_command(image, driver_at(driver))


def _wait(image: int, driver: int, deadline: int) -> int:
    return await_command(image, driver_at(driver), deadline)


@cache
def driver_calls() -> tuple[_Publish, _Take, _Await, _Await]:
    """`publish_state`, `take_command` and `await_command` for a driver in Python: of the addresses of image and record.

    `await_command` twice: for waits of less than a period, and for longer ones, without the interpreter.

    Compiled on first use. A call takes a third of a microsecond; Numba's own dispatcher takes two.
    """

    return (
        python_call(__name__, "_publish", 2, returns=False),
        python_call(__name__, "_take", 2),
        python_call(__name__, "_wait", 3),
        python_call(__name__, "_wait", 3, keeps_gil=False),
    )
