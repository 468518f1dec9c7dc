"""The benchmark beside ros2_control: what it reads from traces and stamps, and what it counts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bench import beside_ros2_control
from bench.beside_ros2_control import OURS, THEIRS, draw, shown
from bench.compared_tasks import HERE, ROS2_CONTROL, TASKS, files, lines_of_code, lines_of_task
from bench.compared_traces import Trace, first_beyond, largest_acceleration, switched_at
from bench.ros2_control_host import JOINTS, START, description, later_than_due
from robot_rt_control.model.workcell.workcell import load_workcell

CONFIG = Path(__file__).resolve().parents[3] / "config"
PERIOD = 0.001


def a_trace(commanded: np.ndarray, behaviour: np.ndarray | None = None) -> Trace:
    """The joint is where it was commanded in the cycle before."""
    measured = np.concatenate((commanded[:1], commanded[:-1]))
    return Trace(
        seconds=PERIOD * np.arange(len(commanded)), measured=measured, commanded=commanded, behaviour=behaviour
    )


def moving(cycles: int, speed: float = 0.5) -> np.ndarray:
    return speed * PERIOD * np.arange(cycles)


def test_switch_to_a_behaviour_that_holds() -> None:
    way = moving(600)
    way[507:] = way[507]
    trace = a_trace(way)
    begin = first_beyond(trace, 0.25)
    assert begin == 502  # the command of cycle 501 is the first one beyond; it is measured in the next
    assert switched_at(trace, begin) == 507


def test_switch_to_a_behaviour_that_steps_back_first() -> None:
    way = moving(600)
    way[507:] = way[505]
    trace = a_trace(way)
    assert switched_at(trace, first_beyond(trace, 0.25)) == 507


def test_switch_of_known_behaviours_while_the_joint_brakes() -> None:
    behaviour = np.repeat([3, 4], [502, 98])
    trace = a_trace(moving(600), behaviour)
    assert switched_at(trace, first_beyond(trace, 0.25)) == 502, "in the cycle that measured it"


def test_without_a_switch() -> None:
    trace = a_trace(moving(600))
    with pytest.raises(ValueError, match="no other behaviour has commanded since"):
        switched_at(trace, 300)
    with pytest.raises(ValueError, match=r"never beyond 0\.5: 0\.299 at most"):
        first_beyond(trace, 0.5)


def test_acceleration_of_a_dead_stop() -> None:
    way = moving(100)
    way[50:] = way[50]
    assert largest_acceleration(a_trace(way)) == pytest.approx(0.5 / PERIOD)


def test_a_lost_cycle_is_no_acceleration() -> None:
    way, kept = moving(100), np.delete(np.arange(100), 40)
    trace = Trace(seconds=PERIOD * kept, measured=way[kept], commanded=way[kept])
    assert largest_acceleration(trace) == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("due", [0.0, 400_000.0, 999_000.0])
def test_lateness_from_stamps(due: float) -> None:
    late = np.random.default_rng(1).exponential(20_000.0, 5000)
    late[17] = 0.0
    late[1234] = 700_000.0  # the cycle after an overrun
    late[3456] = -30_000.0  # a stamp that came early
    cycles = np.arange(5000.0)
    cycles[3000:] += 5  # some messages were lost
    found = later_than_due(due + 1e6 * cycles + late, 1_000_000)
    np.testing.assert_allclose(found, np.maximum(late, 0.0), atol=10.0)


def test_quantiles_only_of_values_enough() -> None:
    assert shown([]) == ["", "", ""]
    assert shown([3.0]) == ["3.0", "", ""]
    assert shown(list(range(1001))) == ["500.0", "990.0", "999.0"]


def test_lines_of_code(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text(
        '"""Head.\n\nMore.\n"""\n\nimport os  # here\n# nothing\n\ndef f():\n    """Not this."""\n    return os\n'
    )
    assert lines_of_code(file) == 3
    file = tmp_path / "a.yaml"
    file.write_text("# head\na:\n\n  b: 1\n")
    assert lines_of_code(file) == 2


@pytest.mark.parametrize("task", TASKS)
def test_each_task_has_its_program_on_both_sides(task: str) -> None:
    for side in (HERE, ROS2_CONTROL):
        programs = [file for file in files(side, task) if file.suffix == ".py"]
        assert len(programs) == 1
        compile(programs[0].read_text(), programs[0], "exec")
        assert lines_of_task(side, task) >= lines_of_code(programs[0]) > 5


def test_both_sides_have_the_same_arm() -> None:
    arm = load_workcell(CONFIG / "arm7.yaml").part("arm")
    assert tuple(arm.joint_names) == JOINTS
    assert description().count('<command_interface name="position"/>') == len(JOINTS)
    np.testing.assert_allclose(arm.start_position, START)


def test_without_ros2_control_it_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    assert beside_ros2_control.main(["--quick", "--output", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert "controller_manager, hardware_interface, joint_trajectory_controller not found. Install it" in said
    assert not list(tmp_path.glob("*.json"))


def test_the_picture_has_both_sides_calm_and_busy(tmp_path: Path) -> None:
    random = np.random.default_rng(2)
    both = {
        side: {f"lateness, {name} [µs]": random.exponential(50.0, 4000).tolist() for name in ("calm", "busy")}
        for side in (THEIRS, OURS)
    }
    draw(both, tmp_path / "both.png")
    one = {THEIRS: both[THEIRS], OURS: {}}
    draw(one, tmp_path / "one.png")
    pictures = [(tmp_path / name).read_bytes() for name in ("both.png", "one.png")]
    assert all(p.startswith(b"\x89PNG") and len(p) < 100_000 for p in pictures)
    assert pictures[0] != pictures[1]
