"""Arguments as messages of the protocol, and answers as arrays."""
