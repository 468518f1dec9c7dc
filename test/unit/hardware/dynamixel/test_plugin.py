"""The plugin `dynamixel` against servos on a pseudo-terminal: units, faults, recovery, what it refuses."""

from __future__ import annotations

import math
import os
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from dynamixel_bus import PING, READ, STATUS, Servo, ServoLine, packet

from robot_rt_control.hardware.dynamixel import bus
from robot_rt_control.hardware.dynamixel import control_table as table
from robot_rt_control.hardware.dynamixel.plugin import DynamixelPlugin
from robot_rt_control.testing.plugin_contract import ContractDevice, Run, info_of
from robot_rt_control.vocabulary.enums import CommandMode
from robot_rt_control.vocabulary.errors import HardwareError

CONFIG = Path(__file__).resolve().parents[4] / "config" / "dynamixel.yaml"
PULSE = 2 * math.pi / 4096
Make = Callable[..., "Cell"]


class Cell:
    """The plugin in its life cycle, and the servos, whose time passes with the exchanges."""

    def __init__(self, line: ServoLine, **parameters: Any) -> None:
        self.line = line

        class Counted(DynamixelPlugin):
            def _request(self) -> None:
                line.sent += 1
                super()._request()

        info = info_of(CONFIG, "bus", port=line.port, answer_timeout=2.0, **parameters)
        self.device = ContractDevice(plugin=Counted, info=info, lockstep=True, between=line.wait)
        self.run = Run(self.device)
        self.life, self.head, self.gripper = self.run.life, *info.parts

    def start(self) -> Cell:
        self.run.activate().known()
        return self

    def cycle(self, n: int = 1) -> None:
        self.run.cycle(n)
        self.run.read()

    def enable(self, mode: CommandMode = CommandMode.POSITION) -> None:
        self.run.follow(self.head, mode)

    def release(self) -> None:
        self.life.switch_modes({"head": CommandMode.NONE})

    def state(self, name: str) -> float:
        return float(self.life.state[self.run.states[name]])

    def command(self, name: str, value: float) -> None:
        self.life.command[self.run.commands[name]] = value


@pytest.fixture
def make() -> Iterator[Make]:
    cells: list[Cell] = []
    lines: list[ServoLine] = []

    def made(on_bus: tuple[Servo, ...] | None = None, line: ServoLine | None = None, **parameters: Any) -> Cell:
        if line is None:
            line = ServoLine(*(on_bus or three()), period_s=0.01)
            lines.append(line.__enter__())
        cells.append(Cell(line, **parameters))
        return cells[-1]

    yield made
    for cell in cells:
        cell.life.shutdown()
    for line in lines:
        line.__exit__()


def three() -> tuple[Servo, Servo, Servo]:
    return Servo(1, 1020, 2100), Servo(2, 1020, 2000), Servo(3, 1060, 2600)


# --- what passes on the bus ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (bytes([PING]), "FFFFFD00 01 0300 01 194E"),
        (bytes([STATUS, 0, 0x06, 0x04, 0x26]), "FFFFFD00 01 0700 55 00 060426 655D"),
        (bytes([READ, 0x84, 0, 4, 0]), "FFFFFD00 01 0700 02 84000400 1D15"),
        (bytes([STATUS, 0, 0xA6, 0, 0, 0]), "FFFFFD00 01 0800 55 00 A6000000 8CC0"),
    ],
)
def test_the_simulated_servos_speak_as_in_the_examples_of_the_protocols_description(content: bytes, shown: str) -> None:
    assert packet(1, content) == bytes.fromhex(shown)


