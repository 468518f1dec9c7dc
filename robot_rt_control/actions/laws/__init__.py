"""Built-in laws of strategies, one in each file: action types that command one degree of freedom."""
