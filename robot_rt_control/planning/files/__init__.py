"""Task files: their schema, their settings, and what is made from them."""
