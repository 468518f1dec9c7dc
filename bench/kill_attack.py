"""Kills or stops processes of a workcell at random moments while its arm moves, and checks what becomes of the arm.

After each kill (SIGKILL, or SIGSTOP) the arm must be at rest within the documented bound, the reason must be reported,
and after the restart the workcell must move again with nothing left behind. The arm is watched in shared
memory, past all processes.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random, SystemRandom
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from bench.arm_watch import SHARED_MEMORY, ArmWatch, rest_after
from robot_rt_control.blueprint.remote import Blueprints, StartRequest
from robot_rt_control.bringup.bringup import BringupOptions, ProcessDescription, processes
from robot_rt_control.bringup.process_command import command_line
from robot_rt_control.client import Client, Event
from robot_rt_control.demo.demo_workcell import DemoWorkcell
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.testing.ros_domain import claim_domain
from robot_rt_control.vocabulary import defaults
from robot_rt_control.vocabulary.errors import RobotControlError

REPOSITORY = Path(__file__).resolve().parents[1]
HARDWARE, CLOCK = f"{REPOSITORY / 'bench' / 'late_device.py'}:LateDevice", "realtime"
"""A driver process that is no simulator: deaths are about real time."""
TIME_CONSTANT_S = 0.02
"""Time constant of the device's joints."""
MAX_AGE_TICKS = 250
"""Limit for the age of the device's data: on a busy machine a driver in Python stands still for 50 ms now and then."""
MOVER = REPOSITORY / "bench" / "mover.py"

STOPPED = {"stopped_client": "client", "stopped_server": "control_server"}
"""Victims that are stopped, and go on once the arm was watched."""
VICTIMS = (
    *("client", "application", "control_server", "realtime_executor", "hardware_driver", "blueprints", "editor"),
    *STOPPED,
)
WITH_BLUEPRINTS = ("blueprints", "editor")
"""Those beside which a blueprint moves the arm."""

SCHEDULING_S = 0.15
"""Added to each bound: processes on an ordinary, busy machine are late now and then."""
LAG_S = 3 * TIME_CONSTANT_S
"""Added to each bound: by then the device's joints have followed the command."""
BOUNDS_S = {
    # What the documents say: until it is noticed, and the way to rest from full speed.
    "client": defaults.LEASE_S + defaults.REST_TIME_S,
    "application": defaults.LEASE_S + defaults.REST_TIME_S,
    "stopped_client": defaults.LEASE_S + defaults.REST_TIME_S,
    "control_server": defaults.REST_TIME_S,
    "stopped_server": defaults.SERVER_NATIVE_SILENCE_S + defaults.REST_TIME_S,
    "realtime_executor": defaults.EXECUTOR_SILENCE_TICKS * defaults.PERIOD_S + defaults.REST_TIME_S,
    "blueprints": defaults.LEASE_S + defaults.REST_TIME_S,
    "editor": float("inf"),  # its death touches no run
    "hardware_driver": MAX_AGE_TICKS * defaults.PERIOD_S + defaults.REST_TIME_S,
}
_ROUND_S = 26.0
_PATIENCE_S = 180.0
"""For what a busy machine does late."""
_HEARD_S = 60.0
"""A node that was killed and is back is heard after some 3 s on a quiet machine: docs/blueprints_design.md, Open."""
_SHOWN_LINES = 30
_AGE_S = MAX_AGE_TICKS * defaults.PERIOD_S
WATCHED_S = 1.0
"""The arm is watched for so much longer than the bound: it must stay at rest."""


def driven_workcell(folder: Path) -> Path:
    """Write arm7 with a device that has a driver process: the mock runs in the executor."""
    config, text = REPOSITORY / "config", (REPOSITORY / "config" / "arm7.yaml").read_text()
    device = f'    max_age_ticks: {MAX_AGE_TICKS}\n    "{HARDWARE}": {{time_constant: {TIME_CONSTANT_S}}}  # before: '
    for old, new in (("    mock: ", device), ("urdf: ", f"urdf: {config}/")):
        assert text.count(old) == 1, f"arm7.yaml has changed: {old!r}"
        text = text.replace(old, new)
    path = folder / "arm7.yaml"
    path.write_text(text)
    return path


@dataclass
class Outcome:
    """What was seen of one kill."""

    victim: str
    speed: float
    """At the kill, in multiples of what counts as rest."""
    rest_s: float
    """From the kill until the arm was at rest, and stayed so; inf: it was not in the time that was watched."""
    reason: str = ""
    """As it was reported; empty: it was not."""
    back_s: float = float("nan")
    """From the kill until everything was up again."""
    complaints: list[str] = field(default_factory=list)


class FaultedBefore(Exception):
    """A part faulted before anything was killed: on an ordinary kernel the driver may stand still for long."""


