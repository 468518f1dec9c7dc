"""Checks definitions against a catalogue of types, parts and variables, each rule once, without ROS."""
