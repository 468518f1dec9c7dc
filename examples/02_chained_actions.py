"""Table 2: two actions chained by reactions, and an event that reports the end of the sequence.

The second action starts in the tick in which the first one is done, without waiting for this program.
"""

from robot_rt_control.client import Action, Client, Reaction

FIRST = [0.3, 0.3, 0.0, -1.6, 0.0, 1.2, 0.0]  # [rad]
SECOND = [-0.3, 0.3, 0.0, -1.6, 0.0, 1.2, 0.0]
PATIENCE = 300.0  # [s] more than enough, even on a busy machine


def main(client: Client) -> None:
    with client.session("arm") as session:
        session.add(
            Action("action0", "move_joint", position=FIRST, reactions=[Reaction("is_done", start="action1")]),
            Action("action1", "move_joint", position=SECOND, reactions=[Reaction("is_done", event="complete")]),
        )
        start = session.start("action0")
        event = session.wait_for("complete", timeout_s=PATIENCE)
        print(f"the sequence was complete {event.tick - start} ticks after its start")


if __name__ == "__main__":
    with Client() as client:
        main(client)