def test_positions_velocities_and_efforts_in_the_joints_units_and_directions(make: Make) -> None:
    cell = make().start()
    pan, tilt, finger = cell.line.servos.values()
    assert cell.state("head/pan/position") == pytest.approx((2100 - 2048) * PULSE)
    assert cell.state("head/tilt/position") == pytest.approx((2048 - 2000) * PULSE), "it turns the other way"
    assert cell.state("gripper/finger/position") == pytest.approx((2600 - 2048) / 4096 * 0.0628)
    assert math.isnan(cell.state("gripper/finger/effort")), "this model measures no current"
    cell.enable(CommandMode.VELOCITY)
    cell.command("head/tilt/velocity", 0.5)
    cell.cycle(5)
    assert cell.state("head/tilt/velocity") == pytest.approx(0.5, abs=0.013)
    assert tilt.get(104, 4) == -round(0.5 / table.VELOCITY_UNIT)
    cell.release()
    cell.enable(CommandMode.EFFORT)
    cell.command("head/pan/effort", 0.3)
    cell.cycle(3)
    assert pan.get(102, 2) == round(0.3 / 1.78 / 0.00269)
    assert cell.state("head/pan/effort") == pytest.approx(0.3, abs=0.003)
    assert pan.table[11] == table.CURRENT_MODE and finger.table[11] == table.POSITION_MODE


def test_an_answer_with_the_header_in_its_data_is_understood(make: Make) -> None:
    cell = make().start()
    pan = cell.line.servos[1]
    read = pan.read
    pan.position = 2301.0  # 0x08FD after a velocity of -1: FF FF FF FF FD 08

    def reversing(address: int, size: int) -> tuple[int, bytes]:
        error, data = read(address, size)
        return error, data[:6] + b"\xff\xff\xff\xff" + data[10:]

    pan.read = reversing  # type: ignore[method-assign]
    cell.cycle(3)
    assert cell.state("head/pan/position") == pytest.approx((2301 - 2048) * PULSE)
    assert cell.state("head/pan/velocity") == pytest.approx(-table.VELOCITY_UNIT)


def test_the_servos_get_limits_once_and_a_new_driver_does_not_drop_what_is_held(make: Make) -> None:
    cell = make().start()
    pan = cell.line.servos[1]
    low, high = pan.get(52, 4), pan.get(48, 4)
    assert (low, high) == (2048 - round(2.5 / PULSE), 2048 + round(2.5 / PULSE))
    limits = cell.head.limits
    assert pan.get(44, 4) == round(limits.velocity[0] / table.VELOCITY_UNIT)
    assert pan.get(38, 2) == int(limits.effort[0] / 1.78 / 0.00269)
    assert pan.table[9] == 0, "no return delay"
    cell.enable()
    cell.release()
    cell.cycle(3)
    assert pan.torque, "it holds"
    cell.life.shutdown()
    written: list[int] = []
    write = pan.write
    pan.write = lambda address, data: (written.append(address), write(address, data))[1]  # type: ignore[method-assign,func-returns-value]
    make(line=cell.line).start()
    assert pan.torque and 64 not in written and not [a for a in written if a < 64]


def test_without_hold_a_released_joint_is_free(make: Make) -> None:
    cell = make(when_disabled="free").start()
    cell.enable()
    assert cell.line.servos[1].torque
    cell.release()
    cell.cycle(2)
    assert not cell.line.servos[1].torque


def test_a_homing_offset_is_written() -> None:
    servos = [dict(servo) for servo in info_of(CONFIG, "bus").parameters["servos"]]
    servos[0]["homing_offset"] = -100
    with ServoLine(*three(), period_s=0.01) as line:
        cell = Cell(line, servos=servos).start()
        assert line.servos[1].get(20, 4) == -100
        assert cell.state("head/pan/position") == pytest.approx((2000 - 2048) * PULSE)
        cell.life.shutdown()


def test_a_joint_without_an_effort_limit_has_its_effort_measured(tmp_path: Path) -> None:
    text = CONFIG.read_text().replace(", effort: 1.0}", "}").replace("[position, velocity, effort]", "[position]")
    (tmp_path / "cell.yaml").write_text(text)
    with ServoLine(*three(), period_s=0.01) as line:
        cell = Cell(line)
        info = info_of(tmp_path / "cell.yaml", "bus", port=line.port, answer_timeout=2.0)
        run = Run(replace(cell.device, info=info)).activate().known()
        assert run.joints(run.info.parts[0], "effort")[0] == 0.0
        run.life.shutdown()


