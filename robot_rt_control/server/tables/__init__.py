"""From definitions to the tables that the loop reads: preparation, compilation, allocation, installation."""
