"""Whole games that the server plays, and what they come to."""
