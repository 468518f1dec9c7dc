"""Rules K13, K14 and K16 of docs/semantics/action_types.md: where the code of an action type runs."""

from __future__ import annotations

import bdb
import os
import sys
import threading
from pathlib import Path
from typing import Any

import loaded_types
import numpy as np
import pytest
from loaded_types import MOVING, PAIR, Busy, Drift, Together, appear, moving, steady

from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.definitions.action_type import ActionType, Parameter, Slot
from robot_rt_control.model.workcell.workcell import Workcell
from robot_rt_control.testing.action_harness import ActionHarness
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.testing.shared_builder import shared_builder
from robot_rt_control.vocabulary.errors import CompileError, DefinitionError

# --- K13, K14: where the code runs ---------------------------------------------------------------


def test_K13_the_builder_has_ordinary_priority_and_gives_way_to_what_wakes_up(cell: LockstepCell, drift: Drift) -> None:
    cell.load(drift.write(0.1))
    pid = shared_builder().pid
    assert pid is not None and pid != os.getpid()
    assert os.getpriority(os.PRIO_PROCESS, pid) == os.getpriority(os.PRIO_PROCESS, 0), "a user waits for it"
    assert os.sched_getscheduler(pid) == os.SCHED_BATCH


def test_K13_the_loop_ticks_while_a_build_takes_long_hangs_or_crashes(cell: LockstepCell, drift: Drift) -> None:
    moving(cell)
    before = cell.part("right").commanded_position[0]
    mark, go_on = drift.path.with_suffix(".mark"), drift.path.with_suffix(".go")
    waiting = f"import os, time\nopen({str(mark)!r}, 'w').close()\n"
    waiting += f"while not os.path.exists({str(go_on)!r}):\n    time.sleep(0.01)\n"
    slow = Path(drift.write(0.1))
    slow.write_text(waiting + slow.read_text())
    loading = threading.Thread(target=lambda: cell.load(str(slow)))
    loading.start()
    try:
        while not mark.exists():
            assert loading.is_alive()
        cell.step(500)
        assert steady(cell, before, 500)
        session = cell.session("left")
        session.add(Action("a", "probe"))
        session.start("a")
        cell.step()
        assert cell.active("left") == "a", "definitions are served meanwhile, too"
    finally:
        go_on.touch()
        loading.join(60.0)
    assert "drift" in {t.name for t in cell.types.all()}
    crashing = drift.path.with_name("crashing.py")
    crashing.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    with pytest.raises(CompileError, match="was ended by SIGSEGV"):
        cell.load(str(crashing))
    cell.step(10)
    assert steady(cell, before, 511)


def record_of(cell: LockstepCell, wanted: int) -> list[tuple[float, ...]]:
    """What an action does, tick by tick, while its parameters and sensors change."""
    session = cell.session("left", "tool")
    cell.set_sensor("rangefinder/distance", 0.5)
    session.add(
        Action("both", Together, parts=PAIR, speed=0.05, reactions=[Reaction("gap < 0.012", start="alone")]),
        Action("alone", Busy, parts="tool", rounds=7),
    )
    session.start("both")
    seen = []
    for k in range(wanted):
        if k == 20:
            session.set("both", speed=0.08)
        cell.set_sensor("rangefinder/distance", 0.5 - 0.001 * k)
        cell.step()
        parts = [cell.part(p).commanded_position[0] for p in ("left", "tool")]
        seen.append((*parts, session.value("both.gap"), session.value("alone.x")))
    return seen


def test_K14_interpreted_and_compiled_do_the_same(workcell: Workcell) -> None:
    with LockstepCell(workcell, interpreted=True) as python, LockstepCell(workcell) as native:
        one, other = record_of(python, 300), record_of(native, 300)
        np.testing.assert_array_equal(one, other)
        assert python.active("tool") == native.active("tool") == "alone"


def test_K14_an_index_out_of_range_fails_alike_and_other_exceptions_reach_the_test(workcell: Workcell) -> None:
    with LockstepCell(workcell, interpreted=True) as cell:
        session = cell.session("left")
        session.add(Action("a", Wrong, how=1))
        session.start("a")
        tick = cell.step()
        assert [(e.tick, e.reason) for e in cell.kinds("action_failed")] == [(tick, "index out of range")]
        session = cell.session("left")
        session.add(Action("b", Wrong, how=2))
        session.start("b")
        with pytest.raises(ValueError, match="nothing of that kind"):
            cell.step()


