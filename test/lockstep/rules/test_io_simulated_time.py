"""Simulated time (I13 to I19): an executor whose clock goes by itself, with devices hosted in its process."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from robot_rt_control.hardware.clocks import AUTO, LOCKSTEP, REALTIME, chosen_clock
from robot_rt_control.hardware.driver import Driver
from robot_rt_control.hardware.plugin import HardwareInfo, HardwareReturn
from robot_rt_control.memory.atomics import store_release
from robot_rt_control.memory.layout import channel_dtype, offset_of
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.realtime.executor.executor import Executor, ExecutorOptions
from robot_rt_control.realtime.executor.pacing import Pacer
from robot_rt_control.server.sessions import SessionRegistry
from robot_rt_control.testing.devices import arm
from robot_rt_control.testing.fan_plugin import FanPlugin
from robot_rt_control.vocabulary import defaults
from robot_rt_control.vocabulary.enums import EventKind, FaultReason, OperationalState
from robot_rt_control.vocabulary.waiting import Waiting

_FILE = Path(__file__).parent / "workcell.yaml"
_CONFIG = Path(__file__).parents[3] / "config"
_HOSTED = "robot_rt_control.hardware.mock_plugin:MockPlugin"
_BOUND_S = 300.0


def until(condition: Callable[[], Any]) -> None:
    deadline = time.monotonic() + _BOUND_S
    while not condition():
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.005)


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., Executor]]:
    made: list[Executor] = []

    def executor(**options: Any) -> Executor:
        found = Executor(
            load_workcell(_FILE, _HOSTED),
            ExecutorOptions(clock=LOCKSTEP, fault_folder=tmp_path, **options),
            channel_name=None,
            image_name=lambda device: device,
        )
        found.configure(lambda _: None)
        made.append(found)
        return found

    yield executor
    for found in made:
        found.deactivate()
        found.cleanup()


def states(executor: Executor) -> set[str]:
    return {part.operational_state for part in executor.part_status()}


def test_I13_a_simulator_lives_in_simulated_time_and_other_hardware_does_not(make: Callable[..., Executor]) -> None:
    names = ("iiwa", "panda", "gluing", "arm7")
    clocks = {name: chosen_clock(AUTO, load_workcell(_CONFIG / f"{name}.yaml")) for name in names}
    assert clocks == {"iiwa": LOCKSTEP, "panda": LOCKSTEP, "gluing": LOCKSTEP, "arm7": REALTIME}
    iiwa = _CONFIG / "iiwa.yaml"
    assert chosen_clock(AUTO, load_workcell(iiwa, "mock")) == REALTIME
    assert chosen_clock(REALTIME, load_workcell(iiwa)) == REALTIME, "by choice"
    executor = make()
    executor.activate()
    begin, first = time.monotonic(), executor.world.memory.tick
    until(lambda: executor.world.memory.tick > first + 200)
    assert executor.world.memory.tick - first <= (time.monotonic() - begin) * 1000 + 40, "paced to the wall clock"
    assert executor.world.memory.now_ns == executor.world.memory.tick * 1_000_000


def test_I14_on_a_slow_machine_nothing_is_late(make: Callable[..., Executor]) -> None:
    executor = make()
    plugin = executor.devices.hosts["first"].plugin
    read, cycles = plugin.read, []

    def slow(time_s: float, period_s: float) -> HardwareReturn:
        cycles.append(executor.world.memory.tick)
        if len(cycles) % 50 == 0:
            time.sleep(0.2)  # 200 periods; max_age_ticks is 3
        return read(time_s, period_s)

    plugin.read = slow
    executor.activate()
    until(lambda: len(cycles) > 500)
    assert states(executor) == {"enabled"}
    assert cycles == list(range(cycles[0], cycles[0] + len(cycles))), "a tick for each cycle"
    memory = executor.channel.memory
    assert memory.timing.deadline_misses == 0 and memory.snapshot.events_lost == 0
    assert not executor.world.memory.watching, "time budgets are not watched (K12)"


def test_I15_the_factor_that_is_reached_is_told_and_a_low_one_is_a_warning(make: Callable[..., Executor]) -> None:
    executor = make(real_time_factor=1.0)
    plugin = executor.devices.hosts["first"].plugin
    read = plugin.read

    def slow(time_s: float, period_s: float) -> HardwareReturn:
        time.sleep(0.003)
        return read(time_s, period_s)

    plugin.read = slow
    executor.activate()
    executor.real_time_factor()
    time.sleep(1.1)
    factor, target, warning = executor.real_time_factor()
    assert 0.0 < factor < 0.4 and target == 1.0
    assert warning.startswith(f"simulated time runs at {factor:.2f} of real time, paced to 1: the machine is too slow")
    gated = make(real_time_factor=-1.0)
    assert all(math.isnan(value) for value in gated.real_time_factor()[:2]) and gated.real_time_factor()[2] == ""


def test_I16_after_a_stall_simulated_time_does_not_sprint() -> None:
    now = [100.0]
    pacer = Pacer(1.0, clock=lambda: now[0])
    now[0] += 30.0
    pauses = [pacer.pause(0.005) for _ in range(8)]
    assert pauses[:5] == pytest.approx([0.0] * 5, abs=1e-9), "at most 20 ms are caught up with"
    assert pauses[5:] == pytest.approx([0.005, 0.01, 0.015])


def test_I17_a_server_that_hangs_is_lost_after_a_patient_while(make: Callable[..., Executor]) -> None:
    executor = make(real_time_factor=0.0, simulated_silence_s=1.0)
    executor.activate()
    memory = executor.channel.memory
    memory.server_epoch = 1
    names = ("server_native_beat", "server_python_beat")
    beats = [executor.channel.address + offset_of(channel_dtype, name) for name in names]
    begin = time.monotonic()
    while time.monotonic() < begin + 0.3:
        for address in beats:
            store_release(address, int(memory.server_native_beat) + 1)
        time.sleep(0.02)

    def lost() -> bool:
        return any(int(event["kind"]) == EventKind.SERVER_LOST for event in executor.channel.take_events())

    silent = time.monotonic()
    until(lost)
    assert time.monotonic() - silent > 0.9
    assert defaults.SIMULATED_SERVER_SILENCE_S == 20.0


def test_I17_leases_last_ten_seconds_at_least() -> None:
    now = [0.0]
    sessions = SessionRegistry(["arm", "gripper"], clock=lambda: now[0])
    sessions.shortest_lease = defaults.SIMULATED_LEASE_S
    short, endless = sessions.open("short", ["arm"], 1.0, 1), sessions.open("endless", ["gripper"], 0.0, 2)
    assert (short.lease, endless.lease) == (10.0, 0.0)
    now[0] = 9.9
    assert not sessions.overdue()
    now[0] = 10.1
    assert [session.id for session, _ in sessions.overdue()] == [short.id]


def test_I17_deadlines_count_simulated_time() -> None:
    wall, simulated = [100.0], [7.0]
    sessions = SessionRegistry(["arm"], clock=lambda: wall[0])
    sessions.deadline_clock = lambda: simulated[0]
    session = sessions.open("slow", ["arm"], 0.0, 1, deadline=2.0)
    wall[0], simulated[0] = 200.0, 8.9
    assert sessions.overdue() == [] and sessions.remaining(session) == pytest.approx(0.1)
    simulated[0] = 9.0
    assert sessions.overdue() == [(session, "its deadline of 2 s has come")]


def test_I18_what_is_not_up_yet_is_waited_for_and_named(
    make: Callable[..., Executor], monkeypatch: pytest.MonkeyPatch
) -> None:
    talkative = partial(Waiting, every_s=0.0, clock=lambda: 0.0)
    monkeypatch.setattr("robot_rt_control.realtime.executor.executor.Waiting", talkative)
    executor = make(real_time_factor=0.0)
    plugin = executor.devices.hosts["second"].plugin
    read = plugin.read
    calls: list[int] = []
    said: list[str] = []

    def late(time_s: float, period_s: float) -> HardwareReturn:
        calls.append(1)
        result = read(time_s, period_s)
        if len(calls) < 300:
            plugin.state[:] = math.nan
        return result

    plugin.read = late
    executor.activate(said.append)
    assert "still waiting for the first states of right (0 s)" in said
    assert len(calls) >= 300 and states(executor) == {"enabled"}
    assert {int(r.fault) for r in executor.world.memory.parts_runtime} == {int(FaultReason.NONE)}


def test_I18_after_a_generous_time_it_is_an_error_that_names_the_parts(
    make: Callable[..., Executor], caplog: pytest.LogCaptureFixture
) -> None:
    executor = make(real_time_factor=0.0, device_timeout_s=0.3)
    plugin = executor.devices.hosts["second"].plugin

    def never(time_s: float, period_s: float) -> HardwareReturn:
        plugin.state[:] = math.nan
        return HardwareReturn.OK

    plugin.read = never
    executor.activate()
    assert "not enabled, as their position is not known: right; enable them later" in caplog.text
    right = executor.workcell.part("right").index
    assert executor.world.memory.parts_runtime[right].state == OperationalState.DISABLED
    assert defaults.STARTUP_S == 900.0 and ExecutorOptions().device_timeout_s == defaults.STARTUP_S


class Stalling(FanPlugin):
    """Its second cycle takes seven periods and a half."""

    cycles = 0

    def write(self, time_s: float, period_s: float) -> HardwareReturn:
        self.cycles += 1
        if self.cycles == 2:
            time.sleep(7.5 * period_s)
        return super().write(time_s, period_s)


def test_I19_a_driver_that_was_late_leaves_cycles_out(tmp_path: Path) -> None:
    info = HardwareInfo(name="fan", period_s=0.004, parts=(arm("fan", 1),))
    driver = Driver(Stalling(), info, image_name=f"test_{tmp_path.name}")
    driver.start()
    try:
        begin = time.monotonic()
        driver.run(5)
        assert time.monotonic() - begin >= 0.004 * (7.5 + 2), "the cycles after the stall kept their distance"
        assert driver.overruns >= 1
    finally:
        driver.close()
