"""From a task to a plan that holds: attempts, search, perturbed repetitions."""
