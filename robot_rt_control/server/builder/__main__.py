"""`python -m robot_rt_control.server.builder`: the builder process. Started by `Builder`, not by hand."""

from robot_rt_control.server.builder.worker import main

main()
