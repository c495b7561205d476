"""Searches for the weights of a linear controller."""