def test_a_homing_offset_that_the_servo_would_ignore_is_refused(make: Make) -> None:
    with refused(r"servo 1 \(head.pan\): homing_offset; expected -1024 to 1024, .*; got 2000"):
        make(servos=servos_with(homing_offset=2000)).life.configure()


def test_goals_never_leave_the_servos_limits(make: Make) -> None:
    cell = make().start()
    cell.enable()
    for value in (9.0, -9.0):
        cell.command("head/pan/position", value)
        cell.cycle(3)
        goal = cell.line.servos[1].get(116, 4)
        assert goal == cell.line.servos[1].get(48 if value > 0 else 52, 4), "not refused, and so not ignored"


@pytest.mark.parametrize("wrong", [math.nan, math.inf])
@pytest.mark.parametrize("mode", [CommandMode.POSITION, CommandMode.VELOCITY, CommandMode.EFFORT])
def test_a_command_that_is_no_number_gives_up_its_servo_alone(make: Make, mode: CommandMode, wrong: float) -> None:
    cell = make().start()
    cell.enable(mode)
    cell.command(f"head/pan/{mode.name.lower()}", wrong)
    cell.cycle(3)
    assert cell.life.can_write and math.isnan(cell.state("head/pan/position"))
    assert math.isfinite(cell.state("head/tilt/position")) and cell.line.servos[2].torque
    assert cell.line.servos[1].get(104, 4) == cell.line.servos[1].get(102, 2) == 0


# --- faults -------------------------------------------------------------------------------------------


