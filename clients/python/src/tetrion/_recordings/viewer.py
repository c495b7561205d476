"""A game as a piece of a page: the data of its steps, and the script that draws them.

It loads nothing, and several of them fit on a page. Without scripts it shows the end of the game.
"""

from __future__ import annotations

import html
import json
import uuid
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any

from tetrion._messages.scenes import EMPTY, Scene
from tetrion._pb import messages as pb

# How games end, in words.
ENDINGS = {
    "topped_out": "topped out",
    "out_of_pieces": "out of pieces",
    "invalid_action": "ended by an action that does not exist",
    "won": "won",
    "drawn": "drawn",
}
# The shapes of IOTZSJL, lying: drawings, whatever the rules make of them.
_LYING = (("####",), ("##", "##"), ("###", ".#."), ("##.", ".##"), (".##", "##."), ("#..", "###"), ("..#", "###"))
_BACKGROUND, _EMPTY_CELL = "#1b1e26", "#111319"


def page(game: str, scenes: Sequence[Scene], message: pb.Recording, num_shown: int, palette: str, speed: float) -> str:
    """The piece of a page.

    Args:
        game: The game, or the beginning of it, as data for the script, in JSON.
        scenes: The game at its end; of a match, both sides.
        message: What the recording says.
        num_shown: How many steps the game has; the recording may have more.
        palette: The name of the palette to begin with.
        speed: Steps a second to begin with.
    """
    name = f"tetrion-{uuid.uuid4().hex}"
    num_steps, players = len(message.actions), [message.player, message.opponent.player]
    ends = [ENDINGS.get(scene.end or "", "") for scene in scenes]
    more = f"{num_steps - num_shown:,} more steps are not shown" if num_steps > num_shown else ""
    data = {
        **json.loads(game),
        "lying": _LYING,
        "palette": palette,
        "speed": int(speed) if speed == int(speed) else speed,
        "texts": {
            "sides": [{"player": player, "end": end} for player, end in zip(players, ends, strict=False)],
            "origin": message.origin,
            "more": more,
        },
    }
    # Nothing in it can end the script or begin another element.
    text = json.dumps(data, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    words = [message.origin]
    for player, scene, end in zip(players, scenes, ends, strict=False):
        words += [player, f"{scene.pieces} pieces", f"{scene.lines} lines", end]
    summary = html.escape(", ".join(word for word in [*words, more] if word))
    still = "".join(_still(scene, message.rules, data["palettes"][palette]) for scene in scenes)
    return (
        f'<div id="{name}">{still}<div>{summary}</div></div>\n'
        f'<script>({_script()})(document.getElementById("{name}"), {text});</script>'
    )


def _still(scene: Scene, rules: pb.Rules, colours: list[Any]) -> str:
    """A scene as a drawing in SVG, without words, as far as its rows are visible."""
    cell = 16
    height, width = rules.height - rules.rows_above, rules.width
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width * cell + 8}" height="{height * cell + 8}" role="img">',
        f'<rect width="100%" height="100%" fill="{_BACKGROUND}"/>',
        f'<rect x="4" y="4" width="{width * cell}" height="{height * cell}" fill="{_EMPTY_CELL}"/>',
    ]
    for row in range(height):
        for column in range(width):
            hue = int(scene.cells[row, column])
            if hue != EMPTY:
                left, top = 5 + column * cell, 5 + (height - 1 - row) * cell
                colour = "#" + bytes(colours[hue]).hex()
                parts.append(f'<rect x="{left}" y="{top}" width="{cell - 1}" height="{cell - 1}" fill="{colour}"/>')
    return "".join([*parts, "</svg>"])


@cache
def _script() -> str:
    """The function that draws, without the comment at its head."""
    lines = resources.files("tetrion._recordings").joinpath("viewer.js").read_text(encoding="utf-8").splitlines()
    return "\n".join(line.strip() for line in lines if not line.lstrip().startswith("//"))
