"""Table 5 and figure 6: a reaction calls back into the application while the real-time motion continues.

The second callback takes some time and returns a result: new parameters of the running action.
"""

import threading
import time

from robot_rt_control.client import Action, Client, Event, Reaction

GOAL = [0.5, 0.4, 0.0, -1.4, 0.0, 1.2, 0.0]  # [rad]
ELSEWHERE = [0.2, 0.5, 0.1, -1.2, 0.0, 1.0, 0.0]
PATIENCE = 300.0  # [s] more than enough, even on a busy machine


def main(client: Client) -> Event:
    """Returns the event of the first callback."""
    called = threading.Event()
    received: list[Event] = []

    def almost_there(event: Event) -> None:
        # It may take any time: neither the loop nor another callback waits for it.
        print(f"Almost there! tick {event.tick}, {event.values['move.tool_distance_to_goal']:.3f} m to go")
        received.append(event)
        called.set()

    def think_again(event: Event) -> dict[str, list[float]]:
        # Its result becomes the new parameters of the action named by `reply_to`.
        time.sleep(0.2)
        print(f"Thought about tick {event.tick} for 0.2 s: go elsewhere")
        return {"position": ELSEWHERE}

    with client.session("arm") as session:
        near = Reaction(
            "tool_distance_to_goal < 0.25 m",
            call=almost_there,
            capture=["move.tool_distance_to_goal"],
            fire_once=True,
        )
        under_way = Reaction("progress > 0.05", call=think_again, reply_to="move", fire_once=True)
        move = Action("move", "move_joint", position=GOAL, velocity_scale=0.4, reactions=[near, under_way])
        session.add(move)
        session.start(move)
        if not called.wait(PATIENCE):
            raise TimeoutError(f"the callback was not called within {PATIENCE:g} s")
        # On a busy machine the first goal may be reached before the answer comes: its end does not count.
        session.wait_until(f"move.is_done and abs(arm.position[0] - {ELSEWHERE[0]}) < 0.05", timeout_s=PATIENCE)
        reached = [client.value(f"arm.position[{j}]") for j in range(len(ELSEWHERE))]
        error = max(abs(q - wanted) for q, wanted in zip(reached, ELSEWHERE, strict=True))
        print(f"The motion ended at the callback's goal, within {error:.4f} rad")
        if error > 0.05:
            raise RuntimeError(f"the callback's result did not reach the motion: {reached}")
    return received[0]


if __name__ == "__main__":
    with Client() as client:
        main(client)
