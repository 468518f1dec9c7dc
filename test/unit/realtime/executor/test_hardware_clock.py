"""Waiting for the driving device: woken by its publication, and by nothing else before the time-out."""

from __future__ import annotations

import sys
import threading
import time
from typing import Any

import numba
import numpy as np

from robot_rt_control.hardware.image import image_at, publish_state
from robot_rt_control.hardware.interfaces import InterfaceDescription
from robot_rt_control.hardware.plugin import HardwareInfo
from robot_rt_control.hardware.process_image import Manifest, ProcessImage
from robot_rt_control.memory.layout import world_dtype
from robot_rt_control.memory.wake import now_ns
from robot_rt_control.realtime.executor.hardware_clock import wait_for_device
from robot_rt_control.realtime.executor.loop_records import loop_dtype

MS = 1_000_000
STATE = [InterfaceDescription(part="p", interface="x")]


@numba.njit(nogil=True)
def _publish(address, side):
    publish_state(address, side)


@numba.njit(nogil=True)
def _wait(w, loop, expected, woken):
    due = wait_for_device(w, loop, expected)
    woken[0] = now_ns()
    return due


class Waiting:
    """A loop that waits for one device, and the driver's side of that device's image."""

    def __init__(self, timeout_ms: int = 5) -> None:
        self.image = ProcessImage.private(Manifest.of(HardwareInfo(name="d"), STATE, []))
        self.side = self.image.new_driver_side()
        self.world: Any = np.zeros(1, world_dtype)[0]
        self.world.devices[0].image = self.image.address
        self.loop: Any = np.zeros(1, loop_dtype)[0]
        self.loop.driving_device, self.loop.device_timeout_ns = 1, timeout_ms * MS
        self.woken = np.zeros(1, np.int64)

    def publish(self) -> None:
        _publish(self.image.address, self.side)

    def wait(self, expected: int) -> int:
        return int(_wait(self.world, self.loop, expected, self.woken))


def test_a_publication_is_due_when_it_was_made_and_only_once() -> None:
    waiting = Waiting()
    waiting.wait(0)  # now the driver is told that somebody waits
    before = time.monotonic_ns()
    waiting.publish()
    after = time.monotonic_ns()
    assert before <= waiting.wait(time.monotonic_ns() + 100 * MS) <= after
    assert waiting.loop.on_own_watch == 0
    expected = time.monotonic_ns() + 10 * MS
    assert waiting.wait(expected) == expected + 5 * MS, "the next one did not come"
    assert waiting.loop.on_own_watch == 1


def test_several_publications_are_one_tick() -> None:
    waiting = Waiting()
    waiting.wait(0)
    for _ in range(3):
        waiting.publish()
    waiting.wait(time.monotonic_ns() + 100 * MS)
    expected = time.monotonic_ns() + MS
    assert waiting.wait(expected) == expected + 5 * MS


def test_on_its_own_watch_it_keeps_the_period_until_the_device_is_back() -> None:
    waiting = Waiting(timeout_ms=50)
    expected = waiting.wait(time.monotonic_ns())
    for _ in range(3):
        expected += 2 * MS
        assert waiting.wait(expected) == expected
        assert time.monotonic_ns() >= expected
    waiting.publish()
    published = time.monotonic_ns()
    assert expected <= waiting.wait(expected + 2 * MS) <= published
    assert waiting.loop.on_own_watch == 0


def test_a_new_image_is_waited_for_from_then_on() -> None:
    waiting, other = Waiting(), Waiting()
    waiting.wait(0)
    other.publish()  # before anybody looks at it
    waiting.world.devices[0].image = other.image.address
    expected = time.monotonic_ns() + MS
    assert waiting.wait(expected) == expected, "what it held before is nothing new"
    assert image_at(other.image.address).is_clock == 1
    other.publish()
    assert waiting.wait(time.monotonic_ns() + 100 * MS) < time.monotonic_ns()


def test_without_an_image_it_keeps_the_period() -> None:
    waiting = Waiting()
    waiting.world.devices[0].image = 0
    expected = time.monotonic_ns() + MS
    assert waiting.wait(expected) == expected + 5 * MS


def test_it_is_woken_however_busy_the_interpreter_is() -> None:
    """Another thread turns in Python until then, and gives the interpreter to nobody."""
    Waiting(timeout_ms=0).wait(0)  # compiles it
    waiting = Waiting(timeout_ms=60_000)
    thread = threading.Thread(target=lambda: waiting.wait(time.monotonic_ns()))
    interval = sys.getswitchinterval()
    try:
        sys.setswitchinterval(60.0)
        thread.start()
        while not waiting.image.record.is_clock:
            time.sleep(0.001)  # then it waits, without the interpreter
        waiting.publish()
        given_up = time.monotonic() + 30.0
        while waiting.woken[0] == 0 and time.monotonic() < given_up:
            pass
        assert waiting.woken[0] > 0
    finally:
        sys.setswitchinterval(interval)
    thread.join()
