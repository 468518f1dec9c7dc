"""Table 5: a reaction calls back into the application while the real-time motion goes on."""

import threading

from robot_rt_control.client import Action, Client, Event, Reaction

GOAL = [0.5, 0.4, 0.0, -1.4, 0.0, 1.2, 0.0]  # [rad]


def main(client: Client) -> Event:
    """Returns the event with which the callback was called."""
    called = threading.Event()
    received: list[Event] = []

    def almost_there(event: Event) -> None:
        # May take as long as it likes: neither the loop nor another callback waits for it.
        print(f"Almost there! tick {event.tick}, {event.values['move.tool_distance_to_goal']:.3f} m to go")
        received.append(event)
        called.set()

    with client.session("arm") as session:
        move = Action(
            "move",
            "move_joint",
            position=GOAL,
            velocity_scale=0.4,
            reactions=[
                Reaction(
                    "tool_distance_to_goal < 0.25 m",
                    call=almost_there,
                    capture=["move.tool_distance_to_goal"],
                    fire_once=True,
                )
            ],
        )
        session.add(move)
        session.start(move)
        if not called.wait(20):
            raise TimeoutError("the callback was not called within 20 s")
        session.wait_until("move.is_done", timeout_s=20)
    return received[0]


if __name__ == "__main__":
    with Client() as client:
        main(client)
