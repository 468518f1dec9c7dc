"""Programs kept as files."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from robot_rt_control.server.programs.program_store import ProgramStore, default_folder, events_of
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError

TEXT = "name: %s\ndescription: Waits.\nactions:\n  a: {type: hold, parts: arm, reactions: [{when: x, event: e}]}\n"


@pytest.fixture
def store(tmp_path: Path) -> ProgramStore:
    return ProgramStore(tmp_path / "kept", library=tmp_path / "library")


def test_a_saved_program_is_a_file_that_people_can_read(store: ProgramStore) -> None:
    assert store.save(TEXT % "wait") == 1
    assert store.folder is not None
    assert [p.name for p in store.folder.iterdir()] == ["wait@1.yaml"]
    assert (store.folder / "wait@1.yaml").read_text() == TEXT % "wait"
    kept = store.get("wait")
    assert (kept.name, kept.version, kept.versions, kept.library, kept.text) == ("wait", 1, (1,), False, TEXT % "wait")
    assert kept.saved_ns > 0 and kept.template is not None
    assert events_of(kept.template.sample().definition) == ["e"]
    assert store.template("wait").source == "wait@1.yaml"
    assert store.template(TEXT % "other").name == "other", "a text is a text"


def test_another_store_on_the_same_folder_sees_it(store: ProgramStore, tmp_path: Path) -> None:
    other = ProgramStore(tmp_path / "kept", library=tmp_path / "library")
    store.save(TEXT % "wait")
    assert other.save(TEXT % "wait") == 2
    assert store.get("wait").versions == (1, 2)
    assert [p.name for p in other.all()] == ["wait"]


def test_savers_at_the_same_time_get_versions_of_their_own(tmp_path: Path) -> None:
    stores = [ProgramStore(tmp_path, library=tmp_path / "library") for _ in range(4)]
    versions: list[int] = []

    def save(store: ProgramStore) -> None:
        for _ in range(5):
            versions.append(store.save(TEXT % "wait"))

    threads = [threading.Thread(target=save, args=(store,)) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(versions) == list(range(1, 21))
    assert not list(tmp_path.glob(".*"))


def test_a_deleted_version_can_be_taken_back_by_hand(store: ProgramStore) -> None:
    for _ in range(3):
        store.save(TEXT % "wait")
    assert store.delete("wait@2") == [2]
    assert store.get("wait").versions == (1, 3)
    assert store.folder is not None
    (store.folder / "deleted" / "wait@2.yaml").rename(store.folder / "wait@2.yaml")
    assert store.get("wait@2").version == 2
    assert store.delete("wait@3") == [3]
    assert store.save(TEXT % "wait") == 4


def test_a_file_that_is_no_program_is_listed_with_the_reason(store: ProgramStore) -> None:
    store.save(TEXT % "wait")
    assert store.folder is not None
    (store.folder / "wait@1.yaml").write_text("actions: [")
    (store.folder / "strange.txt").write_text("not of the store")
    (kept,) = store.all()
    assert kept.template is None and kept.problem.startswith("wait@1.yaml:1: not valid YAML")
    with pytest.raises(DefinitionError, match="wait@1.yaml:1: not valid YAML"):
        store.template("wait")
    (store.folder / "wait@1.yaml").write_bytes(b"\xff\xfe")
    assert "cannot be read" in store.all()[0].problem


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("wiat", "unknown program; expected one of the known names; did you mean 'wait'; got 'wiat'"),
        ("wait@2", "program 'wait' has no version 2; expected one of: wait@1"),
    ],
)
def test_unknown_names(store: ProgramStore, reference: str, message: str) -> None:
    store.save(TEXT % "wait")
    for call in (store.get, store.template, store.delete):
        with pytest.raises(DefinitionError) as error:
            call(reference)
        assert str(error.value).startswith(message)
    for bad in ("wait@0", "two words", ""):
        with pytest.raises(DefinitionError, match="name of a program; expected a name such as trace_edge"):
            store.get(bad)


def test_what_cannot_be_saved(store: ProgramStore, tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match="the program has no name; expected name: … at its top; got none"):
        store.save("actions: {a: {type: hold, parts: arm}}")
    with pytest.raises(RobotControlError, match="this control server keeps no programs"):
        ProgramStore(None, library=tmp_path).save(TEXT % "wait")
    (tmp_path / "file").write_text("")
    with pytest.raises(
        RobotControlError, match="program 'wait' cannot be saved; expected a folder to write to: .*file"
    ):
        ProgramStore(tmp_path / "file", library=tmp_path / "library").save(TEXT % "wait")


def test_the_library_is_read_only_and_gives_way_to_what_was_saved_before_it_came(
    store: ProgramStore, tmp_path: Path
) -> None:
    store.save(TEXT % "wait")
    (tmp_path / "library").mkdir()
    for name in ("wait", "trace"):
        (tmp_path / "library" / f"{name}.yaml").write_text(TEXT % name)
    assert [(p.name, p.library) for p in store.all()] == [("trace", True), ("wait", False)]
    assert (store.get("trace").version, store.get("trace").versions) == (1, (1,))
    assert store.get("trace@1").text == TEXT % "trace"
    with pytest.raises(DefinitionError, match="comes with the package and cannot be deleted"):
        store.delete("trace")


def test_the_default_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "robot_rt_control" / "programs"
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_folder() == tmp_path / ".local" / "share" / "robot_rt_control" / "programs"
