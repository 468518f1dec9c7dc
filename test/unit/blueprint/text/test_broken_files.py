"""Broken files: a mistake with its line, or valid, soon; never anything else."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from random import Random

import pytest
from broken_files import TEXT, broken, check, judged
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import tries

from robot_rt_control.blueprint.text.catalogue import SkillCatalogue


@pytest.fixture(autouse=True, scope="module")
def read_once(bench: SkillCatalogue) -> Iterator[None]:
    """What takes longer, and is no file's time: a program is read when it is called first, and a full pass of the
    garbage collector goes over all that was imported."""
    judged(TEXT, bench)
    gc.freeze()
    yield
    gc.unfreeze()


def test_the_text_is_valid(bench: SkillCatalogue) -> None:
    assert check(TEXT, bench)


@settings(max_examples=tries(50, whole=200), deadline=None)
@given(st.randoms(use_true_random=False))
def test_N6_a_broken_file_has_mistakes_with_lines_or_is_valid(bench: SkillCatalogue, random: Random) -> None:
    check(broken(random), bench)


@pytest.mark.long
def test_N6_twenty_thousand_broken_files(bench: SkillCatalogue) -> None:
    valid = sum(check(broken(Random(seed)), bench) for seed in range(20_000))
    assert 0 < valid < 20_000
