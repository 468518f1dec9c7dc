"""Every number of the loop has words."""

from collections.abc import Callable
from enum import IntEnum

import pytest

from robot_rt_control.server.events.reasons import fault_text, refusal_text, status_text, stop_text
from robot_rt_control.vocabulary.enums import FaultReason, Refusal, Status, StopCause


@pytest.mark.parametrize(
    ("kind", "text"),
    [(Refusal, refusal_text), (StopCause, stop_text), (FaultReason, fault_text), (Status, status_text)],
)
def test_every_reason_has_its_own_text(kind: type[IntEnum], text: Callable[[int], str]) -> None:
    texts = [text(int(member)) for member in kind]
    assert len(set(texts)) == len(texts)
    assert not any(t.startswith("reason ") for t in texts)
    assert text(-99 if kind is Status else 99) in ("reason 99", "reason -99")


def test_a_users_status_is_shown_as_it_is() -> None:
    assert status_text(0) == ""
    assert status_text(12) == "status 12 of the action's own code"
    assert status_text(int(Status.BOUNDS)) == "index out of range"
