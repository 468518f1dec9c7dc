"""Every reason of a fault has words, a cause and a remedy, and docs/safety.md shows them."""

from pathlib import Path

from robot_rt_control.vocabulary.enums import FaultReason
from robot_rt_control.vocabulary.fault_reasons import FAULTS

DOCUMENT = Path(__file__).parents[3] / "docs" / "safety.md"


def test_every_reason_is_explained_and_documented() -> None:
    assert set(FAULTS) == set(FaultReason)
    text = DOCUMENT.read_text()
    for reason, info in FAULTS.items():
        if reason != FaultReason.NONE:
            assert f"| `{reason.name.lower()}` | {info.text} | {info.cause} | {info.remedy} |" in text
