"""Attacks the whole tree, and shows what held.

    ./run prove --attack [--seconds 1800] [--only NAME ...] [--seed N] [--short] [--list]

Each attack has a promise. It is attacked in rounds, with a new seed each, for its share of the time; the first broken
promise ends it, with the seed that repeats it. Every command that leaves at the hardware's border of a workcell in
lockstep is checked against the system limits, whatever is attacked. Ends with exit code 1 if a promise was broken, if
the machine did not permit an attack, or if fewer commands left at the border than were asked for.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from random import SystemRandom

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.attack import (  # noqa: E402  (needs the path)
    blueprints,
    clocks,
    editor,
    feedback,
    full,
    groups,
    kills,
    moments,
    programs,
    services,
    streams,
    switches,
    topics,
    trajectories,
    wild_commands,
)
from bench.attack.attack import Attack, Seen, carry_out  # noqa: E402

ATTACKS: tuple[Attack, ...] = (
    wild_commands.ATTACK,
    moments.ATTACK,
    switches.ATTACK,
    groups.ATTACK,
    streams.ATTACK,
    clocks.ATTACK,
    feedback.ATTACK,
    trajectories.ATTACK,
    programs.ATTACK,
    full.DISK,
    full.MEMORY,
    services.STRANGERS,
    services.FUZZ,
    blueprints.ATTACK,
    editor.ATTACK,
    topics.ATTACK,
    kills.ATTACK,
)
SHORT_S = 60.0
FULL_S = 1800.0
COMMANDS = 10_000_000
"""That leave at the border, in the full form."""
_TELL_S = 10.0


class Teller:
    """Says now and then how far an attack is."""

    def __init__(self, console: Console, name: str) -> None:
        self._console, self._name, self._next = console, name, time.monotonic() + _TELL_S

    def __call__(self, seen: Seen) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _TELL_S
            self._console.print(
                f"  {self._name}: {seen.rounds} rounds, {seen.count:,} sent, {seen.commands:,} commands, "
                f"{seen.seconds:.0f} s"
            )


def run(attacks: Sequence[Attack], seed: int, seconds: float, console: Console, *, commands: int = 0) -> bool:
    """Carry out attacks one after the other, and show what held.

    Args:
        seconds: for all of them; each gets at least one round.
        commands: number of commands that are to leave at the border in all.

    Returns:
        Whether every attack was run, every promise was kept, and so many commands left.
    """
    shares = sum(attack.share for attack in attacks)
    found: dict[str, Seen] = {}
    for attack in attacks:
        console.print(f"[bold]{attack.name}[/bold]: {attack.promise}")
        found[attack.name] = carry_out(attack, seed, seconds * attack.share / shares, Teller(console, attack.name))
        for number, violation in found[attack.name].violations:
            console.print("[red]broken:[/red]", end=" ")
            console.print(violation, markup=False, highlight=False)
            console.print(f"again: ./run prove --attack --only {attack.name} --seed {number}")
        if found[attack.name].not_run:
            console.print(f"[red]NOT RUN:[/red] {attack.name}: {found[attack.name].not_run}", highlight=False)
    left = sum(seen.commands for seen in found.values())
    console.print(_table(attacks, found))
    broken, not_run = (sum(bool(getattr(seen, what)) for seen in found.values()) for what in ("violations", "not_run"))
    console.print(f"{left:,} commands left at the border; {broken} promises were broken; seed {seed}")
    if not_run:
        console.print(f"[red]{not_run} attacks were NOT RUN[/red]: of these promises nothing is known")
    if left < commands:
        console.print(f"[red]that is fewer than {commands:,}[/red]: give more time by --seconds")
    return all(seen.held for seen in found.values()) and left >= commands


def _table(attacks: Sequence[Attack], found: dict[str, Seen]) -> Table:
    table = Table(title="Attacks and promises")
    for column in ("attack", "promise", "rounds", "sent", "commands at the border", "violations", "result"):
        table.add_column(column, justify="right" if column in ("rounds", "commands at the border") else "left")
    for attack in attacks:
        seen = found[attack.name]
        table.add_row(
            attack.name,
            attack.promise,
            str(seen.rounds),
            f"{seen.count:,} {attack.unit}",
            f"{seen.commands:,}",
            str(len(seen.violations)),
            "[red]broken" if seen.violations else "[red]NOT RUN" if seen.not_run else "[green]held",
        )
    return table


def main(argv: Sequence[str] | None = None) -> int:
    about = __doc__.splitlines()[0] if __doc__ else ""
    parser = argparse.ArgumentParser(prog="./run prove --attack", description=about)
    names = [attack.name for attack in ATTACKS]
    parser.add_argument("--list", action="store_true", help="name the attacks with their promises, and do nothing")
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME", help="these alone")
    parser.add_argument("--short", action="store_true", help=f"{SHORT_S:g} s, without processes of a workcell")
    parser.add_argument("--seconds", type=float, help=f"for all attacks (default: {FULL_S:g}, short: {SHORT_S:g})")
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(10**9), help="default: a new one")
    given = parser.parse_args(argv)
    console = Console() if sys.stdout.isatty() else Console(width=140)
    if given.list:
        for attack in ATTACKS:
            console.print(f"{attack.name:14s} {attack.promise}", highlight=False)
        return 0
    logging.getLogger().addHandler(logging.NullHandler())  # what is refused again and again is no news here
    chosen = [a for a in ATTACKS if (not given.only or a.name in given.only) and not (given.short and a.processes)]
    seconds = given.seconds if given.seconds is not None else SHORT_S if given.short else FULL_S
    console.print(f"seed {given.seed}, {seconds:g} s")
    wanted = 0 if given.short or given.only or given.seconds is not None else COMMANDS
    return 0 if run(chosen, given.seed, seconds, console, commands=wanted) else 1


if __name__ == "__main__":
    sys.exit(main())
