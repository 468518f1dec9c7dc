"""What the nodes share: life cycle, parameters with descriptors, names."""
