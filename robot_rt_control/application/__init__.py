"""The application side: the node that runs users' programs, bringing a workcell up, and the demonstration."""
