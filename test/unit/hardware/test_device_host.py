"""What a host does with commands, silence, refusals and failures of its device."""

import numpy as np
import pytest

from robot_rt_control.hardware.device_host import DeviceHost
from robot_rt_control.hardware.image import read_state, write_command
from robot_rt_control.hardware.lockstep_host import LockstepHost
from robot_rt_control.hardware.mock_plugin import MockPlugin
from robot_rt_control.hardware.plugin import HardwareInfo, HardwareReturn, InterfaceDescription
from robot_rt_control.memory.joint_modes import pack_modes
from robot_rt_control.memory.layout import device_dtype
from robot_rt_control.testing.devices import arm
from robot_rt_control.testing.fan_plugin import FanPlugin
from robot_rt_control.vocabulary.enums import CommandMode, DriverMode, ImageError
from robot_rt_control.vocabulary.errors import HardwareError

DT = 0.001
SILENCE = 10
POSITION, VELOCITY = 0, 1


class RealPlugin(MockPlugin):
    """Counts as a real device."""

    simulated = False


class Bench:
    """A host with a mock arm, and the loop's side of its image."""

    def __init__(self, plugin=None, part=None, silence=SILENCE, withdraws=True):
        info = HardwareInfo(name="bench", parts=(part or arm(),), parameters={})
        self.host = DeviceHost(plugin or MockPlugin(), info, silence_periods=silence)
        self.device = np.zeros(1, device_dtype)[0]
        self.host.image.connect_device(self.device)
        self.host.activate()
        self.positions: list[float] = []
        if withdraws:  # as each executor begins
            self.cycle()
            self.positions.clear()

    def cycle(self, n=1, *, writes=True):
        """The loop's tick, if it lives, and the host's cycle."""
        for _ in range(n):
            self.result = read_state(self.device.image, self.device)
            if writes:
                write_command(self.device.image, self.device)
            self.host.cycle_write(0.0, DT)
            self.host.cycle_read(0.0, DT)
            self.positions.append(float(self.host.lifecycle.state[0]))

    @property
    def mode(self):
        return self.host.mode

    def command(self, mode, value, index=POSITION, enabled=1):
        self.device.mode[0], self.device.enabled = mode, enabled
        self.device.command[index] = value
        self.cycle()

    def move(self, n=100, speed=0.5):
        """Follow a ramp of positions."""
        for _ in range(n):
            self.command(CommandMode.POSITION, self.device.command[POSITION] + speed * DT)


def test_it_holds_until_commands_are_enabled():
    bench = Bench()
    bench.cycle(3, writes=False)
    bench.command(CommandMode.POSITION, 0.5, enabled=0)
    assert bench.positions == [0.0] * 4
    assert bench.mode == DriverMode.HOLDING
    bench.command(CommandMode.POSITION, 0.5)
    assert bench.positions[-1] == 0.5
    assert bench.host.image.record.driver_mode == DriverMode.FOLLOWING


def test_silence_brakes_and_is_reported_until_the_executor_withdraws():
    bench = Bench()
    bench.move()
    at = bench.positions[-1]
    bench.cycle(SILENCE, writes=False)
    assert bench.positions[-1] == at, "the last command is kept meanwhile"
    assert bench.mode == DriverMode.FOLLOWING
    bench.cycle(100, writes=False)
    assert bench.mode == DriverMode.HOLDING
    assert bench.positions[-1] == at, "the arm has stood meanwhile: it is not set moving again"
    rested_at = bench.positions[-1]
    # The executor wakes up and continues as before: this is reported, and its commands are not followed.
    bench.command(CommandMode.POSITION, 1.5)
    bench.cycle(3)
    assert bench.result == -1
    assert bench.host.image.record.state_error == ImageError.EXECUTOR_SILENT
    assert bench.positions[-1] == rested_at
    bench.command(CommandMode.POSITION, rested_at, enabled=0)
    bench.cycle(2)
    assert bench.host.image.record.state_error == 0
    bench.command(CommandMode.POSITION, rested_at + 0.001)
    assert bench.positions[-1] == rested_at + 0.001


