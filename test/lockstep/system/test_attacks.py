"""The short form of `./run prove --attack`: each attack that needs no processes, for some rounds."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from random import Random

import pytest
from rich.console import Console
from samples import tries

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from bench.attack.attack import Attack, NotRun, carry_out  # noqa: E402  (needs the path)
from bench.attack.run import ATTACKS, main, run  # noqa: E402

SEED, ROUNDS_S = 20_2611, float(tries(0, whole=2))
"""At least one round, in [s]."""
ATTACKED = [
    pytest.param(a, id=a.name, marks=[pytest.mark.long] * (a.name == "programs"))  # test_random_programs.py has as many
    for a in ATTACKS
    if not a.processes
]


@pytest.mark.sampled
@pytest.mark.parametrize("attack", ATTACKED)
def test_the_promise_is_kept(attack: Attack) -> None:
    seen = carry_out(attack, SEED, ROUNDS_S)
    again = f"./run prove --attack --only {attack.name} --seed"
    assert not seen.violations, "\n".join(f"{again} {seed}: {what}" for seed, what in seen.violations)
    assert not seen.not_run, f"NOT RUN: {seen.not_run}"
    assert seen.count > 0


def test_a_broken_promise_is_said_with_the_seed_that_repeats_it(capsys: pytest.CaptureFixture[str]) -> None:
    seeds: list[float] = []

    def breaks(random: Random, folder: Path) -> int:
        seeds.append(random.random())
        assert len(seeds) % 3, "it moved"
        return 1

    attack = Attack(name="x", promise="nothing moves", round=breaks)
    (found,) = carry_out(attack, 100, 60.0).violations
    seed, what = found
    assert seed == 102 and re.match(r"AssertionError at test_attacks.py:\d+: it moved", what)
    seeds[:] = seeds[-1:] * 2
    assert len(carry_out(attack, seed, 60.0).violations) == 1 and len(set(seeds)) == 1, "the same numbers"
    assert main(["--list"]) == 0
    assert "wild_commands" in capsys.readouterr().out


def test_what_the_machine_does_not_permit_is_said_loudly_and_is_not_passed(capsys: pytest.CaptureFixture[str]) -> None:
    def not_here(random: Random, folder: Path) -> int:
        raise NotRun("no namespaces")

    assert not run([Attack(name="x", promise="y", round=not_here)], 1, 0.0, Console(width=140))
    said = capsys.readouterr().out
    assert "NOT RUN: x: no namespaces" in said and "1 attacks were NOT RUN" in said and "held" not in said
