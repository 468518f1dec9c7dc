"""The services of the control server's node, called without ROS: what a stranger on the network can ask for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from robot_rt_control.server.node.services import Services
from robot_rt_control.testing.lockstep_cell import LockstepCell


class ServiceCalls:
    """Calls of one cell's services. `log` holds what the node logged."""

    def __init__(self, cell: LockstepCell) -> None:
        self.handlers: dict[str, Any] = {}
        self.kinds: dict[str, Any] = {}
        self.log: list[str] = []
        node: Any = SimpleNamespace(
            create_service=self._create_service,
            get_logger=lambda: SimpleNamespace(error=self.log.append, warning=self.log.append, info=self.log.append),
        )
        Services(node, lambda: cell.server, lambda: cell.recoveries)

    def _create_service(self, kind: Any, path: str, callback: Any, *, callback_group: Any) -> None:
        name = path.removeprefix("~/")
        self.kinds[name] = kind
        self.handlers[name] = callback

    def __call__(self, name: str, /, **fields: Any) -> Any:
        """The answer of a service."""
        kind = self.kinds[name]
        return self.handlers[name](kind.Request(**fields), kind.Response())

    def refused(self, name: str, /, **fields: Any) -> str:
        """The message of a refusal."""
        answer = self(name, **fields)
        assert not answer.success, f"{name} was not refused"
        return str(answer.message)
