"""Names of segments: workcells of other users, domains and namespaces do not meet."""

from __future__ import annotations

import os

from robot_rt_control.memory.segment_names import channel_name, image_name
from robot_rt_control.memory.shared_memory import segment_path


def test_names_differ_by_user_domain_and_namespace() -> None:
    user = f"robot_rt_control.{os.getuid()}"
    assert channel_name("/", "0") == f"{user}.0-channel"
    assert channel_name("/cell_1/left", "7") == f"{user}.7.cell_1.left-channel"
    assert image_name("/cell_1", "7", "sim") == f"{user}.7.cell_1-device-sim"
    names = {channel_name(space, domain) for space in ("/", "/a", "/a/b", "/b") for domain in ("0", "1")}
    assert len(names) == 8


def test_every_namespace_gives_a_file_name() -> None:
    for namespace in ("", "/", "//", "/ä b/../c", "/a/"):
        assert segment_path(channel_name(namespace, "0")).parent == segment_path("x").parent
