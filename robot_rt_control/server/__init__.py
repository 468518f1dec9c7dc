"""The control server: sessions, definitions, preparation, program tables, events. Nothing here is real-time code.

Everything but `node.py` and the conversions beside it knows no ROS.
"""
