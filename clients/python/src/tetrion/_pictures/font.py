"""Letters of five by seven dots, those of the pictures that `tetrion export` makes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

# Columns of a letter, the gap behind it included, and its rows.
ADVANCE, HEIGHT = 6, 7


def dots(text: str) -> npt.NDArray[np.bool_]:
    """The dots of a text, bool [HEIGHT, ADVANCE len(text)]. Small letters are shown as capitals, others as a box."""
    found = np.zeros((HEIGHT, ADVANCE * len(text)), np.bool_)
    for place, character in enumerate(text):
        rows = np.frombuffer(bytes.fromhex(_GLYPHS.get(character.upper(), _UNKNOWN)), np.uint8)
        found[:, ADVANCE * place : ADVANCE * place + 5] = rows[:, None] >> np.arange(4, -1, -1) & 1
    return found


_UNKNOWN = "1f11111111111f"

# The rows of a character from the top, a byte each in hexadecimal; of its five bits the highest is at the left.
_GLYPHS = {
    " ": "00000000000000",
    "0": "0e11131519110e",
    "1": "040c040404040e",
    "2": "0e11010204081f",
    "3": "1f02040201110e",
    "4": "02060a121f0202",
    "5": "1f101e0101110e",
    "6": "0608101e11110e",
    "7": "1f010204080808",
    "8": "0e11110e11110e",
    "9": "0e11110f01020c",
    "A": "0e1111111f1111",
    "B": "1e11111e11111e",
    "C": "0e11101010110e",
    "D": "1c12111111121c",
    "E": "1f10101e10101f",
    "F": "1f10101e101010",
    "G": "0e11101711110f",
    "H": "1111111f111111",
    "I": "0e04040404040e",
    "J": "0702020202120c",
    "K": "11121418141211",
    "L": "1010101010101f",
    "M": "111b1515111111",
    "N": "11111915131111",
    "O": "0e11111111110e",
    "P": "1e11111e101010",
    "Q": "0e11111115120d",
    "R": "1e11111e141211",
    "S": "0f10100e01011e",
    "T": "1f040404040404",
    "U": "1111111111110e",
    "V": "11111111110a04",
    "W": "1111111515150a",
    "X": "11110a040a1111",
    "Y": "1111110a040404",
    "Z": "1f01020408101f",
    "-": "0000001f000000",
    "_": "0000000000001f",
    "+": "0004041f040400",
    ".": "00000000000c0c",
    ",": "000000000c0408",
    ":": "000c0c000c0c00",
    "/": "00010204081000",
    "(": "02040808080402",
    ")": "08040202020408",
    "=": "00001f001f0000",
    "#": "0a0a1f0a1f0a0a",
    "%": "18190204081303",
    "'": "0c040800000000",
    '"': "0a0a0a00000000",
    "!": "04040404040004",
    "?": "0e110102040004",
    "<": "02040810080402",
    ">": "08040201020408",
}
