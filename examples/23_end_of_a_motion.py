"""Start a motion and wait for its end: reached, cancelled, or ended by something else; the reason is always said.

The program does not wait for an event that may never come: whatever ends the motion, `wait` returns.
"""

from robot_rt_control.client import Action, Client, End, Ending

THERE = [0.3, 0.3, 0.0, -1.6, 0.0, 1.2, 0.0]  # [rad]
BACK = [-0.3, 0.3, 0.0, -1.6, 0.0, 1.2, 0.0]
PATIENCE = 300.0  # [s] more than enough, even on a busy machine


def main(client: Client) -> list[Ending]:
    """Returns how the motions ended."""
    with client.session("arm") as session:
        session.add(Action("there", "move_joint", position=THERE), Action("back", "move_joint", position=BACK))
        there = session.follow("there").wait(PATIENCE)  # its arm is measured to be there
        print(f"there: {there.end} in tick {there.tick}")

        half = session.follow("back", until="arm.position[0] < 0").wait(PATIENCE)  # the motion goes on
        print(f"half of the way back: {half.end}, and {session.active} is active")

        moving = session.follow("there", on_end=lambda ending: print(f"called: {ending.end}"))
        client.sleep(0.1)
        cancelled = moving.cancel()  # returns once the arm stands still
        print(f"there again: {cancelled.end}, at rest: {moving.at_rest}")

        moving = session.follow("back")
        client.sleep(0.1)
        client.stop_all()  # as somebody else might do
        ending = moving.wait(PATIENCE)
        if ending.end != End.REACHED:
            print(f"back: {ending.end}, because {ending.action!r} was {ending.reason}")
        return [there, half, cancelled, ending]


if __name__ == "__main__":
    with Client() as client:
        main(client)
