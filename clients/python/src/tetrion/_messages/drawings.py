"""Drawings: their colours and their size in requests, and pictures as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tetrion._checks import arguments
from tetrion._pb import messages as pb

PALETTES = {"usual": pb.PALETTE_USUAL, "color-blind": pb.PALETTE_COLOR_BLIND}

# Pixels of a cell's side at scale 1, and at least and at most.
_CELL, _CELLS = 16, (4, 64)


def palette(field: str, name: Any) -> int:
    """The palette of this name.

    Raises:
        InvalidArgumentError: The palette does not exist.
    """
    return PALETTES[arguments.choice(field, name, PALETTES)]


def cell_pixels(field: str, scale: Any) -> int:
    """The side of a cell at a scale.

    Raises:
        InvalidArgumentError: The scale is not a number, or is out of range.
    """
    low, high = (side / _CELL for side in _CELLS)
    return round(_CELL * arguments.number(field, scale, low, f"a number from {low:g} to {high:g}", high))


def picture(native: tuple[bytes, int, int]) -> npt.NDArray[np.uint8]:
    """A picture of the extension module, uint8 [height, width, 3]."""
    pixels, height, width = native
    return np.frombuffer(pixels, np.uint8).reshape(height, width, 3).copy()
