"""Brings a workcell up, watches its processes, and brings it down: python -m robot_rt_control.bringup.workcell."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from robot_rt_control.bringup.bringup import (
    AUTO,
    BLUEPRINTS_HELP,
    CLOCK_HELP,
    CLOCKS,
    CONTROLLERS,
    CONTROLLERS_HELP,
    DEFAULT_WORKCELL,
    EDITOR_HELP,
    EDITOR_PORT_HELP,
    FACTOR_HELP,
    FOXGLOVE_HELP,
    FOXGLOVE_PORT_HELP,
    FRAMES_HELP,
    HARDWARE_HELP,
    OWN_TOPICS_HELP,
    PACKAGE,
    PLANNER_HELP,
    SIMULATED_HELP,
    SIMULATOR_HELP,
    SIMULATORS,
    VIEW_HELP,
    BringupOptions,
    ProcessDescription,
    described_workcell,
    processes,
    remarks,
)
from robot_rt_control.bringup.console import Console
from robot_rt_control.bringup.process_command import command_line
from robot_rt_control.bringup.supervised_process import SupervisedProcess
from robot_rt_control.bringup.supervisor import RESTARTS, Supervisor
from robot_rt_control.model.paths import shipped_workcells
from robot_rt_control.vocabulary import phase_times
from robot_rt_control.vocabulary.errors import RobotControlError

_EXAMPLES = """examples:
  %(prog)s                                            the project's arm, without a simulator
  %(prog)s --workcell iiwa --gui                      a KUKA iiwa in PyBullet, in a window
  %(prog)s --workcell panda --real-time-factor 0      simulated time, as fast as it can
  %(prog)s --workcell fr3 --simulated                 a Franka whose control is simulated over its network protocol
  %(prog)s --workcell iiwa --clock realtime           PyBullet beside a loop on the wall clock
  %(prog)s --workcell iiwa --program examples/03_up_and_down.py 10
                                                      run its main(client, 10), then bring all down
  %(prog)s --workcell bench --blueprints --editor       draw blueprints in a browser, and run them

