"""Skills kept as files: what both stores share is tested with programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from robot_rt_control.blueprint.skills.store import SkillStore
from robot_rt_control.vocabulary.errors import DefinitionError, Overtaken

TEXT = "name: tea\ndescription: Makes %s.\ntags: [kitchen]\nnodes: {a: {wait: 1}}\n"


@pytest.fixture
def store(tmp_path: Path) -> SkillStore:
    return SkillStore(tmp_path / "kept", library=tmp_path / "library")


def test_two_people_who_save_the_same_skill(store: SkillStore) -> None:
    assert store.save(TEXT % "tea", based_on=0) == 1
    assert store.save(TEXT % "green tea", based_on=1) == 2
    with pytest.raises(Overtaken) as error:
        store.save(TEXT % "black tea", based_on=1)
    assert str(error.value) == (
        "skill 'tea' was saved by somebody else meanwhile; expected a text made from version 2; got one made from "
        "version 1"
    )
    assert (error.value.version, error.value.text) == (2, TEXT % "green tea")
    assert store.get("tea").versions == (1, 2) and store.save(TEXT % "black tea") == 3


def test_a_writer_in_another_process_between_look_and_write(store: SkillStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.save(TEXT % "tea")
    assert store.folder is not None
    other = store.folder / "tea@2.yaml"
    monkeypatch.setattr("os.fsync", lambda _: other.exists() or other.write_text(TEXT % "coffee"))
    with pytest.raises(Overtaken):
        store.save(TEXT % "milk", based_on=1)
    assert other.read_text() == TEXT % "coffee" and store.get("tea").versions == (1, 2)


def test_what_is_kept(store: SkillStore) -> None:
    store.save(TEXT % "tea")
    store.save(TEXT % "green tea")
    assert store.folder is not None
    (store.folder / "broken@1.yaml").write_text("nodes: [")
    assert list(store.templates()) == ["tea"]
    assert store.kept() == {"broken": (1,), "tea": (1, 2)}
    assert store.get("broken").problem.startswith("broken@1.yaml:1: not valid YAML")
    with pytest.raises(DefinitionError, match="unknown skill; expected one of the known names; did you mean 'tea'"):
        store.get("teas")
    assert [kept.name for kept in store.all("green", ["kitchen"])] == ["tea"]
