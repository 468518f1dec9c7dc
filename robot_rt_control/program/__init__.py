"""Programs as text: reading, checking and drawing them as graphs.

Independent of ROS, hardware and robot models.
"""
