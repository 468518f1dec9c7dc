"""What the control server knows of its executor: attached, gone, and not attached."""

from pathlib import Path

import pytest

from robot_rt_control.server.core.attachment import Attachment
from robot_rt_control.server.core.connection import Connection
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.errors import ChannelError

ROOT = Path(__file__).parents[4]


def seen(connection: Connection) -> tuple[Attachment | None, Attachment | None]:
    return connection.living, connection.present


def test_an_executor_that_is_gone_or_left_shows_nothing() -> None:
    with LockstepCell(ROOT / "config" / "arm7.yaml") as cell:
        cell.step()
        connection, core = cell.server.core.connection, cell.server.core
        attachment = connection.at()
        assert seen(connection) == (attachment, attachment)
        assert connection.fault_file("arm") == ""
        measured, view = connection.measured(), connection.snapshot()
        assert measured is not None and len(measured) == len(cell.workcell.parts)
        assert view is not None and view.tick == connection.stamp()[0] == cell.tick

        core.loop_events.take_loss("a test")
        assert seen(connection) == (None, attachment)
        assert connection.snapshot() is connection.measured() is None
        with pytest.raises(ChannelError, match=r"there is no executor: a test\. Start the executor again"):
            connection.at()

        core.detach("a test")
        assert seen(connection) == (None, None) and connection.stamp() == (0, 0) and connection.used_types() == {}
        assert connection.lost == "a test", "until the server attaches again"
        with pytest.raises(ChannelError, match="not attached"):
            connection.at()
        assert attachment.snapshot() is None and attachment.fault_file(1) == "", "its memory may be gone"
