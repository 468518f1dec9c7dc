"""How the loop exchanges packets with drives, whatever network they are on.

A further network needs its kind and its exchange here, and what `network.py` says.
"""

from robot_rt_control.hardware.drives.simulated_bus import exchange_on_test_bus
from robot_rt_control.native.realtime_code import realtime

REPORTED, TEST_BUS = 0, 1
"""Values of `drives_dtype.network`. REPORTED: a driver process exchanges packets, and reports states of motors."""


@realtime
def do_tx_rx(drives, dt):
    """Send the packets of all drives, and take what has arrived from them. It never waits longer than bounded.

    Args:
        drives: `tx` of each drive is sent; `rx` and `n_rx` are filled.
        dt: [s] the loop's period.
    """
    if drives.network == TEST_BUS:
        exchange_on_test_bus(drives, dt)
