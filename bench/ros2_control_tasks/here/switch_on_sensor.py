"""Task "switch on a sensor" for this package: as soon as joint_1 is beyond 0.25 rad, another action takes over."""

from robot_rt_control.client import Action, Client, Reaction

GOAL = [1, 0.5236, 0, 1.5708, 0, 1.0472, 0]


def main(client: Client) -> None:
    with client.session("arm") as session:
        passed = Reaction("arm.position[0] > 0.25", start="stay", event="passed")
        session.add(Action("go", "move_joint", position=GOAL, reactions=[passed]), Action("stay", "stop"))
        session.start("go")
        session.wait_for("passed")
        session.wait_until("arm.at_rest")


if __name__ == "__main__":
    with Client() as client:
        main(client)
