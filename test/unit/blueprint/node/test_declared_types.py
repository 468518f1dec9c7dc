"""What action types declare, read by a process beside the node."""

from __future__ import annotations

from pathlib import Path

import pytest

from robot_rt_control.blueprint.node.declared_types import declared_types
from robot_rt_control.model.workcell.workcell import Workcell, load_workcell
from robot_rt_control.server.offline_catalogue import offline_catalogue
from robot_rt_control.vocabulary.errors import CompileError

TYPE = """
print("printed as it is imported")
from robot_rt_control.actions.authoring import ActionType, PartKind, Slot, Status, realtime

class {name}(ActionType):
    "Does nothing."
    name = "{word}"
    slots = (Slot(name="arm", kinds=(PartKind.ARM,)),)

    def sense(state, params, arm):
        return Status.OK

    def control(state, params, arm):
        return Status.OK
"""


def workcell(folder: Path, *sources: str) -> Workcell:
    (folder / "own.py").write_text(TYPE.format(name="One", word="one") + TYPE.format(name="Two", word="two"))
    text = (Path(__file__).parents[4] / "config" / "arm7.yaml").read_text()
    config = Path(__file__).parents[4] / "config"
    text = text.replace("urdf: ", f"urdf: {config}/") + "\naction_types: [" + ", ".join(sources) + "]\n"
    file = folder / "cell.yaml"
    file.write_text(text)
    return load_workcell(file)


def test_the_process_declares_what_the_types_themselves_declare(tmp_path: Path) -> None:
    cell = workcell(tmp_path, "own.py:Two")
    types = offline_catalogue(cell.path).types
    assert types is not None and {"move_joint", "two"} <= set(types)
    assert [t.to_json() for t in declared_types(cell)] == [t.to_json() for t in types.values()]


def test_a_source_without_a_class_stands_for_all_types_of_its_file(tmp_path: Path) -> None:
    assert [t.name for t in declared_types(workcell(tmp_path, "own.py"))][-2:] == ["one", "two"]


def test_a_type_that_cannot_be_loaded_is_refused_as_in_this_process(tmp_path: Path) -> None:
    cell = workcell(tmp_path, "own.py:Three")
    with pytest.raises(CompileError, match="no class 'Three'.*One, Two") as offline:
        offline_catalogue(cell.path)
    with pytest.raises(CompileError) as beside:
        declared_types(cell)
    assert str(beside.value) == str(offline.value)
