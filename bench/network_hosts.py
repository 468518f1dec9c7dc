"""Two hosts on one machine, joined by a switch: namespaces of the kernel, and virtual network interfaces."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from robot_rt_control.processes.parent_death import end_with_parent
from robot_rt_control.vocabulary.errors import RobotControlError

SWITCH = Path(__file__).with_name("network_switch.py")
CARD = "cable0"
"""Name of the network interface, on both hosts."""
_OWN = ("--net", "--mount", "--uts", "--ipc")
"""What each host has of its own. `--mount`: its own /dev/shm, or Fast DDS would pass data past the cable."""
_AHEAD_S = 1000
"""The second host's monotonic clock is ahead by this, so that nothing can rely on one clock."""
_PATIENCE_S = 30.0


class NoHosts(RobotControlError):
    """The kernel does not let this user make namespaces."""


def _ask(command: Sequence[str]) -> str:
    """Run a short command. Returns its output.

    Raises:
        RobotControlError: it failed.
    """
    try:
        done = subprocess.run(
            list(command), capture_output=True, text=True, timeout=_PATIENCE_S, stdin=subprocess.DEVNULL, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RobotControlError(f"`{' '.join(command)}`: {error}") from None
    if done.returncode:
        raise RobotControlError(f"`{' '.join(command)}` failed", got=(done.stderr or done.stdout).strip())
    return done.stdout


def become_able() -> None:
    """See that this process may make namespaces; if it is not root, start it again as root of a user namespace.

    Raises:
        NoHosts: it may not, with the reason.
    """
    user = () if os.geteuid() == 0 else ("--user", "--map-root-user")
    try:
        _ask(["unshare", *user, *_OWN, "ip", "link", "add", CARD, "type", "veth", "peer", "name", "other"])
    except RobotControlError as error:
        raise NoHosts(
            "two hosts cannot be made on this machine",
            expected="`unshare` (util-linux) and `ip` (iproute2), as root or with user namespaces allowed",
            got=str(error),
            hint="Run it as root, outside a container or in a privileged one. Nothing was tried",
        ) from None
    if user:
        os.execvp("unshare", ["unshare", *user, sys.executable, *sys.orig_argv[1:]])


class Host:
    """A host: network, name, shared memory and, if the kernel can do that, a monotonic clock of its own.

    Its namespaces live as long as a process that holds them, which ends with this one: nothing is left behind. A
    context manager.

    Args:
        name: its host name.
        address: its IPv4 address on the cable.
        ahead_s: its monotonic clock is ahead of the machine's by this.
    """

    def __init__(self, name: str, address: str, ahead_s: int = 0) -> None:
        self.name, self.address = name, address
        self._kinds = (*_OWN, "--time") if ahead_s else _OWN
        clock = ["--time", f"--monotonic={ahead_s}", f"--boottime={ahead_s}"] if ahead_s else []
        setup = f"mount -t tmpfs tmpfs /dev/shm && hostname {name} && ip link set lo up && echo up && exec cat"
        self._holder = subprocess.Popen(
            ["unshare", *_OWN, *clock, "sh", "-c", setup],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            preexec_fn=end_with_parent(signal.SIGKILL),
        )
        assert self._holder.stdout is not None
        if self._holder.stdout.readline() != b"up\n":
            self.close()
            raise NoHosts(f"host {name!r} could not be made", hint="See above what the kernel refused")
        # With a clock of its own, `unshare` starts the holder as a child.
        children = Path(f"/proc/{self._holder.pid}/task/{self._holder.pid}/children").read_text().split()
        self.pid = int(children[0]) if children else self._holder.pid
        """A process inside it."""
        self.shared_memory = Path(f"/proc/{self.pid}/root/dev/shm")
        """Its /dev/shm, for looking at it from outside."""

    def __enter__(self) -> Host:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def close(self) -> None:
        """End it, and with it its network."""
        for pipe in (self._holder.stdin, self._holder.stdout):
            if pipe is not None:
                pipe.close()  # what holds the namespaces reads from it, and ends
        try:
            self._holder.wait(5.0)
        except subprocess.TimeoutExpired:
            self._holder.kill()
            self._holder.wait()

    def inside(self, command: Sequence[str]) -> list[str]:
        """The command that runs `command` on this host."""
        return ["nsenter", "--target", str(self.pid), *self._kinds, f"--wd={os.getcwd()}", "--", *command]

    def ask(self, *command: str) -> str:
        """Run a short command on this host. Returns its output. Raises RobotControlError: it failed."""
        return _ask(self.inside(command))

    def start(
        self, command: Sequence[str], environment: Mapping[str, str], output: IO[Any] | int, **options: Any
    ) -> subprocess.Popen[Any]:
        """Start a program on this host, which is interrupted when this process ends.

        Args:
            environment: variables besides those of this process.
            output: for its standard output.
            options: of subprocess.Popen.
        """
        return subprocess.Popen(
            self.inside(command),
            stdout=output,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **environment},
            preexec_fn=end_with_parent(signal.SIGINT),
            start_new_session=True,
            **options,
        )

    def plug(self) -> None:
        """Plug its network cable in."""
        self.ask("ip", "link", "set", CARD, "up")

    def unplug(self) -> None:
        """Pull its network cable."""
        self.ask("ip", "link", "set", CARD, "down")

    def carried(self) -> dict[str, int]:
        """Bytes that its network interface has received and sent."""
        lines = Path(f"/proc/{self.pid}/net/dev").read_text().splitlines()
        numbers = next(line.partition(":")[2].split() for line in lines if line.strip().startswith(f"{CARD}:"))
        return {"received": int(numbers[0]), "sent": int(numbers[8])}


