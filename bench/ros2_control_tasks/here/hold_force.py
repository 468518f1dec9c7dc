"""Task "hold a force" for this package: come down at 10 mm/s, and press on what is below with 5 N, for 3 s."""

from robot_rt_control.client import Action, Client, Reaction, Strategy


def main(client: Client) -> None:
    force = Strategy(
        "force", "force", when="watch.push_z < -2", inputs={"force": "watch.push_z"}, force=-5.0, velocity=0.02
    )
    down = Strategy("down", "velocity", velocity=-0.01)
    with client.session(["arm", "wrist"]) as session:
        session.add(
            Action("watch", "watch_tool", parts={"sensor": "wrist", "arm": "arm"}),
            Action("ready", "hold", parts="arm", reactions=[Reaction("watch.is_ready", start="press")]),
            Action("press", "govern_tool", parts="arm", strategies={"z": [force, down]}),
        )
        session.start("watch", "ready")
        session.wait_until("watch.push_z < -4.5")
        client.sleep(3)


if __name__ == "__main__":
    with Client() as client:
        main(client)