class Wrong(ActionType):
    """Would be refused by the builder."""

    name = "wrong"
    slots = (Slot(name="part", kinds=MOVING),)
    parameters = (Parameter(name="how", type="int", default=0),)
    State = {"table": (float, 4)}

    @staticmethod
    def control(state, params, part):
        if params.how == 1:
            state.table[4] = 1.0
        if params.how == 2:
            raise ValueError("nothing of that kind")


class Stopper(bdb.Bdb):
    """A debugger that notes, at its breakpoints, what it sees."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, float]] = []

    def user_line(self, frame: Any) -> None:
        if self.break_here(frame):
            self.seen.append((frame.f_code.co_name, float(frame.f_locals["state"].ticks)))
        self.set_continue()


@pytest.mark.parametrize("where", ["cell", "harness"])
def test_K14_a_debugger_stops_inside_control(workcell: Workcell, where: str) -> None:
    debugger = Stopper()
    lines = Path(loaded_types.__file__).read_text().splitlines()
    line = 1 + lines.index("            state.x = math.sin(state.x + i)")
    assert debugger.set_break(loaded_types.__file__, line) is None
    if where == "cell":
        with LockstepCell(workcell, interpreted=True) as cell:
            session = cell.session("left")
            session.add(Action("a", Busy))
            session.start("a")
            debugger.runcall(cell.step, 3)
    else:
        harness = ActionHarness(Busy)
        harness.start()
        debugger.runcall(harness.step, 3)
    assert debugger.seen == [("control", 1.0), ("control", 2.0), ("control", 3.0)]


# --- K16: apart ----------------------------------------------------------------------------------


PIDS = """
import os


def note(what):
    with open(__file__ + ".pids", "a") as file:
        file.write(f"{what} {os.getpid()}\\n")


note("import")
"""
NOTING = """
    @classmethod
    def create(cls, parts):
        note("create")
        return cls(parts)

    def prepare_parameters(self, values, params):
        note("prepare")
        params.factor = values["factor"]
        if values["factor"] == 2.0:
            os._exit(3)
        while values["factor"] == 3.0:
            pass
"""


def test_K16_code_of_users_never_runs_in_the_servers_process(cell: LockstepCell, drift: Drift) -> None:
    path = Path(drift.write(0.1))
    text = path.read_text().partition("    def prepare_parameters")[0] + NOTING
    text += "    @staticmethod\n" + path.read_text().partition("    @staticmethod\n")[2]
    path.write_text(text.replace("import helper", PIDS))
    cell.server.load_action_types(str(path))
    pids = path.with_name("drift.py.pids")
    mine, other = cell.session("left"), cell.session("right")
    pids.unlink()
    mine.add(Action("a", "drift"))
    mine.start("a")
    cell.step()
    notes = [line.split() for line in pids.read_text().splitlines()]
    assert [what for what, _ in notes] == ["create", "prepare"], "the file is imported once, when it is loaded"
    assert notes[0][1] == notes[1][1] != str(os.getpid())
    assert not [m for m in sys.modules.values() if getattr(m, "__file__", None) == str(path)]

    other.add(Action("b", "drift"))
    with pytest.raises(DefinitionError, match="prepare_parameters of action type 'drift' ended its process; got exit"):
        mine.set("a", factor=2.0)
    with pytest.raises(DefinitionError, match="action 'a': the process that prepares it has ended. It keeps"):
        mine.set("a", factor=1.0)
    cell.step()
    assert mine.value("a.speed") == 0.1, "the loop has its code and its parameters"
    mine.add(Action("c", "drift"))
    other.set("b", factor=1.0)

    refused: list[str] = []

    def hang() -> None:
        try:
            mine.set("c", factor=3.0)
        except DefinitionError as error:
            refused.append(str(error))

    setting = threading.Thread(target=hang)
    pids.unlink()
    setting.start()
    appear(pids)
    other.set("b", factor=1.5)
    mine.close()
    setting.join(60.0)
    (told,) = refused
    assert told.startswith(
        "action 'c': prepare_parameters of action type 'drift' had not returned when its session ended; "
        f"got it was still running at {path}:"
    )
    other.set("b", factor=1.0)
