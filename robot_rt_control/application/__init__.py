"""The application node and the programs it runs, and bringing a whole workcell up."""
