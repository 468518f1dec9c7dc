"""The short form of `./run prove --attack`: each attack that needs no processes, for some rounds."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from random import Random

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from bench.attack.attack import Attack, carry_out  # noqa: E402  (needs the path)
from bench.attack.run import ATTACKS, main  # noqa: E402

SEED, SECONDS = 20_2611, 2.0


@pytest.mark.parametrize("attack", [a for a in ATTACKS if not a.processes], ids=lambda attack: attack.name)
def test_the_promise_is_kept(attack: Attack) -> None:
    seen = carry_out(attack, SEED, SECONDS)
    again = f"./run prove --attack --only {attack.name} --seed"
    assert not seen.violations, "\n".join(f"{again} {seed}: {what}" for seed, what in seen.violations)
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