def test_I26_a_device_that_a_hanging_executor_leaves_where_it_is_may_wait_for_longer():
    plugin = MockPlugin()
    plugin.silence_s = 5 * SILENCE * DT
    bench = Bench(plugin)
    bench.move()
    bench.cycle(5 * SILENCE, writes=False)
    assert bench.mode == DriverMode.FOLLOWING
    bench.cycle(1, writes=False)
    assert bench.mode != DriverMode.FOLLOWING


def test_I26_the_end_of_the_executor_brakes_at_once_from_the_speed_of_its_commands(monkeypatch):
    bench = Bench()
    bench.move()
    at = bench.positions[-1]
    monkeypatch.setattr(bench.host.image, "executor_alive", lambda: False)
    bench.cycle(1, writes=False)
    assert bench.mode == DriverMode.BRAKING
    bench.cycle(100, writes=False)
    assert bench.mode == DriverMode.HOLDING
    speeds = np.diff(bench.positions[-103:]) / DT
    assert (np.abs(np.diff(speeds)) <= 10.0 * DT + 1e-9).all()
    assert bench.positions[-1] == pytest.approx(at + 0.5**2 / 20.0, abs=2e-3)
    assert bench.host.image.record.state_error == ImageError.EXECUTOR_SILENT


def test_I26_what_was_held_is_not_set_in_motion_when_the_commands_that_come_again_are_withdrawn():
    bench = Bench()
    bench.move()
    bench.cycle(SILENCE - 2, writes=False)
    stood = bench.positions[-1]
    bench.command(CommandMode.POSITION, stood, enabled=0)
    bench.cycle(20)
    assert set(bench.positions[-20:]) == {stood}


@pytest.mark.parametrize(("plugin", "at_once"), [(RealPlugin, False), (MockPlugin, True)])
def test_I25_commands_that_were_missed_are_not_made_up_in_one_step_by_a_real_device(plugin, at_once):
    part = arm()
    bench = Bench(plugin(), part)
    bench.move(10)
    at, most = bench.positions[-1], 1.1 * part.limits.velocity[0] * 2 * DT
    for _ in range(50):  # the loop goes on while the driver hangs
        write_command(bench.device.image, bench.device)
    goal = at + 5.5 * most
    bench.command(CommandMode.POSITION, goal)
    assert (bench.positions[-1] == goal) is at_once
    bench.cycle(20)
    steps = np.diff(bench.positions[-22:])
    assert bench.positions[-1] == goal
    assert at_once or steps.max() <= most + 1e-12
    bench.move(10, speed=0.9 * part.limits.velocity[0])
    assert bench.positions[-1] == bench.device.command[POSITION], "nothing lags behind later on"


@pytest.mark.parametrize("mode", [CommandMode.POSITION, CommandMode.VELOCITY])
def test_I26_what_is_enabled_while_the_device_brakes_is_followed_once_it_is_at_rest_and_without_a_jump(mode):
    part = arm()
    bench = Bench(RealPlugin(), part)
    if mode == CommandMode.POSITION:
        bench.move()
    else:
        for _ in range(100):
            bench.command(CommandMode.VELOCITY, 0.5, VELOCITY)
    at = bench.positions[-1]
    bench.device.enabled = 0
    bench.cycle(3)
    assert bench.mode == DriverMode.BRAKING
    first = len(bench.positions)
    bench.command(CommandMode.POSITION, at)  # where it was when the executor looked
    assert bench.mode == DriverMode.BRAKING
    bench.cycle(200)
    assert bench.mode == DriverMode.FOLLOWING and bench.host.image.record.state_error == 0
    way = np.array(bench.positions[first - 1 :])
    end = int(way.argmax())
    assert way[end] > at + 0.005, "it has come to rest by its ramp"
    assert np.abs(np.diff(way[: end + 1], 2)).max() <= 10.0 * DT**2 + 1e-9
    assert way[-1] == at and np.diff(way).min() >= -1.1 * part.limits.velocity[0] * 2 * DT - 1e-9


