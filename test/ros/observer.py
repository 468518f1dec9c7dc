"""A process that only watches: says "watching", watches topics for some seconds, then says what it saw as JSON."""

from __future__ import annotations

import json
import sys
import time

import rclpy
from robot_rt_control.msg import Event, ExecutorStatus
from sensor_msgs.msg import JointState, Range


def main(seconds: float) -> None:
    rclpy.init()
    node = rclpy.create_node("observer")
    seen: dict[str, list] = {"events": [], "ranges": [], "joints": [], "status": []}
    node.create_subscription(
        Event,
        "control_server/events",
        lambda m: seen["events"].append((m.kind, m.tick, m.previous_action, m.current_action, list(m.values))),
        1000,
    )
    node.create_subscription(
        Range, "rangefinder/range", lambda m: seen["ranges"].append((m.range, m.header.frame_id)), 10
    )
    node.create_subscription(JointState, "joint_states", lambda m: seen["joints"].append(list(m.position)), 10)
    node.create_subscription(
        ExecutorStatus,
        "realtime_executor/status",
        lambda m: seen["status"].append([(p.name, p.active_action, p.session) for p in m.parts]),
        10,
    )
    while not (seen["joints"] and seen["ranges"] and seen["status"] and node.count_publishers("control_server/events")):
        rclpy.spin_once(node, timeout_sec=0.05)
    print("watching", flush=True)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        rclpy.spin_once(node, timeout_sec=0.05)
    print(json.dumps(seen))
    node.destroy_node()
    rclpy.shutdown()


if __name__ == "__main__":
    main(float(sys.argv[1]))
