"""Table 3: a state machine on a live sensor value. The tool goes down until the rangefinder measures less than
`NEAR`, then up until it measures more than `FAR`, and so on, for `DURATION` seconds.
"""

import sys
import time

from robot_rt_control.client import Action, Client, Reaction, Session, variable

NEAR, FAR = 0.35, 0.50  # [m]
SPEED = 0.10  # [m/s]
DURATION = 30.0  # [s]


def define(session: Session) -> None:
    """The two states and the two switches between them."""
    distance = variable("rangefinder.distance")
    fired = {"event": "switched", "capture": [distance]}
    session.add(
        Action("move_down", "velocity_move", linear=[0, 0, -SPEED], reactions=[
            Reaction(distance < NEAR, start="move_up", **fired),
        ]),
        Action("move_up", "velocity_move", linear=[0, 0, SPEED], reactions=[
            Reaction(distance > FAR, start="move_down", **fired),
        ]),
    )  # fmt: skip


def main(client: Client, duration: float = DURATION) -> int:
    """Returns how many times the arm turned round."""
    with client.session("arm") as session:
        define(session)
        session.on("switched", lambda e: print(f"tick {e.tick}: {e.previous_action} → {e.current_action} at "
                                               f"{e.values['rangefinder.distance']:.4f} m"))  # fmt: skip
        session.start("move_down")
        time.sleep(duration)
        session.stop()
        return sum(event.name == "switched" for event in session.events)


if __name__ == "__main__":
    with Client() as client:
        print(main(client, *(float(a) for a in sys.argv[1:2])), "switches")
