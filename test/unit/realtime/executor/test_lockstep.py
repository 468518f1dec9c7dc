"""Lockstep: ticks by request, at a speed, or as fast as possible; nothing else runs while they do."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from robot_rt_control.hardware.lockstep_host import LockstepHost
from robot_rt_control.hardware.mock_plugin import MockPlugin
from robot_rt_control.hardware.plugin import HardwareInfo, HardwareReturn
from robot_rt_control.memory.channel import Channel
from robot_rt_control.realtime.executor.assembly import World
from robot_rt_control.realtime.executor.devices import Devices
from robot_rt_control.realtime.executor.executor import Executor, ExecutorOptions
from robot_rt_control.realtime.executor.lockstep import Lockstep
from robot_rt_control.testing.devices import arm
from robot_rt_control.vocabulary.enums import Command
from robot_rt_control.vocabulary.errors import RobotControlError


class Bench:
    def __init__(self, world: World, factor: float, hosts: dict[str, LockstepHost] | None = None) -> None:
        self.w, self.channel = world.memory, Channel.private()
        self.batches = 0
        devices = Devices(world, in_process=True, image_name=lambda device: device)
        devices.hosts.update(hosts or {})
        self.lockstep = Lockstep(
            world, self.channel, devices, period_ns=1_000_000, factor=factor, before_tick=self._before
        )

    def _before(self) -> None:
        self.batches += 1

    @property
    def tick(self) -> int:
        return int(self.w.tick)


@pytest.fixture
def make(world: World) -> Iterator[Callable[..., Bench]]:
    made: list[Bench] = []

    def bench(factor: float, hosts: dict[str, LockstepHost] | None = None) -> Bench:
        made.append(Bench(world, factor, hosts))
        return made[-1]

    yield bench
    for started in made:
        started.lockstep.stop()


def test_time_goes_by_steps(make: Callable[..., Bench]) -> None:
    bench = make(-1.0)
    bench.lockstep.start()
    time.sleep(0.02)
    assert bench.tick == 0, "not by itself"
    assert bench.lockstep.step(1) == 1 and bench.lockstep.step(41) == 42
    assert (bench.tick, bench.batches, bench.lockstep.time_ns) == (42, 2, 42_000_000)
    assert bench.w.now_ns == 42_000_000 and bench.w.time == pytest.approx(0.042)
    assert bench.lockstep.step(0) == 42


def test_who_waits_for_events_is_woken_after_a_step(make: Callable[..., Bench]) -> None:
    bench = make(-1.0)
    internal = bench.w.internal
    internal.command, internal.part = int(Command.DISABLE), -1
    bench.w.pending_internal = 1
    woken: list[bool] = []
    thread = threading.Thread(target=lambda: woken.append(bench.channel.wait_for_events(120.0)))
    thread.start()
    time.sleep(0.02)
    bench.lockstep.step(1)
    thread.join(60.0)
    assert woken == [True]


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_I13_time_goes_no_faster_than_its_factor(make: Callable[..., Bench], factor: float) -> None:
    bench = make(factor)
    bench.lockstep.step(1)  # compiles
    begin, first = time.monotonic(), bench.tick
    bench.lockstep.start()
    while bench.tick < first + 400:
        time.sleep(0.005)
    bench.lockstep.stop()
    took, ticks = time.monotonic() - begin, bench.tick - first
    assert ticks <= factor * took * 1000 + 2 * 20
    time.sleep(0.02)
    assert bench.tick == first + ticks, "it stands still"


class Slow(MockPlugin):
    def read(self, time_s: float, period_s: float) -> HardwareReturn:
        time.sleep(0.004)
        return super().read(time_s, period_s)


def test_I14_a_device_that_takes_long_slows_time_down_and_misses_nothing(make: Callable[..., Bench]) -> None:
    host = LockstepHost(Slow(), HardwareInfo(name="slow", parts=(arm(),)))
    host.activate()
    bench = make(1.0, {"slow": host})
    bench.lockstep.step(1)
    bench.lockstep.meter.factor(bench.lockstep.time_ns * 1e-9)
    bench.lockstep.start()
    begin = time.monotonic()
    while time.monotonic() - begin < 1.2:
        time.sleep(0.05)
    bench.lockstep.stop()
    factor = bench.lockstep.meter.factor(bench.lockstep.time_ns * 1e-9)
    assert factor < 0.3
    assert "simulated time runs at 0." in bench.lockstep.meter.shortfall(factor)
    assert bench.channel.memory.timing.deadline_misses == 0
    assert host.image.record.state_cycle == bench.tick + 1, "one look at the device for each tick, and one before"
    host.shutdown()


def test_as_fast_as_possible_is_faster_than_the_clock(make: Callable[..., Bench]) -> None:
    bench = make(0.0)
    bench.lockstep.step(1)
    begin = time.monotonic()
    bench.lockstep.start()
    while bench.tick < 2000:
        assert time.monotonic() - begin < 200.0
        time.sleep(0.001)
    bench.lockstep.stop()
    bench.lockstep.start()  # and on again
    tick = bench.tick
    while bench.tick == tick:
        time.sleep(0.001)


def test_what_is_served_runs_between_ticks(make: Callable[..., Bench]) -> None:
    bench = make(0.0)
    bench.lockstep.step(1)
    bench.lockstep.start()
    seen: list[tuple[int, int]] = []

    def look() -> None:
        before = bench.tick
        time.sleep(0.002)
        seen.append((before, bench.tick))

    for _ in range(10):
        bench.lockstep.serve(look)
    assert all(before == after for before, after in seen)
    assert seen[0][0] <= seen[-1][0]


def test_whoever_is_to_be_served_gets_in_while_time_falls_behind(make: Callable[..., Bench]) -> None:
    bench = make(1000.0)  # never reached: the loop does not pause
    bench.lockstep.step(1)
    bench.lockstep.start()
    served: list[int] = []
    for k in range(20):
        bench.lockstep.serve(lambda k=k: served.append(k))  # type: ignore[misc]
    assert served == list(range(20))


def test_a_step_on_the_wall_clock_is_refused(workcell) -> None:
    executor = Executor(workcell, ExecutorOptions(), channel_name=None, image_name=lambda device: device)
    with pytest.raises(RobotControlError, match="step; expected clock:=lockstep; got realtime. Restart the executor"):
        executor.step(1)
    executor.cleanup()
