"""Games in files, and games that are played again."""
