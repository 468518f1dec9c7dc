"""The plugin contract, the process image between loop and driver, and the plugins mock and pybullet."""
