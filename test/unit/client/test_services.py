"""Finding services by what they are called."""

from __future__ import annotations

from typing import Any

import pytest

from robot_rt_control.client.services import Services


class FakeNode:
    def __init__(self, namespace: str) -> None:
        self.namespace = namespace

    def get_namespace(self) -> str:
        return self.namespace

    def get_service_names_and_types(self) -> list[tuple[str, list[str]]]:
        paths = (
            "/hardware_driver_sim/take_picture",
            "/hardware_driver_detector/take_picture",
            "/hardware_driver_sim/take_pictures",
            "/left/hardware_driver/take_picture",
            "/control_server/list_parts",
        )
        return [(path, ["robot_rt_control/srv/TakePicture"]) for path in paths]


@pytest.mark.parametrize(
    ("namespace", "expected"),
    [
        ("/", ["/hardware_driver_detector/take_picture", "/hardware_driver_sim/take_picture"]),
        ("/left", ["/left/hardware_driver/take_picture"]),
        ("/lef", []),
    ],
)
def test_services_of_a_name_are_those_of_the_own_namespace(namespace: str, expected: list[str]) -> None:
    node: Any = FakeNode(namespace)
    assert Services(node, timeout_s=1.0).offered("take_picture") == expected
