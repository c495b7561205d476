"""A game as a piece of a page: the data of its steps, and the script that draws them.

It loads nothing, and several of them fit on a page. Without scripts it shows the end of the game.
"""

from __future__ import annotations

import html
import json
import uuid
from functools import cache
from importlib import resources
from typing import Any

from tetrion._pb import messages as pb
from tetrion._pictures.pictures import BACKGROUND, EMPTY_CELL, PALETTES, Layout, Rgb
from tetrion._pictures.scenes import EMPTY, ENDINGS, LYING, Cells, Scene, points
from tetrion._recordings.replay import Replay


def page(replay: Replay, message: pb.Recording, num_steps: int, palette: str, speed: float) -> str:
    """The piece of a page.

    Args:
        replay: The game, or the beginning of it.
        message: What the recording says.
        num_steps: How many steps the recording has.
        palette: The name of the palette to begin with.
        speed: Steps a second to begin with.
    """
    name = f"tetrion-{uuid.uuid4().hex}"
    scene = replay.scene()
    end = ENDINGS.get(scene.end or "", "")
    more = f"{num_steps - len(replay):,} more steps are not shown" if num_steps > len(replay) else ""
    data = {
        **_game(replay),
        "palettes": {known: [list(colour) for colour in colours] for known, colours in PALETTES.items()},
        "lying": LYING,
        "palette": palette,
        "speed": int(speed) if speed == int(speed) else speed,
        "texts": {"player": message.player, "origin": message.origin, "end": end, "more": more},
    }
    # Nothing in it can end the script or begin another element.
    text = json.dumps(data, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    words = [message.player, message.origin, f"{scene.pieces} pieces", f"{scene.lines} lines", end, more]
    summary = html.escape(", ".join(word for word in words if word))
    return (
        f'<div id="{name}">{still(scene, message.rules, palette)}<div>{summary}</div></div>\n'
        f'<script>({_script()})(document.getElementById("{name}"), {text});</script>'
    )


def _game(replay: Replay) -> dict[str, Any]:
    """The steps of a game, with cells as single numbers: row * width + column."""
    width, rules = replay._rules.width, replay._rules
    visible = rules.height - rules.rows_above
    first, states = replay.scene(0), replay.states
    start = states[0]
    pieces = [start.current]
    for state, landing in zip(states[1:], replay.landings, strict=True):
        if landing is not None and state.current >= 0:
            pieces.append(state.current)
    pieces += states[-1].queue
    has_keys = rules.action_model == pb.ACTION_MODEL_KEYPRESS
    # Where a piece can be held, what comes next does not follow from the pieces.
    shown = [[state.held, *state.queue] for state in states] if rules.hold else None

    def places(cells: Cells) -> list[int]:
        return [row * width + column for row, column in cells]

    return {
        "w": width,
        "h": rules.height,
        "visible": visible,
        "preview": rules.preview,
        "keys": has_keys,
        "given": first.cells.ravel().tolist(),
        "pieces": pieces,
        "shown": shown,
        "steps": [
            [places(landing.cells), landing.cleared, landing.lines, landing.tetromino] if landing is not None else 0
            for landing in replay.landings
        ],
        "falling": [places(state.falling) for state in states] if has_keys else [],
        "scores": [points(state.score - start.score) for state in states] if Layout.of(rules).has_score else None,
    }


def still(scene: Scene, rules: pb.Rules, palette: str) -> str:
    """A scene as a drawing in SVG, without words, as far as its rows are visible."""
    cell = 16
    height, width = rules.height - rules.rows_above, rules.width
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width * cell + 8}" height="{height * cell + 8}" role="img">',
        f'<rect width="100%" height="100%" fill="{_hex(BACKGROUND)}"/>',
        f'<rect x="4" y="4" width="{width * cell}" height="{height * cell}" fill="{_hex(EMPTY_CELL)}"/>',
    ]
    for row in range(height):
        for column in range(width):
            hue = int(scene.cells[row, column])
            if hue != EMPTY:
                left, top = 5 + column * cell, 5 + (height - 1 - row) * cell
                colour = _hex(PALETTES[palette][hue])
                parts.append(f'<rect x="{left}" y="{top}" width="{cell - 1}" height="{cell - 1}" fill="{colour}"/>')
    return "".join([*parts, "</svg>"])


def _hex(colour: Rgb) -> str:
    return "#" + bytes(colour).hex()


@cache
def _script() -> str:
    """The function that draws, without the comment at its head."""
    lines = resources.files("tetrion._recordings").joinpath("viewer.js").read_text(encoding="utf-8").splitlines()
    return "\n".join(line.strip() for line in lines if not line.lstrip().startswith("//"))
