"""What config/security/policies.xml allows, and how a running node is compared with it."""

from __future__ import annotations

import fnmatch
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

POLICY = Path(__file__).resolve().parents[2] / "config" / "security" / "policies.xml"
FOUND_S = 300.0
"""Until then a new client has found all that there is."""


def allowed(enclave: str, kind: str, role: str, space: str = "/") -> list[str]:
    """Full names, with wildcards, of what an enclave's node may do in a workcell's namespace."""
    path = f"./enclaves/enclave[@path='/robot_rt_control/{enclave}']/profiles/profile"
    profile = ElementTree.parse(POLICY).find(path)
    assert profile is not None, enclave
    assert profile.attrib["ns"] == "/"
    node, space = profile.attrib["node"], space.rstrip("/")
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


def has_all(graph: Any, node: str, space: str) -> bool:
    """Whether a node that was found has told its services: those that the policy names, unless it is wrong."""
    names = plain(graph.get_service_names_and_types_by_node(node, space))
    return set(allowed(node, "service", "reply", space)) - present_by_clock(space) <= names


def present_by_clock(space: str) -> set[str]:
    """In lockstep alone, or with a device that reports."""
    return {f"{space.rstrip('/')}/realtime_executor/take_picture", "/diagnostics"}


def eventually(happens: Callable[[], bool]) -> None:
    """Wait until it happens, but not forever: what is asserted then tells what is missing."""
    deadline = time.monotonic() + FOUND_S
    while not happens() and time.monotonic() < deadline:
        time.sleep(0.1)


def check_policy(graph: Any, node: str, space: str = "/") -> None:
    """Assert that the policy allows a running node what it offers, publishes and subscribes, and no other services."""
    eventually(lambda: node in graph.get_node_names() and has_all(graph, node, space))
    assert node in graph.get_node_names(), f"{node} is not there"
    services = plain(graph.get_service_names_and_types_by_node(node, space))
    published = plain(graph.get_publisher_names_and_types_by_node(node, space))
    subscribed = plain(graph.get_subscriber_names_and_types_by_node(node, space))
    assert services, f"{node} is not there"
    for names, kind, role in (
        (services, "service", "reply"), (published, "topic", "publish"), (subscribed, "topic", "subscribe")
    ):  # fmt: skip
        patterns = allowed(node, kind, role, space)
        refused = {name for name in names if not matched(name, patterns)}
        assert not refused, f"{node} {kind} {role}: the policy lacks {sorted(refused)}"
        if kind == "service":
            stale = {p for p in patterns if p not in names} - present_by_clock(space)
            assert not stale, f"the policy names services that {node} does not have: {sorted(stale)}"
