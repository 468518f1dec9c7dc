"""Serves a workcell's topics to the application Foxglove on this machine, read only, and prints where."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from collections.abc import Sequence

from robot_rt_control.editor.installed import FOXGLOVE_PORT, require_foxglove
from robot_rt_control.ros.readiness import report_ready
from robot_rt_control.vocabulary.errors import RobotControlError


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="robot-rt-control-foxglove", description=__doc__)
    made.add_argument("--port", type=int, default=FOXGLOVE_PORT, help="0: any free one (default: %(default)s)")
    made.add_argument("--namespace", default="", help="of the workcell's nodes")
    return made


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until it is interrupted. Returns the exit code."""
    options, _ = parser().parse_known_args(argv)  # the others are ROS's
    try:
        return serve(options.port, options.namespace)
    except (RobotControlError, OSError) as error:
        print(f"robot-rt-control-foxglove: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:  # before it served
        return 0


def serve(port: int, namespace: str) -> int:
    """Serve until it is interrupted. Returns the exit code.

    Raises:
        RobotControlError: it cannot be served.
    """
    require_foxglove()
    if not 0 <= port <= 65535:
        raise RobotControlError(f"port {port}", expected="0 to 65535")
    import rclpy
    from rclpy.node import Node
    from rclpy.signals import SignalHandlerOptions

    from robot_rt_control.editor.foxglove.bridge import Bridge

    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    node = Node("foxglove", namespace=namespace, start_parameter_services=False, enable_rosout=False)
    try:
        try:
            bridge = Bridge(node, port, f"robot_rt_control{namespace and f' {namespace}'}")
        except RuntimeError as error:
            hint = "Perhaps another server runs there. Choose a port: --port 8766; 0 takes any free one"
            raise RobotControlError(f"it cannot listen at port {port}: {error}", hint=hint) from None
        print(f"Foxglove:          ws://localhost:{bridge.port} (read only)", flush=True)
        report_ready()
        try:
            bridge.serve(ended.is_set)
        finally:
            bridge.close()
    finally:
        node.destroy_node()
        rclpy.try_shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
