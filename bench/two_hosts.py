"""Workcell and application on two hosts: what works over the network, and what becomes of the arm when it is cut.

The hosts are namespaces of the kernel with their own network, shared memory and clock; all traffic stays between them.
For each way of discovery, an application on the second host moves the arm by actions, a stream and a callback; then the
network is cut while the arm moves. Needs root, or a kernel that lets users make namespaces.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from random import Random, SystemRandom
from typing import Any

from rich.console import Console

from bench.arm_watch import ArmWatch, rest_after
from bench.host_findings import APPLICATION_S, Findings, bounds, session_end, table
from bench.host_programs import PATIENCE_S, PORT, RemoteApplication, discovery_server
from bench.network_hosts import NoHosts, TwoHosts, become_able
from robot_rt_control.demo.demo_workcell import DemoWorkcell
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.vocabulary import defaults
from robot_rt_control.vocabulary.errors import RobotControlError

REPOSITORY = Path(__file__).resolve().parents[1]
PROFILES = REPOSITORY / "config" / "fastdds.xml"
_CONTROL_S = 8.0
"""Without a way to find it, a workcell is looked for during this time."""
_MOVING = 20.0
"""Speed at which the network is cut, in multiples of what counts as rest."""


@dataclass(frozen=True, kw_only=True)
class Way:
    """How the hosts find each other."""

    name: str
    workcell: Mapping[str, str]
    """Environment of the workcell's processes."""
    application: Mapping[str, str]
    multicast: bool
    """Whether the network passes it."""
    server: bool = False
    """Whether a discovery server runs on the workcell's host."""
    arguments: Sequence[str] = ("--workcell", "arm7")
    simulated: bool = False
    found: bool = True


def _ways(robot: str) -> tuple[Way, ...]:
    """Args:
    robot: address of the workcell's host.
    """
    subnet, local = ({"ROS_AUTOMATIC_DISCOVERY_RANGE": text} for text in ("SUBNET", "LOCALHOST"))
    server = subnet | {"ROS_DISCOVERY_SERVER": f"{robot}:{PORT}"}
    peers = local | {"ROS_STATIC_PEERS": robot}
    iiwa = ("--workcell", "iiwa")
    return (
        Way(name="multicast", workcell=subnet, application=subnet, multicast=True),
        Way(name="discovery server", workcell=server, application=server, multicast=False, server=True),
        Way(name="static peers", workcell=local, application=peers, multicast=False),
        Way(name="none", workcell=subnet, application=subnet, multicast=False, found=False),
        Way(name="simulated", workcell=subnet, application=subnet, multicast=True, arguments=iiwa, simulated=True),
    )


WAYS = _ways("10.99.0.1")


