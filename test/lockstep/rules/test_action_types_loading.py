"""Rules K5 to K8 of docs/semantics/action_types.md: action types come and go while the loop runs."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from loaded_types import DRIFT, Drift, Together, moving, steady

from robot_rt_control.client.actions import Action
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.errors import CompileError, DefinitionError


def test_K5_types_are_loaded_while_a_part_moves(cell: LockstepCell, drift: Drift) -> None:
    moving(cell)
    before = cell.part("right").commanded_position[0]
    session = cell.session("left")
    with pytest.raises(DefinitionError, match="unknown action type"):
        session.add(Action("a", "drift"))
    more = DRIFT.format(speed=2.0, name="faster", class_name="Faster").partition("import helper")[2]
    assert cell.server.load_action_types(drift.write(0.1, more=more)) == ("drift", "faster"), "all that it defines"
    cell.step(10)
    session.add(Action("a", "drift"))
    session.start("a")
    cell.step(90)
    assert session.value("a.speed") == 0.1
    assert steady(cell, before, 100) and not cell.kinds("action_stopped", "part_faulted", part="right")
    info = cell.server.types.get("drift", "")
    assert info.origin == str(drift.path) and info.declared.description == "Move the first joint at a constant speed."


def test_K5_all_of_a_file_or_nothing(cell: LockstepCell, drift: Drift) -> None:
    bad = DRIFT.format(speed="len([1.0])", name="bad", class_name="Bad").partition("import helper")[2]
    with pytest.raises(CompileError, match=r"drift\.py:\d+: builds a list"):
        cell.server.load_action_types(drift.write(0.1, more=bad))
    names = {t.name for t in cell.server.types.all()}
    assert not names & {"drift", "bad"}


def test_K5_from_a_module_a_class_and_an_entry_point(
    cell: LockstepCell, drift: Drift, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = drift.path.parent
    drift.write(0.3)
    (folder / "drifting").mkdir()
    (folder / "drifting" / "__init__.py").write_text("")
    drift.path.rename(folder / "drifting" / "slowly.py")
    metadata = folder / "drifting-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: drifting\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[robot_rt_control.action_types]\ndrifts = drifting.slowly\n")
    monkeypatch.syspath_prepend(str(folder))
    assert cell.server.load_action_types("drifts") == ("drift",)
    assert cell.server.types.get("drift", "").origin == "entry point drifts (drifting.slowly)"
    assert cell.server.load_action_types("drifting.slowly:Drift") == ("drift",), "the same code again"
    assert cell.server.load_action_types(Together) == ("together",)
    with pytest.raises(CompileError, match="source of action types 'drfits'; expected .*did you mean 'drifts'"):
        cell.server.load_action_types("drfits")
    with pytest.raises(CompileError, match="expected an absolute path"):
        cell.server.load_action_types("drift.py")


def test_K6_who_has_an_action_keeps_its_code(cell: LockstepCell, drift: Drift) -> None:
    moving(cell)
    before = cell.part("right").commanded_position[0]
    session = cell.session("left", "tool")
    cell.server.load_action_types(drift.write(0.1))
    session.add(Action("old", "drift", parts="left"))
    session.start("old")
    cell.step(50)
    drift.helper.write_text("SCALE = 10.0\n")
    drift.write(-0.01)
    with pytest.raises(DefinitionError, match="two action types have the name 'drift'.*ask for the present one"):
        cell.server.load_action_types(str(drift.path))
    assert cell.server.load_action_types(str(drift.path), replace=True) == ("drift",)
    session.add(Action("new", "drift", parts="tool"))
    session.start("new")
    cell.step(50)
    assert session.value("old.speed") == 0.1, "its code"
    assert session.value("new.speed") == -0.1, "the new code, and the new module that it imports"
    session.set("old", factor=2.0)
    cell.step()
    assert session.value("old.speed") == 0.2, "also the code that prepares its parameters"
    assert steady(cell, before, 101)
    keys = [k for k in cell.server.types.keys if k]
    session.remove("old")
    cell.step()
    cell.server.load_action_types(drift.write(0.05), replace=True)
    assert len([k for k in cell.server.types.keys if k]) == len(keys), "what nobody uses has gone"
    cell.step()
    assert session.value("new.speed") == -0.1


def test_K6_the_same_code_again_changes_nothing(cell: LockstepCell, drift: Drift) -> None:
    cell.server.load_action_types(drift.write(0.1))
    first = cell.server.types.get("drift", "")
    assert cell.server.load_action_types(str(drift.path)) == ("drift",)
    assert cell.server.types.get("drift", "") is first


def test_K6_built_in_types_are_never_replaced(cell: LockstepCell, drift: Drift) -> None:
    with pytest.raises(DefinitionError, match="action type 'hold' is built in; expected another name"):
        cell.server.load_action_types(drift.write(0.1, name="hold"), replace=True)


def test_K7_a_type_is_unloaded_once_nobody_needs_it(cell: LockstepCell, drift: Drift) -> None:
    session = cell.session("left")
    cell.server.load_action_types(drift.write(0.1))
    session.add(Action("a", "drift"))
    for names, text in (
        (
            ["drift"],
            "action type 'drift' cannot be unloaded; expected a type that no action has; got that of action 'a'",
        ),
        (["hold"], "action type 'hold' cannot be unloaded; expected a type that was loaded; got one that is built in"),
        (["probe", "fragile"], "'fragile' cannot be unloaded; .* got the default or safety action of 'tool'"),
        (["probe", "drfit"], "unknown action type; .*did you mean 'drift'"),
    ):
        with pytest.raises(DefinitionError, match=text):
            cell.server.unload_action_types(names)
    assert {"drift", "probe"} <= {t.name for t in cell.server.types.all()}, "all or none"
    session.remove("a")
    cell.step()
    cell.server.unload_action_types(["drift", "probe"])
    with pytest.raises(DefinitionError, match="unknown action type"):
        session.add(Action("b", "drift"))
    cell.server.load_action_types(drift.write(0.2))
    session.add(Action("c", "drift"))
    session.start("c")
    cell.step()
    assert session.value("c.speed") == 0.2


def test_K7_actions_of_an_ended_session_hold_their_type_until_they_have_gone(cell: LockstepCell, drift: Drift) -> None:
    session = cell.session("left")
    cell.server.load_action_types(drift.write(0.1))
    session.add(Action("a", "drift"))
    session.start("a")
    cell.step()
    session.close()
    cell.step()
    cell.session("right").add(Action("b", "probe"))  # the change that takes the ended session out
    cell.server.unload_action_types(["drift"])
    cell.step(10)
    assert cell.active("left") == "safety"


@pytest.fixture
def open_cell(tmp_path: Path) -> Iterator[LockstepCell]:
    """Its workcell accepts code from clients."""
    file = tmp_path / "open.yaml"
    file.write_text((Path(__file__).parent / "workcell.yaml").read_text() + "\nallow_code_upload: true\n")
    os.symlink(Path(__file__).parent / "rule_types.py", tmp_path / "rule_types.py")
    with LockstepCell(load_workcell(file)) as made:
        yield made


def test_K8_the_text_of_a_file_is_refused_unless_the_workcell_allows_it(
    cell: LockstepCell, drift: Drift, open_cell: LockstepCell
) -> None:
    text = Path(drift.write(0.1)).read_text().replace("import helper", "class helper:\n    SCALE = 1.0")
    with pytest.raises(DefinitionError) as refused:
        cell.server.load_action_types(code=text)
    assert "code from a client is not accepted; expected the name of a file" in str(refused.value)
    assert "`allow_code_upload: true` in the workcell file" in str(refused.value)
    assert open_cell.server.load_action_types(code=text) == ("drift",)
    session = open_cell.session("left")
    session.add(Action("a", "drift"))
    session.start("a")
    open_cell.step()
    assert session.value("a.speed") == 0.1
    with pytest.raises(DefinitionError, match="either `source` or `code`; got both"):
        open_cell.server.load_action_types("x.py", code=text)
    with pytest.raises(CompileError, match=r"^code\.py:\d+: prints; Make it a state variable"):
        open_cell.server.load_action_types(code=text.replace("part.command_mode = POSITION", "print(1)"))
    with pytest.raises(DefinitionError, match=r"file of code; expected the name of a file; got 'a\\n\.py'"):
        open_cell.server.load_action_types(code=text, file="a\n.py")
    assert math.isfinite(open_cell.part("left").commanded_position[0])


def test_K8_all_messages_about_a_text_name_the_clients_file_and_line(open_cell: LockstepCell, drift: Drift) -> None:
    text = Path(drift.write(0.1)).read_text().replace("import helper", "import os\nclass helper:\n    SCALE = 1.0")
    mode, scaled = "part.command_mode = POSITION", 'params.factor = values["factor"] * helper.SCALE'
    file = "/home/ann/my drift.py"

    def at(line: str) -> str:
        return f"{file}:{1 + [x.strip() for x in text.splitlines()].index(line)}"

    def load(old: str, new: str) -> None:
        open_cell.server.load_action_types(code=text.replace(old, new), file=file, stranger=True)

    for old, new, words in (
        (mode, "part.command_mode = = 1", "invalid syntax"),
        ("import os", "raise OSError('no')", "importing failed with OSError: no"),
        (mode, "print(1)", "prints"),
        (mode, "part.nothing = 1", ""),
    ):
        with pytest.raises(CompileError) as refused:
            load(old, new)
        assert str(refused.value).startswith(f"{at(old)}: {words}") and "uploads" not in str(refused.value)
    load(scaled, '1 / values["factor"] if values["factor"] < 2.0 else os._exit(3)')
    assert open_cell.server.types.get("drift", "").origin == file
    session = open_cell.session("left")
    with pytest.raises(DefinitionError, match="prepare_parameters of .* failed with ZeroDivisionError") as failed:
        session.add(Action("a", "drift", factor=0.0))
    assert f"; got the exception at {at(scaled)}. " in str(failed.value)
    with pytest.raises(DefinitionError, match="ended its process; got exit code 3") as ended:
        session.add(Action("a", "drift", factor=2.0))
    assert f"{file}:" in str(ended.value) and "uploads" not in str(ended.value)


def test_K8_files_are_loaded_from_the_workcells_folders_only(cell: LockstepCell, drift: Drift, tmp_path: Path) -> None:
    source = drift.write(0.1)
    with pytest.raises(DefinitionError) as refused:
        cell.server.load_action_types(source, stranger=True)
    assert str(refused.value).startswith(
        f"action types of {source!r} may not be loaded; expected a module or an entry point; "
        "got a file, and the workcell names no folder for them. The owner of the workcell may allow it: "
        f"`action_type_folders: [{Path(source).parent}]` in the workcell file"
    )
    inside = tmp_path / "cell" / "types"
    inside.mkdir(parents=True)
    os.symlink(source, inside / "link.py")
    (inside / "broken.py").write_text("raise RuntimeError('it was imported')")
    file = tmp_path / "cell" / "open.yaml"
    file.write_text((Path(__file__).parent / "workcell.yaml").read_text() + "\naction_type_folders: [types]\n")
    os.symlink(Path(__file__).parent / "rule_types.py", tmp_path / "cell" / "rule_types.py")
    assert load_workcell(file).action_type_folders == (inside,)
    with LockstepCell(load_workcell(file)) as open_cell:
        load = open_cell.server.load_action_types
        for outside in (source, f"{source}:Drift", str(inside / "link.py"), str(inside / ".." / "rule_types.py")):
            with pytest.raises(DefinitionError, match=f"expected a file below {inside}; got a file elsewhere"):
                load(outside, stranger=True)
        with pytest.raises(CompileError, match=r"broken\.py:1: importing failed with RuntimeError: it was imported"):
            load(str(inside / "broken.py"), stranger=True)


def test_K20_clients_load_named_modules_and_entry_points_only(
    drift: Drift, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = drift.path.parent
    drift.write(0.3)
    for name in ("drifting", "secretly"):
        (folder / f"{name}.py").write_text(drift.path.read_text())
    metadata = folder / "drifting-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: drifting\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[robot_rt_control.action_types]\ndrifts = drifting:Drift\n")
    monkeypatch.syspath_prepend(str(folder))
    here = Path(__file__).parent
    workcell = tmp_path / "named.yaml"
    text = (here / "workcell.yaml").read_text()
    workcell.write_text(text)
    os.symlink(here / "rule_types.py", tmp_path / "rule_types.py")
    with LockstepCell(load_workcell(workcell)) as cell:
        for source in ("secretly:Drift", "secretly:drift", "this:x", "robot_rt_control.demo.demo"):
            module = source.partition(":")[0]
            with pytest.raises(DefinitionError) as refused:
                cell.server.load_action_types(source, stranger=True)
            assert str(refused.value) == (
                f"action types of the module {module!r} may not be loaded; expected one of the modules drifting; "
                "got a module that the workcell file does not name, and that is no entry point. The owner of the "
                "workcell may allow it: name the module under `action_types` in the workcell file, or install a "
                "package that declares it as an entry point of the group 'robot_rt_control.action_types'"
            )
        assert cell.server.load_action_types("drifts", stranger=True) == ("drift",)
        assert cell.server.load_action_types("drifting:Drift", stranger=True) == ("drift",)
