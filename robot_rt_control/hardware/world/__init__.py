"""What every simulator simulates: the world of a workcell, described without a word of any engine."""
