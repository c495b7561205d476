"""Sessions of environments, and the calls that change them."""
