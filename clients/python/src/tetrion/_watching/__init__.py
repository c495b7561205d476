"""Sessions as viewers see them."""