class Trial:
    """One workcell and one application, on hosts of their own. A context manager."""

    def __init__(self, way: Way, folder: Path, random: Random, findings: Findings) -> None:
        self._way, self._folder, self._random, self._findings = way, folder, random, findings
        self._log = folder / f"{way.name.replace(' ', '_')}_workcell.log"
        self._open = ExitStack()

    def __enter__(self) -> Trial:
        way = self._way
        common = {"ROS_DOMAIN_ID": "0", "FASTDDS_DEFAULT_PROFILES_FILE": str(PROFILES)}
        with ExitStack() as made:
            self.hosts = made.enter_context(TwoHosts())
            self.hosts.switch(multicast=way.multicast)
            if way.server:
                made.enter_context(discovery_server(self.hosts.workcell, self._folder / "discovery_server.log"))
            workcell = DemoWorkcell(
                [*way.arguments, "--controllers", "false"],
                self._log,
                inside=self.hosts.workcell.inside([]),
                environment={**common, **way.workcell},
            )
            made.enter_context(workcell)
            begin = time.monotonic()
            workcell.wait_until_ready(None, lambda _: None)
            up_s = time.monotonic() - begin
            self._findings.console.print(f"  the workcell is up after {up_s:.0f} s", highlight=False)
            log = self._folder / f"{way.name.replace(' ', '_')}_application.log"
            self.application = RemoteApplication(self.hosts.application, {**common, **way.application}, log)
            made.enter_context(self.application)
            watch = ArmWatch(load_workcell(_workcell_file(way)), "0", self.hosts.workcell.shared_memory)
            self.speed = watch.follow()
            self._open = made.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        self._open.__exit__(*error)

    def run(self) -> None:
        """Everything, in order."""
        if not self._way.found:
            self.not_found()
            return
        self.find()
        self.work()
        if not self._way.simulated:
            cable = self.hosts.workcell
            self.cut("stream", "the workcell's cable is pulled while a stream moves the arm", cable.unplug, cable.plug)
            self.again("after these seconds")
        self.cut("action", "the switch fails while an action moves the arm", self.switch_off, self.switch_on)
        self.again("after these seconds")
        if not self._way.simulated:
            self.short_cut()
            self.losses()
            self.run_on()
            self.long_cut()
        self.application.do("leave")
        self.application.said("left")

    def switch_off(self) -> None:
        self.hosts.switch(**{"pass": False})

    def switch_on(self) -> None:
        self.hosts.switch(**{"pass": True})

    def not_found(self) -> None:
        """Without multicast, server or peers nothing is found: so the other ways do find it by themselves."""
        self.application.do("meet", patience_s=_CONTROL_S)
        found = self.application.said("met", "not_met")
        held = found["what"] == "not_met"
        self._findings.add(
            "multicast filtered, nothing set instead", "not found", "not found" if held else "found", held
        )

    def find(self) -> None:
        self.application.do("meet", patience_s=60.0)
        seconds = self.application.said("met")["seconds"]
        self._findings.within("the application finds the workcell", 10.0, seconds)

    def work(self) -> None:
        """An action, an event, a callback that replies, and a stream."""
        before = self.hosts.workcell.carried()
        self.application.do("work")
        worked = self.application.said("worked")
        after = self.hosts.workcell.carried()
        received, sent = (after[key] - before[key] for key in ("received", "sent"))
        done = worked["event"] == "half" and worked["called"] == 1
        self._findings.add(
            "an action with an event and a callback; its reply moves the goal",
            "within 1 mrad",
            f"off by {worked['reply_error'] * 1e3:.2f} mrad",
            done and worked["reply_error"] < 1e-3,
        )
        self._findings.add(
            "a stream of 101 goals leads the arm",
            "within 10 mrad",
            f"off by {worked['stream_error'] * 1e3:.2f} mrad; the hosts' clocks are {self.hosts.ahead_s} s apart",
            worked["stream_error"] < 0.01,
        )
        self._findings.add(
            "meanwhile through the network card",
            "both ways",
            f"{received / 1e3:.0f} kB received, {sent / 1e3:.0f} kB sent",
            min(received, sent) > 20_000,
        )

    def _until(self, condition: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            if time.monotonic() > deadline:
                raise RobotControlError(f"waited {PATIENCE_S:g} s for {what}")
            time.sleep(0.002)

    def cut(self, kind: str, how: str, unplug: Callable[[], None], plug: Callable[[], None]) -> None:
        """Cut the network while the arm moves by a stream or an action; join it again when all has been seen.

        Args:
            kind: "stream" or "action".
            how: in words.
        """
        lease_s, add = defaults.LEASE_S, self._findings.add
        within = self._findings.within
        bound = bounds(lease_s, self._way.simulated)
        self.application.do(kind, lease_s=lease_s)
        session = self.application.said("moving")["session"]
        self._until(lambda: self.speed() > _MOVING, "the arm to move")
        time.sleep(self._random.uniform(0.0, 1.5))
        self._until(lambda: self.speed() > _MOVING, "the arm to move")
        at_cut, wall, begin = self.speed(), time.time(), time.monotonic()
        unplug()
        rest_s = rest_after(self.speed, begin, bound.told + 1.5)
        within(
            f"{how} ({at_cut:.0f} % of full speed): at rest",
            bound.stream_rest if kind == "stream" else bound.action_rest,
            rest_s,
        )
        end = session_end(self._log.read_text(errors="replace"), session)
        within("the workcell's log: the session has ended", bound.ended, None if end is None else end[0] - wall)
        reason = "" if end is None else end[1]
        add("its reason", "names the lease", reason or "none", "did not renew it for its lease" in reason)
        ended = self.application.said("ended", timeout_s=5.0)
        within("the application is told", bound.told, ended["at"] - wall, margin_s=APPLICATION_S)
        text = ended["reason"]
        add("its words", "name server and network", text, "has not answered" in text and "network" in text)
        within("it closes the session", 1.0, self.application.said("closed")["seconds"], margin_s=APPLICATION_S)
        if kind == "action":
            called = self.application.said("called")
            within("calls that wait for an answer end", bound.told, called["longest"], APPLICATION_S, "the longest ")
        self.application.said("done")
        plug()
        moved = rest_after(self.speed, time.monotonic(), 2.0)
        add("the network is back: the arm", "stays at rest", "at rest" if moved == 0.0 else "moved", moved == 0.0)

    def again(self, when: str) -> None:
        self.application.do("again")
        moved = self.application.said("moved_again")
        self._findings.within(f"{when}: a new session moves the arm", 10.0, moved["seconds"])
        self.application.said("done")

    def short_cut(self) -> None:
        """A cut that is shorter than the lease ends nothing."""
        self.application.do("stream", lease_s=2.0, seconds=4.0)
        self.application.said("moving")
        self._until(lambda: self.speed() > _MOVING, "the arm to move")
        self.switch_off()
        time.sleep(0.4)
        self.switch_on()
        said = self.application.said("streamed", "ended")
        held = said["what"] == "streamed"
        seen = "the session goes on" if held else said["reason"]
        self._findings.add("a cut of 0.4 s, with a lease of 2 s", "the session goes on", seen, held)
        self.application.said("done")

    def losses(self) -> None:
        """Lost packets end nothing, and hold the stream up for a short time only."""
        self.hosts.switch(loss=0.02)
        self.application.do("stream", lease_s=defaults.LEASE_S, seconds=15.0)
        said = self.application.said("streamed", "ended")
        self.hosts.switch(loss=0.0)
        held = said["what"] == "streamed" and said["timed_out"] == 0
        counts = f"{said['timed_out']} time-outs, {said['late']} samples late" if said["what"] == "streamed" else ""
        seen = counts or said["reason"]
        self._findings.add("2 % of all frames lost, a stream of 15 s", "no time-out", seen, held)
        self.application.said("done")

    def run_on(self) -> None:
        """A run has no lease: it goes on, and its client learns the outcome."""
        self._until(lambda: self.speed() < 1.0, "the arm to come to rest")
        self.application.do("run")
        self._until(lambda: self.speed() > 2.0, "the arm to move")
        self.switch_off()
        begin = time.monotonic()
        rest_s = rest_after(self.speed, begin, 9.0)
        self.switch_on()
        back = time.time()
        said = self.application.said("ran")
        late_s = said["at"] - back
        seen = f"at rest after {rest_s:.1f} s; the outcome came {late_s:.1f} s after the cut"
        held = bool(said["success"]) and 2.0 < rest_s < 9.0 and late_s > 0.0
        self._findings.add("cut for 9 s during a run", "the run goes on; its outcome comes later", seen, held)
        self.application.said("done")

    def long_cut(self) -> None:
        """So long that DDS forgets the other host."""
        self.switch_off()
        time.sleep(25.0)
        self.switch_on()
        self.again("after a cut of 25 s")


def _workcell_file(way: Way) -> Path:
    return REPOSITORY / "config" / f"{way.arguments[1]}.yaml"


def run(ways: Sequence[Way], seed: int, folder: Path, console: Console) -> bool:
    """Try the ways, one after the other. Returns whether all promises held."""
    random, all_findings = Random(seed), list[Findings]()
    for way in ways:
        findings = Findings(way.name, console)
        all_findings.append(findings)
        console.print(f"[bold]{way.name}[/bold]")
        try:
            with Trial(way, folder, random, findings) as trial:
                trial.run()
        except RobotControlError as error:
            if isinstance(error, NoHosts):
                raise
            findings.add("the trial", "comes to its end", str(error), held=False)
    console.print(table(all_findings))
    return all(row.held for findings in all_findings for row in findings.rows)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    names = [way.name for way in WAYS]
    parser.add_argument("--ways", nargs="+", choices=names, default=names, help="of discovery (default: all)")
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(10**9), help="default: a new one")
    parser.add_argument("--logs", type=Path, help="folder for the logs (default: one that is removed)")
    given = parser.parse_args(argv)
    console = Console() if sys.stdout.isatty() else Console(width=180)
    try:
        become_able()
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # all ends in order, as after Ctrl-C
        console.print(f"seed {given.seed}")
        with tempfile.TemporaryDirectory(prefix="two_hosts-") as made:
            folder = given.logs or Path(made)
            folder.mkdir(parents=True, exist_ok=True)
            chosen = [way for way in WAYS if way.name in given.ways]
            return 0 if run(chosen, given.seed, folder, console) else 1
    except NoHosts as error:
        print(f"two_hosts: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
