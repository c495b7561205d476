"""The server program and the connections to servers."""
