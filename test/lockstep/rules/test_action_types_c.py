"""Rules K24, K25 and K27 of docs/semantics/action_types.md in the loop: real-time code in C."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from loaded_types import moving, steady

from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.errors import CompileError

PYTHON = '''
from robot_rt_control.actions.authoring import ActionType, DefinitionError, Parameter, PartKind, Slot, StateVariable


class Slide(ActionType):
    """Move the first joint at a constant speed, in C."""

    name = "slide"
    slots = (Slot(name="part", kinds=(PartKind.BASE, PartKind.GRIPPER)),)
    parameters = (Parameter(name="factor", default=1.0), Parameter(name="index", type="int", default=0))
    state_variables = (StateVariable(name="speed"), StateVariable(name="turns"))
    signals = ("turn",)
    State = {"memory": (float, 4)}
    realtime_source = "slide.c"

    def prepare_parameters(self, values, params):
        if values["factor"] == 0.0:
            raise DefinitionError("slide: factor", expected="another number than 0")
        super().prepare_parameters(values, params)
'''
CODE = """
#include "slide_records.h"
#include "speed.h"

int on_enter(State *state, const Params *params, Part *part) {
    return part->dof > 0 ? 0 : 9;
}

int sense(State *state, const Params *params, Part *part) {
    state->memory[params->index] += 1.0;
    return state->memory[3] > 1.0 ? 7 : 0;
}

int set_parameters(State *state, const Params *params, Part *part) {
    if (state->turn != 0.0) state->turns += 1.0;
    return 0;
}

