"""The recorded answers of the conformance kit, decoded by this client: every tensor has the numbers of its text."""

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import protocol as pb
from google.protobuf.message import Message

from tetrion._messages.tensors import to_numpy

KIT = Path(__file__).parents[3] / "conformance"


def answer(file: str, line: int) -> Any:
    """The answer that starts in a line of a file, as JSON."""
    lines = (KIT / file).read_text().splitlines()[line - 1 :]
    more = next((n for n, text in enumerate(lines[1:]) if not text.startswith(" ")), len(lines) - 1)
    return json.loads("\n".join(lines[: more + 1]).lstrip("<"))


def array(text: str) -> npt.NDArray[np.generic]:
    """The array of a text such as `float32[2,3] 0*5 -0.5`."""
    head, *words = text.split(" ")
    name, shape = head.removesuffix("]").split("[")
    pairs = [word.partition("*") for word in words]
    words = [word for word, _, length in pairs for _ in range(int(length or 1))]
    numbers = [float(word) for word in words] if name.startswith("float") else [int(word) for word in words]
    return np.array(numbers, name).reshape([int(size) for size in shape.split(",") if size])


def compare(message: Message, value: Any, where: str) -> list[str]:
    """Compares the tensors of a message with their texts. Returns the element types that it has met."""
    if isinstance(message, pb.Tensor) and isinstance(value, str):
        found, expected = to_numpy(message), array(value)
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape), where
        assert found.tobytes() == expected.tobytes(), f"{where}: {found} is not {value}"
        return [str(found.dtype)]
    names = []
    for field, content in message.ListFields():
        part = value[field.json_name]
        if field.message_type is None or field.message_type.file.package != "tetrion.v1":
            continue
        pairs = zip(content, part, strict=False) if isinstance(part, list) else [(content, part)]
        for one, text in pairs:
            names += compare(one, text, f"{where}: {field.name}")
    return names


def test_every_tensor_has_the_numbers_of_its_text():
    names = []
    for line in (KIT / "answers.txt").read_text().splitlines()[1:]:
        place, name, *data = line.split(" ")
        file, number = place.split(":")
        message = getattr(pb, name).FromString(base64.b64decode("".join(data)))
        names += compare(message, answer(file, int(number)), place)
    assert len(names) > 2000
    integers = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)} - {"int16"}
    assert set(names) == integers | {"bool", "float32", "float64"}
