"""Task "stop on contact" for this package: move towards a goal [rad]; stop once the wrist feels more than 5 N."""

from robot_rt_control.client import Action, Client, Reaction

GOAL = [0.8, 0.5236, 0, 1.5708, 0, 1.0472, 0]


def main(client: Client) -> None:
    with client.session("arm") as session:
        contact = Reaction("norm(wrist.force) > 5", start="stop", event="contact")
        session.add(
            Action("go", "move_joint", position=GOAL, velocity_scale=0.1, reactions=[contact]), Action("stop", "stop")
        )
        session.start("go")
        session.wait_for("contact")
        session.wait_until("arm.at_rest")


if __name__ == "__main__":
    with Client() as client:
        main(client)
