"""What `ros2 service call`, `action send_goal` and `topic echo` do, for tests that follow a document's commands."""

from __future__ import annotations

import shlex
import threading
from importlib import import_module
from typing import Any

import rclpy
import yaml
from rclpy.executors import SingleThreadedExecutor

from robot_rt_control.ros.goal_client import GoalClient
from robot_rt_control.ros.spinning import spin


def fill(message: Any, values: dict[str, Any]) -> Any:
    """Put values into a message as `ros2` does: names must exist, nested messages are mappings."""
    for name, value in values.items():
        present = getattr(message, name)
        kind = message.get_fields_and_field_types()[name]
        if isinstance(value, dict):
            fill(present, value)
        elif kind.startswith("sequence<") and "/" in kind:
            package, _, leaf = kind[len("sequence<") : -1].partition("/")
            cls = getattr(import_module(f"{package}.msg"), leaf)
            setattr(message, name, [fill(cls(), item) for item in value])
        elif kind in ("sequence<double>", "double"):
            setattr(message, name, [float(v) for v in value] if isinstance(value, list) else float(value))
        else:
            setattr(message, name, value)
    return message


def type_of(name: str) -> Any:
    """The class of `package/srv/Name`.

    Raises:
        ImportError, AttributeError: there is none.
    """
    package, kind, leaf = name.split("/")
    return getattr(import_module(f"{package}.{kind}"), leaf)


class ByHand:
    """A person who types `ros2` commands. Use it as a context manager.

    Args:
        timeout_s: for a service or action to appear, and for each answer.
    """

    def __init__(self, *, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._context = rclpy.Context()
        rclpy.init(context=self._context)
        self.node = rclpy.create_node("by_hand", context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._spinning = threading.Thread(target=spin, args=(self._executor, print), daemon=True)
        self._spinning.start()

    def __enter__(self) -> ByHand:
        return self

    def __exit__(self, *_: object) -> None:
        self._executor.shutdown()
        self._spinning.join()
        self.node.destroy_node()
        self._context.try_shutdown()

    def run(self, command: str) -> Any:
        """Do what a command says. Returns the answer of a service, the result of an action, or a topic's type.

        Raises:
            ValueError: it is none of the three commands.
            AssertionError: it is not offered, has another type, or gave no answer.
        """
        words = [w for w in shlex.split(command) if w != "--feedback"]
        match words:
            case ["ros2", "service", "call", path, kind, *fields]:
                return self._call(path, type_of(kind), fields)
            case ["ros2", "action", "send_goal", path, kind, fields]:
                return self._send(path, type_of(kind), fields)
            case ["ros2", "topic", "echo", path]:
                kinds = dict(self.node.get_topic_names_and_types())
                assert path in kinds, f"{command}: nobody publishes {path}; there are {sorted(kinds)}"
                return kinds[path]
        raise ValueError(command)

    def _call(self, path: str, kind: Any, fields: list[str]) -> Any:
        client: Any = self.node.create_client(kind, path)
        assert client.wait_for_service(self._timeout_s), f"no service {path}"
        return self._done(client.call_async(fill(kind.Request(), yaml.safe_load(fields[0]) if fields else {})))

    def _send(self, path: str, kind: Any, fields: str) -> Any:
        client: Any = GoalClient(self.node, kind, path)
        assert client.wait_for_server(self._timeout_s), f"no action {path}"
        goal = self._done(client.send_goal_async(fill(kind.Goal(), yaml.safe_load(fields))))
        assert goal.accepted, f"{path}: the goal was not accepted"
        return self._done(goal.get_result_async()).result

    def _done(self, future: Any) -> Any:
        done = threading.Event()
        future.add_done_callback(lambda _: done.set())
        assert done.wait(self._timeout_s), "no answer"
        return future.result()
