"""What is wrong with definitions, each rule once: on definitions and a catalogue of what there is, without ROS."""
