"""The command line of a program that runs with a workcell, or alone in simulated time."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from robot_rt_control.drawing.pictures import INSTALL, LIBRARIES
from robot_rt_control.vocabulary.errors import RobotControlError


def run_program(
    program: Callable[..., object],
    *,
    workcell: Path,
    output: Path,
    description: str | None = None,
    lockstep_hardware: str = "",
    argv: Sequence[str] | None = None,
) -> int:
    """Call `program(client, output)`, with a client of the running workcell or, with --lockstep, a LockstepClient.

    Args:
        program: the function; a RobotControlError of it is shown in one line.
        workcell: the file that the program needs.
        output: default of the output folder; created if missing.
        description: for --help.
        lockstep_hardware: see `load_workcell`; empty: the file's.
        argv: default: the process's.

    Returns:
        The exit code: 1 if something failed.
    """
    name = workcell.stem
    parser = argparse.ArgumentParser(
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=f"Without --lockstep, bring the workcell up first: ./run shell workcell --workcell {name}",
    )
    parser.add_argument(
        "--lockstep",
        action="store_true",
        help=f"simulate {workcell.name} in this process, as fast as possible; nothing else needs to run",
    )
    parser.add_argument("--output", type=Path, default=output, help="folder for what is written (default: %(default)s)")
    arguments = parser.parse_args(argv)
    arguments.output.mkdir(parents=True, exist_ok=True)
    try:
        if arguments.lockstep:
            from robot_rt_control.testing.lockstep_client import LockstepClient

            with LockstepClient(workcell, hardware=lockstep_hardware) as simulated:
                program(simulated, arguments.output)
        else:
            from robot_rt_control.client import Client

            with Client() as client:
                program(client, arguments.output)
    except (RobotControlError, TimeoutError) as error:
        print(error, file=sys.stderr)
        return 1
    except ModuleNotFoundError as error:
        if error.name not in LIBRARIES:
            raise
        print(f"{error}. The program's pictures need it: {INSTALL}", file=sys.stderr)
        return 1
    return 0
