"""What the last tick's snapshot and the loop's refusals say, with the names of actions, parts and variables."""
