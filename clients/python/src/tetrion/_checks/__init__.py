"""Checks of arguments, before anything is sent."""
