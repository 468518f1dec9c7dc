"""Rules D14 to D22 of docs/semantics/drives.md: drives on CANopen."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from canopen_rig import CONFIG, EDS, Rig, rigs
from cia402_node import DISABLED, ENABLED, FAULT, QUICK_STOP, REACTION, READY, SWITCHED_ON, NodeNetwork, Servo

from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.hardware.canopen.plugin import CanopenPlugin
from robot_rt_control.hardware.plugin import HardwareReturn
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.enums import CommandMode, OperationalState
from robot_rt_control.vocabulary.errors import HardwareError

COUNTS = 50 * 65536
"""For a metre."""


@pytest.fixture
def rig() -> Iterator[Callable[..., Rig]]:
    with rigs() as make:
        yield make


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (
            {0x100000: 0x00020191},
            r"drive 'y_drive' \(node 2\); expected a drive with the profile 402 .*; got the profile 401",
        ),
        ({0x101801: 7}, r"'y_drive' \(node 2\): vendor \(object 0x1018:01\); expected 0x0000029C; got 0x00000007"),
        ({0x101802: 9}, r"product code \(object 0x1018:02\); expected 0x00000402; got 0x00000009. Is another drive"),
        ({0x650200: 0x80}, r"motor 1: mode of operation 9 for velocity commands; expected a mode in object 0x6502"),
        ({0x160002: 0x60FF0010}, r"object 0x1600, the mapping after it was written; .*; got 0x607A0020, 0x60FF0010"),
    ],
)
def test_D14_another_drive_than_the_configured_one_is_refused(rig: Callable, values: dict, text: str) -> None:
    cell = rig()
    cell.servos["y"].values = values
    with pytest.raises(HardwareError, match=text):
        cell.life.configure()


def test_D14_a_node_that_does_not_answer_is_refused(rig: Callable) -> None:
    cell = rig(missing="x", sdo_timeout=0.5)  # the first one: no other has to answer in this time
    text = r"drive 'x_drive' \(node 1\): reading object 0x1000; expected an answer; got none within 0.5 s"
    with pytest.raises(HardwareError, match=text):
        cell.life.configure()


def test_D15_the_node_gets_its_configuration_in_the_standards_order(rig: Callable) -> None:
    x = rig().start().servos["x"]
    sent = [(index, sub, int.from_bytes(data, "little")) for index, sub, data in x.written]
    assert (0x6065, 0, 16384) in sent, "the startup objects of the workcell file"
    assert (0x1017, 0, 100) in sent and (0x1016, 1, 127 << 16 | 300) in sent, "both sides watch heartbeats"
    assert (0x1006, 0, 2000) in sent and (0x60C2, 1, 2) in sent and (0x60C2, 2, 0xFD) in sent, "2 ms"
    assert (0x6007, 0, 3) in sent, "a lost connection is a quick stop"
    assert [entry for entry in sent if entry[0] in (0x1400, 0x1600)] == [
        (0x1400, 1, 0x80000201),
        (0x1400, 2, 1),
        (0x1600, 0, 0),
        (0x1600, 1, 0x607A0020),
        (0x1600, 2, 0x60FF0020),
        (0x1600, 0, 2),
        (0x1400, 1, 0x201),
    ]
    assert [entry for entry in sent if entry[0] in (0x1801, 0x1A01)] == [
        (0x1801, 1, 0x80000281),
        (0x1801, 2, 1),
        (0x1A01, 0, 0),
        (0x1A01, 1, 0x60410010),
        (0x1A01, 2, 0x60770010),
        (0x1A01, 3, 0x603F0010),
        (0x1A01, 4, 0x60610008),
        (0x1A01, 0, 4),
        (0x1801, 1, 0x281),
    ]


def test_D15_an_eds_file_without_a_needed_object_is_refused(rig: Callable, tmp_path: Path) -> None:
    (tmp_path / "old.eds").write_text(Path(EDS).read_text().replace("[607A]", "[2607]"))
    text = "drive 'head_drive', EDS file '.*old.eds': object 0x607A; expected an object that the plugin needs; got none"
    with pytest.raises(HardwareError, match=text):
        rig(eds={"head_drive": str(tmp_path / "old.eds")})


def test_D16_it_is_enabled_and_moves_in_each_mode(rig: Callable) -> None:
    cell = rig().start()
    x, y = cell.servos["x"], cell.servos["y"]
    assert cell.state("gantry/x/position") == pytest.approx(0.1 + 1000 / COUNTS)
    assert cell.state("gantry/y/position") == pytest.approx(-1000 / COUNTS), "direction -1"
    cell.cycle(10)
    assert x.states == [READY], "without torque until a mode is commanded"
    cell.enable("gantry")
    assert x.states == [READY, SWITCHED_ON, ENABLED]
    assert (x.position, y.position) == (1000, 1000), "nothing moves by being enabled"
    start = cell.state("gantry/x/position")
    for i in range(100):
        cell.command("gantry/x/position", start + 0.0005 * (i + 1))
        cell.cycle()
    assert cell.state("gantry/x/position") == pytest.approx(start + 0.05, abs=0.5 / COUNTS)
    assert cell.state("gantry/x/velocity") == pytest.approx(0.25, abs=1e-3)
    assert cell.state("gantry/x.acceleration") == pytest.approx(0.0, abs=0.1), "a count in a period is 0.08"

    cell.command("gantry/x/velocity", 0.25)
    cell.command("gantry/y/velocity", -0.1)
    at = x.position
    cell.life.switch_modes({"gantry": CommandMode.VELOCITY})
    cell.cycle(50)
    assert (x.mode, y.mode) == (9, 9)
    assert x.position == pytest.approx(at + 0.25 * COUNTS * 0.002 * 50, abs=50), "no period without motion"
    assert cell.state("gantry/y/velocity") == pytest.approx(-0.1, abs=1e-4)

    cell.command("gantry/x/effort", 100.0)
    cell.command("gantry/y/effort", 0.0)
    cell.life.switch_modes({"gantry": (CommandMode.EFFORT, CommandMode.POSITION)})
    cell.command("gantry/y/position", cell.state("gantry/y/position"))
    cell.cycle(5)
    assert (x.mode, y.mode) == (10, 8)
    # 100 N of 1.27 Nm x 2 pi x 50 turns a metre
    assert x.torque == round(100 / (1.27 * 2 * math.pi * 50) * 1000)
    assert cell.state("gantry/x/effort") == pytest.approx(100.0, rel=0.005)
    assert x.states == [READY, SWITCHED_ON, ENABLED], "modes change without leaving Operation enabled"

    cell.life.deactivate()
    assert x.states[3:] == [QUICK_STOP, DISABLED]
    assert x.node.nmt.state == "PRE-OPERATIONAL"


def test_D16_a_command_that_moves_away_while_a_brake_opens_is_not_followed(rig: Callable) -> None:
    cell = rig().start()
    tilt = cell.servos["tilt"]
    tilt.brake = 40
    cell.enable("head")
    cell.command("head/tilt/position", 0.5)
    cell.cycle(60)
    assert cell.state("head/tilt.error") == 0x8611
    assert tilt.position == 1000 and tilt.state == DISABLED


def test_D18_lost_answers_age_and_three_in_a_row_end_this_drive_alone(
    rig: Callable, caplog: pytest.LogCaptureFixture
) -> None:
    cell = rig().start()
    cell.enable("gantry")
    cell.enable("head")
    tilt = cell.servos["tilt"]
    before = cell.state("head/tilt/position")
    tilt.mute = 2
    cell.cycle(2)
    assert (cell.state("head/head_drive.age"), cell.state("head/head_drive.lost")) == (2, 2)
    assert cell.state("head/tilt/position") == before, "the last value, with its age"
    cell.cycle()
    assert (cell.state("head/head_drive.age"), cell.state("head/tilt.status")) == (0, ENABLED)
    tilt.mute = 3
    cell.cycle(3)
    assert math.isnan(cell.state("head/tilt/position")) and math.isnan(cell.state("head/tilt.status"))
    assert "drive 'head_drive' (node 3): 3 exchanges in a row without a complete answer" in caplog.text
    cell.cycle(3)
    assert tilt.state == DISABLED, "a quick stop once it hears commands again"
    assert cell.state("head/tilt.error") == 0x8130, "D23: seen also by a loop that missed the unknown values"
    assert cell.state("gantry/x.status") == ENABLED and cell.state("gantry/x_drive.lost") == 0


def test_D18_a_node_without_heartbeat_or_that_restarts_is_given_up(
    rig: Callable, caplog: pytest.LogCaptureFixture
) -> None:
    cell = rig().start()
    cell.enable("gantry")
    cell.enable("head")
    cell.servos["tilt"].heartbeats = False
    cell.cycle(160)
    assert cell.state("head/tilt.error") == 0x8130
    assert "drive 'head_drive' (node 3): no heartbeat" in caplog.text
    cell.servos["x"].restart()
    cell.cycle(3)
    assert "drive 'x_drive' (node 1): it was restarted: restart its driver" in caplog.text
    cell.servos["x"].node.nmt.state = "OPERATIONAL"
    cell.cycle(5)
    assert cell.state("gantry/x_drive.age") == 0 and math.isnan(cell.state("gantry/x.status")), "never again by itself"
    assert cell.state("gantry/y.status") == ENABLED


def test_D18_the_computers_heartbeat_reaches_the_drives(rig: Callable) -> None:
    cell = rig().start()
    cell.plugin._bus.sent.clear()
    cell.cycle(101)
    beats = [message for message in cell.plugin._bus.sent if message.arbitration_id == 0x77F]
    assert [bytes(message.data) for message in beats] == [b"\x05"] * 3, "each 0.1 s"


def test_D19_a_drive_in_another_mode_is_not_enabled_also_if_it_has_one_mode_only(rig: Callable) -> None:
    cell = rig(enable_timeout=0.1).start()
    tilt = cell.servos["tilt"]
    tilt.fixed_mode = 1
    cell.enable("head")
    assert (tilt.state, cell.state("head/tilt.status")) == (ENABLED, SWITCHED_ON), "its part does not move yet"
    cell.cycle(30)
    assert cell.state("head/tilt.error") == 0x6320 and tilt.state == DISABLED
    tilt.fixed_mode = 0
    cell.life.switch_modes({"head": CommandMode.NONE})
    cell.enable("head")
    assert (cell.state("head/tilt.error"), cell.state("head/tilt.status")) == (0, ENABLED)


def test_D19_a_mode_that_changes_in_motion_is_an_error_after_three_exchanges(rig: Callable) -> None:
    cell = rig().start()
    cell.enable("head")
    tilt = cell.servos["tilt"]
    tilt.fixed_mode = 9
    cell.cycle(3)
    assert cell.state("head/tilt.error") == 0
    cell.cycle()
    assert cell.state("head/tilt.error") == 0x6320
    cell.cycle(3)
    assert tilt.state == DISABLED


def test_D20_a_drive_that_is_enabled_and_ignores_its_commands_is_given_up(rig: Callable) -> None:
    cell = rig(enable_timeout=0.1).start()
    tilt = cell.servos["tilt"]
    tilt.ignores = True
    cell.enable("head")
    assert (tilt.state, cell.state("head/tilt.status")) == (ENABLED, SWITCHED_ON)
    cell.cycle(30)
    assert cell.state("head/tilt.error") == 0x6321
    tilt.ignores = False
    cell.life.switch_modes({"head": CommandMode.NONE})
    cell.enable("head")
    assert cell.state("head/tilt.status") == ENABLED
    tilt.ignores = True
    cell.cycle(4)
    assert cell.state("head/tilt.error") == 0x6321


def test_D20_a_drive_without_this_bit_moves_if_its_description_says_so(rig: Callable) -> None:
    drives = load_workcell(CONFIG / "canopen.yaml").devices[0].config["drives"]
    cell = rig(drives=[{**drive, "reports_following": False} for drive in drives]).start()
    cell.servos["tilt"].ignores = True
    cell.enable("head")
    cell.cycle(20)
    assert (cell.state("head/tilt.error"), cell.state("head/tilt.status")) == (0, ENABLED)


def test_D21_the_error_code_comes_with_the_fault_also_without_an_emergency_message(rig: Callable) -> None:
    cell = rig().start()
    cell.enable("head")
    cell.servos["tilt"].fault(0x7305, silent=True)
    cell.cycle()
    assert (cell.state("head/tilt.error"), cell.state("head/tilt.status") >= REACTION) == (0x7305, True)


# --- through the loop -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def line() -> dict[str, Servo]:
    network = NodeNetwork("system")
    return {name: Servo(network, node, EDS) for node, name in ((1, "x"), (2, "y"), (3, "tilt"))}


@pytest.fixture(scope="module")
def cell(line: dict[str, Servo]) -> Iterator[LockstepCell]:
    workcell = load_workcell(CONFIG / "canopen.yaml")
    (device,) = workcell.devices
    config: dict[str, Any] = {**device.config, "network": {"interface": "lockstep", "channel": "system"}}
    workcell = replace(workcell, devices=(replace(device, config={**config, "sdo_timeout": 60.0}),))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CanopenPlugin, "simulated", True)  # its nodes live in simulated time
        with LockstepCell(workcell) as made:
            yield made


def states(cell: LockstepCell) -> tuple[str, ...]:
    return tuple(OperationalState(int(cell.part(name).operational_state)).name for name in ("gantry", "head"))


def faults(cell: LockstepCell) -> list[tuple[str, str]]:
    return [(e.part, e.reason) for e in cell.kinds("part_faulted")]


def refused(cell: LockstepCell, part: str, command: str) -> list[str]:
    cell.events.clear()
    cell.server.set_motion([part], command)
    cell.step()
    return [e.reason for e in cell.kinds("command_refused")]


def test_D17_motion_errors_and_losses_of_canopen_drives_in_the_loop(cell: LockstepCell, line: dict[str, Servo]) -> None:
    x, y, tilt = line["x"], line["y"], line["tilt"]
    cell.step_until(lambda: states(cell) == ("ENABLED", "ENABLED"))
    assert [servo.state for servo in line.values()] == [ENABLED] * 3
    session = cell.session("gantry", "head")
    session.add(
        Action("go", "move_joint", parts="gantry", position=[0.4, 0.3], velocity_scale=0.8),
        Action("nod", "move_joint", parts="head", position=[1.5], velocity_scale=0.05),
        reactions=[Reaction("gantry.x.error == 34321", event="seen", capture=["gantry.x.status", "gantry.y.error"])],
    )
    session.start("go", "nod")
    cell.step_until(lambda: session.value("go.is_done") == 1.0)
    assert (x.position, y.position) == pytest.approx((0.3 * 50 * 65536, -0.3 * 50 * 65536), abs=1), "offset, direction"

    session.start("go")
    cell.events.clear()
    x.fault(0x8611)
    cell.step(2)
    [(part, reason)] = faults(cell)
    assert part == "gantry"
    assert reason == (
        "a motor reports an error (x, motor 1 of drive 'x_drive', node 1): error 0x8611 (following error);"
        " look for a collision; lower the speed or the load"
    )
    assert [e.values for e in cell.fired("seen")] in ([(float(FAULT), 0.0)], [(float(REACTION), 0.0)])
    cell.step(100)
    assert states(cell) == ("FAULTED", "ENABLED") and cell.active("head") == "nod", "the other part goes on"
    assert (x.state, y.state) == (FAULT, READY), "nothing is reset, and the part's other motor has no torque"

    assert refused(cell, "gantry", "clear_faults") == []
    cell.step(20)
    assert x.state == FAULT and states(cell)[0] == "DISABLED", "clearing enables nothing"
    assert refused(cell, "gantry", "enable") == []
    cell.step_until(lambda: states(cell)[0] == "ENABLED")
    assert (x.state, y.state) == (ENABLED, ENABLED)
    assert cell.active("head") == "nod"

    cell.events.clear()
    tilt.mute = 10**6
    ticks = cell.step_until(lambda: states(cell)[1] == "FAULTED", at_most=5)
    words = "a drive does not answer (tilt, motor 1 of drive 'head_drive', node 3)"
    assert ticks >= 3 and faults(cell) == [("head", words)]
    assert states(cell)[0] == "ENABLED" and math.isnan(cell.part("head").position[0])
    assert refused(cell, "head", "clear_faults") != [], "its cause persists"
    tilt.mute = 0
    cell.step(5)
    assert tilt.state == DISABLED
    assert refused(cell, "head", "clear_faults") == []
    assert refused(cell, "head", "enable") == []
    cell.step_until(lambda: states(cell)[1] == "ENABLED")

    cell.server.set_motion([], "disable")
    cell.step_until(lambda: [servo.state for servo in line.values()] == [READY] * 3)
    assert states(cell) == ("DISABLED", "DISABLED"), "no part is enabled, and no motor has torque"
    tilt.fault(0x4310)
    cell.step(20)
    cell.server.set_motion(["head"], "enable")
    cell.step(3)
    assert states(cell)[1] == "FAULTED" and tilt.state == FAULT, "an error that was not cleared is not reset"


def test_D22_an_enabling_that_hangs_says_in_which_state(cell: LockstepCell, line: dict[str, Servo]) -> None:
    tilt = line["tilt"]
    cell.server.set_motion(["head"], "disable")
    cell.step(20)
    tilt.hangs, tilt.stuck, tilt.error = SWITCHED_ON, False, 0
    cell.server.set_motion(["head"], "clear_faults")
    cell.step(2)
    cell.events.clear()
    cell.server.set_motion(["head"], "enable")
    cell.step_until(lambda: states(cell)[1] == "FAULTED", at_most=1000)
    words = "a motor is not enabled (tilt, motor 1 of drive 'head_drive', node 3): it is in the state switched on"
    assert faults(cell)[-1] == ("head", words)
    tilt.hangs = DISABLED
    cell.server.set_motion(["head"], "clear_faults")
    cell.step(2)
    cell.server.set_motion(["head"], "enable")
    cell.step_until(lambda: states(cell)[1] == "ENABLED")


def being_enabled(cell: LockstepCell, line: dict[str, Servo]) -> Any:
    """The head is being enabled, and hangs; the gantry is disabled. Returns the device's host."""
    tilt = line["tilt"]
    cell.server.set_motion([], "disable")
    cell.step(50)
    cell.server.set_motion([], "clear_faults")
    tilt.hangs, tilt.stuck, tilt.error, tilt.mute = SWITCHED_ON, False, 0, 0
    cell.step(50)
    cell.events.clear()
    cell.server.set_motion(["head"], "enable")
    cell.step(20)
    assert states(cell) == ("DISABLED", "DISABLED") and tilt.state == SWITCHED_ON and not faults(cell)
    (host,) = cell.executor.devices.hosts.values()
    return host


