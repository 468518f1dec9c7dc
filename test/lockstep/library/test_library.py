"""What holds for every program of the library: it can be picked by name, is described, and ends as it says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from library.bench_run import BENCH

from robot_rt_control.program.file import ProgramTemplate
from robot_rt_control.program.library import library_programs
from robot_rt_control.testing.lockstep_cell import LockstepCell

DOCUMENT = (Path(__file__).parents[3] / "docs" / "library.md").read_text()
PROGRAMS = library_programs()


@pytest.fixture(scope="module")
def cell() -> Iterator[LockstepCell]:
    """The bench without its simulator."""
    with LockstepCell(BENCH) as made:
        yield made


def test_the_programs_of_the_issue_are_there() -> None:
    assert set(PROGRAMS) >= {
        "move_until_contact", "move_to_corner", "move_to_edge", "trace_edge", "move_object", "act_on_object",
    }  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_called_as_its_file_and_says_what_everything_means(name: str) -> None:
    template = ProgramTemplate.load(PROGRAMS[name])
    assert template.name == name and template.description
    assert all(role.description and role.kinds for role in template.roles)
    for parameter in template.parameters:
        assert parameter.description and parameter.default is not None, parameter.name
        assert parameter.length != 1 or (parameter.minimum is not None and parameter.maximum is not None), (
            parameter.name
        )
    assert {"max_force", "max_time"} <= {p.name for p in template.parameters}


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_final_state_says_which_exit_it_is_and_the_document_knows_it(name: str) -> None:
    program = ProgramTemplate.load(PROGRAMS[name]).fill().definition
    finals = [a for a in program.actions if a.final]
    exits = [[r.event for r in a.reactions if r.event and r.stop] for a in finals]
    assert len(finals) >= 3 and all(len(events) == 1 for events in exits)
    assert len({events[0] for events in exits}) == len(finals), "each exit has a name of its own"
    section = DOCUMENT.split(f"\n### {name}\n")[1].split("\n##")[0]
    row = next(line for line in DOCUMENT.splitlines() if line.startswith(f"| [`{name}`]"))
    for (event,) in exits:
        assert event in section and f"`{event}`" in row
    assert f"program: {name}" in section and f'session.upload("{name}"' in section


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_fits_the_bench_with_its_defaults(name: str, cell: LockstepCell) -> None:
    program = ProgramTemplate.load(PROGRAMS[name]).fill().definition
    session = cell.session("arm", "gripper", "wrist", "below")
    try:
        assert session.upload(name) == [a.id for a in program.actions]
    finally:
        session.close()
        cell.step(20)


@pytest.mark.parametrize("name", PROGRAMS)
def test_without_its_watch_the_arm_does_not_go_on(name: str, cell: LockstepCell) -> None:
    """As if the force sensor's own device failed: the watch ends, and with it everything that would end the program."""
    sensors = {f"wrist/{quantity}.{axis}": 0.0 for quantity in ("force", "torque") for axis in "xyz"}
    for sensor, value in {**sensors, "below/distance": 0.05, "ahead/distance": 0.5, "beside/distance": 0.5}.items():
        cell.set_sensor(sensor, value)
    session = cell.session("arm", "gripper", "wrist", "below")
    try:
        session.upload(name)
        session.start(*ProgramTemplate.load(PROGRAMS[name]).fill().definition.start)
        cell.step_until(lambda: cell.active("arm") not in ("ready", "default", "safety", "none"), at_most=3000)
        cell.step(100)
        session.stop("watch")
        cell.step(2)
        assert cell.active("arm") == "failed"
        cell.step_until(lambda: cell.active("arm") == "default", at_most=1000)
        assert [e.name for e in session.events if e.name] == ["failed"]
    finally:
        session.close()
        cell.step(20)
