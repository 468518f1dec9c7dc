"""Task "follow a trajectory" for this package: three points [rad], one each second."""

from robot_rt_control.client import Action, Client, Reaction

POINTS = [[0.2, 0.6, 0, 1.5, 0, 1, 0], [0.4, 0.5, 0, 1.6, 0, 1.1, 0], [0, 0.5236, 0, 1.5708, 0, 1.0472, 0]]


def main(client: Client) -> None:
    with client.session("arm") as session:
        positions = [client.value(f"arm.position[{i}]") for i in range(7)]
        points = [x for point in (positions, *POINTS) for x in point]
        done = Reaction("is_done", event="done")
        session.add(Action("go", "track_trajectory", times=[0, 1, 2, 3], positions=points, reactions=[done]))
        session.start("go")
        session.wait_for("done")


if __name__ == "__main__":
    with Client() as client:
        main(client)
