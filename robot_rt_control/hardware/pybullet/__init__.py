"""PyBullet as a hardware plugin. Nothing else imports pybullet."""
