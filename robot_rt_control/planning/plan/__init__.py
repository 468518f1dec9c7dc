"""Plans: what they hold, how they are kept, cut into pieces, and exported."""