@pytest.mark.parametrize(("plugin", "periods"), [(RealPlugin, 5), (MockPlugin, SILENCE)])
def test_I26_an_effort_of_a_real_device_is_not_held_for_an_executor_that_hangs(plugin, periods):
    bench = Bench(plugin())
    bench.command(CommandMode.EFFORT, 1.0, 2)
    bench.cycle(periods, writes=False)
    assert bench.mode == DriverMode.FOLLOWING
    bench.cycle(1, writes=False)
    assert bench.mode != DriverMode.FOLLOWING
    assert bench.host.lifecycle.modes["arm"][0] == CommandMode.POSITION
    bench.cycle(200, writes=False)
    assert bench.mode == DriverMode.HOLDING
    bench.command(CommandMode.NONE, 0.0, enabled=0)
    bench.move(10)
    bench.cycle(SILENCE, writes=False)
    assert bench.mode == DriverMode.FOLLOWING, "a position is held for longer again"


def test_I26_a_successor_follows_no_commands_that_were_enabled_for_another_driver():
    bench = Bench(withdraws=False)
    bench.command(CommandMode.POSITION, 0.5)
    bench.cycle(10)
    assert bench.result == -1
    assert bench.host.image.record.state_error == ImageError.EXECUTOR_SILENT
    assert set(bench.positions) == {0.0}
    bench.command(CommandMode.POSITION, 0.5, enabled=0)
    bench.cycle(1)
    assert bench.result == 1
    bench.command(CommandMode.POSITION, 0.1)
    assert bench.positions[-1] == 0.1


def test_the_ramp_starts_with_the_speed_of_commands_that_come_at_another_rate(monkeypatch):
    bench = Bench()
    for _ in range(50):
        # two ticks of the loop for each cycle of the driver
        bench.device.command[POSITION] += 0.5 * DT
        write_command(bench.device.image, bench.device)
        bench.command(CommandMode.POSITION, bench.device.command[POSITION] + 0.5 * DT)
    monkeypatch.setattr(bench.host.image, "executor_alive", lambda: False)
    bench.cycle(2, writes=False)
    assert bench.mode == DriverMode.BRAKING
    assert (bench.positions[-1] - bench.positions[-2]) / DT == pytest.approx(0.5, abs=0.02)


def test_each_joint_follows_in_its_own_mode_and_is_braked_from_it():
    bench = Bench()
    modes = pack_modes([CommandMode.POSITION, CommandMode.EFFORT])
    effort = 5  # of the second joint
    for _ in range(100):
        bench.command(modes, bench.device.command[POSITION] + 0.5 * DT)
        bench.device.command[effort] = 2.0
    assert bench.host.lifecycle.modes["arm"] == (CommandMode.POSITION, CommandMode.EFFORT)
    assert bench.host.lifecycle.state[4] == pytest.approx(0.2, rel=0.03)
    bench.cycle(SILENCE + 150, writes=False)
    assert bench.mode == DriverMode.HOLDING
    assert bench.host.lifecycle.modes["arm"] == (CommandMode.POSITION,) * 2
    assert bench.host.lifecycle.state[[1, 4]].tolist() == [0.0, 0.0]


def test_withdrawn_commands_brake_without_error():
    bench = Bench()
    bench.command(CommandMode.VELOCITY, 1.0, VELOCITY)
    bench.cycle(10)
    bench.device.enabled = 0
    bench.cycle(1)
    assert bench.mode == DriverMode.BRAKING
    bench.cycle(110)
    assert bench.mode == DriverMode.HOLDING
    assert bench.host.lifecycle.state[1] == 0.0
    assert bench.host.image.record.state_error == 0
    bench.device.enabled = 1
    bench.command(CommandMode.VELOCITY, 0.25, VELOCITY)
    assert bench.host.lifecycle.state[1] == 0.25


def test_joints_are_released_once_a_disabled_device_is_at_rest_but_not_when_the_executor_is_silent():
    bench = Bench()
    bench.move()
    bench.device.enabled = 0
    bench.cycle(1)
    assert bench.host.lifecycle.modes["arm"][0] == CommandMode.POSITION, "it brakes in its mode"
    bench.cycle(110)
    assert bench.mode == DriverMode.HOLDING
    assert bench.host.lifecycle.modes["arm"] == (CommandMode.NONE,) * 2
    bench.move(10)
    assert bench.host.lifecycle.modes["arm"][0] == CommandMode.POSITION
    bench.cycle(SILENCE + 150, writes=False)
    assert bench.mode == DriverMode.HOLDING
    assert bench.host.lifecycle.modes["arm"][0] == CommandMode.POSITION, "nobody has disabled it: it holds with torque"
    bench.command(CommandMode.POSITION, 0.0, enabled=0)
    bench.cycle(2)
    assert bench.host.lifecycle.modes["arm"] == (CommandMode.NONE,) * 2


