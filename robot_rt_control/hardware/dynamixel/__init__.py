"""DYNAMIXEL servos on a serial bus."""