Ctrl-C brings all down in order: application, control server, executor, drivers. The robot comes to rest first."""


def parser() -> argparse.ArgumentParser:
    """The command line."""
    found = argparse.ArgumentParser(
        prog="workcell",
        description="Bring a workcell up, watch its processes, and bring it down again.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = found.add_argument
    add(
        "--workcell",
        default=DEFAULT_WORKCELL,
        metavar="FILE",
        help="workcell file, or the name of one that comes with the package: "
        + ", ".join(shipped_workcells())
        + " (default: %(default)s)",
    )
    add(
        "--hardware",
        default="",
        metavar="PLUGIN",
        help=f"{HARDWARE_HELP} (default: the workcell's)",
    )
    add("--simulator", choices=SIMULATORS, default="", help=f"{SIMULATOR_HELP} (default: the first that is installed)")
    add("--simulated", action="store_true", help=SIMULATED_HELP)
    add("--clock", choices=CLOCKS, default=AUTO, help=f"what drives the loop (default: %(default)s). {CLOCK_HELP}")
    add("--real-time-factor", default="1", metavar="F", help=f"{FACTOR_HELP} (default: %(default)s)")
    add("--record", default="", metavar="PATH", help="record all ticks to this file (.mcap), or to one in this folder")
    add("--gui", action="store_true", help="show the simulation in a window")
    add("--rviz", action="store_true", help="start RViz, if it is installed")
    add("--no-frames", action="store_false", dest="frames", help=f"do not {FRAMES_HELP}")
    add("--namespace", default="", metavar="NAME", help="of all nodes")
    add("--own-topics", action="store_true", help=OWN_TOPICS_HELP)
    add("--controllers", choices=CONTROLLERS, default=AUTO, help=f"{CONTROLLERS_HELP} (default: %(default)s)")
    add("--planner", action="store_true", help=PLANNER_HELP)
    add("--blueprints", action="store_true", help=BLUEPRINTS_HELP)
    add("--editor", action="store_true", help=EDITOR_HELP)
    add("--view", action="store_true", help=VIEW_HELP)
    add(
        "--editor-port",
        type=int,
        default=BringupOptions.editor_port,
        metavar="PORT",
        help=f"{EDITOR_PORT_HELP} (default: %(default)s)",
    )
    add("--foxglove", action="store_true", help=FOXGLOVE_HELP)
    add(
        "--foxglove-port",
        type=int,
        default=BringupOptions.foxglove_port,
        metavar="PORT",
        help=f"{FOXGLOVE_PORT_HELP} (default: %(default)s)",
    )
    add("--cpu", type=int, default=-1, metavar="N", help="processor of the real-time thread (default: any)")
    add(
        "--priority",
        type=int,
        default=80,
        metavar="P",
        help="priority of the real-time thread, 1 to 98; 0: an ordinary thread",
    )
    add(
        "--program",
        nargs="+",
        default=[],
        metavar=("PROGRAM", "ARGUMENT"),
        help="run a program, as file.py, file.py:function or package.module:function, with its arguments; "
        "the function gets a Client first",
    )
    add("--stay", action="store_true", help="leave the workcell up when the program has ended")
    add(
        "--restart",
        choices=RESTARTS,
        default="never",
        help="after a process failed: bring all down, or restart it (default: %(default)s)",
    )
    add("--composed", action="store_true", help="run all nodes in one process, for a debugger")
    add("--timing", action="store_true", help="print how long each phase of each process's start took")
    add("--print", action="store_true", dest="only_print", help="print the command of each process, and start nothing")
    return found


def options_of(arguments: argparse.Namespace) -> BringupOptions:
    """The options of a command line."""
    program, *program_arguments = arguments.program or [""]
    return replace(
        BringupOptions.from_texts({"real_time_factor": arguments.real_time_factor}),
        workcell=arguments.workcell,
        hardware=arguments.hardware,
        simulator=arguments.simulator,
        simulated=arguments.simulated,
        clock=arguments.clock,
        record=arguments.record,
        gui=arguments.gui,
        rviz=arguments.rviz,
        frames=arguments.frames,
        namespace=arguments.namespace,
        own_topics=arguments.own_topics,
        program=program,
        program_arguments=tuple(program_arguments),
        exit_with_program=bool(program) and not arguments.stay,
        controllers=arguments.controllers,
        planner=arguments.planner,
        blueprints=arguments.blueprints,
        editor=arguments.editor,
        view=arguments.view,
        editor_port=arguments.editor_port,
        foxglove=arguments.foxglove,
        foxglove_port=arguments.foxglove_port,
        realtime_cpu=arguments.cpu,
        realtime_priority=arguments.priority,
    )


def supervised(described: Sequence[ProcessDescription], folder: Path) -> list[SupervisedProcess]:
    """Described processes, for the supervisor.

    Args:
        described: see `bringup.processes`.
        folder: for files of long parameters; must exist as long as the processes.
    """
    return [
        SupervisedProcess(
            name=process.name,
            command=command_line(process, folder),
            required=process.required,
            reports_ready=process.package == PACKAGE,
            consequence=process.consequence,
        )
        for process in described
    ]


def main(argv: Sequence[str] | None = None) -> int:
    """Run until Ctrl-C, or until a required process has ended. Returns the exit code."""
    arguments = parser().parse_args(argv)
    if arguments.timing:
        os.environ[phase_times.VARIABLE] = "1"
    phase_times.ends("imports")
    try:
        options = options_of(arguments)
        workcell = described_workcell(options)
        described = processes(options, workcell)
        phase_times.ends("checking the files")
        with tempfile.TemporaryDirectory(prefix="robot_rt_control-") as folder:
            if arguments.only_print:
                for process in supervised(described, Path(folder)):
                    print(shlex.join(process.command))
                return 0
            if arguments.composed:
                from robot_rt_control.bringup.composed import run_composed

                for remark in remarks(options, described, workcell):
                    print(remark, flush=True)
                return run_composed(described, Path(folder))
            console = Console(sys.stdout, [process.name for process in described])
            console.say(f"workcell {arguments.workcell}, ROS_DOMAIN_ID {os.environ.get('ROS_DOMAIN_ID', '0')}")
            for remark in remarks(options, described, workcell):
                console.say(remark)
            return Supervisor(supervised(described, Path(folder)), console=console, restart=arguments.restart).run()
    except RobotControlError as error:
        print(f"workcell: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