class Attack:
    """One workcell under attack. A context manager."""

    def __init__(self, folder: Path, domain: str, seed: int) -> None:
        self._folder, self._domain, self._random = folder, domain, Random(seed)
        self._log = folder / "workcell.log"
        self._file = driven_workcell(folder)
        self._workcell = DemoWorkcell(
            [
                *("--workcell", str(self._file), "--hardware", HARDWARE, "--clock", CLOCK),
                *("--controllers", "false", "--restart", "on-failure", "--blueprints"),
            ],
            self._log,
            environment={"XDG_DATA_HOME": str(folder)},
        )
        self._watch = ArmWatch(load_workcell(self._file, HARDWARE), domain, driver=True)
        self._segments: set[str] = set()
        self._ends: list[Event] = []
        self._faults: list[str] = []
        self._open = ExitStack()

    def __enter__(self) -> Attack:
        with ExitStack() as open_now:
            open_now.enter_context(self._workcell)
            self.client = open_now.enter_context(Client("kill_attack", timeout_s=15.0))
            try:
                self._workcell.wait_until_ready(self.client, lambda _: None)
            except RobotControlError:  # on a busy machine a part may fault as it comes up
                self.bring_back()
            self.client.add_listener(self._take)
            # A call that reached only the dead node is not answered: it is given up soon, and made again.
            self.blueprints = open_now.enter_context(Blueprints(self.client, timeout_s=3.0))
            self._open = open_now.pop_all()
        self._segments = self._own_segments()
        return self

    def _take(self, event: Event) -> None:
        if event.kind == "session_ended":
            self._ends.append(event)
        elif event.kind == "part_faulted":
            self._faults.append(f"{event.part}: {event.reason}")

    def __exit__(self, *error: Any) -> None:
        self._open.__exit__(*error)

    def _own_segments(self) -> set[str]:
        return {path.name for path in SHARED_MEMORY.glob(f"robot_rt_control.*.{self._domain}-*")}

    def _log_text(self) -> str:
        return self._log.read_text(errors="replace")

    def _pid(self, process: str) -> int:
        """Process id of the latest process of this name that the supervisor started."""
        start = f"started {process} (process "
        return int(self._log_text().rpartition(start)[2].partition(")")[0])

    @contextmanager
    def _mover(self, kind: str) -> Iterator[subprocess.Popen[bytes]]:
        """The program that moves the arm: an application node, or a client of its own."""
        command = [sys.executable, str(MOVER)]
        if kind == "application":
            options = BringupOptions(workcell=self._file, hardware=HARDWARE, clock=CLOCK, program=str(MOVER))
            node = next(p for p in processes(options) if isinstance(p, ProcessDescription) and p.name == "application")
            command = command_line(node, self._folder)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=REPOSITORY)
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    def strike(self, victim: str) -> Outcome:
        """Have the arm move, kill, watch, and bring everything back.

        Raises:
            FaultedBefore: there was nothing to see.
            RobotControlError: the arm did not begin to move, or the workcell did not come back.
        """
        if victim in WITH_BLUEPRINTS:
            return self.strike_beside_blueprint(victim)
        process = STOPPED.get(victim, victim)
        kind = process if process in ("client", "application") else self._random.choice(("client", "application"))
        first_line, first_end = len(self._log_text()), len(self._ends)
        self._faults.clear()
        with self._mover(kind) as mover:
            speed = self._watch.follow()
            self._until(lambda: speed() > 20.0 or bool(self._faults), _PATIENCE_S, f"the {kind} to move the arm")
            time.sleep(self._random.uniform(0.0, 1.5))
            self._still_moving(speed)
            pid = mover.pid if process == kind else self._pid(process)
            at_kill = speed()
            os.kill(pid, signal.SIGSTOP if victim in STOPPED else signal.SIGKILL)
            begin = time.monotonic()
            try:
                rest_s = rest_after(speed, begin, BOUNDS_S[victim] + WATCHED_S)
            finally:
                if victim in STOPPED:
                    os.kill(pid, signal.SIGCONT)
            outcome = Outcome(victim, at_kill, rest_s)
        self.bring_back()
        outcome.back_s = time.monotonic() - begin
        deadline = time.monotonic() + _PATIENCE_S  # the executor looks for a lost server about once a second
        while not (reason := self._reason(victim, first_line, first_end)) and time.monotonic() < deadline:
            time.sleep(0.1)
        outcome.reason = reason
        outcome.complaints = self._complaints(outcome)
        return outcome

    def strike_beside_blueprint(self, victim: str) -> Outcome:
        """Have a blueprint move the arm, kill the executor of blueprints or an editor, watch, and bring it back.

        Raises: as strike.
        """
        self._faults.clear()
        self.bring_back()
        self._until(self._executor_is_there, _PATIENCE_S, "the blueprints")
        with self._editor() as editor:
            run = self.blueprints.run(StartRequest(skill=self._swing(), source="kill_attack"))
            speed = self._watch.follow()
            self._until(lambda: speed() > 20.0 or bool(self._faults), _PATIENCE_S, "the blueprint to move the arm")
            time.sleep(self._random.uniform(0.0, 1.5))
            self._still_moving(speed)
            at_kill = speed()
            os.kill(editor.pid if victim == "editor" else self._pid("blueprints"), signal.SIGKILL)
            begin = time.monotonic()
            if victim == "editor":
                return self._undisturbed(run.id, at_kill, begin)
            outcome = Outcome(victim, at_kill, rest_after(speed, begin, BOUNDS_S[victim] + WATCHED_S))
        self.bring_back()
        self._until(lambda: bool(self._interrupted(run.id)), _PATIENCE_S, "the run to be listed as interrupted")
        outcome.back_s = time.monotonic() - begin
        outcome.reason = f"interrupted at {self._interrupted(run.id)}"
        outcome.complaints = self._complaints(outcome)
        try:  # the state of the restarted one comes later than its answers, or earlier
            self.blueprints.wait_for_state(lambda state: all(n.state == "ended" for n in state.nodes), _HEARD_S)
        except TimeoutError:
            known = self.client.node.count_publishers("blueprints/state")
            outcome.complaints.append(f"{_HEARD_S:g} s later it still shows a run; {known} publishers of it are known")
        return outcome

    def _still_moving(self, speed: Callable[[], float]) -> None:
        """It stands for an instant at its turns, and for good if a busy machine has ended its session.

        Raises:
            FaultedBefore: it moves no more.
        """
        deadline = time.monotonic() + 2.0
        while speed() <= 1.0 and not self._faults and time.monotonic() < deadline:
            time.sleep(0.002)
        if self._faults or speed() <= 1.0:
            raise FaultedBefore("; ".join(self._faults) or "the arm stopped by itself")

    def _undisturbed(self, run: str, at_kill: float, begin: float) -> Outcome:
        """The editor was killed: does the run go on?"""
        time.sleep(WATCHED_S)
        outcome = Outcome("editor", at_kill, 0.0, reason="nothing to report", back_s=time.monotonic() - begin)
        (itself, *_) = [n for n in self.blueprints.state.nodes if n.run == run] or [None]
        if itself is None or itself.state != "runs" or self._faults:
            outcome.complaints.append(f"the run is disturbed: {itself}, {self._faults}")
        self.blueprints.control("cancel")
        self._until(lambda: not any(part.session for part in self.client.parts()), _PATIENCE_S, "the run to end")
        outcome.complaints += self._complaints(outcome)
        return outcome

    def _executor_is_there(self) -> bool:
        state = self.blueprints.state
        return state is not None and not state.problem

    def _interrupted(self, run: str) -> str:
        try:
            return next((r["interrupted_at"] for r in self.blueprints.read_runs()[0] if r["run"] == run), "")
        except RobotControlError:
            return ""  # it is not there yet

    def _swing(self) -> str:
        """A blueprint that swings the arm for ever."""
        arm = next(part for part in self.client.parts() if part.kind == "arm")
        here = [self.client.value(f"{arm.name}.position[{j}]") for j in range(len(arm.joint_names))]
        there = [q - 0.5 if q > 0 else q + 0.5 for q in here]
        nodes = "".join(
            f"  {name}: {{skill: move_joint, parts: {{part: {arm.name}}}, with: {{position: {goal}}}, then: {then}}}\n"
            for name, goal, then in (("to", there, "fro"), ("fro", here, "to"))
        )
        return f"name: swing\nstart: to\nnodes:\n{nodes}"

    @contextmanager
    def _editor(self) -> Iterator[subprocess.Popen[bytes]]:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        module = "robot_rt_control.editor.main"
        with (self._folder / "editor.log").open("wb") as log:
            process = subprocess.Popen([sys.executable, "-m", module, "--port", str(port)], stdout=log, stderr=log)
        try:
            self._until(lambda: (self._folder / "editor.log").stat().st_size > 0, _PATIENCE_S, "the editor")
            yield process
        finally:
            process.kill()
            process.wait()

    def _until(self, condition: Callable[[], bool], timeout_s: float, what: str) -> None:
        deadline = time.monotonic() + timeout_s
        while not condition():
            if time.monotonic() > deadline:
                said = "The workcell says:\n" + "\n".join(self._workcell.last_lines(_SHOWN_LINES))
                raise RobotControlError(
                    f"waited {timeout_s:g} s for {what}", got="; ".join(self._faults), hint=said
                )
            time.sleep(0.002)

    def _reason(self, victim: str, first_line: int, first_end: int) -> str:
        """What the workcell says about it; empty: nothing."""
        if STOPPED.get(victim, victim) in ("client", "application"):
            ended = [e.reason for e in self._ends[first_end:] if "lease" in e.reason]
            return ended[-1] if ended else ""
        said = self._log_text()[first_line:]
        words = ("the control server is lost",) if victim in STOPPED else (victim, "SIGKILL")
        line = next((line for line in said.splitlines() if all(word in line for word in words)), "")
        return line.partition("]")[2].strip()

    def bring_back(self) -> None:
        """As a person would: see that all is up, clear the faults, enable the motion."""

        def enabled() -> bool:
            try:
                self.client.clear_faults()
                self.client.enable()
                parts = self.client.parts()
            except RobotControlError:
                return False  # the server is not there yet, or has no executor yet
            return all(part.operational_state == "enabled" and not part.session for part in parts)

        self._until(enabled, _PATIENCE_S, "the workcell to come back")

    def _complaints(self, outcome: Outcome) -> list[str]:
        found = []
        bound = BOUNDS_S[outcome.victim] + SCHEDULING_S + LAG_S
        if outcome.rest_s > bound:
            found.append(f"at rest after {outcome.rest_s:.3f} s, bound {bound:.3f} s")
        if not outcome.reason:
            found.append("no reason was reported")
        left = self._own_segments() - self._segments
        if left:
            found.append(f"left in shared memory: {', '.join(sorted(left))}")
        held = [part.name for part in self.client.parts() if part.session]
        if held:
            found.append(f"parts still held: {', '.join(held)}")
        return found


