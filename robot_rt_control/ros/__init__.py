"""Shared by the nodes: life cycle, parameters with descriptors, names, diagnostics."""
