"""Whole games that the server plays, and their results."""
