"""Long proofs, beyond what `./run test` has time for: random programs and motions, and processes killed.

    ./run prove [--tests 0] [--programs 100000] [--motions 1000000] [--switches 100000] [--goals 10000] [--files 100000]
                 [--kills 100] [--seed N]
    ./run prove --hosts [--seed N]
    ./run prove --attack [--seconds 1800] [--only NAME ...] [--short] [--list] [--seed N]
    ./run prove --soak [--minutes 30] [--busy 2] [--only WORKCELL ...]
    ./run prove --goal-soak [--minutes 10] [--busy 2]

The second form does one proof alone, with a workcell and an application on two hosts (docs/several_machines.md). It
needs root, or a kernel that lets users make namespaces, and takes some six minutes. The third form attacks everything
that promises something, and counts the commands at the hardware's border: bench/attack/run.py. The last two forms work
beside busy loops: one runs the examples in simulated time, and counts lost sessions (bench/soak.py); the other sends
goals of FollowJointTrajectory on the wall clock, and counts the lost ones (bench/goal_soak.py).

New seeds in each run; the kills (some 8 s each) and the hosts need a machine with nothing else to do.

A number of 0 leaves a proof out. Prints the seed first: with it, a failure can be repeated. Ends with exit code 1 at
the first disagreement.
"""

from __future__ import annotations

import argparse
import gc
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random, SystemRandom
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.progress import track

REPOSITORY = Path(__file__).resolve().parents[1]


def prove_tests(console: Console, count: int, seed: int) -> bool:
    """Run the tests that `./run test` leaves out. Do they pass?"""
    command = [sys.executable, "-m", "pytest", "-m", "long", "--numprocesses", "2"]
    return all(subprocess.run(command, cwd=REPOSITORY, check=False).returncode == 0 for _ in range(count))


def prove_programs(console: Console, count: int, seed: int) -> bool:
    """Compare the tick with the reference model, one in ten also with its interpreted twin. Do all agree?"""
    sys.path.insert(0, str(REPOSITORY / "test" / "lockstep"))
    from comparison import Runner
    from random_programs import random_program
    from tick_bench import Bench, compiled_code, interpreted_code

    compiled = Bench(compiled_code())
    alone, twins = Runner(compiled), Runner(compiled, Bench(interpreted_code()))
    for i in track(range(seed, seed + count), "random programs", console=console):
        try:
            alone.compare_with_model(random_program(Random(i)))
            if i % 10 == 0:
                twins.compare_benches(random_program(Random(i)))
        except AssertionError as error:
            console.print(f"[red]the program with seed {i} disagrees[/red]: {error}")
            return False
    return True


def prove_motions(console: Console, count: int, seed: int) -> bool:
    """Compare random motions with Ruckig: limits kept, durations equal. Returns whether the benchmark was content."""
    command = [sys.executable, str(REPOSITORY / "bench" / "motion_vs_ruckig.py")]
    done = subprocess.run([*command, "--cases", str(count), "--seed", str(seed)], check=False)
    if done.returncode:
        console.print(f"[red]motions with seed {seed} failed[/red]")
    return done.returncode == 0


def prove_switches(console: Console, count: int, seed: int) -> bool:
    """Let random motions and laws take over from each other. Are the limits kept?"""
    sys.path.insert(0, str(REPOSITORY / "test" / "lockstep"))
    from hand_over import DT, WITHIN, HandOver, excess

    random, made, switches = Random(seed), HandOver(), 0
    with made.cell:
        while switches < count:
            switches += made.switch(random, 1000)
            made.rest()
            q, speeds = made.take()
            found = excess(q, speeds * DT)
            if (found > WITHIN).any():
                console.print(f"[red]switches with seed {seed}: {found} of velocity, acceleration, jerk[/red]")
                return False
    return True


def prove_goals(console: Console, count: int, seed: int) -> bool:
    """Send random goals of FollowJointTrajectory. Is each rightly accepted or refused, and nothing faulted?"""
    sys.path.insert(0, str(REPOSITORY / "test" / "lockstep"))
    from random_goals import RandomGoals

    with TemporaryDirectory() as folder:
        try:
            accepted, refused = RandomGoals(Path(folder)).run(Random(seed), count)
        except AssertionError as error:
            console.print(f"[red]goals with seed {seed}[/red]: {error}")
            return False
    console.print(f"{accepted} goals accepted, {refused} refused")
    return True