def test_effort_commands_that_stop_become_a_held_position():
    bench = Bench()
    bench.command(CommandMode.EFFORT, 50.0, 2)
    bench.cycle(10)
    assert bench.host.lifecycle.state[1] > 0.4
    bench.cycle(SILENCE + 150, writes=False)
    assert bench.mode == DriverMode.HOLDING
    assert bench.host.lifecycle.modes["arm"][0] == CommandMode.POSITION
    assert bench.host.lifecycle.state[1] == 0.0


@pytest.mark.parametrize("mode", [CommandMode.EFFORT, 77])
def test_a_refused_mode_brakes_and_is_reported(mode, caplog):
    bench = Bench(part=arm(supported_modes=frozenset({CommandMode.POSITION})))
    bench.move()
    bench.command(mode, 1.0, 2)
    assert bench.mode == DriverMode.BRAKING
    bench.cycle(100)
    assert bench.host.image.record.state_error == ImageError.MODE_REFUSED
    assert bench.mode == DriverMode.HOLDING
    unsupported, unknown = "does not support command mode EFFORT", "expected a CommandMode of each joint; got 0x4d"
    assert (unsupported if mode == CommandMode.EFFORT else unknown) in caplog.text
    bench.command(CommandMode.POSITION, bench.positions[-1], enabled=0)
    bench.cycle(1)
    assert bench.host.image.record.state_error == 0


def test_end_following_rests_whatever_is_commanded():
    bench = Bench()
    bench.move()
    bench.host.end_following()
    bench.cycle(100)
    assert bench.mode == DriverMode.HOLDING
    assert bench.host.image.record.state_error == ImageError.DRIVER_ENDING
    bench.command(CommandMode.POSITION, 2.0, enabled=0)
    bench.command(CommandMode.POSITION, 2.0)
    assert bench.positions[-1] < 0.2


def test_a_failed_device_is_reported_and_left_alone():
    class Breaking(MockPlugin):
        reads = 0

        def read(self, time_s, period_s):
            self.reads += 1
            if self.reads > 5:
                self.reason = "the bus is gone"
                return HardwareReturn.ERROR
            return super().read(time_s, period_s)

    plugin = Breaking()
    bench = Bench(plugin)
    bench.cycle(10)
    assert bench.result == -1
    assert bench.host.image.record.state_error == ImageError.DEVICE
    assert "read returned ERROR: the bus is gone" in str(bench.host.failure)
    assert plugin.reads == 6


def test_a_device_that_fails_at_once_does_not_start():
    class Broken(MockPlugin):
        def read(self, time_s, period_s):
            raise OSError("no such bus")

    with pytest.raises(HardwareError, match=r"hardware 'bench' \(Broken\): read returned ERROR: OSError: no such bus"):
        Bench(Broken())


def test_joint_interfaces_must_come_first_and_in_order():
    class Shuffled(MockPlugin):
        def export_state_interfaces(self):
            return [InterfaceDescription(part="arm", interface="extra"), *super().export_state_interfaces()][::-1]

    with pytest.raises(HardwareError, match="part 'arm': exported interfaces of its joints; expected position, veloci"):
        Bench(Shuffled())


def test_lockstep_without_watching_waits_for_ever():
    host = LockstepHost("mock", HardwareInfo(name="bench", parts=(arm(),)))
    device = np.zeros(1, device_dtype)[0]
    host.image.connect_device(device)
    host.activate()
    device.mode[0], device.enabled, device.command[VELOCITY] = CommandMode.VELOCITY, 1, 0.5
    write_command(device.image, device)
    for _ in range(1000):
        host.cycle_write(0.0, DT)
        host.cycle_read(0.0, DT)
    assert read_state(device.image, device) == 1
    assert device.state[POSITION] == pytest.approx(0.5)
    host.shutdown()
    host.shutdown()


def test_lockstep_refuses_hardware_that_does_not_wait():
    class Real(FanPlugin):
        simulated = False

    info = HardwareInfo(name="fan", parts=(arm("fan", 1),))
    with pytest.raises(HardwareError, match="hardware 'fan': Real in lockstep; expected a plugin that simulates"):
        LockstepHost(Real(), info)
