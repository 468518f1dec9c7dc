"""What the view shows is published: each topic of the table in docs/introspection.md, with its type and data."""

from __future__ import annotations

import importlib
import re
import time
from pathlib import Path
from typing import Any

import pytest
from rclpy.qos import DurabilityPolicy, QoSProfile

from robot_rt_control.client import Action, Client, Reaction, variable
from robot_rt_control.demo.demo_workcell import DemoWorkcell

pytestmark = [pytest.mark.timeout(900), pytest.mark.usefixtures("own_domain")]

PATIENCE_S = 120.0
PAGE = Path(__file__).resolve().parents[2] / "docs" / "introspection.md"
ROW = re.compile(r"^\|[^|]*\| `([^`]+)` \| `([^`]+)` \| (?:`([^`]+)` )?\|$", re.MULTILINE)
LATCHED = ("robot_description", "/tf_static", "markers", "objects", "events", "program_state", "names")


def rows() -> list[tuple[str, str, str]]:
    """Topic, type, and what a message of it has, of each row of the table."""
    section = PAGE.read_text().partition("## All that the view shows")[2].partition("\n## ")[0]
    found = ROW.findall(section)
    assert len(found) == section.count("\n| ") - 1, "a row that cannot be read"
    return found


def kind_of(name: str) -> Any:
    package, _, message = name.partition("/")
    return getattr(importlib.import_module(f"{package}.msg"), message)


def test_each_topic_has_its_type_and_data_beside_the_bench(tmp_path: Path) -> None:
    arguments = ["--workcell", "bench", "--controllers", "false"]
    with (
        DemoWorkcell(arguments, tmp_path / "workcell.log", environment={"XDG_DATA_HOME": str(tmp_path)}) as cell,
        Client("looking", timeout_s=60.0) as client,
    ):
        cell.wait_until_ready(client, lambda _: None)
        seen: dict[str, str] = {}
        """Topic → all its messages, as texts."""

        def listen(topic: str, kind: Any) -> None:
            durability = DurabilityPolicy.VOLATILE
            if topic.endswith(LATCHED):
                durability = DurabilityPolicy.TRANSIENT_LOCAL

            def take(message: Any) -> None:
                if len(seen.get(topic, "")) < 10_000_000:
                    seen[topic] = seen.get(topic, "") + str(message)

            client.node.create_subscription(kind, topic, take, QoSProfile(depth=20, durability=durability))

        for topic, kind in {(topic, kind) for topic, kind, _ in rows()}:
            listen(topic, kind_of(kind))
        client.enable()
        with client.session("arm") as session:
            q = [client.value(f"arm.commanded_position[{j}]") for j in range(7)]
            end = 2.8973 - 0.02
            steps = [[*q[:6], q[6] + (end - q[6]) * k / 40] for k in range(41)]
            touched = Reaction(variable("arm.position[6]") > 1.5, event="half", capture=["arm.position[6]"])
            session.add(
                Action("there", "track_trajectory", times=[0.1 * k for k in range(41)],
                       positions=[x for step in steps for x in step], reactions=[touched]),
                Action("press", "velocity_move", linear=[0.0, 0.0, -0.02]),
                Action("up", "move_linear", offset=[0.0, 0.0, 0.05]),
            )  # fmt: skip
            session.start("there")
            session.wait_until("there.is_settled", PATIENCE_S)
            session.start("press")
            session.wait_until("wrist.force.z < -3 or wrist.force.z > 3", PATIENCE_S)
            session.start("up")
            session.wait_until("up.is_settled", PATIENCE_S)
            missing = lambda: [row for row in rows() if row[2] not in seen.get(row[0], "") or row[0] not in seen]  # noqa: E731
            deadline = time.monotonic() + PATIENCE_S
            while missing() and time.monotonic() < deadline:
                time.sleep(0.2)
            assert missing() == []
            published = dict(client.node.get_topic_names_and_types())
            for topic, kind, _ in rows():
                name = topic if topic.startswith("/") else f"/{topic}"
                assert published[name] == [kind.replace("/", "/msg/")], topic
