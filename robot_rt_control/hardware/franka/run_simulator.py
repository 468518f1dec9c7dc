"""Runs franky-sim with gains at which its joints come to rest: `python run_simulator.py ADDRESS`, by the Python of its
environment, which has nothing else of this project.

The simulator brakes its joints explicitly, each millisecond. With its own gain of 200 Nms/rad a wrist joint of 0.075
kg m² is braked to 2.7 times its speed backwards: once a command has come late, it trembles for ever.
"""

from __future__ import annotations

import sys

_WRIST = 100.0
"""[Nms/rad] of joints 5 to 7."""


def main(address: str) -> None:
    import franky_sim  # type: ignore[import-not-found,unused-ignore]
    from franky_sim.mujoco_simulator import (  # type: ignore[import-not-found,unused-ignore]
        MUJOCO_DEFAULT_KV,
        MujocoSimulator,
    )

    with MujocoSimulator(enable_visualization=False) as simulator:
        robot = simulator.add_robot(kv=(*MUJOCO_DEFAULT_KV[:4], _WRIST, _WRIST, _WRIST))
        with franky_sim.SimulationServer(simulator, hostname_candidates=[address]) as server:
            print(f"franky-sim is ready at {robot.hostname}", flush=True)
            server.run_forever()


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except KeyboardInterrupt:
        sys.exit(130)