def test_a_hardware_error_gives_up_its_joint_alone_and_is_reset_by_a_reboot_once_released(
    make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    cell = make().start()
    cell.enable()
    pan = cell.line.servos[1]
    pan.fail(0x24)
    cell.cycle(3)
    assert math.isnan(cell.state("head/pan/position")) and math.isfinite(cell.state("head/tilt/position"))
    assert "servo 1 (head.pan): hardware error: overheating, overload" in caplog.text
    cell.cycle(300)
    assert pan.reboots == 0 and math.isnan(cell.state("head/pan/position")), "nothing resets it while it is commanded"
    cell.release()
    cell.run.known()
    assert (pan.reboots, pan.torque) == (1, False)
    cell.enable()
    assert pan.torque and cell.line.servos[2].torque


def test_a_servo_in_error_that_still_holds_its_joint_is_not_rebooted(
    make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    cell = make().start()
    cell.enable()
    pan = cell.line.servos[1]
    pan.table[70] = 0x01  # input voltage, which Shutdown (52 from the factory) does not have
    cell.cycle(3)
    cell.release()
    cell.cycle(300)
    assert pan.reboots == 0 and pan.torque and math.isnan(cell.state("head/pan/position"))
    assert "hardware error: input voltage; it still has torque: support the joint" in caplog.text


def test_an_error_whose_cause_stays_keeps_the_part_unknown_and_enabling_is_refused(make: Make) -> None:
    cell = make().start()
    cell.enable()
    pan = cell.line.servos[1]
    pan.fail(0x20, persists=True)
    cell.cycle(3)
    cell.release()
    cell.cycle(500)
    assert 2 <= pan.reboots <= 4 and math.isnan(cell.state("head/pan/position"))
    with pytest.raises(HardwareError, match=r"servo 1 \(head.pan\): hardware error: overload"):
        cell.life.switch_modes({"head": CommandMode.POSITION})


def test_a_servo_that_restarts_shows_nothing_false_and_is_set_up_again(make: Make) -> None:
    cell = make().start()
    cell.enable()
    before = cell.state("head/pan/position")
    cell.line.servos[1].restart()
    for _ in range(30):
        cell.cycle()
        shown = cell.state("head/pan/position")
        assert math.isnan(shown) or shown == pytest.approx(before, abs=2e-3), "never the numbers of other registers"
    assert math.isnan(shown)
    cell.release()
    cell.run.known()
    assert cell.state("head/pan/position") == pytest.approx(before, abs=2e-3)
    cell.enable()
    assert cell.line.servos[1].torque


def test_two_missing_or_damaged_answers_in_a_row_are_borne_and_the_third_is_not(
    make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    cell = make().start()
    cell.enable()
    pan = cell.line.servos[1]
    for _ in range(5):
        pan.garbles = 2
        cell.cycle(4)
        assert math.isfinite(cell.state("head/pan/position"))
    pan.mute = True
    cell.cycle(5)
    assert math.isnan(cell.state("head/pan/position")) and math.isfinite(cell.state("head/tilt/position"))
    assert "servo 1 (head.pan): no answer to 3 requests in a row" in caplog.text
    pan.mute = False
    cell.cycle(10)
    assert math.isnan(cell.state("head/pan/position")), "until its part is released"
    cell.release()
    cell.run.known()


def test_a_servo_that_is_given_up_gets_no_goals_but_rest(make: Make) -> None:
    """Its answers are damaged, but it hears."""
    cell = make().start()
    cell.enable(CommandMode.VELOCITY)
    cell.command("head/pan/velocity", 0.4)
    cell.cycle(5)
    pan = cell.line.servos[1]
    assert pan.get(104, 4) > 0
    pan.garbles = 10**6
    cell.cycle(6)
    assert pan.get(104, 4) == 0 and cell.line.servos[2].torque


def test_a_silent_bus_stops_the_servos_by_their_watchdogs_and_they_come_back(
    make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    cell = make().start()
    cell.enable(CommandMode.VELOCITY)
    cell.command("head/pan/velocity", 0.4)
    cell.cycle(5)
    pan = cell.line.servos[1]
    cell.line.pull()
    cell.cycle(40)
    stopped = pan.position
    cell.line.plug()
    cell.cycle(5)
    assert pan.table[98] == 0xFF and pan.position == stopped, "no goal moves it now"
    cell.release()
    cell.run.known()
    cell.enable()
    assert pan.table[98] == 10, "0.2 s"


def test_a_servo_without_torque_is_given_up_after_a_time(make: Make, caplog: pytest.LogCaptureFixture) -> None:
    cell = make().start()
    cell.line.servos[1].deaf_for = 10**6
    cell.enable()
    assert math.isfinite(cell.state("head/pan/position"))
    cell.cycle(60)
    assert math.isnan(cell.state("head/pan/position"))
    assert "it is not enabled after 0.5 s; it shows Torque Enable 0" in caplog.text


def test_a_lost_write_on_the_way_to_torque_is_repeated(make: Make) -> None:
    cell = make().start()
    cell.line.servos[1].deaf_for = 5
    cell.enable()
    cell.cycle(5)
    assert cell.line.servos[1].torque and math.isfinite(cell.state("head/pan/position"))


def ignoring(servo: Servo, register: int, times: int = 1, value: int | None = None) -> list[bytes]:
    """Let the servo miss this many writes of a register (with a value), as if the packets were damaged."""
    missed: list[bytes] = []
    write = servo.write

    def lossy(address: int, data: bytes) -> int:
        wanted = value is None or int.from_bytes(data, "little", signed=True) == value
        if address == register and wanted and len(missed) < times:
            missed.append(data)
            return 1  # what is not acknowledged is just lost
        return write(address, data)

    servo.write = lossy  # type: ignore[method-assign]
    return missed


def test_no_torque_before_the_servo_has_the_goal_to_stay_where_it_is(make: Make) -> None:
    cell = make().start()
    pan = cell.line.servos[1]
    pan.position = 3000.0  # turned by hand: its goal is 2100
    cell.cycle(2)
    missed = ignoring(pan, 116)
    cell.enable()
    assert missed and pan.torque and abs(pan.position - 3000.0) < 3.0
    assert math.isfinite(cell.state("head/pan/position"))


def test_a_joint_beyond_its_limits_gets_no_torque(make: Make, caplog: pytest.LogCaptureFixture) -> None:
    """The servo refuses such a goal: it would turn to the one that it has."""
    cell = make().start()
    pan = cell.line.servos[1]
    pan.position = 3900.0  # Max Position Limit is 3678
    cell.cycle(2)
    cell.enable()
    cell.cycle(60)
    assert not pan.torque and pan.position == 3900.0
    assert "it is 0.3405 beyond the joint's limits: turn it back by hand" in caplog.text


def test_a_command_that_moved_away_before_the_torque_came_is_not_jumped_to(
    make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    cell = make().start()
    start = cell.state("head/pan/position")
    cell.command("head/pan/position", start + 0.3)
    cell.command("head/tilt/position", cell.state("head/tilt/position"))
    cell.life.switch_modes({"head": CommandMode.POSITION})
    cell.cycle(10)
    assert "is more than 0.05 from its position" in caplog.text and math.isnan(cell.state("head/pan/position"))
    assert abs(cell.line.servos[1].position - 2100) < 2


def test_a_bus_slower_than_the_loop_is_asked_in_each_nth_period(make: Make) -> None:
    cell = make(every=4).start()
    sent = cell.line.sent
    cell.cycle(40)
    assert cell.line.sent - sent == 10
    cell.enable()
    cell.cycle(40)
    assert math.isfinite(cell.state("head/pan/position")) and cell.line.servos[1].torque


def test_a_lost_packet_does_not_leave_a_released_servo_turning(make: Make) -> None:
    cell = make().start()
    cell.enable(CommandMode.VELOCITY)
    cell.command("head/pan/velocity", 0.4)
    cell.cycle(5)
    pan = cell.line.servos[1]
    missed = ignoring(pan, 104, value=0)
    cell.release()
    cell.cycle(5)
    assert missed and pan.get(104, 4) == 0 and pan.speed == 0.0


def test_a_lost_packet_does_not_let_a_servo_turn_on_whose_watchdog_a_new_driver_clears(make: Make) -> None:
    cell = make().start()
    cell.enable(CommandMode.VELOCITY)
    cell.command("head/pan/velocity", 0.4)
    cell.cycle(5)
    pan = cell.line.servos[1]
    cell.run.plugin.close()  # as if its process were killed
    with suppress(HardwareError):
        cell.life.shutdown()
    for _ in range(30):
        cell.line.wait()
    pan.move()
    assert pan.table[98] == 0xFF and pan.get(104, 4) > 0
    missed = ignoring(pan, 104, value=0)
    make(line=cell.line).start().cycle(20)
    assert missed and pan.speed == 0.0 and pan.get(104, 4) == 0


def test_a_servo_that_follows_without_its_watchdog_is_given_up(make: Make, caplog: pytest.LogCaptureFixture) -> None:
    cell = make().start()
    cell.enable()
    cell.line.servos[1].table[98] = 0
    cell.cycle(3)
    assert math.isnan(cell.state("head/pan/position")) and "its watchdog is not set any more" in caplog.text


# --- what is refused ----------------------------------------------------------------------------------


@contextmanager
def refused(text: str) -> Iterator[None]:
    with pytest.raises(HardwareError, match=text):
        yield


def test_a_wrong_model_an_old_firmware_and_missing_servos_are_named(make: Make) -> None:
    with refused(r"servo 2 \(head.tilt\): model; expected XM430-W350; got XL430-W250"):
        make((Servo(1, 1020, 2100), Servo(2, 1060, 2000), Servo(3, 1060, 2600))).life.configure()
    with refused(r"servo 3 \(gripper.finger\): firmware; expected 38 or newer, which has a bus watchdog; got 37"):
        make((*three()[:2], Servo(3, 1060, 2600, firmware=37))).life.configure()
    with refused(r"servo 1 \(head.pan\), servo 3 \(gripper.finger\); expected an answer at 1000000 baud .* Check"):
        make((three()[1],)).life.configure()


def test_a_port_that_cannot_be_opened(make: Make) -> None:
    cell = make()
    life = Run(replace(cell.device, info=info_of(CONFIG, "bus", port="/dev/no_such_port"))).life
    with refused("serial port '/dev/no_such_port'; expected a port that can be opened; got .* group `dialout`"):
        life.configure()


def servos_with(**changes: Any) -> list[dict[str, Any]]:
    """The servos of the workcell file; the first one changed."""
    first, *others = info_of(CONFIG, "bus").parameters["servos"]
    changed = {**first, **changes}
    return [{k: v for k, v in changed.items() if v is not None}, *others]


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"servos": servos_with(joint="head.pam")}, r"servo 1: joint 'head.pam'; expected .*'head.pan'"),
        ({"servos": servos_with(id=2)}, "id 2; expected one servo with it; got 2 servos"),
        ({"servos": servos_with(joint="head.tilt")}, "joint 'head.tilt'; expected one servo with it; got 2"),
        ({"servos": servos_with()[1:]}, "joint 'head.pan'; expected a servo; got none"),
        ({"servos": servos_with(torque_constant=None)}, "moves head.pan: torque_constant; expected .*for efforts"),
        ({"servos": servos_with(model="XL430-W250")}, "command mode effort; expected a model that controls its curr"),
        ({"servos": servos_with(model="AX-12")}, r"servos\[0\].model; expected one of: XL430-W250, .*; got 'AX-12'"),
        ({"servos": servos_with(direction=0)}, r"servos\[0\].direction; expected one of: 1 or -1; got 0"),
        ({"baud_rate": 12345}, "baud_rate"),
        ({"baud_rate": 57600}, r"exchange with 3 servos at 57600 baud takes \d\d.\d ms; expected at most 10 ms"),
        ({"every": 10}, "watchdog: expected at least 3 exchanges of 0.1 s, got 0.2 s"),
        ({"watchdog": 3.0}, "watchdog"),
        ({"sync": True}, "sync: unknown key"),
    ],
)
def test_wrong_parameters_are_refused_at_once(parameters: dict[str, Any], text: str) -> None:
    with refused(text):
        Run(ContractDevice(plugin=DynamixelPlugin, info=info_of(CONFIG, "bus", **parameters)))


def test_a_joint_beyond_a_turn_uses_the_extended_position_mode(tmp_path: Path) -> None:
    wide = "position_lower: -9, position_upper: 9"
    text = CONFIG.read_text().replace("position_lower: -2.5, position_upper: 2.5", wide)
    (tmp_path / "wide.yaml").write_text(text)
    with ServoLine(*three(), period_s=0.01) as line:
        cell = Cell(line)
        cell.device = replace(
            cell.device, info=info_of(tmp_path / "wide.yaml", "bus", port=line.port, answer_timeout=2.0)
        )
        run = Run(cell.device).activate().known()
        pan = line.servos[1]
        assert pan.table[11] == table.EXTENDED_POSITION_MODE
        start = run.follow(run.info.parts[0], CommandMode.POSITION)
        for k in range(300):
            run.command(run.info.parts[0], "position", start + [0.02 * k, 0.0])
            run.cycle()
        assert pan.position > 4096 + 1000
        run.command(run.info.parts[0], "position", 0.0 * start + 99.0)
        run.cycle(3)
        assert pan.get(116, 4) == 2048 + round(9 / PULSE), "within the joint's limits, of which the servo knows nothing"
        run.life.shutdown()


def test_the_port_is_free_after_an_error(make: Make) -> None:
    cell = make().start()
    before = len(os.listdir("/proc/self/fd"))
    cell.run.plugin.read = lambda time_s, period_s: 1 / 0  # type: ignore[method-assign,return-value,assignment]
    with refused("ZeroDivisionError"):
        cell.cycle()
    assert len(os.listdir("/proc/self/fd")) < before
    make(line=cell.line).start()


def test_an_adapter_that_takes_nothing_more_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    own, other = os.openpty()  # nobody reads
    tty.setraw(other)
    monkeypatch.setattr(bus, "_WRITE_S", 0.2)
    line = bus.ServoBus(os.ttyname(other), 1_000_000, 0.01)
    with pytest.raises(OSError, match="Write timeout"):
        for _ in range(10_000):
            line.write_all(table.GOAL_VELOCITY, dict.fromkeys(range(100), 0))
    os.close(own)
    line.close()
    os.close(other)


def test_an_adapter_that_is_unplugged_is_an_error_of_the_device() -> None:
    with ServoLine(*three(), period_s=0.01) as line:
        cell = Cell(line).start()
    with refused("(read|write) returned ERROR: .*Input/output error"):
        cell.run.device = replace(cell.device, between=lambda _: None)
        cell.cycle(3)
    assert not cell.life.can_write
