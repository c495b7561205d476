"""Clients of one server and of several."""
