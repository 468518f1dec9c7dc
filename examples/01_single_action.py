"""Table 1: define one action and start it. The arm moves to a joint position and stays there.

./run shell python examples/01_single_action.py      (with a running workcell)
"""

from robot_rt_control.client import Action, Client

GOAL = [0.3, 0.4, 0.0, -1.4, 0.0, 1.2, 0.0]  # [rad]
PATIENCE = 300.0  # [s] more than enough, even on a busy machine


def main(client: Client) -> None:
    with client.session("arm") as session:
        move = Action("move", "move_joint", position=GOAL, velocity_scale=0.5)
        session.add(move)
        tick = session.start(move)
        print(f"started in tick {tick}")
        session.wait_until("move.is_settled", timeout_s=PATIENCE)
        distance = client.value("arm.tool.z")
        print(f"settled; the tool is {distance:.3f} m above the ground")


if __name__ == "__main__":
    with Client() as client:
        main(client)