def prove_files(console: Console, count: int, seed: int) -> bool:
    """Break the text of a blueprint. Has each mistake its line, within 0.1 s?"""
    sys.path[:0] = [str(REPOSITORY / "test" / "lockstep"), str(REPOSITORY)]
    from broken_files import TEXT, broken, check, judged

    from bench.blueprints import catalogue

    skills = catalogue()
    judged(TEXT, skills)  # programs are read once
    gc.freeze()  # a pass over all that was imported is not a file's time
    for i in track(range(seed, seed + count), "broken files", console=console):
        try:
            check(broken(Random(i)), skills)
        except Exception as error:  # whatever it is, no person could mend the file by it
            console.print(f"[red]the broken file with seed {i}[/red]: {type(error).__name__}: {error}", markup=False)
            return False
    return True


def prove_kills(console: Console, count: int, seed: int) -> bool:
    """Kill processes while an arm moves. Did each bound hold?"""
    command = [sys.executable, str(REPOSITORY / "bench" / "kill_attack.py")]
    done = subprocess.run([*command, "--kills", str(count), "--seed", str(seed)], check=False)
    if done.returncode:
        console.print(f"[red]a kill with seed {seed} had another end than documented[/red]")
    return done.returncode == 0


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="./run prove", description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--tests", type=int, default=1, help="runs of the long tests (default: %(default)s)")
    parser.add_argument("--programs", type=int, default=20_000, help="random programs (default: %(default)s)")
    parser.add_argument("--motions", type=int, default=300_000, help="random motions (default: %(default)s)")
    parser.add_argument("--switches", type=int, default=10_000, help="of motions and laws (default: %(default)s)")
    parser.add_argument("--goals", type=int, default=10_000, help="of trajectories (default: %(default)s)")
    parser.add_argument("--files", type=int, default=100_000, help="broken blueprints (default: %(default)s)")
    parser.add_argument("--kills", type=int, default=100, help="killed processes (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(10**9), help="default: a new one")
    parser.add_argument("--hosts", action="store_true", help="two hosts and a cut network, and nothing else")
    parser.add_argument("--attack", action="store_true", help="hostile input of all kinds, with options of its own")
    parser.add_argument("--soak", action="store_true", help="the examples for long, with options of its own")
    parser.add_argument("--goal-soak", action="store_true", help="goals for long, with options of its own")
    given, others = parser.parse_known_args(argv)
    if given.attack:
        command = [sys.executable, str(REPOSITORY / "bench" / "attack" / "run.py"), "--seed", str(given.seed), *others]
        return subprocess.run(command, check=False).returncode
    if given.soak:
        return subprocess.run([sys.executable, str(REPOSITORY / "bench" / "soak.py"), *others], check=False).returncode
    if given.goal_soak:
        command = [sys.executable, str(REPOSITORY / "bench" / "goal_soak.py"), *others]
        return subprocess.run(command, check=False).returncode
    if others:
        parser.error(f"unrecognized arguments: {' '.join(others)}")
    if given.hosts:
        command = [sys.executable, str(REPOSITORY / "bench" / "two_hosts.py"), "--seed", str(given.seed)]
        return subprocess.run(command, check=False).returncode
    console = Console()
    console.print(f"seed {given.seed}")
    begin = time.monotonic()
    proofs = (
        ("runs of the long tests", given.tests, prove_tests),
        ("random programs", given.programs, prove_programs),
        ("random motions", given.motions, prove_motions),
        ("switches", given.switches, prove_switches),
        ("goals", given.goals, prove_goals),
        ("broken files", given.files, prove_files),
        ("kills", given.kills, prove_kills),
    )
    for name, count, prove in proofs:
        if not count:
            continue
        if not prove(console, count, given.seed):
            return 1
        console.print(f"[green]held[/green]: {count} {name}, after {time.monotonic() - begin:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
