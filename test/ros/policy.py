"""What config/security/policies.xml allows, and how a running node is compared with it."""

from __future__ import annotations

import fnmatch
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rclpy.action import get_action_server_names_and_types_by_node

POLICY = Path(__file__).resolve().parents[2] / "config" / "security" / "policies.xml"
FOUND_S = 300.0
"""Until then a new client has found all that there is."""


def allowed(profile: str, kind: str, role: str, space: str = "/", node: str = "") -> list[str]:
    """Full names, with wildcards, of what a node may do in a workcell's namespace.

    Args:
        profile: the node's name in the policy.
        node: its name; empty: the profile's.
    """
    found = ElementTree.parse(POLICY).find(f"./enclaves/enclave/profiles/profile[@node='{profile}']")
    assert found is not None, profile
    assert found.attrib["ns"] == "/"
    space, names = space.rstrip("/"), []
    for group in found.findall(f"{kind}s[@{role}='ALLOW']"):
        for entry in group.findall(kind):
            name = (entry.text or "").replace("~", f"{space}/{node or profile}", 1)
            names.append(name if name.startswith("/") else f"{space}/{name}")
    return names


def matched(name: str, patterns: list[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def plain(names: list[tuple[str, list[str]]]) -> set[str]:
    """Without the hidden topics and services of which an action is made."""
    return {name for name, _ in names if "/_action/" not in name}


def present_by_clock(space: str) -> set[str]:
    """In lockstep alone, or with a device that reports."""
    return {f"{space.rstrip('/')}/realtime_executor/take_picture", "/diagnostics"}


def eventually(happens: Callable[[], bool]) -> None:
    """Wait until it happens, but not forever: what is asserted then tells what is missing."""
    deadline = time.monotonic() + FOUND_S
    while not happens() and time.monotonic() < deadline:
        time.sleep(0.1)


def check_policy(graph: Any, node: str, space: str = "/", profile: str = "") -> None:
    """Assert that the policy allows a running node what it offers, uses, publishes and subscribes, and no other
    services.

    Args:
        graph: another node.
        profile: its name in the policy; empty: the node's.
    """
    profile = profile or node

    def names(kind: str, role: str) -> list[str]:
        return allowed(profile, kind, role, space, node)

    # What each such node offers; a name with a wildcard is that of something which a workcell may have.
    usual = {name for name in names("service", "reply") if "*" not in name} - present_by_clock(space)

    def has_all() -> bool:  # a node that was found may not have told its services yet
        return node in graph.get_node_names() and usual <= plain(graph.get_service_names_and_types_by_node(node, space))

    eventually(has_all)
    assert node in graph.get_node_names(), f"{node} is not there"
    services = plain(graph.get_service_names_and_types_by_node(node, space))
    assert services, f"{node} is not there"
    stale = usual - services
    assert not stale, f"the policy names services that {node} does not have: {sorted(stale)}"
    for kind, role, found in (
        ("service", "reply", services),
        ("service", "request", plain(graph.get_client_names_and_types_by_node(node, space))),
        ("topic", "publish", plain(graph.get_publisher_names_and_types_by_node(node, space))),
        ("topic", "subscribe", plain(graph.get_subscriber_names_and_types_by_node(node, space))),
        ("action", "execute", plain(get_action_server_names_and_types_by_node(graph, node, space))),
    ):
        refused = {name for name in found if not matched(name, names(kind, role))}
        assert not refused, f"{node} {kind} {role}: the policy lacks {sorted(refused)}"
