"""examples/programs/table_tour.yaml: three programs of the library as states of one, in the loop alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from library.bench_run import object_position, place_object, run

from robot_rt_control.testing.lockstep_cell import LockstepCell

TOUR = (Path(__file__).parents[3] / "examples" / "programs" / "table_tour.yaml").read_text()


@pytest.mark.long
def test_three_programs_of_the_library_follow_each_other_without_an_application() -> None:
    cube: list[tuple[float, float, float]] = []

    def look(cell: LockstepCell) -> None:
        cube[:] = [object_position(cell, "cube")]

    outcome = run(TOUR, at_most=40_000, each_tick=look)
    assert outcome.exit == "finished"
    programs = [state.partition("__")[0] for state in outcome.states]
    assert list(dict.fromkeys(programs)) == ["touch", "lift", "corner", "back", "object", "finished"]
    assert outcome.states.count("touch__touched") == outcome.states.count("corner__in_corner") == 1
    assert np.linalg.norm(np.array(cube[0][:2]) - [0.5, -0.3]) < 0.005, "the object is at its new place"


def test_an_exit_leads_where_it_is_mapped() -> None:
    def take_the_cube_away(cell: LockstepCell) -> None:
        place_object(cell, "cube", (0.3, 0.5, 0.13))

    outcome = run(TOUR, at_most=40_000, prepare=take_the_cube_away)
    assert outcome.exit == "gave_up" and outcome.states[-2:] == ["object__missed", "give_up"]
