"""Games as scenes, text and pixels."""
