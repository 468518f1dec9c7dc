"""Attacks on the whole tree, each with its promise: `./run prove --attack`."""