class TwoHosts:
    """Two hosts, and a switch between them. A context manager."""

    def __init__(self) -> None:
        self._open = ExitStack()

    def __enter__(self) -> TwoHosts:
        with ExitStack() as made:
            self.workcell = made.enter_context(Host("workcell-host", "10.99.0.1"))
            self.ahead_s = _AHEAD_S if _own_clocks() else 0
            """[s] by which the application's monotonic clock is ahead."""
            self.application = made.enter_context(Host("application-host", "10.99.0.2", self.ahead_s))
            middle = made.enter_context(Host("switch", ""))
            for host, port in ((self.workcell, "left"), (self.application, "right")):
                peer = ["peer", "name", CARD, "netns", str(host.pid)]
                middle.ask("ip", "link", "add", port, "type", "veth", *peer)
                middle.ask("ip", "link", "set", port, "up")
                host.ask("ip", "address", "add", f"{host.address}/24", "dev", CARD)
                host.plug()
            command = [sys.executable, "-I", "-S", str(SWITCH), "left", "right"]
            self._switch = middle.start(command, {}, subprocess.PIPE, stdin=subprocess.PIPE, text=True)
            made.callback(self._end_switch)
            self._expect("up")
            self._open = made.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        self._open.close()

    def _end_switch(self) -> None:
        for pipe in (self._switch.stdin, self._switch.stdout):
            if pipe is not None:
                pipe.close()
        self._switch.wait(_PATIENCE_S)

    def _expect(self, answer: str) -> None:
        assert self._switch.stdout is not None
        if self._switch.stdout.readline().strip() != answer:
            raise RobotControlError("the switch between the hosts has ended", hint="See above why")

    def switch(self, **how: bool | float) -> None:
        """Tell the switch how to pass frames: see network_switch.py."""
        assert self._switch.stdin is not None
        self._switch.stdin.write(json.dumps(how) + "\n")
        self._switch.stdin.flush()
        self._expect("done")


def _own_clocks() -> bool:
    """Whether the kernel can give a host its own monotonic clock."""
    try:
        _ask(["unshare", "--time", "--monotonic=1", "true"])
    except RobotControlError:
        return False
    return True
