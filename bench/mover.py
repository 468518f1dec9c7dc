"""A program that keeps an arm moving, for those who want to see what becomes of it: `python bench/mover.py`."""

from __future__ import annotations

import math
import sys

from robot_rt_control.client import Action, Client, Reaction

SWING = 0.5
"""[rad] to each side of where the arm stands when the program begins."""


def main(client: Client) -> None:
    """Swing the arm to and fro at full speed, until something ends the session."""
    arm = next(part for part in client.parts() if part.kind == "arm")
    here = [client.value(f"{arm.name}.position[{j}]") for j in range(len(arm.joint_names))]
    goals = []
    for sign in (1.0, -1.0):
        goal = [q + sign * SWING for q in here]
        limits = zip(goal, arm.position_lower, arm.position_upper, strict=True)
        goals.append([min(max(q, low + 0.05), high - 0.05) if math.isfinite(low) else q for q, low, high in limits])
    with client.session(arm.name, name="mover") as session:
        session.add(
            Action("to", "move_joint", position=goals[0], reactions=[Reaction("is_done", start="fro")]),
            Action("fro", "move_joint", position=goals[1], reactions=[Reaction("is_done", start="to")]),
        )
        session.start("to")
        print("moving", flush=True)
        session.wait_for("session_ended")


if __name__ == "__main__":
    with Client("mover") as made:
        main(made)
    sys.exit(0)
