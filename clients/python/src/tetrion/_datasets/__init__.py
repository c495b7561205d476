"""Data sets: recipes, the games of a recipe, and the files that hold them."""
