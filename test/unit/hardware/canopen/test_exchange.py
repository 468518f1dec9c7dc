"""PDOs are packed and unpacked as the library `canopen` does it, for any values."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import can
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_rt_control.hardware.canopen.exchange import Exchange
from robot_rt_control.hardware.canopen.plan import plan_drive
from robot_rt_control.model.workcell.canopen import CanopenDrive
from robot_rt_control.vocabulary.enums import CommandMode

CONFIG = Path(__file__).resolve().parents[4] / "config"
ALL = (CommandMode.POSITION, CommandMode.VELOCITY, CommandMode.EFFORT)


class Bus:
    """Keeps what is sent, and hands out what the test gives."""

    def __init__(self) -> None:
        self.sent: list[tuple[int, bytes]] = []
        self.arriving: list[can.Message] = []

    def send(self, message: can.Message) -> None:
        self.sent.append((message.arbitration_id, bytes(message.data)))

    def recv(self, timeout: float) -> can.Message | None:
        return self.arriving.pop(0) if self.arriving else None

    def arrive(self, cob_id: int, data: bytes, **given: Any) -> None:
        self.arriving.append(can.Message(arbitration_id=cob_id, data=data, is_extended_id=False, **given))


def on_bus(plans: list, kind: type[Bus] = Bus) -> tuple[Exchange, Any]:
    """An exchange, and what stands in for its can.BusABC."""
    return Exchange(plans), kind()


@pytest.fixture(scope="module")
def plans() -> list:
    made = []
    for node, modes in ((3, ALL), (4, ALL[:1])):
        motors = [{"joint": "arm.joint", "counts": 4096}]
        drive = CanopenDrive.model_validate(
            {
                "name": f"d{node}",
                "node": node,
                "eds": "eds/cia402_servo.eds",
                "vendor": 1,
                "product": 2,
                "motors": motors,
            }
        )
        made.append(plan_drive(drive, [modes], CONFIG, True))
    return made


word = st.integers(0, 2**16 - 1)
short, long = st.integers(-(2**15), 2**15 - 1), st.integers(-(2**31), 2**31 - 1)


@given(word, st.integers(-128, 127), long, long, short, long)
def test_commands_and_states_survive_the_way(plans, control, mode, position, velocity, torque, second) -> None:
    exchange, bus = on_bus(plans)
    exchange.commands[0] = (control, mode, position, velocity, torque)
    exchange.commands[1] = (control, 0, second, 1, 1)
    exchange.send(bus)
    assert bus.sent == [
        (0x203, struct.pack("<ii", position, velocity)),
        (0x303, struct.pack("<Hhb", control, torque, mode)),
        (0x204, struct.pack("<iH", second, control)),
        (0x80, b""),
    ]
    bus.arrive(0x183, struct.pack("<ii", position, velocity))
    bus.arrive(0x283, struct.pack("<HhHb", control, torque, 0x7305, mode))
    bus.arrive(0x184, struct.pack("<ii", second, velocity))
    bus.arrive(0x284, struct.pack("<HhHb", control, torque, 0, 8))
    others: list[tuple[int, bytes]] = []
    bus.arrive(0x703, b"\x05")
    exchange.receive(bus, 0.0, lambda cob_id, data: others.append((cob_id, bytes(data))))
    assert exchange.states[0].tolist() == (control, 0x7305, mode, position, velocity, torque)
    assert exchange.states[1].tolist() == (control, 0, 8, second, velocity, torque)
    assert others == [(0x703, b"\x05")]
    assert [int(c.sum()) for c in vars(exchange.counters).values()] == [0] * 5


def test_half_an_answer_changes_nothing(plans: list) -> None:
    exchange, bus = on_bus(plans)
    exchange.send(bus)
    bus.arrive(0x183, bytes(range(8)))
    exchange.receive(bus, 0.0, print)
    assert exchange.states[0].tolist() == (0, 0, 0, 0, 0, 0)
    assert exchange.counters.lost.tolist() == [1, 1]
    exchange.send(bus)
    for cob_id, size in ((0x183, 8), (0x283, 7), (0x184, 8), (0x284, 7)):
        bus.arrive(cob_id, bytes(size))
    exchange.receive(bus, 0.0, print)
    assert exchange.counters.age.tolist() == [0, 0]


def test_a_node_that_babbles_does_not_keep_the_exchange(plans: list) -> None:
    exchange, bus = on_bus(plans)
    for _ in range(1000):
        bus.arrive(0x183, bytes(8))
    exchange.send(bus)
    exchange.receive(bus, 0.0, print)
    assert len(bus.arriving) > 900
    bus.arriving = []
    bus.arrive(0, b"", is_error_frame=True)
    exchange.receive(bus, 0.0, print)
    assert exchange.bus_errors == 1


def test_frames_that_cannot_be_sent_are_counted(plans: list) -> None:
    class Full(Bus):
        def send(self, message: can.Message) -> None:
            raise can.CanOperationError("no buffer space")

    exchange, full = on_bus(plans, Full)
    exchange.send(full)
    exchange.receive(full, 0.0, print)
    assert exchange.bus_errors == 1 and exchange.counters.lost.tolist() == [1, 1]
    assert np.array_equal(exchange.states["position"], [0, 0])
