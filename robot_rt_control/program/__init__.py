"""What client, server and executor share: vocabulary, conditions, action types, memory layout, errors.

Nothing in here knows ROS, hardware or a robot model.
"""
