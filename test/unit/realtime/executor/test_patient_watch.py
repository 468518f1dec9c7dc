"""A control server that hangs beside a loop in simulated time, with a clock of the test's own."""

from __future__ import annotations

from robot_rt_control.memory.atomics import store_release
from robot_rt_control.memory.channel import Channel
from robot_rt_control.memory.layout import channel_dtype, offset_of
from robot_rt_control.realtime.executor.patient_watch import PatientWatch
from robot_rt_control.realtime.executor.server_patience import ServerPatience


class Bench:
    def __init__(self) -> None:
        self.channel = Channel.private()
        self.now = 10.0
        self.channel.memory.server_epoch = 1
        self.patience = ServerPatience(self.channel, native_s=5.0, python_s=5.0, starved_s=0.0)
        self.watch = PatientWatch(self.channel, 5.0, self.patience, clock=lambda: self.now)

    def beat(self, *names: str) -> None:
        for name in names:
            self.channel.memory[f"server_{name}_beat"] += 1

    def goes_silent_after(self, *beating: str, at_most: float = 60.0) -> float:
        """Time until the server counts as lost, while these heartbeats go on."""
        begin = self.now
        while self.now - begin < at_most:
            self.now += 0.1
            self.beat(*beating)
            if self.watch.lost():
                return self.now - begin
        return at_most


def test_S8_in_simulated_time_either_heartbeat_may_be_silent_for_long_but_not_for_ever() -> None:
    for beating in (("native",), ("python",), ()):
        bench = Bench()
        assert bench.goes_silent_after("native", "python") == 60.0
        assert 4.9 < bench.goes_silent_after(*beating) < 5.4
        assert bench.goes_silent_after(*beating) == 60.0, "said once for each server"
        bench.channel.memory.server_epoch += 1
        bench.goes_silent_after("native", "python", at_most=1.0)
        assert 4.9 < bench.goes_silent_after() < 5.4, "and again for the next one"


def test_S29_in_simulated_time_a_server_without_processor_time_is_waited_for() -> None:
    bench = Bench()
    bench.goes_silent_after("native", "python", at_most=1.0)
    bench.patience.native_starved = bench.patience.python_starved = True
    assert bench.goes_silent_after(at_most=600.0) == 600.0
    bench.patience.native_starved = bench.patience.python_starved = False
    assert 4.8 < bench.goes_silent_after() < 5.4, "from now on it hangs"


def test_while_the_executor_itself_stands_still_nobody_is_missed() -> None:
    bench = Bench()
    bench.goes_silent_after("native", "python", at_most=1.0)
    for _ in range(10):
        bench.now += 30.0
        assert not bench.watch.lost()


def test_a_server_without_heartbeats_is_not_watched() -> None:
    assert Bench().goes_silent_after() == 60.0


def test_the_counters_are_those_of_the_heartbeats() -> None:
    bench = Bench()
    bench.goes_silent_after("native", "python", at_most=1.0)
    address = bench.channel.address + offset_of(channel_dtype, "server_native_beat")
    for k in range(100):
        store_release(address, 1000 + k)
        bench.now += 0.1
        bench.beat("python")
        assert not bench.watch.lost()
