"""What users define: action types, actions, reactions, parameters and streams, as plain data."""
