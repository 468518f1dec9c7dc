"""Random programs of actions and reactions, with commands and faults at random, against a model of the rules."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from bench.attack.attack import Attack

_PROGRAMS = 200


@cache
def _runner() -> Any:
    from comparison import Runner
    from tick_bench import Bench, compiled_code

    return Runner(Bench(compiled_code()))


def _round(random: Random, folder: Path) -> int:
    from random_programs import random_program

    for i in range(_PROGRAMS):
        seed = random.randrange(2**62)
        try:
            _runner().compare_with_model(random_program(Random(seed)))
        except AssertionError as error:
            raise AssertionError(f"program {i}, Random({seed}): {error}") from None
    return _PROGRAMS


ATTACK = Attack(
    name="programs",
    promise="the tick does what the rules say, event by event, whatever is defined and commanded",
    round=_round,
    unit="programs",
)
