"""config/security/policies.xml against the names of running nodes: nothing missing, nothing that no node has."""

from __future__ import annotations

import fnmatch
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from robot_rt_control.client import Client

POLICY = Path(__file__).resolve().parents[2] / "config" / "security" / "policies.xml"
NODES = ("control_server", "realtime_executor", "hardware_driver")
FOUND_S = 300.0
"""Until then a new client has found all that there is."""
PRESENT_BY_CLOCK = {"/realtime_executor/take_picture", "/diagnostics"}
"""In lockstep alone, or with a device that reports."""


def allowed(enclave: str, kind: str, role: str) -> list[str]:
    """Full names, with wildcards, of what an enclave's node may do."""
    path = f"./enclaves/enclave[@path='/robot_rt_control/{enclave}']/profiles/profile"
    profile = ElementTree.parse(POLICY).find(path)
    assert profile is not None, enclave
    node, space = profile.attrib["node"], profile.attrib["ns"].rstrip("/")
    found = []
    for group in profile.findall(f"{kind}s[@{role}='ALLOW']"):
        for entry in group.findall(kind):
            name = (entry.text or "").replace("~", f"{space}/{node}", 1)
            found.append(name if name.startswith("/") else f"{space}/{name}")
    return found


def matched(name: str, patterns: list[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def plain(names: list[tuple[str, list[str]]]) -> set[str]:
    """Without the hidden topics and services of which an action is made."""
    return {name for name, _ in names if "/_action/" not in name}


def has_all(graph: Any, node: str) -> bool:
    """Whether a node that was found has told its services: those that the policy names, unless it is wrong."""
    names = plain(graph.get_service_names_and_types_by_node(node, "/"))
    return set(allowed(node, "service", "reply")) - PRESENT_BY_CLOCK <= names


def eventually(happens: Callable[[], bool]) -> None:
    """Wait until it happens, but not forever: what is asserted then tells what is missing."""
    deadline = time.monotonic() + FOUND_S
    while not happens() and time.monotonic() < deadline:
        time.sleep(0.1)


@pytest.mark.parametrize("node", ["control_server", "realtime_executor"])
def test_each_node_may_do_what_it_does_and_no_more(client: Client, node: str) -> None:
    check_policy(client.node, node)


def check_policy(graph: Any, node: str) -> None:
    """Assert that the policy allows a running node what it offers, publishes and subscribes, and no other services."""
    eventually(lambda: node in graph.get_node_names() and has_all(graph, node))
    assert node in graph.get_node_names(), f"{node} is not there"
    services = plain(graph.get_service_names_and_types_by_node(node, "/"))
    published = plain(graph.get_publisher_names_and_types_by_node(node, "/"))
    subscribed = plain(graph.get_subscriber_names_and_types_by_node(node, "/"))
    assert services, f"{node} is not there"
    for names, kind, role in (
        (services, "service", "reply"), (published, "topic", "publish"), (subscribed, "topic", "subscribe")
    ):  # fmt: skip
        patterns = allowed(node, kind, role)
        refused = {name for name in names if not matched(name, patterns)}
        assert not refused, f"{node} {kind} {role}: the policy lacks {sorted(refused)}"
        if kind == "service":
            stale = {p for p in patterns if p not in names} - PRESENT_BY_CLOCK
            assert not stale, f"the policy names services that {node} does not have: {sorted(stale)}"


def test_actions_are_those_of_the_control_server() -> None:
    names = ["/control_server/run_action", "/control_server/run_program"]
    assert allowed("control_server", "action", "execute") == allowed("application", "action", "call") == names


def test_clients_ask_for_services_that_there_are() -> None:
    offered = {name for node in NODES for name in allowed(node, "service", "reply")}
    for enclave in ("application", "watcher"):
        wanted = set(allowed(enclave, "service", "request"))
        assert wanted <= offered, f"{enclave}: {sorted(wanted - offered)}"


def test_a_watcher_looks_and_stops_and_nothing_else() -> None:
    words = {name.rpartition("/")[2] for name in allowed("watcher", "service", "request")}
    assert {w for w in words if not w.startswith("list_")} == {"stop_actions", "protective_stop"}
    assert set(allowed("watcher", "topic", "publish")) == {"/rosout", "/parameter_events"}
    assert allowed("watcher", "action", "call") == []
