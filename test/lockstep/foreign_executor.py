"""An executor and a control server beside a foreign driver, in one process.

python foreign_executor.py WORKCELL IMAGE: a process that moves the axis until it is killed.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from foreign_driver import until

from bench.cells import builtin_types
from robot_rt_control.definitions.definitions import ActionDefinition, ParameterValue
from robot_rt_control.definitions.reaction import ReactionDefinition
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.realtime.executor.executor import Executor, ExecutorOptions
from robot_rt_control.server.control_server import ControlServer
from robot_rt_control.vocabulary.errors import RobotControlError

PERIOD_S = 0.01
"""Long, as is what is taken for silence: of a driver 5 s, of an executor 10 s. A busy machine is neither."""
ACCELERATION = 2.0

CELL = f"""
name: foreign
period: {PERIOD_S}
parts:
  axis:
    kind: base
    device: drive
    joints: [{{name: x, type: prismatic, position_lower: -1.0, position_upper: 1.0, velocity: 0.5}}]
    limits: {{acceleration: {ACCELERATION / 1.2:.6f}}}
    command_modes: [position, velocity]
    # Commands that it missed are made up faster than joints may move, and this component is there at once.
    monitors: {{following_error: false, position_jump: false}}
    system_limits: {{velocity_tolerance: 10.0}}
  tool: {{kind: io, device: drive, inputs: {{held: {{signal: analog}}}}, outputs: {{cup: {{}}, lamp: {{safe: false}}}}}}
  near: {{kind: rangefinder, device: drive, range: [0.02, 4.0]}}
  seen: {{kind: sensor, device: drive, values: {{size: {{}}}}}}
devices:
  drive: {{max_age_ticks: 500, external: {{silence: 1000, EXTERNAL}}}}
"""


class ForeignCell:
    """The executor and a control server with a session; all parts are enabled. Call `close`."""

    def __init__(self, workcell_file: Path, image: str, clock: str = "hardware") -> None:
        workcell = load_workcell(workcell_file, "external")
        options = ExecutorOptions(
            clock=clock,
            priority=0,
            lock_memory=False,
            device_timeout_s=60.0,
            # The server runs in this process: on a busy machine its silence says nothing.
            native_silence_s=60.0,
            python_silence_s=60.0,
        )
        self.executor = Executor(workcell, options, channel_name=None, image_name=lambda _: image)
        self.executor.configure(lambda _: None)
        self.executor.activate()
        self.server = ControlServer(workcell, builtin_types())
        self.server.attach(self.executor.channel)
        self.session = self.server.open_session("test", ["axis", "tool"], 0.0)
        self.recover()
        self._defined = False

    def close(self) -> None:
        self.server.detach("the test ends")
        self.executor.deactivate()
        self.executor.cleanup()

    def state(self, part: str = "axis") -> str:
        return {p.name: p.operational_state for p in self.executor.part_status()}[part]

    def fault(self, part: str = "axis") -> str:
        return {p.name: p.fault for p in self.executor.part_status()}[part]

    @property
    def position(self) -> float:
        return float(self.executor.channel.snapshot().parts[0].measured.position[0])

    @property
    def tick(self) -> int:
        return int(self.executor.channel.snapshot().tick)

    def define(self, *reactions: ReactionDefinition) -> None:
        """The actions `go`, with these reactions, `halt` and `light`."""
        go = ActionDefinition(
            id="go",
            type="move_joint",
            parts=("axis",),
            parameters=(ParameterValue(name="position", value=(0.0,)),),
            reactions=reactions,
        )
        halt = ActionDefinition(id="halt", type="stop", parts=("axis",))
        values = (ParameterValue(name="outputs", value="cup, lamp"), ParameterValue(name="values", value=(1.0, 1.0)))
        light = ActionDefinition(id="light", type="set_output", parts=("tool",), parameters=values)
        self.server.define(self.session.id, [go, halt, light])
        self._defined = True

    def move(self, position: float) -> None:
        """Begin to move to a position [m]."""
        if not self._defined:
            self.define()
        goal = ParameterValue(name="position", value=(position,))
        self.server.set_parameters(self.session.id, "go", [goal])
        self.server.start(self.session.id, ["go"])

    def recover(self) -> None:
        """Clear the faults and enable, until that succeeds."""

        def enabled() -> bool:
            try:
                self.server.set_motion((), "clear_faults")
                self.server.set_motion((), "enable")
            except RobotControlError:  # the device's first states are still on their way
                return False
            return self.state() == self.state("tool") == "enabled"

        until(enabled, "recovery")


def main() -> None:
    cell = ForeignCell(Path(sys.argv[1]), sys.argv[2])
    cell.define()
    cell.server.start(cell.session.id, ["light"])
    cell.move(0.9)
    until(lambda: cell.position > 0.1)
    print("moving", flush=True)
    time.sleep(60.0)


if __name__ == "__main__":
    main()
