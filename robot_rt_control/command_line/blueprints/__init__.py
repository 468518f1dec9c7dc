"""The command line of blueprints, `robot-rt-control-blueprint`: one file for each group of verbs."""
