"""Pictures of graphs: states of programs, nodes of blueprints."""
