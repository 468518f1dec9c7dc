"""Serves the blueprint editor to browsers on this machine, and prints the links to open."""

from __future__ import annotations

import argparse
import ipaddress
import logging
import ssl
import sys
from collections.abc import Sequence
from pathlib import Path

from robot_rt_control.vocabulary.errors import RobotControlError

PORT = 8420


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="robot-rt-control-blueprint-editor", description=__doc__)
    add_arguments(made)
    return made


def add_arguments(made: argparse.ArgumentParser) -> None:
    """The arguments, also of `robot-rt-control-blueprint editor`."""
    made.add_argument("--port", type=int, default=PORT, help="default: %(default)s")
    made.add_argument("--address", default="127.0.0.1", help="where to listen; another one than this machine's own "
                      "needs a certificate")  # fmt: skip
    made.add_argument("--name", default="", help="the name under which browsers find an address of another machine")
    made.add_argument("--certificate", type=Path, help="file, PEM")
    made.add_argument("--key", type=Path, help="file of its key, PEM")
    made.add_argument("--namespace", default="", help="of the workcell's nodes")


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until it is interrupted. Returns the exit code."""
    options, _ = parser().parse_known_args(argv)  # the others are ROS's
    try:
        return serve(options)
    except (RobotControlError, OSError) as error:
        print(f"robot-rt-control-blueprint-editor: {error}", file=sys.stderr)
        return 1


def serve(options: argparse.Namespace) -> int:
    """Raises RobotControlError or OSError: it cannot be served."""
    context = _context(options)
    try:
        from aiohttp import web
    except ImportError:
        raise RobotControlError(
            "the editor needs the package aiohttp", hint="pip install 'robot_rt_control[editor]'"
        ) from None
    from robot_rt_control.application.editor.ros_robot import RosRobot
    from robot_rt_control.application.editor.server import PAGE, EditorServer

    if not (PAGE / "editor.js").is_file():
        raise RobotControlError(f"the page is not built: no editor.js in {PAGE}", hint="Build it: ./run web")
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    logging.getLogger("aiohttp.access").setLevel(logging.WARNING)
    robot = RosRobot(namespace=options.namespace)
    name = options.name or options.address
    try:
        server = EditorServer(robot, address=name, port=options.port, secure=context is not None)
        shown = f"[{name}]" if ":" in name else name
        link = f"{'https' if context else 'http'}://{shown}:{options.port}/#token="
        print(f"Edit and operate:  {link}{server.keys.operate}")
        print(f"Watch and stop:    {link}{server.keys.watch}", flush=True)
        web.run_app(
            server.app, host=options.address, port=options.port, ssl_context=context, print=lambda *_: None,
            access_log=None, shutdown_timeout=2.0,
        )  # fmt: skip
    finally:
        robot.close()
    return 0


def _context(options: argparse.Namespace) -> ssl.SSLContext | None:
    """Raises RobotControlError: an address of the network without a certificate."""
    if options.certificate is not None:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(options.certificate, options.key)
        return context
    try:
        local = ipaddress.ip_address(options.address).is_loopback
    except ValueError:
        local = options.address == "localhost"
    if not local:
        raise RobotControlError(
            f"address {options.address!r} can be reached from the network",
            expected="127.0.0.1, or a certificate: --certificate FILE --key FILE",
        )
    return None


if __name__ == "__main__":
    sys.exit(main())
