"""Runs the examples over ROS in simulated time for long, beside busy loops, and counts the sessions that were lost.

Nothing that a busy machine does may end a session here: leases count simulated time, and the loop waits. Each example
runs beside its workcell, whose processes are real; the workcells take turns.
"""

from __future__ import annotations

import argparse
import itertools
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.table import Table

from robot_rt_control.client import Client, Event
from robot_rt_control.client.inbox import CLOSED
from robot_rt_control.demo.demo_workcell import DemoWorkcell
from robot_rt_control.testing.ros_domain import claim_domain
from robot_rt_control.vocabulary.errors import RobotControlError
from robot_rt_control.vocabulary.event_kinds import Kind

REPOSITORY = Path(__file__).resolve().parents[1]
CELLS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("iiwa", ("01_single_action", "02_chained_actions", "03_up_and_down 5", "04_custom_action", "05_callback")),
    ("surface", ("07_kept_distance",)),
    ("contact", ("08_contact_admittance",)),
    ("gluing", ("09_gluing",)),
    ("bench", ("10_corner",)),
    ("two_digits", ("11_two_digit_grasp",)),
    ("contact", ("12_nominal_path",)),
    ("two_arms", ("13_hand_over",)),
    ("pusher", ("15_slider",)),
    ("push", ("16_push",)),
    ("base_push", ("17_base",)),
    ("humanoid", ("18_humanoid",)),
    ("pinch", ("19_pinch",)),
    ("bench", ("20_blueprint",)),
    ("welcome", ("21_welcome",)),
)
"""Workcells and what runs beside each: they are brought up anew each time, because an example moves objects. Those of
mock hardware alone (06, 14) run on the wall clock, and are not among them."""
_BLUEPRINTS = ("bench", "welcome")
_ORDERLY = (CLOSED, "closed by its client")
_STARTUP_S, _EXAMPLE_S = 900.0, 600.0
_SHOWN_LINES = 15


@contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """Processes of normal priority that do nothing but compute. They end with this one."""
    loop = "import os\np = os.getppid()\nwhile os.getppid() == p:\n    for _ in range(10**6): pass\n"
    processes = [subprocess.Popen([sys.executable, "-c", loop]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


class Soak:
    """What was seen so far.

    Attributes:
        ends: how sessions ended that were not closed → how often; `server_lost` is among them.
        runs: example → (runs, failed).
    """

    def __init__(self, console: Console, folder: Path) -> None:
        self._console, self._folder = console, folder
        self.ends: Counter[str] = Counter()
        self.runs: dict[str, list[int]] = {}

    def _watch(self, event: Event) -> None:
        if event.kind == Kind.SERVER_LOST:
            self.ends["the control server was lost"] += 1
        elif event.kind == Kind.SESSION_ENDED and event.reason not in _ORDERLY:
            self.ends[event.reason] += 1

    def cell(self, name: str, examples: Sequence[str]) -> None:
        """Bring a workcell up, and run examples beside it."""
        arguments = ["--workcell", name, "--controllers", "false"]
        if name in _BLUEPRINTS:
            arguments.append("--blueprints")
        log = self._folder / f"{name}.log"
        with (
            DemoWorkcell(arguments, log, environment={"XDG_DATA_HOME": str(self._folder)}) as workcell,
            Client("soak") as client,
        ):
            workcell.wait_until_ready(client, lambda _: None, _STARTUP_S)
            client.add_listener(self._watch)
            for example in examples:
                self._example(name, example, log)

    def _example(self, cell: str, example: str, log: Path) -> None:
        file, *arguments = example.split()
        output = self._folder / f"{file}.txt"
        command = [sys.executable, str(REPOSITORY / "examples" / f"{file}.py"), *arguments]
        began, lost = time.monotonic(), self.ends.total()
        with output.open("w") as text:
            try:
                code: int | str = subprocess.run(
                    command, stdin=subprocess.DEVNULL, stdout=text, stderr=text, timeout=_EXAMPLE_S, check=False
                ).returncode
            except subprocess.TimeoutExpired:
                code = f"none after {_EXAMPLE_S:g} s"
        counts = self.runs.setdefault(file, [0, 0])
        counts[0] += 1
        counts[1] += code != 0
        lost = self.ends.total() - lost
        load = os.getloadavg()[0]
        self._console.print(f"{cell}: {file}: {time.monotonic() - began:.0f} s, exit code {code}, load {load:.1f}")
        if code != 0 or lost:
            for shown in (output, log):
                lines = shown.read_text(errors="replace").splitlines()[-_SHOWN_LINES:]
                self._console.print("\n".join(["", f"the end of {shown.name}:", *lines]), markup=False)

    def report(self) -> bool:
        """Print the tables. Were no session and no run lost?"""
        table = Table("example", "runs", "failed")
        for example, (runs, failed) in sorted(self.runs.items()):
            table.add_row(example, str(runs), str(failed))
        self._console.print(table)
        for reason, count in self.ends.most_common():
            self._console.print(f"{count} sessions ended otherwise than by their application: {reason}", markup=False)
        held = not self.ends and not any(failed for _, failed in self.runs.values())
        total = sum(runs for runs, _ in self.runs.values())
        self._console.print("[green]held[/green]" if held else "[red]lost[/red]", f"in {total} runs")
        return held


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="./run prove --soak", description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--minutes", type=float, default=30.0, help="at least (default: %(default)s)")
    parser.add_argument("--busy", type=int, default=2, help="busy loops beside it (default: %(default)s)")
    names = list(dict.fromkeys(name for name, _ in CELLS))
    parser.add_argument("--only", nargs="+", choices=names, default=names, help="workcells")
    given = parser.parse_args(argv)
    # A domain of its own: other people's nodes are not to be disturbed.
    os.environ["ROS_DOMAIN_ID"] = str(claim_domain("soak"))
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    console = Console()
    with tempfile.TemporaryDirectory() as folder, busy_loops(given.busy):
        soak, end = Soak(console, Path(folder)), time.monotonic() + 60.0 * given.minutes
        chosen = [cell for cell in CELLS if cell[0] in given.only]
        for i, (name, examples) in enumerate(itertools.cycle(chosen)):
            if i >= len(chosen) and time.monotonic() > end:
                break
            try:
                soak.cell(name, examples)
            except RobotControlError as error:
                console.print(f"[red]{name}[/red]: {error}")
                soak.ends[f"workcell {name}: {error.what}"] += 1
        return 0 if soak.report() else 1


if __name__ == "__main__":
    sys.exit(main())
