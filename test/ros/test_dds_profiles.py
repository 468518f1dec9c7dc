"""The profiles for Fast DDS in config/: two nodes talk with each, one of them without shared memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from robot_rt_control.testing.ros_domain import claim_domain

REPOSITORY = Path(__file__).resolve().parents[2]
FAST_DDS = "fastrtps" if (Path(sys.prefix) / "share/fastrtps").is_dir() else "fastdds"
"""Version 2, of Jazzy, or 3: each has files and a variable of its own."""

NODES = """
import json, os, sys, time
import rclpy
from std_msgs.msg import String

rclpy.init()
node = rclpy.create_node(sys.argv[1])
heard = []
node.create_subscription(String, sys.argv[3], lambda m: heard.append(m.data), 10)
talk = node.create_publisher(String, sys.argv[2], 10)
end = time.monotonic() + 60.0
# The other one may have heard nothing yet when this one has: each goes on for a while.
while time.monotonic() < end:
    talk.publish(String(data="x" * 20000 + sys.argv[1]))
    rclpy.spin_once(node, timeout_sec=0.05)
    if heard and end > time.monotonic() + 3.0:
        end = time.monotonic() + 3.0
own = [f"/proc/self/fd/{n}" for n in os.listdir("/proc/self/fd")]
files = [os.readlink(file) for file in own if os.path.lexists(file)]
maps = [line.split()[-1] for line in open("/proc/self/maps")]
shared = sorted({f for f in files + maps if f.startswith("/dev/shm/") and "fast" in f})
print(json.dumps({"heard": heard[:1], "shared": shared}))
"""


def test_no_profile_lets_nodes_of_one_process_take_the_shortcut_that_loses_announcements() -> None:
    profiles = sorted((REPOSITORY / "config").glob("fast*.xml"))
    assert len(profiles) == 4
    for profile in profiles:
        found = ElementTree.parse(profile).find("{*}library_settings/{*}intraprocess_delivery")
        assert found is not None and found.text == "OFF", profile


@pytest.mark.parametrize("profile", [f"{FAST_DDS}.xml", f"{FAST_DDS}_no_shared_memory.xml"])
def test_two_nodes_talk_with_each_profile_and_one_shares_no_memory(profile: str) -> None:
    environment = os.environ | {
        f"{FAST_DDS.upper()}_DEFAULT_PROFILES_FILE": str(REPOSITORY / "config" / profile),
        "ROS_DOMAIN_ID": str(claim_domain(profile)),
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST" if profile == f"{FAST_DDS}.xml" else "SYSTEM_DEFAULT",
    }
    started = [
        subprocess.Popen(
            [sys.executable, "-c", NODES, name, *topics],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for name, *topics in (("one", "there", "back"), ("two", "back", "there"))
    ]
    ended = [process.communicate(timeout=120) for process in started]
    assert [process.returncode for process in started] == [0, 0], ended
    assert not any("XML" in errors or "Error" in errors for _, errors in ended), ended
    found = [json.loads(output.splitlines()[-1]) for output, _ in ended]
    assert [one["heard"][0][-3:] for one in found] == ["two", "one"]
    assert [bool(one["shared"]) for one in found] == [profile == f"{FAST_DDS}.xml"] * 2, found
