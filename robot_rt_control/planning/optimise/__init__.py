"""One optimisation: trajectory, dynamics, cost, and the methods that make a guess better."""
