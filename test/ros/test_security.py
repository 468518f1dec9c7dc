"""config/security/policies.xml against the names of running nodes: nothing missing, nothing that no node has.

The driver's is checked in test_driver_node.py, controllers of other types in test_grippers_and_jogs.py, the planner
and the node of blueprints in test_planner_node.py and test_blueprints_node.py, where they run.
"""

from __future__ import annotations

import pytest

from robot_rt_control.client import Client

from .policy import allowed, check_policy

CONTROLLERS = ("controller_manager", "controller_manager_client")
NODES = ("blueprints", "control_server", "realtime_executor", "frame_publisher", "hardware_driver", *CONTROLLERS)


@pytest.mark.parametrize("node", ["control_server", "realtime_executor", "frame_publisher", *CONTROLLERS])
def test_each_node_may_do_what_it_does_and_no_more(client: Client, node: str) -> None:
    check_policy(client.node, node)


def test_actions_are_those_of_the_control_server_the_planner_and_the_node_of_blueprints() -> None:
    names = ["/control_server/run_action", "/control_server/run_program"]
    assert allowed("control_server", "action", "execute") == names
    assert allowed("planner", "action", "execute") == ["/planner/plan_contact"]
    assert allowed("blueprints", "action", "execute") == ["/blueprints/run"]
    assert allowed("blueprints_client", "action", "call") == names[1:]
    assert allowed("application", "action", "call") == [*names, "/planner/plan_contact", "/blueprints/run"]


def test_clients_ask_for_services_that_there_are() -> None:
    offered = {name for node in NODES for name in allowed(node, "service", "reply")}
    for node in ("application", "blueprints_client", "controller_manager_client", "planner_client", "watcher"):
        wanted = set(allowed(node, "service", "request"))
        assert wanted <= offered, f"{node}: {sorted(wanted - offered)}"


def test_a_watcher_looks_and_stops_and_nothing_else() -> None:
    words = {name.rpartition("/")[2] for name in allowed("watcher", "service", "request")}
    assert {w for w in words if not w.startswith("list_")} == {"stop_actions", "protective_stop"}
    assert set(allowed("watcher", "topic", "publish")) == {"/rosout", "/parameter_events"}
    assert allowed("watcher", "action", "call") == []
