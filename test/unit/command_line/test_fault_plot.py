"""Drawing a log of the last ticks."""

from pathlib import Path

import pytest

from robot_rt_control.client.actions import Action
from robot_rt_control.command_line.fault_plot import plot_fault_log
from robot_rt_control.recording.fault_log import FaultLog, load_fault_log
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.errors import RobotControlError

ARM7 = Path(__file__).parents[3] / "config" / "arm7.yaml"


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> FaultLog:
    """A protective stop while the arm moves."""
    with LockstepCell(ARM7) as cell:
        session = cell.session("arm")
        session.add(Action("go", "velocity_move", velocity=[0.2] * 7))
        session.start("go")
        cell.step(300)
        cell.server.protective_stop(True)
        cell.step(150)
        file = tmp_path_factory.mktemp("logs") / "log.mcap"
        file.write_bytes(Path(cell.kinds("protective_stop")[0].file).read_bytes())
    return load_fault_log(file)


def test_a_picture_is_written(log: FaultLog, tmp_path: Path) -> None:
    assert plot_fault_log(log, tmp_path / "log.png").stat().st_size > 20_000


def test_a_part_that_the_log_does_not_know_is_refused(log: FaultLog, tmp_path: Path) -> None:
    with pytest.raises(RobotControlError, match="part 'leg'; expected one of: arm"):
        plot_fault_log(log, tmp_path / "log.png", part="leg")
