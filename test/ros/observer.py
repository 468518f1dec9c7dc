"""A process that only watches: says "watching", watches topics until its input ends, then says what it saw as JSON."""

from __future__ import annotations

import json
import select
import sys

import rclpy
from robot_rt_control.msg import Event, ExecutorStatus
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState, Range


def main() -> None:
    rclpy.init()
    node = rclpy.create_node("observer")
    seen: dict[str, list] = {"events": [], "ranges": [], "joints": [], "status": [], "clock": []}
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
        lambda m: seen["status"].append(
            {
                "parts": [(p.name, p.active_action, p.session) for p in m.parts],
                "clock": m.clock,
                "factor": m.real_time_factor,
                "target": m.real_time_factor_target,
                "misses": m.deadline_misses,
            }
        ),
        10,
    )
    node.create_subscription(Clock, "/clock", lambda m: seen["clock"].append(m.clock.sec + m.clock.nanosec * 1e-9), 10)
    while not (seen["joints"] and seen["ranges"] and seen["status"] and node.count_publishers("control_server/events")):
        rclpy.spin_once(node, timeout_sec=0.05)
    print("watching", flush=True)
    while not select.select([sys.stdin], [], [], 0.0)[0]:
        rclpy.spin_once(node, timeout_sec=0.05)
    print(json.dumps(seen))
    node.destroy_node()
    rclpy.shutdown()


if __name__ == "__main__":
    main()