def run(kills: int, seed: int, console: Console, victims: Sequence[str] = VICTIMS) -> bool:
    """Attack `kills` times. Returns whether everything held."""
    domain = str(claim_domain("kill_attack"))
    os.environ |= {"ROS_DOMAIN_ID": domain, "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
    random = Random(seed)
    outcomes: list[Outcome] = []
    spoiled = 0
    with tempfile.TemporaryDirectory(prefix="kill_attack-") as folder, Attack(Path(folder), domain, seed) as attack:
        order = random.sample(victims, len(victims))
        while len(outcomes) < kills:
            # In rounds that take their time: the supervisor starts none more often than three times in a minute.
            round_begin = time.monotonic()
            for victim in order[: kills - len(outcomes)]:
                try:
                    outcome = attack.strike(victim)
                except FaultedBefore as fault:
                    spoiled += 1
                    console.print(f"      before a kill: {fault}; tried again")
                    if spoiled > kills // 4 + 2:
                        raise RobotControlError("parts fault by themselves", hint="Is the machine busy?") from None
                    attack.bring_back()
                    continue
                outcomes.append(outcome)
                verdict = "[red]" + "; ".join(outcome.complaints) if outcome.complaints else "[green]held"
                console.print(
                    f"{len(outcomes):4d}/{kills}  {victim:18s} at {outcome.speed:4.0f} % of full speed: at rest after "
                    f"{outcome.rest_s * 1e3:5.0f} ms, back after {outcome.back_s:4.1f} s  {verdict}"
                )
                if outcome.complaints:
                    console.print(f"      reported: {outcome.reason or 'nothing'}")
            time.sleep(max(_ROUND_S - (time.monotonic() - round_begin), 0.0))
    console.print(summary(outcomes))
    console.print(f"{spoiled} times a part faulted by itself before a kill: its data was older than {_AGE_S:g} s")
    return not any(outcome.complaints for outcome in outcomes)


def summary(outcomes: Sequence[Outcome]) -> Table:
    """What was seen, by victim."""
    table = Table(title=f"{len(outcomes)} kills while the arm moved")
    for name in ("killed", "times", "rest: median", "rest: largest", "bound", "back: largest", "reported, for example"):
        table.add_column(name)
    for victim in VICTIMS:
        of = [o for o in outcomes if o.victim == victim]
        if of:
            rests = [o.rest_s for o in of]
            table.add_row(
                victim,
                str(len(of)),
                f"{np.median(rests) * 1e3:.0f} ms",
                f"{max(rests) * 1e3:.0f} ms",
                f"{BOUNDS_S[victim] * 1e3:.0f} ms",
                f"{max(o.back_s for o in of):.1f} s",
                of[-1].reason[:60],
            )
    return table


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--kills", type=int, default=100, help="how many (default: %(default)s; some 8 s each)")
    parser.add_argument("--only", nargs="+", choices=VICTIMS, default=VICTIMS, help="default: all")
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(10**9), help="default: a new one")
    given = parser.parse_args(argv)
    console = Console() if sys.stdout.isatty() else Console(width=120)
    console.print(f"seed {given.seed}")
    return 0 if run(given.kills, given.seed, console, given.only) else 1


if __name__ == "__main__":
    sys.exit(main())