int control(State *state, const Params *params, Part *part) {
    state->speed = params->factor * SPEED * ((int)state->turns % 2 ? -1.0 : 1.0);
    part->command_mode = POSITION;
    for (int j = 0; j < part->dof; ++j) part->position_command[j] = part->commanded_position[j];
    part->position_command[0] += state->speed * part->dt;
    return 0;
}
"""


class Slide:
    """Writes an action type in C, its header beside it, and workcells that name or trust its folder."""

    def __init__(self, folder: Path) -> None:
        self.path, self.code, self.speed = folder / "slide.py", folder / "slide.c", folder / "speed.h"
        self.path.write_text(PYTHON)
        self.code.write_text(CODE)
        self.speed.write_text("#define SPEED 0.1\n")
        rules = Path(__file__).parent
        os.symlink(rules / "rule_types.py", folder / "rule_types.py")
        self._text = (rules / "workcell.yaml").read_text()

    def workcell(self, name: str, more: str, *, named: bool = False) -> Path:
        """A workcell file with further lines; perhaps it names the type."""
        file = self.path.parent / f"{name}.yaml"
        types = "action_types:\n"
        file.write_text(f"{self._text.replace(types, types + '  - slide.py' + chr(10) if named else types)}\n{more}\n")
        return file


@pytest.fixture
def slide(tmp_path: Path) -> Slide:
    return Slide(tmp_path)


@pytest.fixture
def trusting(slide: Slide) -> Iterator[LockstepCell]:
    """A cell that trusts the folder."""
    with LockstepCell(slide.workcell("trusting", "trusted_native_code: [.]")) as cell:
        yield cell


def test_K24_an_action_in_c_lives_as_one_in_python(trusting: LockstepCell, slide: Slide) -> None:
    cell = trusting
    moving(cell)
    before = cell.part("right").commanded_position[0]
    assert cell.server.load_action_types(str(slide.path)) == ("slide",)
    session = cell.session("left")
    with pytest.raises(Exception, match=r"slide: factor; expected another number than 0"):
        session.add(Action("a", "slide", factor=0.0))
    turn = Reaction("speed > 0.15", signal="turn", event="fast")
    session.add(Action("a", "slide", reactions=[turn]), Action("b", "slide", index=3))
    session.start("a")
    cell.step(200)
    start = cell.part("left").commanded_position[0]
    cell.step(50)
    assert cell.part("left").commanded_position[0] == pytest.approx(start + 50 * 1e-4, abs=1e-9)
    assert (session.value("a.speed"), session.value("a.turns")) == (0.1, 0.0)
    session.set("a", factor=2.0)
    cell.step(3)
    assert session.value("a.turns") == 1.0 and session.value("a.speed") == -0.2, "a signal, once"
    assert len(cell.kinds("reaction_fired")) == 1
    session.start("b")
    cell.step(3)
    other = cell.session("tool")
    other.add(Action("c", "slide", index=4))
    other.start("c")
    cell.step(3)
    assert [(event.current_action, event.reason) for event in cell.kinds("action_failed")] == [
        ("b", "status 7 of the action's own code"),
        ("c", "index out of range"),
    ]
    assert [cell.active(part) for part in ("left", "tool")] == ["safety", "safety"]
    assert steady(cell, before, 259) and not cell.kinds("part_faulted")


def test_K24_in_interpreted_cells_it_runs_compiled(slide: Slide) -> None:
    ways = []
    for interpreted in (False, True):
        file = slide.workcell("named", "trusted_native_code: [.]", named=True)
        with LockstepCell(file, interpreted=interpreted) as cell:
            session = cell.session("left")
            session.add(Action("a", "slide", factor=0.3))
            session.start("a")
            way = []
            for _ in range(40):
                cell.step()
                way.append(cell.part("left").commanded_position.tobytes())
            ways.append(way)
    assert ways[0] == ways[1] and len(set(ways[0])) == 40


def test_K25_the_workcell_has_to_trust_the_folder(cell: LockstepCell, slide: Slide) -> None:
    folder = slide.path.parent
    said = (
        rf"{slide.code}:1: C and C\+\+ code of {folder} is not trusted: what its loops, pointers and recursion do is "
        rf"not proven; The owner of the workcell may allow it: `trusted_native_code: \[{folder}\]` in the workcell file"
    )
    with pytest.raises(CompileError, match=said):
        cell.server.load_action_types(str(slide.path))
    assert "slide" not in {t.name for t in cell.server.types.all()}
    with pytest.raises(CompileError, match=said):
        LockstepCell(slide.workcell("named", "", named=True))
    with LockstepCell(slide.workcell("named", "trusted_native_code: [elsewhere, .]", named=True)) as trusting:
        origin = trusting.server.types.get("slide", "").origin
    assert origin == (
        f"{slide.path}, real-time code in {slide.code}: what its loops, pointers and recursion do is not proven"
    )


def test_K27_an_edited_header_replaces_a_type_while_parts_move(trusting: LockstepCell, slide: Slide) -> None:
    cell = trusting
    moving(cell)
    before = cell.part("right").commanded_position[0]
    load = cell.server.load_action_types
    load(str(slide.path))
    session = cell.session("left", "tool")
    session.add(Action("old", "slide", parts="left"))
    session.start("old")
    cell.step(20)
    first = cell.server.types.get("slide", "")
    load(str(slide.path))
    assert cell.server.types.get("slide", "") is first, "the same code again"
    slide.speed.write_text("#define SPEED 0.05 /* slower */\n")
    with pytest.raises(Exception, match="two action types have the name 'slide'.*ask for the present one"):
        load(str(slide.path))
    load(str(slide.path), replace=True)
    slide.path.write_text(PYTHON.replace('"memory": (float, 4)', '"more": (float, 3), "memory": (float, 4)'))
    session.add(Action("new", "slide", parts="tool"))
    session.start("new")
    cell.step(20)
    assert (session.value("old.speed"), session.value("new.speed")) == (0.1, 0.05)
    load(str(slide.path), replace=True)
    session.add(Action("newest", "slide", parts="tool"))
    session.start("newest")
    cell.step(20)
    assert (session.value("old.speed"), session.value("newest.speed")) == (0.1, 0.05), "another layout"
    assert len({cell.server.types.get("slide", "").key, first.key}) == 2
    assert steady(cell, before, 60) and not cell.kinds("action_failed", "part_faulted")
