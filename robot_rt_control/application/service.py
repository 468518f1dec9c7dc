"""Lets other systems move robots: requests and answers are lines of JSON over TCP (docs/services.md)."""

from __future__ import annotations

import argparse
import logging
import signal
import sys
from collections.abc import Sequence

from robot_rt_control.application.services.json_lines import LOOPBACK, JsonLinesService
from robot_rt_control.client import Client
from robot_rt_control.vocabulary import defaults
from robot_rt_control.vocabulary.errors import RobotControlError

_EXAMPLES = """\
example:
  %(prog)s --parts left right --port 7654
and in another terminal, a request by hand:
  (echo '{"robot": "left", "to": [0.1, 0.2, 0.0], "speed": 0.5, "jerk_percent": 30}'; sleep 10) | nc localhost 7654
"""


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
        prog="robot-rt-control-service",
        description=__doc__,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = made.add_argument
    add("--parts", nargs="+", required=True, metavar="PART", help="robots that it may move; it holds them")
    add("--port", type=int, default=7654, help="TCP port; 0: any free one (default: %(default)s)")
    add(
        "--host",
        default=LOOPBACK,
        help="address to listen at (default: %(default)s). With another one, everyone who reaches it may move the "
        "robots: there is no authentication",
    )
    add(
        "--cancel-on-disconnect",
        action="store_true",
        help="stop a client's motions on their paths when it disconnects (default: they go on)",
    )
    add("--namespace", default="", help="of the workcell's nodes")
    add("--timeout", type=float, default=defaults.STARTUP_S, help="for the workcell to come up [s] (%(default)s)")
    return made


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until SIGINT or SIGTERM; the motions first stop on their paths. Returns the exit code."""
    given = parser().parse_args(argv)
    logging.basicConfig(level=logging.INFO, format="%(levelname)s: %(message)s")
    try:
        with Client("motion_service", namespace=given.namespace, startup_s=given.timeout, arguments=[]) as client:
            client.parts()  # waits for the workcell, and may be interrupted
            service = JsonLinesService(
                client,
                given.parts,
                host=given.host,
                port=given.port,
                cancel_on_disconnect=given.cancel_on_disconnect,
            )
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, lambda *_: service.stop())
            service.run()
    except RobotControlError as error:
        print(f"robot-rt-control-service: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
