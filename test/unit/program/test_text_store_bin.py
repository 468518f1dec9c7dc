"""The bin of kept texts, with skills."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from robot_rt_control.blueprint.skills.store import SkillStore
from robot_rt_control.program import text_store
from robot_rt_control.program.text_store import BIN_S
from robot_rt_control.vocabulary.errors import DefinitionError

TEXT = "name: {}\nnodes: {{a: {{wait: {}}}}}\n"


@pytest.fixture
def store(tmp_path: Path) -> SkillStore:
    made = SkillStore(tmp_path / "kept", library=tmp_path / "library")
    for name, count in (("tea", 3), ("nap", 1)):
        for n in range(count):
            made.save(TEXT.format(name, n))
    return made


def aged(store: SkillStore, file: str, seconds: float) -> None:
    assert store.folder is not None
    then = time.time() - seconds
    os.utime(store.folder / "deleted" / file, (then, then))


def test_N53_what_was_deleted_is_in_the_bin_and_comes_back(store: SkillStore) -> None:
    assert store.folder is not None
    os.utime(store.folder / "tea@1.yaml", (0, 0))  # the time in the bin begins when it is deleted
    assert store.delete("tea@2") == [2] and store.delete("tea") == [1, 3]
    (found,) = store.deleted()
    assert (found.name, found.version, found.versions) == ("tea", 3, (1, 2, 3))
    assert found.text == TEXT.format("tea", 2) and time.time() - found.saved_ns / 1e9 < 1000
    assert [one.version for one in store.deleted("tea@1")] == [1] and store.deleted("nap") == []
    assert store.clean_bin() == 0
    assert store.restore("tea@2") == [2] and store.kept()["tea"] == (2,)
    assert store.restore("tea") == [1, 3] and store.kept()["tea"] == (1, 2, 3) and store.deleted() == []
    with pytest.raises(DefinitionError, match="the bin has no skill 'tea'.* A deleted skill stays there for 30 days"):
        store.restore("tea")


def test_N53_a_version_that_is_no_number_names_the_newest(store: SkillStore) -> None:
    store.delete("nap")
    assert [each.version for each in store.deleted("nap@\u00b2")] == [1]


def test_N53_a_name_that_is_used_anew_gets_its_old_versions_beside_the_new_ones(store: SkillStore) -> None:
    store.delete("tea")
    assert store.save(TEXT.format("tea", 7), based_on=0) == 4, "numbers are never used again"
    assert store.restore("tea") == [1, 2, 3] and store.kept()["tea"] == (1, 2, 3, 4)
    assert store.get("tea").text == TEXT.format("tea", 7), "the newest is still the newest"


def test_N53_after_thirty_days_it_is_gone_but_its_number_is_not_used_again(store: SkillStore) -> None:
    store.delete("tea")
    aged(store, "tea@1.yaml", BIN_S + 10)
    aged(store, "tea@2.yaml", BIN_S - 1000)
    aged(store, "tea@3.yaml", BIN_S + 10)
    assert store.clean_bin() == 2
    assert [one.versions for one in store.deleted()] == [(2,)]
    aged(store, "tea@2.yaml", BIN_S + 10)
    assert store.clean_bin() == 1 and store.deleted() == []
    assert store.save(TEXT.format("tea", 9)) == 4


def test_N53_the_bin_is_bounded_and_the_oldest_go_first(store: SkillStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_store, "BIN_VERSIONS", 2)
    store.delete("tea")
    store.delete("nap")
    for n, file in enumerate(("tea@2.yaml", "nap@1.yaml", "tea@1.yaml", "tea@3.yaml")):
        aged(store, file, 100.0 * n)
    assert store.clean_bin() == 2
    assert [(one.name, one.versions) for one in store.deleted()] == [("nap", (1,)), ("tea", (2,))]
