"""A device on the bus `lockstep`, with the three drives of config/canopen.yaml, for tests of the plugin `canopen`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from cia402_node import NodeNetwork, Servo

from robot_rt_control.hardware.from_workcell import hardware_info
from robot_rt_control.hardware.lifecycle import HardwareLifecycle, load_plugin
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.vocabulary.enums import CommandMode

CONFIG = Path(__file__).resolve().parents[2] / "config"
EDS = str(CONFIG / "eds" / "cia402_servo.eds")
NODES = {"x": 1, "y": 2, "tilt": 3}
_channels = count()


class Rig:
    """The plugin in its life cycle, and the servos on its bus."""

    def __init__(self, missing: str = "", eds: Mapping[str, str] | None = None, **parameters: Any) -> None:
        channel = f"rig_{next(_channels)}"
        network = NodeNetwork(channel)
        self.servos = {name: Servo(network, node, EDS) for name, node in NODES.items() if name != missing}
        workcell = load_workcell(CONFIG / "canopen.yaml")
        (device,) = workcell.devices
        device.config.update(
            {"network": {"interface": "lockstep", "channel": channel}, "sdo_timeout": 60.0, **parameters}
        )
        for drive in device.config["drives"]:
            drive["eds"] = (eds or {}).get(drive["name"], drive["eds"])
        self.period = workcell.period
        self.life = HardwareLifecycle(load_plugin("canopen")(), hardware_info(workcell, device))
        self.plugin: Any = self.life.plugin
        self._states = {i.name: n for n, i in enumerate(self.life.state_interfaces)}
        self._commands = {i.name: n for n, i in enumerate(self.life.command_interfaces)}

    def start(self) -> Rig:
        self.life.configure()
        self.life.activate()
        return self

    def cycle(self, n: int = 1) -> None:
        """Periods, each from `write` to `read`: so that the answers to the last commands are seen."""
        for _ in range(n):
            self.life.write(0.0, self.period)
            self.life.read(0.0, self.period)

    def state(self, name: str) -> float:
        return float(self.life.state[self._states[name]])

    def command(self, name: str, value: float) -> None:
        self.life.command[self._commands[name]] = value

    def enable(self, part: str, mode: CommandMode = CommandMode.POSITION) -> None:
        """Switch a part to a mode where it is, and cycle until its motors are enabled."""
        for name in self._commands:
            if name.startswith(f"{part}/"):
                self.command(name, self.state(name) if name.endswith("/position") else 0.0)
        self.life.switch_modes({part: mode})
        self.cycle(12)


@contextmanager
def rigs() -> Iterator[Callable[..., Rig]]:
    """Makes rigs, and shuts them down."""
    made: list[Rig] = []

    def make(**given: Any) -> Rig:
        made.append(Rig(**given))
        return made[-1]

    yield make
    for one in made:
        one.life.shutdown()
