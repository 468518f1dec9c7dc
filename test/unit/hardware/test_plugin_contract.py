"""All plugins of this package keep the contract of plugins."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from cia402_node import NodeNetwork, Servo
from dynamixel_bus import Servo as SerialServo
from dynamixel_bus import ServoLine
from fake_hand import FakeHand
from fr3_with_hand import fr3_with_hand
from std_msgs.msg import Bool, Float64
from test_gantry_driver import TestGantryDriver  # noqa: F401  (pytest collects it here)

from robot_rt_control.hardware.canopen.plugin import CanopenPlugin
from robot_rt_control.hardware.dynamixel.plugin import DynamixelPlugin
from robot_rt_control.hardware.franka_hand import plugin as hand_plugin
from robot_rt_control.hardware.franka_hand.plugin import FrankaHandPlugin
from robot_rt_control.hardware.info import HardwareInfo, HardwarePart
from robot_rt_control.hardware.lifecycle import load_plugin
from robot_rt_control.hardware.mock_plugin import MockPlugin
from robot_rt_control.hardware.plugin import HardwarePlugin
from robot_rt_control.hardware.topics.plugin import TopicPlugin
from robot_rt_control.model.workcell.channels import Channel
from robot_rt_control.testing.devices import arm, bench
from robot_rt_control.testing.fan_plugin import FanPlugin
from robot_rt_control.testing.plugin_contract import ContractDevice, PluginContract, info_of
from robot_rt_control.vocabulary.enums import CommandMode, PartKind

CONFIG = Path(__file__).resolve().parents[3] / "config"
_channels = count()


class TestMock(PluginContract):
    @contextmanager
    def device(self) -> Iterator[ContractDevice]:
        yield ContractDevice(plugin=MockPlugin, info=bench())


class TestFan(PluginContract):
    @contextmanager
    def device(self) -> Iterator[ContractDevice]:
        info = HardwareInfo(name="fan", parts=(arm("fan", 1, supported_modes=frozenset({CommandMode.EFFORT})),))
        yield ContractDevice(plugin=FanPlugin, info=info)


class TestMujocoMjcf(PluginContract):
    """Its own actuators and sensors."""

    lives = 4

    @contextmanager
    def device(self) -> Iterator[ContractDevice]:
        yield ContractDevice(plugin=load_plugin("mujoco"), info=info_of(CONFIG / "table_arm.yaml", "sim"))


class _Bench(PluginContract):
    """The plugin's arm, gripper, force-torque sensor and rangefinders beside objects."""

    engine: str
    lives = 4

    @contextmanager
    def device(self) -> Iterator[ContractDevice]:
        info = info_of(CONFIG / "bench.yaml", "sim", hardware=self.engine)
        yield ContractDevice(plugin=load_plugin(self.engine), info=info)


class TestMujoco(_Bench):
    engine = "mujoco"


class TestPybullet(_Bench):
    engine = "pybullet"


class _Cable(NodeNetwork):
    """The nodes' side of a bus whose cable can be pulled."""

    pulled = False

    def send_message(self, can_id: int, data: Any, remote: bool = False) -> None:
        if not self.pulled:
            super().send_message(can_id, data, remote)

    def pull(self) -> None:
        self.pulled = True

    def plug(self) -> None:
        self.pulled = False


class TestCanopen(PluginContract):
    """Three drives in lockstep: their answers are there when `write` returns."""

    lives = 4

    @contextmanager
    def device(self) -> Iterator[ContractDevice]:
        channel = f"contract_{next(_channels)}"
        network = _Cable(channel)
        for node in (1, 2, 3):
            Servo(network, node, str(CONFIG / "eds" / "cia402_servo.eds"))
        bus = {"interface": "lockstep", "channel": channel}
        yield ContractDevice(
            plugin=CanopenPlugin,
            info=info_of(CONFIG / "canopen.yaml", "bus", network=bus, sdo_timeout=2.0),
            lockstep=True,
            silence=network.pull,
            restore=network.plug,
        )


def counted(line: ServoLine) -> type[DynamixelPlugin]:
    """The plugin; the line learns of each request."""

    class Counted(DynamixelPlugin):
        def _request(self) -> None:
            line.sent += 1
            super()._request()

    return Counted


class TestDynamixel(PluginContract):
    """Three servos on a pseudo-terminal, whose time passes with the exchanges."""

    lives = 4

    @contextmanager
    def device(self) -> Iterator[ContractDevice]:
        servos = (SerialServo(1, 1020, 2100), SerialServo(2, 1020, 2000), SerialServo(3, 1060, 2600))
        with ServoLine(*servos, period_s=0.01) as line:
            yield ContractDevice(
                plugin=counted(line),
                info=info_of(CONFIG / "dynamixel.yaml", "bus", port=line.port, answer_timeout=2.0),
                lockstep=True,
                between=line.wait,
                silence=line.pull,
                restore=line.plug,
                still=0.004,  # two pulses and more
                tolerance=0.004,
            )


class TestFrankaHand(PluginContract):
    """A hand without processes: a motion takes some cycles, in which nothing is known of it. One finger's joint: two
    cannot move alone."""

    @contextmanager
    def device(self) -> Iterator[ContractDevice]:
        hands: list[FakeHand] = []

        def made(address: str) -> FakeHand:
            hands.append(FakeHand(address))
            return hands[-1]

        with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
            patch.setattr(hand_plugin, "Hand", made)
            patch.setattr(FakeHand, "period_s", 0.001)

            def silence(away: bool = True) -> None:
                patch.setattr(FakeHand, "is_away", away)
                for hand in hands:
                    hand.is_silent = away

            file = Path(folder) / "cell.yaml"
            text = fr3_with_hand().replace("1, fr3_finger_joint2]", "1]").replace("[0.04, 0.04]", "[0.04]")
            file.write_text(text)
            yield ContractDevice(
                plugin=FrankaHandPlugin,
                info=info_of(file, "hand", silence=0.5),
                lockstep=True,
                silence=silence,
                restore=lambda: silence(away=False),
            )


class TestTopic(PluginContract):
    """Two values; messages come as if by their topics."""

    @contextmanager
    def device(self) -> Iterator[ContractDevice]:
        parts = (
            HardwarePart(
                name="person", index=0, kind=PartKind.SENSOR, inputs=(Channel(name="distance", type="float"),)
            ),
            HardwarePart(name="io", index=1, kind=PartKind.IO, inputs=(Channel(name="door"),)),
        )
        field = {"field": "data", "max_age": 0.1}
        distance = {"topic": "/contract_distance", "type": "std_msgs/msg/Float64", **field}
        door = {"topic": "/contract_door", "type": "std_msgs/msg/Bool", **field}
        info = HardwareInfo(
            name="watch",
            parts=parts,
            parameters={"values": {"person": {"distance": distance}, "io": {"door": door}}},
            simulated_time=True,
        )
        speaks = [True]

        def publish(plugin: HardwarePlugin) -> None:
            assert isinstance(plugin, TopicPlugin)
            if speaks[0]:
                plugin.receive("/contract_distance", Float64(data=0.5))
                plugin.receive("/contract_door", Bool(data=True))

        yield ContractDevice(
            plugin=TopicPlugin,
            info=info,
            between=publish,
            silence=lambda: speaks.__setitem__(0, False),
            restore=lambda: speaks.__setitem__(0, True),
        )