def test_D23_a_drive_that_is_lost_while_it_is_enabled_counts_at_once(
    cell: LockstepCell, line: dict[str, Servo]
) -> None:
    being_enabled(cell, line)
    line["tilt"].mute = 3
    cell.step(4)
    assert faults(cell) == [("head", "a drive does not answer (tilt, motor 1 of drive 'head_drive', node 3)")]


@pytest.mark.parametrize(
    ("interface", "reason"),
    [
        ("head/tilt/position", "a measured position or velocity is not a number (tilt, motor 1"),
        ("head/tilt.error", "a motor reports an error (tilt, motor 1 of drive 'head_drive', node 3): error 0x7305"),
    ],
)
def test_D23_what_ends_the_enabling_of_a_motor_counts_at_once(
    cell: LockstepCell, line: dict[str, Servo], interface: str, reason: str
) -> None:
    host = being_enabled(cell, line)
    place = [i.name for i in host.lifecycle.state_interfaces].index(interface)
    read = host.lifecycle.read

    def spoiled(time_s: float, period_s: float) -> None:
        read(time_s, period_s)
        host.lifecycle.state[place] = math.nan if interface.endswith("position") else 0x7305

    host.lifecycle.read = spoiled
    try:
        cell.step()
    finally:
        host.lifecycle.read = read
    [(part, got)] = faults(cell)
    assert part == "head" and got.startswith(reason)


def test_D23_an_error_of_the_device_ends_the_enabling_at_once(cell: LockstepCell, line: dict[str, Servo]) -> None:
    """The last test of this cell: its driver does not come back."""
    host = being_enabled(cell, line)

    def fail(time_s: float, period_s: float) -> HardwareReturn:
        raise RuntimeError("the adapter was pulled")

    host.plugin.read = fail
    cell.step(2)
    assert faults(cell) == [("head", "the hardware reports an error")]
