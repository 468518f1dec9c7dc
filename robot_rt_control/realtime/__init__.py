"""The real-time executor: the tick, the channel, the loops that drive the tick, and the node around them.

The tick and everything that it calls is compiled, knows no ROS and no Python at run time.
"""
