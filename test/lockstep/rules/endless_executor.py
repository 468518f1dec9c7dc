"""A process with an executor and a control server, and an action whose loop does not end after a command.

The builder refuses such a loop. Here its check is passed over, as a gap in it would be.

    python endless_executor.py realtime|lockstep IMAGE FOLDER
"""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path
from typing import Any, cast

from robot_rt_control.definitions.action_type import ActionType, Parameter, Slot, StateVariable
from robot_rt_control.definitions.definitions import ActionDefinition, ParameterValue
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.realtime.executor.executor import Executor, ExecutorOptions
from robot_rt_control.server.builder import syntax_check
from robot_rt_control.server.builder.build import build
from robot_rt_control.server.builder.process import Builder
from robot_rt_control.server.control_server import ControlServer
from robot_rt_control.server.types.action_types import ActionTypes
from robot_rt_control.server.types.type_building import build_types
from robot_rt_control.vocabulary.enums import CommandMode, PartKind

VELOCITY = int(CommandMode.VELOCITY)
SPEED = 0.2
FOREVER = 10**15


class Endless(ActionType):
    """Moves, and computes a given number of rounds in a tick."""

    name = "endless"
    slots = (Slot(name="axis", kinds=(PartKind.BASE,)),)
    parameters = (Parameter(name="rounds", type="int", default=1),)
    state_variables = (StateVariable(name="level"),)

    @staticmethod
    def control(state: Any, params: Any, axis: Any) -> None:
        axis.command_mode = VELOCITY
        axis.velocity_command[0] = SPEED
        for _ in range(params.rounds):
            state.level = math.sin(state.level + 1.0)


class _Unchecked(Builder):
    """A builder that takes every loop for a short one."""

    def build_many(self, specs: Any, progress: Any = print, trusted: Any = None) -> Any:
        cast(Any, syntax_check._FunctionCheck)._rounds = lambda *_: 1.0
        return [build(spec, progress) for spec in specs]


def until(condition: Any) -> None:
    while not condition():
        time.sleep(0.01)


def main() -> None:
    clock, image, folder = sys.argv[1:]
    workcell = load_workcell(Path(__file__).with_name("endless.yaml"))
    spec = f"{Path(__file__).resolve()}:Endless"
    specs = ["robot_rt_control.actions.hold:Hold", "robot_rt_control.actions.stop:Stop", spec]
    types = ActionTypes(build_types(specs, _Unchecked(), print), period=workcell.period)
    options = ExecutorOptions(
        clock=clock, priority=0, lock_memory=False, real_time_factor=0.0, fault_folder=Path(folder)
    )
    executor = Executor(workcell, options, channel_name=None, image_name=lambda _: image)
    executor.configure(print)
    executor.activate(print)
    server = ControlServer(workcell, types)
    server.attach(executor.channel)
    session = server.open_session("me", ["axis"], 0.0)
    server.define(session.id, [ActionDefinition(id="spin", type="endless", parts=("axis",))])
    server.start(session.id, ["spin"])
    until(lambda: executor.channel.snapshot().parts[0].measured.velocity[0] > 0.9 * SPEED)
    # Other threads of this process may be busy, and the loop may be slow: none of that is a reason to end.
    end = time.process_time() + 1.5
    while time.process_time() < end:
        pass
    print("moving", flush=True)
    sys.stdin.readline()
    server.set_parameters(session.id, "spin", [ParameterValue(name="rounds", value=FOREVER)])
    until(lambda: False)


if __name__ == "__main__":
    main()
