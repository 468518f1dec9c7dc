"""Start guesses: pushes, and grips that hold a body."""
