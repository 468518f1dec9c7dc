"""The words of the project, below everything else: enumerations, errors, names, capacities, defaults."""
