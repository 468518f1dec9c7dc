"""`python -m robot_rt_control.server.preparer`: the first of these processes. Started by `Preparers`, not by hand."""

from robot_rt_control.server.preparer.worker import main

main()
