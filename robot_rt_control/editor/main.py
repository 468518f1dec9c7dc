"""Serves the blueprint editor and the view of the workcell to browsers on this machine, and prints the links."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import errno
import ipaddress
import logging
import signal
import socket
import ssl
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robot_rt_control.editor.installed import PORT, require_editor
from robot_rt_control.editor.keys import Keys
from robot_rt_control.editor.robot import Json, Robot
from robot_rt_control.ros.readiness import report_ready
from robot_rt_control.vocabulary.errors import RobotControlError

if TYPE_CHECKING:
    from robot_rt_control.editor.past.recorded import Recorded

_SOON_S = 2.0
"""A robot that is up is found within this time [s]."""


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="robot-rt-control-blueprint-editor", description=__doc__)
    add_arguments(made)
    return made


def add_arguments(made: argparse.ArgumentParser, *, view: bool = False) -> None:
    """The arguments, also of `robot-rt-control-blueprint editor`, and of `robot-rt view` (`view`)."""
    made.add_argument("--port", type=int, default=PORT, help="0: any free one (default: %(default)s)")
    made.add_argument("--address", default="127.0.0.1", help="where to listen; another one than this machine's own "
                      "needs a certificate")  # fmt: skip
    made.add_argument("--name", default="", help="the name under which browsers find an address of another machine")
    made.add_argument("--certificate", type=Path, help="file, PEM")
    made.add_argument("--key", type=Path, help="file of its key, PEM")
    made.add_argument("--namespace", default="", help="of the workcell's nodes")
    if view:
        made.set_defaults(view=True, workcell=None)
    else:
        made.add_argument("--workcell", type=Path, metavar="FILE", help="the workcell file, to simulate what would "
                          "have come of a change")  # fmt: skip
        made.add_argument("--view", action="store_true", help="print the links of the view of the workcell alone")


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until it is interrupted. Returns the exit code."""
    options, _ = parser().parse_known_args(argv)  # the others are ROS's
    try:
        return serve(options)
    except (RobotControlError, OSError) as error:
        print(f"robot-rt-control-blueprint-editor: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:  # before it served
        return 0


def serve(options: argparse.Namespace, recordings: Sequence[Path] = ()) -> int:
    """Serve until it is interrupted. Returns the exit code.

    Args:
        recordings: these are shown, and no robot is needed.

    Raises:
        RobotControlError: it cannot be served.
        OSError: likewise.
    """
    context = _context(options)
    require_editor()
    from aiohttp import web

    from robot_rt_control.editor.server import EditorServer

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    logging.getLogger("aiohttp.access").setLevel(logging.WARNING)
    logging.getLogger("aiohttp.server").setLevel(logging.CRITICAL)  # a traceback for each malformed request
    with contextlib.ExitStack() as ended:
        opened = ended.enter_context(_opened(recordings))
        channel = ended.enter_context(listening(options.address, options.port))
        port = channel.getsockname()[1]
        name = options.name or options.address
        shown = f"[{name}]" if ":" in name else name
        origin = f"{'https' if context else 'http'}://{shown}:{port}"
        where: dict[str, Any] = {"address": name, "port": port, "secure": context is not None}
        robot: Robot | None = None
        try:
            if opened:
                from robot_rt_control.editor.past.server import PastServer

                server: EditorServer = PastServer(opened, **where)
                server.app.on_startup.append(partial(_told, past_link(origin, server.keys)))
            else:
                from robot_rt_control.editor.ros_robot import RosRobot  # slow: it imports ROS

                robot = RosRobot(namespace=options.namespace)
                server = EditorServer(robot, workcell=options.workcell, **where)
                links = printed_links(origin, server.keys, view=options.view)
                server.app.cleanup_ctx.append(partial(announced, links, robot, again=not options.view))
            web.run_app(
                server.app, sock=channel, ssl_context=context, print=lambda *_: None, access_log=None,
                shutdown_timeout=2.0,
            )  # fmt: skip
        finally:
            for number in (signal.SIGINT, signal.SIGTERM):  # a second one must not interrupt the end
                signal.signal(number, signal.SIG_IGN)
            if robot is not None:
                robot.close()
    return 0


@contextlib.contextmanager
def _opened(paths: Sequence[Path]) -> Iterator[list[Recorded]]:
    from robot_rt_control.editor.past.recorded import opened

    found = opened(paths)
    try:
        yield found
    finally:
        for each in found:
            each.close()


async def _told(link: str, app: object) -> None:
    print(link, flush=True)
    report_ready()


def listening(address: str, port: int) -> socket.socket:
    """A socket that browsers can connect to from now on.

    Args:
        port: 0: any free one.

    Raises:
        RobotControlError: the port is taken, or the address is none of this machine's.
    """
    try:
        return socket.create_server(
            (address, port), family=socket.AF_INET6 if ":" in address else socket.AF_INET, backlog=128
        )
    except OverflowError:
        raise RobotControlError(f"port {port}", expected="0 to 65535") from None
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        raise RobotControlError(
            f"the editor cannot listen at {address}, port {port}: {'it is taken' if taken else error.strerror}",
            hint="Perhaps another editor runs there. Choose a port: --port 8421, of a workcell --editor-port 8421, "
            "of the launch file editor_port:=8421; 0 takes any free one" if taken else "",
        ) from None  # fmt: skip


def printed_links(origin: str, keys: Keys, *, view: bool) -> str:
    """Args: view: those of the view alone."""
    shown = f"See the robot:     {origin}/view.html#token={keys.watch}"
    if view:
        return f"{shown}\n... and operate:   {origin}/view.html#token={keys.operate}"
    pages = f"Edit and operate:  {origin}/#token={keys.operate}\nWatch and stop:    {origin}/#token={keys.watch}"
    return f"{pages}\n{shown}"


def past_link(origin: str, keys: Keys) -> str:
    """The link to recordings."""
    return f"See the recording: {origin}/past.html#token={keys.watch}"


async def announced(links: str, robot: Robot, app: object, *, again: bool = True) -> AsyncIterator[None]:
    """Print the links, and again if the robot is ready later only: what it prints as it starts would hide them.

    Args:
        again: else once.
    """
    loop, ready = asyncio.get_running_loop(), asyncio.Event()

    def take(state: Json) -> None:
        if not state["problem"]:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(ready.set)

    async def tell() -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(ready.wait(), _SOON_S)
        print(links, flush=True)
        report_ready()
        if again and not ready.is_set():
            await ready.wait()
            print(f"Blueprints can be run now.\n{links}", flush=True)

    robot.on_state(take)
    task = asyncio.create_task(tell())
    yield
    task.cancel()


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
