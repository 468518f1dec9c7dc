"""The short form of the attack on topics and ROS actions: one workcell, of all nodes, over DDS."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.attack import topics  # noqa: E402  (needs the path)

pytestmark = pytest.mark.timeout(900)


def test_S31_what_strangers_publish_and_ask_ends_no_node_and_breaks_no_limit(tmp_path: Path) -> None:
    assert topics.attack(Random(20_2611), tmp_path, acts=400) == 400
