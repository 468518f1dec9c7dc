"""Drives on a network: packets, their exchange in the loop, and a simulated network."""
