"""Table 3: a state machine on a live sensor value. The tool goes down until the rangefinder measures less than
`NEAR`, then up until it measures more than `FAR`, and so on, for `DURATION` seconds.
"""

import sys

from robot_rt_control.client import Action, Client, Event, Reaction, Session, variable

NEAR, FAR = 0.35, 0.50  # [m]
SPEED = 0.10  # [m/s]
DURATION = 30.0  # [s]


def define(session: Session) -> None:
    """The two states and the two switches between them."""
    distance = variable("rangefinder.distance")
    near = Reaction(distance < NEAR, start="move_up", event="switched", capture=[distance])
    far = Reaction(distance > FAR, start="move_down", event="switched", capture=[distance])
    session.add(
        Action("move_down", "velocity_move", linear=[0, 0, -SPEED], reactions=[near]),
        Action("move_up", "velocity_move", linear=[0, 0, SPEED], reactions=[far]),
    )


def report(event: Event) -> None:
    """Called for each switch, in a thread of its own."""
    distance = event.values["rangefinder.distance"]
    print(f"tick {event.tick}: {event.previous_action} → {event.current_action} at {distance:.4f} m")


def main(client: Client, duration: float = DURATION) -> int:
    """Returns how many times the arm reversed."""
    with client.session("arm") as session:
        define(session)
        session.on("switched", report)
        session.start("move_down")
        client.sleep(duration)
        session.stop()
        return sum(event.name == "switched" for event in session.events)


if __name__ == "__main__":
    with Client() as client:
        print(main(client, *(float(a) for a in sys.argv[1:2])), "switches")
